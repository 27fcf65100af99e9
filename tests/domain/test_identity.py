"""Near-identity: an accident of writing is the same memory, one fact apart is another (contract, Hipocampo 1)."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.domain.identity import NEAR_IDENTICAL, near_identical, signature
from evoca.domain.trigrams import trigram_similarity

DIFFERENT_FACTS = [
    "La IP del router es 192.168.7.1",
    "La IP del router es 192.168.9.1",
    "Vuelo el 3 de mayo",
    "Vuelo el 13 de mayo",
    "Talla 38",
    "Talla 48",
    "Prueba 17: 812 ms",
    "Prueba 18: 815 ms",
]


def test_facts_that_differ_in_a_digit_are_eight_memories() -> None:
    assert len({signature(text) for text in DIFFERENT_FACTS}) == len(DIFFERENT_FACTS)
    assert all(near_identical(one, other) is None for one, other in combinations(DIFFERENT_FACTS, 2))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("La imprenta abre a las 8:30", "La imprenta abre a las 8:30 "),
        ("La imprenta abre a las 8:30", "la  IMPRENTA abre\na las 8:30."),
        ("El café de Lucía está frío", "el cafe de lucia esta frio"),
        ("N\u0303andu\u0301 en el jardín", "Ñandú en el jardín"),
        ("The user prefers the dark mode in the editor", "User prefers dark mode in the editor"),
        ("Marta vive en el centro histórico de Lugo", "Marta vive en centro histórico de Lugo"),
        ("The production servers run on Debian and Docker", "The production server run on Debian and Docker"),
        ("It's a very long meeting with the customers", "It is a very long meeting with the customers"),
        (
            "I don't eat meat on weekdays, neither in the canteen nor at the office",
            "I do not eat meat on weekdays, neither in the canteen nor at the office",
        ),
        ("👍", " 👍"),
        ("...", "..."),
    ],
)
def test_an_accident_of_writing_is_the_same_memory(one: str, other: str) -> None:
    found = near_identical(one, other)
    assert found is not None
    assert NEAR_IDENTICAL <= found <= 1.0
    assert near_identical(other, one) == found
    assert signature(one) == signature(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I can't deploy on Fridays from the office", "I can deploy on Fridays from the office"),
        ("La puerta del almacén no está abierta hoy", "La puerta del almacén está abierta hoy"),
        ("I'll call Ana tomorrow about the contract", "I call Ana tomorrow about the contract"),
        ("You must renew the certificate in the spring", "You may renew the certificate in the spring"),
        ("Todos los contenedores de producción usan Alpine", "Muchos contenedores de producción usan Alpine"),
        ("Usa Python 3.10 en el servidor de integración", "Usa Python 3.1 en el servidor de integración"),
        ("Está a -3 grados en la sierra de Lugo", "Está a 3 grados en la sierra de Lugo"),
        ("El disco de copias tiene 500 GB libres en Lugo", "El disco de copias tiene 500 MB libres en Lugo"),
        ("Mario Peña trabaja en la oficina de Lugo", "María Peña trabaja en la oficina de Lugo"),
        ("Mi hermano vive en Lugo desde mayo", "Mi hermana vive en Lugo desde mayo"),
        ("Mi jefe vive en Lugo desde mayo", "Su jefe vive en Lugo desde mayo"),
        ("Ana ayuda a Eva con la mudanza", "A Ana ayuda Eva con la mudanza"),
        ("Ana gana a Eva", "Eva gana a Ana"),
        ("Ana llega en el vuelo de Madrid", "Ana llega en el vuelo a Madrid"),
        ("Hablo inglés con los clientes", "Habló inglés con los clientes"),
        ("Si viene Ana al estreno cenamos fuera", "Sí viene Ana al estreno cenamos fuera"),
        ("Prefiero el modo oscuro en el editor", "Prefiere el modo oscuro en el editor"),
        ("The meeting was with Ana in the office", "The meeting is with Ana in the office"),
        ("Vive en Lugo con Ana y Eva", "¿Vive en Lugo con Ana y Eva?"),
        ("He comprado pan y leche en el mercado central", "He comprado pan o leche en el mercado central"),
        ("Restart the service before each deployment", "Restart the service after each deployment"),
        ("Programa en C++ desde hace años", "Programa en C# desde hace años"),
        ("The new endpoint returns x == y for guests", "The new endpoint returns x != y for guests"),
        ("El año de la ñora en la huerta", "El ano de la nora en la huerta"),
        ("👍", "👎"),
        ("", "..."),
        ("Vive en Lugo", "Vive en Lugo, cerca del río, en la casa de su abuela"),
    ],
)
def test_one_fact_apart_is_another_memory(one: str, other: str) -> None:
    assert near_identical(one, other) is None
    assert near_identical(other, one) is None


WORDS = (
    "Ana Eva el la the a de of en in no not 3 13 3.5 -3 mayo vive vivo lives hermano hermana servidor servidores "
    "is was café cafe ñ n ? ! C++ C# 👍"
).split()
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=10).map(" ".join)


@given(texts, texts)
def test_near_identical_texts_have_one_signature_and_a_likeness(one: str, other: str) -> None:
    found = near_identical(one, other)
    assert found == near_identical(other, one)
    if found is not None:
        assert NEAR_IDENTICAL <= found <= 1.0
        assert signature(one) == signature(other)


@given(st.text(max_size=60))
def test_a_text_is_near_identical_to_itself_whatever_its_case_and_edges(text: str) -> None:
    assert near_identical(text, text) == 1.0
    assert near_identical(text, f"  {text}\n") == 1.0
    assert len(signature(text)) == 16


@given(st.lists(st.sampled_from(["uno", "dos", "Lugo", "vive", "no", "7", "17"]), min_size=1, max_size=12))
def test_another_number_is_never_the_same_memory(words: list[str]) -> None:
    text = " ".join(words)
    assert near_identical(f"{text} 812", f"{text} 813") is None
    assert near_identical(f"{text} no", f"{text} sí") is None
    assert trigram_similarity(f"{text} 812", f"{text} 813") < 1.0
