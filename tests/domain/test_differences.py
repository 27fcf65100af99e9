"""What like texts do not agree in, in Spanish and English (contract, Graph 9)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.domain.differences import DIFFERENCES, Reading, differences, is_substitution, may_be_another_fact

TABLE = [
    ("El servidor tiene 16 GB", "El servidor tiene 32 GB", "number"),
    ("The server has 16 GB", "The server has 16GB", ""),
    ("Pesa 5 kg", "Pesa 5 g", "number"),
    ("Tres servidores en Madrid", "3 servidores en Madrid", ""),
    ("Thirty-two tests pass", "32 tests pass", ""),
    ("Treinta y dos tests pasan", "Los 32 tests pasan", ""),
    ("Cuesta 1.000 euros", "Cuesta 1000 €", ""),
    ("Costs 3.50 dollars", "Costs 3,5 dollars", ""),
    ("Version 2.1.0 is live", "Version 2.1.1 is live", "number"),
    ("Usa Python 3.11", "Usa Python 3.12", "number"),
    ("The second test failed", "The third test failed", "number"),
    ("The build takes 5 minutes", "The build takes five minutes", ""),
    ("Two hundred people came", "200 people came", ""),
    ("Vinieron dos mil personas", "Vinieron 2000 personas", ""),
    ("Moved there at the age of 1", "Moved there at the age of one", ""),
    ("Born May 15 , 1878", "Born 15 May 1878", ""),
    ("Está a -3 grados", "Está a 3 grados", "number"),
    ("Nació el 3 de mayo de 1980", "Nació el 4 de mayo de 1980", "date"),
    ("Nació el 3 de mayo de 1980", "Nació el 1980-05-03", ""),
    ("Nació el 3 de mayo de 1980", "Nació el 03/05/1980", ""),
    ("Released on March 12, 2024", "Released on 12 March 2024", ""),
    ("Released in March 2024", "Released in April 2024", "date"),
    ("Released in May", "Released in June", "date"),
    ("La reunión es el lunes", "La reunión es el martes", "date"),
    ("The meeting is on Monday", "La reunión es el lunes", ""),
    ("Meeting at 10:30", "Meeting at 11:30", "date"),
    ("Meeting at 3 pm", "Meeting at 15:00", ""),
    ("Fundada en 1998", "Fundada en 1999", "date"),
    ("Llegó ayer", "Llegó hoy", "date"),
    ("Due next week", "Due next month", "date"),
    ("Ana usa Docker", "Ana no usa Docker", "negation"),
    ("We use Redis", "We don't use Redis", "negation"),
    ("We never deploy on Fridays", "We deploy on Fridays", "negation"),
    ("Nadie usa la impresora", "Todos usan la impresora", "negation"),
    ("Funciona con caché", "Funciona sin caché", "negation antonym"),
    ("Likes tea with milk", "Likes tea without milk", "negation antonym"),
    ("No usa Redis pero sí Kafka", "Usa Redis pero no Kafka", "negation"),
    ("Nunca usa Redis", "No usa Redis", ""),
    ("Sin embargo usa Redis", "Usa Redis", ""),
    ("María vive en Madrid", "María vive en Barcelona", "name"),
    ("Ana vive en Lugo", "Eva vive en Lugo", "name"),
    ("Deployed on Vercel", "Deployed on Netlify", "name"),
    ("deployed on vercel", "Deployed on Vercel", ""),
    ("El código está en src/app.py", "El código está en src/main.py", "name"),
    ("The flag is user_id", "The flag is group_id", "name"),
    ("Desplegado en Vercel con dominio personalizado", "Deployment: Vercel, dominio personalizado configurado", ""),
    ("El puerto está abierto", "El puerto está cerrado", "antonym"),
    ("The flag is enabled", "The flag is disabled", "antonym"),
    ("La cuenta está activa", "La cuenta está inactiva", "antonym"),
    ("Prices will rise", "Prices will fall", "antonym"),
    ("Prefiere el trabajo remoto", "Prefiere el trabajo local", "antonym"),
    ("Ana gana a Eva", "Eva gana a Ana", "order"),
    ("Ana beats Eva", "Eva beats Ana", "order"),
    ("Ana prestó dinero a Eva", "Eva le prestó dinero a Ana", "order"),
    ("Se mudó de Lugo a Vigo", "Se mudó de Vigo a Lugo", "order"),
    ("The train goes from Leeds to York", "The train goes from York to Leeds", "order"),
    ("A cat chased a dog", "A dog chased a cat", "order"),
    ("Prefers tabs over spaces", "Prefers spaces over tabs", "order"),
    ("Usa Python, Go y Rust", "Usa Rust, Go y Python", ""),
    ("En 2020 Ana fundó Acme", "Ana fundó Acme en 2020", ""),
    ("Desplegamos la API con Docker", "Con Docker desplegamos la API", ""),
    ("Stack: FastMCP + SQLite", "FastMCP y SQLite como stack", ""),
    ("User prefers dark mode", "The user prefers dark mode.", ""),
    ("El proyecto se llama Evoca", "El nombre del proyecto es Evoca", ""),
]


@pytest.mark.parametrize(("one", "other", "expected"), TABLE)
def test_what_two_texts_differ_in(one: str, other: str, expected: str) -> None:
    assert " ".join(differences(Reading(one), Reading(other))) == expected
    assert " ".join(differences(Reading(other), Reading(one))) == expected


LONG = "Stack: FastMCP + SQLite + ONNX Runtime para embeddings de 384 dimensiones, desde mayo"


@pytest.mark.parametrize(
    ("short", "long", "expected"),
    [
        ("FastMCP", LONG, ()),
        ("Embeddings de 384 dimensiones", LONG, ()),
        ("Embeddings de 512 dimensiones", LONG, ("number",)),
        ("FastMCP con Postgres", LONG, ("name",)),
        ("FastMCP desde junio", LONG, ("date",)),
        ("FastMCP", "Ya no usamos FastMCP por sus muchos fallos", ("negation",)),
        ("Usamos FastMCP", "Usamos FastMCP y no hay ningún otro servidor que mantener", ()),
        ("Sin FastMCP", LONG, ("negation",)),
        ("El modo oscuro está activo", "En la pantalla de ajustes el modo oscuro está inactivo", ("antonym",)),
    ],
)
def test_what_only_the_long_text_says_is_no_difference(short: str, long: str, expected: tuple[str, ...]) -> None:
    assert differences(Reading(short), Reading(long), contained=True) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("El coche es rojo", "El coche es verde", True),
        ("The car is red", "The car is green", True),
        ("Prefiere té", "Prefiere el té", False),
        ("Configura el servidor", "Configuración del servidor", False),
        ("Le gusta el té verde", "Bebe té verde por las mañanas", False),
    ],
)
def test_one_other_word_in_the_same_sentence_is_another_fact(one: str, other: str, expected: bool) -> None:
    assert is_substitution(Reading(one), Reading(other)) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("El coche es rojo", "El coche es verde", True),
        ("The racial law and the historical riots", "The historical law and the racial riots", True),
        ("Ayer desplegamos la API", "Desplegamos la API ayer", False),
        ("Usa Python, Go y Rust", "Usa Python, Go y Rust.", False),
        (
            "Desplegado en Vercel con dominio personalizado",
            "Deployment: Vercel, dominio personalizado configurado",
            False,
        ),
    ],
)
def test_texts_that_share_nearly_all_words_may_be_other_facts(one: str, other: str, expected: bool) -> None:
    assert may_be_another_fact(Reading(one), Reading(other)) is expected
    assert may_be_another_fact(Reading(other), Reading(one)) is expected


pieces = st.lists(
    st.sampled_from(
        "Ana Eva no not sin 3 3,5 1.000 mayo 2024-05-01 lunes abierto cerrado de a from to , ; y Ñandú gb".split()
    )
    | st.text(max_size=6),
    max_size=12,
).map(" ".join)


@given(pieces, pieces)
def test_differences_are_symmetric_known_and_in_order(one: str, other: str) -> None:
    found = differences(Reading(one), Reading(other))
    assert found == differences(Reading(other), Reading(one))
    assert list(found) == [kind for kind in DIFFERENCES if kind in found]
    assert set(differences(Reading(one), Reading(other), contained=True)) <= set(DIFFERENCES)


@given(pieces)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert differences(Reading(text), Reading(text)) == ()
    assert not is_substitution(Reading(text), Reading(text))
