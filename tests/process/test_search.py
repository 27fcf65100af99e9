"""Finding what was said: by substring, by words and by meaning, in two languages, at once and until it is deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.process.support.client import at, number_at, object_at
from tests.process.support.graph import (
    additions,
    check_integrity,
    entities,
    entity,
    refused,
)
from tests.process.support.launch import PROVING, start_evoca

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.process.support.client import Server


def _found(server: Server, query: str, limit: int = 10) -> list[str]:
    return server.ok("search_semantic", {"query": query, "limit": limit}).names("results")


def _substring(server: Server, query: str) -> set[str]:
    return set(server.ok("search_nodes", {"query": query}).names())


def _remember(server: Server, *texts: str) -> None:
    server.ok("create_entities", entities(*(entity(f"Nota {n}", text) for n, text in enumerate(texts))))


# -- by substring ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("plan_a", {"plan_a"}),
        ("100%", {"100% lana"}),
        ("_", {"plan_a"}),
        ("%", {"100% lana"}),
        ("l_na", set[str]()),
        ("*", set[str]()),
        ("", {"plan_a", "planXa", "100% lana", "1000 lanas"}),
    ],
)
def test_wildcards_of_the_database_are_plain_text(evoca: Server, query: str, wanted: set[str]) -> None:
    evoca.ok("create_entities", entities(*(entity(name) for name in ("plan_a", "planXa", "100% lana", "1000 lanas"))))
    assert _substring(evoca, query) == wanted


@pytest.mark.parametrize(
    "query",
    ["peña", "PEÑA", "álamo", "organización", "último", "Último PISO", "σιγμα", "ΣΊΓΜΑ", "ёлка", "strasse", "ß"],
)
def test_letter_case_is_folded_for_every_alphabet(evoca: Server, query: str) -> None:
    wanted = {
        "ß": "Königstraße 4",
        "strasse": "Königstraße 4",
        "ёлка": "ЁЛКА",
        "σιγμα": "ΣΙΓΜΑ",
        "ΣΊΓΜΑ": "Σίγμα",
    }.get(query, "PEÑA ÁLAMO")
    evoca.ok(
        "create_entities",
        entities(
            entity("PEÑA ÁLAMO", "ÚLTIMO PISO", kind="ORGANIZACIÓN"),
            entity("ΣΙΓΜΑ"),
            entity("Σίγμα"),
            entity("ЁЛКА"),
            entity("Königstraße 4"),
        ),
    )
    assert _substring(evoca, query) == {wanted}


def test_a_substring_of_any_length_is_found_anywhere(evoca: Server) -> None:
    evoca.ok("create_entities", entities(entity("Ñu", "東京タワー", "🎈 globo", "Reunión semanal: lunes 9:00")))
    for query in ("ñ", "京", "東京タ", "🎈", "🎈 g", "semanal: lun", "unión semanal: lunes 9", ":", "9:00"):
        assert _substring(evoca, query) == {"Ñu"}, query
    for query in ("reunion", "lunes semanal", "n̄"):
        assert _substring(evoca, query) == set(), query


# -- by words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query", ["reunión lunes", "lunes reunión", "compras responsable", "faro nuria", "semanal: lun", "¿reunión, lunes?"]
)
def test_words_in_any_order_over_several_observations_are_found(evoca: Server, query: str) -> None:
    evoca.ok(
        "create_entities",
        entities(
            entity("Proyecto Faro", "Reunión semanal: lunes 9:00", "Responsable de compras: Nuria"),
            entity("Proyecto Muelle", "Reunión mensual: viernes 12:00", "Responsable de ventas: Tomás"),
            entity("Taller", "El torno se engrasa cada mes"),
        ),
    )
    assert _found(evoca, query)[0] == "Proyecto Faro"


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("pre-commit", "Nota 0"),
        ("C++", "Nota 1"),
        ("node.js", "Nota 1"),
        ("src/app/main.py", "Nota 2"),
        ("GB/s", "Nota 3"),
        ("3,5", "Nota 3"),
        ("100%", "Nota 4"),
        ("-commit", "Nota 0"),
        ('"hook"', "Nota 0"),
        ("hook AND", "Nota 0"),
        ("(hook", "Nota 0"),
        ("hook*", "Nota 0"),
        ("hook NOT commit", "Nota 0"),
        ("content:hook", "Nota 0"),
    ],
)
def test_marks_in_a_query_are_never_syntax(evoca: Server, query: str, wanted: str) -> None:
    _remember(
        evoca,
        "El hook pre-commit tarda",
        "Aprende C++ y node.js",
        "ruta src/app/main.py",
        "velocidad 3,5 GB/s",
        "sube 100% seguro",
    )
    assert _found(evoca, query)[0] == wanted


@pytest.mark.parametrize("query", ['"', "*", "''", "--", "AND", "\\", "( ) ^ :", "   ", "🎈", "ñ" * 4_000])
def test_a_query_of_marks_alone_is_no_error(evoca: Server, query: str) -> None:
    _remember(evoca, "El hook pre-commit tarda")
    if query.strip():
        evoca.ok("search_semantic", {"query": query})
    evoca.ok("search_nodes", {"query": query})


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("campana politica", "Nota 0"),
        ("CAMPAÑA POLÍTICA", "Nota 0"),
        ("reunion electrica", "Nota 1"),
        ("Compañia", "Nota 1"),
        ("cafe", "Nota 2"),
        ("CAFÉ", "Nota 2"),
    ],
)
def test_words_are_found_with_and_without_their_accents(evoca: Server, query: str, wanted: str) -> None:
    """`search_nodes` and `open_nodes` stay exact in their accents, as documented."""
    _remember(evoca, "Campaña política de otoño", "Reunión con la compañía eléctrica", "El café está caliente")
    assert _found(evoca, query)[0] == wanted
    assert _substring(evoca, "campana") == set()
    assert _substring(evoca, "CAMPAÑA") == {"Nota 0"}
    assert evoca.ok("open_nodes", {"names": ["nota 0"]}).names() == []


def test_what_was_just_saved_is_found_at_once(evoca: Server) -> None:
    for n in range(50):
        name, word = f"Taller {n}", f"clave{n:02d}x"
        pending = evoca.post_all(
            [
                ("create_entities", entities(entity(name, f"El código del taller es {word}"))),
            ]
        )
        assert not pending[0].reply().is_error
        found = evoca.ok("search_semantic", {"query": f"código {word}"})
        assert found.names("results")[0] == name
        assert at(found.data, "results", 0, "observations", 0) == f"El código del taller es {word}"
        assert _substring(evoca, word) == {name}


def test_another_server_finds_what_was_just_saved(home: Path, store: Path) -> None:
    env = {"EVOCA_EMBEDDER": "hash"}
    with start_evoca(home, store, env=env) as one, start_evoca(home, store, env=env) as other:
        for n in range(10):
            one.ok("create_entities", entities(entity(f"Taller {n}", f"El código es clave{n:02d}x")))
            assert _found(other, f"clave{n:02d}x")[0] == f"Taller {n}"
            assert _substring(other, f"clave{n:02d}x") == {f"Taller {n}"}
            one.ok("delete_entities", {"entityNames": [f"Taller {n}"]})
            assert f"Taller {n}" not in _found(other, f"clave{n:02d}x")
            assert _substring(other, f"clave{n:02d}x") == set()


def test_what_was_deleted_is_found_no_more(home: Path, store: Path) -> None:
    env = {"EVOCA_EMBEDDER": "hash", "EVOCA_CATCH_UP": "30", "EVOCA_INDEXER_REST": "0"}
    with start_evoca(home, store, env=env) as server:
        server.ok(
            "create_entities", entities(entity("Aparato", "El zarigüeyómetro marca 7"), entity("Otro", "marca 8"))
        )
        server.ok("create_entities", entities(entity("Zarigüeyómetro viejo")))
        assert set(_found(server, "zarigüeyómetro")) >= {"Aparato", "Zarigüeyómetro viejo"}
        server.ok("delete_observations", {"name": "Aparato", "observations": ["El zarigüeyómetro marca 7"]})
        server.ok("delete_entities", {"entityNames": ["Zarigüeyómetro viejo"]})
        assert _substring(server, "zarigüeyómetro") == set()
        results = server.ok("search_semantic", {"query": "zarigüeyómetro"}).objects("results")
        assert not any("zarigüey" in str(result).casefold() for result in results)
        assert not any("rrf_score" in result for result in results), "the word still stands in the index"
        assert len(server.ok("read_graph").names()) == 2
    check_integrity(store)


def test_an_edited_text_is_found_by_its_new_words_only(evoca: Server) -> None:
    evoca.ok("create_entities", entities(entity("Nota", "El gato duerme en el sofá"), entity("Otra", "La puerta azul")))
    evoca.ok("delete_observations", {"name": "Nota", "observations": ["El gato duerme en el sofá"]})
    evoca.ok("add_observations", {"name": "Nota", "observations": ["La factura vence el día 12"]})
    old = evoca.ok("search_semantic", {"query": "gato sofá"}).objects("results")
    assert not any("rrf_score" in result for result in old)
    assert _found(evoca, "factura")[0] == "Nota"


def test_every_size_of_answer_works_on_a_large_store(home: Path, store: Path) -> None:
    """6,000 texts: more than one-shot vector engines take; beyond the maximum is an error, not a crash."""
    env = {"EVOCA_EMBEDDER": "hash", "EVOCA_CATCH_UP": "60", "EVOCA_INDEXER_REST": "0", "EVOCA_INDEXER_BATCH": "256"}
    with start_evoca(home, store, env=env) as server:
        for begin in range(0, 6_000, 1_000):
            items = (entity(f"M{n}", f"mensaje {n} sobre el faro número {n % 97}") for n in range(begin, begin + 1_000))
            server.ok("create_entities", entities(*items))
        for limit in (1, 10, 100, 200):
            assert len(_found(server, "faro", limit)) == limit
        for limit in (0, -1, 201, 5_000):
            refused(server.call("search_semantic", {"query": "faro", "limit": limit}), "imit")
        assert server.ok("search_nodes", {"query": "faro", "limit": 10, "offset": 5_995}).number("total") == 6_000


def test_the_shape_of_results_never_changes(evoca: Server) -> None:
    """No draws, no A/B variants: the same question gets the same answer, in the documented shape."""
    _remember(evoca, "El faro alumbra la costa", "La costa es de piedra", "El perro se llama Trueno")
    ask = {"query": "faro de la costa", "track": False}
    first = evoca.ok("search_semantic", ask)
    for result in first.objects("results"):
        assert {"name", "entityType", "observations", "limbic_score", "scoring", "distance"} <= set(result)
        assert {"importance", "temporal_factor", "cooc_boost"} <= set(object_at(result, "scoring"))
        assert result["routing_strategy"] in ("cosine_heavy", "hybrid_balanced", "limbic_heavy")
    scores = [number_at(result, "limbic_score") for result in first.objects("results")]
    assert scores == sorted(scores, reverse=True)
    assert all(evoca.ok("search_semantic", ask).names("results") == first.names("results") for _ in range(100))


# -- by meaning, with the model that ships ---------------------------------------------------------

MEANING = {"EVOCA_EMBEDDER": "auto", "EVOCA_CATCH_UP": "60", "EVOCA_INDEXER_REST": "0"}
SPANISH_NOTES = {
    "Perro": "El perro del faro se llama Trueno",
    "Llave": "La llave del sótano cuelga detrás de la nevera",
    "Pan": "El horno de leña necesita dos horas para calentarse",
    "Barco": "El barco de pesca zarpa antes del amanecer los martes",
    "Abuela": "La abuela de Inés cumple noventa años en octubre",
    "Tren": "El último tren a Oviedo sale a las once de la noche",
    "Vacuna": "Hay que vacunar al gato contra la rabia cada primavera",
    "Tejado": "El tejado gotea sobre el escritorio cuando llueve",
    "Viñas": "Las viñas se podan en febrero con luna menguante",
    "Profesor": "El profesor de matemáticas prefiere los exámenes orales",
}
ENGLISH_NOTES = {
    "Battery": "The backup battery of the greenhouse lasts six hours",
    "Wifi": "The wireless password is written under the kitchen clock",
    "Doctor": "The dentist can only see us on Thursday afternoons",
    "Budget": "The renovation must not cost more than twelve thousand euros",
    "Bees": "The beehives were moved behind the apple orchard",
    "Alarm": "The smoke detector in the hallway needs a new sensor",
    "Loan": "Robert lent us his ladder until the end of the month",
    "Piano": "The piano was tuned before the Christmas concert",
    "Allergy": "Martha is allergic to peanuts and shellfish",
    "Printer": "The office printer jams whenever the paper is thick",
}
SPANISH_QUESTIONS = {
    "Battery": "¿cuánto dura la batería de respaldo del invernadero?",
    "Wifi": "¿dónde está apuntada la contraseña de la red inalámbrica?",
    "Doctor": "¿qué días puede atendernos la dentista?",
    "Budget": "¿cuál es el gasto máximo de la reforma?",
    "Bees": "¿adónde se llevaron las colmenas?",
    "Alarm": "¿qué le falta al detector de humo del pasillo?",
    "Loan": "¿quién nos prestó la escalera?",
    "Piano": "¿cuándo afinaron el piano?",
    "Allergy": "¿qué alimentos no puede comer Martha?",
    "Printer": "¿por qué se atasca la impresora de la oficina?",
}
ENGLISH_QUESTIONS = {
    "Perro": "what is the lighthouse dog called?",
    "Llave": "where is the key to the basement?",
    "Pan": "how long does the wood oven take to heat up?",
    "Barco": "when does the fishing boat leave?",
    "Abuela": "how old will the grandmother be in October?",
    "Tren": "what time is the last train?",
    "Vacuna": "what does the cat need against rabies?",
    "Tejado": "where does the roof leak?",
    "Viñas": "when are the vineyards pruned?",
    "Profesor": "what kind of exams does the maths teacher like?",
}


@pytest.fixture(scope="module")
def bilingual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the default model and notes in both languages."""
    folder = tmp_path_factory.mktemp("bilingual")
    with start_evoca(folder / "home", folder / "memory.db", env=MEANING) as server:
        notes = SPANISH_NOTES | ENGLISH_NOTES
        server.ok("create_entities", entities(*(entity(f"{n}", text) for n, text in notes.items())))
        yield server


@pytest.mark.parametrize("questions", [SPANISH_QUESTIONS, ENGLISH_QUESTIONS], ids=["es", "en"])
def test_a_question_in_one_language_finds_the_note_in_the_other(bilingual: Server, questions: dict[str, str]) -> None:
    missed = [
        question
        for name, question in questions.items()
        if name not in bilingual.ok("search_semantic", {"query": question, "limit": 3, "track": False}).names("results")
    ]
    assert len(missed) <= len(questions) // 10, missed


def test_the_end_of_a_long_text_is_found_by_its_meaning(home: Path, store: Path) -> None:
    """Longer than the model reads at once; the entity comes back whole and once."""
    chore = "Los lunes se riegan los tomates y se mira si hay pulgón en las hojas de abajo de cada planta. "
    text = chore * (150 if PROVING else 40) + "La contraseña del almacén la guarda el portero del número 4."
    notes = SPANISH_NOTES | {"Cuaderno": text}
    with start_evoca(home, store, env=MEANING) as server:
        server.ok("create_entities", entities(*(entity(name, note) for name, note in notes.items())))
        reply = server.ok("search_semantic", {"query": "¿quién custodia la clave del depósito?", "limit": 3})
        assert reply.names("results").count("Cuaderno") == 1
        (found,) = (result for result in reply.objects("results") if result["name"] == "Cuaderno")
        assert found["observations"] == [text]
        long_question = "¿quién custodia la clave del depósito? " * 100
        server.ok("search_semantic", {"query": long_question[:4_000]})
        refused(server.call("search_semantic", {"query": "a" * 4_001}), "Query too long: 4001 > 4000 characters")


def test_without_a_model_the_other_tools_work_and_the_search_says_why(home: Path, store: Path) -> None:
    with start_evoca(home, store, env={"EVOCA_EMBEDDER": "none"}) as server:
        server.ok("create_entities", entities(entity("Faro", "alumbra")))
        server.ok("add_observations", additions(("Faro", ["gira"])))
        assert _substring(server, "gira") == {"Faro"}
        for _ in range(3):
            sentence = refused(server.call("search_semantic", {"query": "luz"}))
            assert sentence.startswith("Embedding model not available.")
            assert "EVOCA_EMBEDDER" in sentence, "the way out is not named"
