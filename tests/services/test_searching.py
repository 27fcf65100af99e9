"""search_semantic: the contract's keys, and an order that limits, statuses and repetition do not upset (Graph 6)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from evoca import Memory
from evoca.domain.clock import DAY, FrozenClock, from_iso
from evoca.errors import InvalidInput, ModelUnavailable
from evoca.operations.catalogue import CATALOGUE
from evoca.runtime import Runtime
from evoca.settings import load_settings

NOTES = {
    "Battery": "The backup battery of the greenhouse lasts six hours",
    "Perro": "El perro del faro se llama Trueno",
    "Faro": "Reunión semanal: lunes 9:00",
    "Compras": "Responsable de compras: Nuria",
    "Café": "El café está caliente",
    "Compañía": "Reunión con la compañía eléctrica",
    "Hook": "El hook pre-commit tarda",
    "Curso": "Aprende C++ y node.js",
    "Ruta": "ruta src/app/main.py",
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", embedder="hash") as opened:
        opened.create_entities([{"name": name, "observations": [text]} for name, text in NOTES.items()])
        yield opened


def names(memory: Memory, query: str, **options: object) -> list[str]:
    options.setdefault("track", False)
    return [hit["name"] for hit in memory.search_semantic(query, **options)["results"]]  # pyright: ignore[reportArgumentType]


def test_a_result_has_the_contract_s_keys(memory: Memory) -> None:
    hit = memory.search_semantic("reunión semanal")["results"][0]
    assert set(hit) == {
        "name", "entityType", "observations", "limbic_score", "scoring", "distance", "routing_strategy", "rrf_score",
    }  # fmt: skip
    assert set(hit["scoring"]) == {
        "importance", "temporal_factor", "cooc_boost", "relevance", "multiplier", "status_factor", "metadata_factor",
    }  # fmt: skip
    assert hit["name"] == "Faro"
    assert hit["observations"] == ["Reunión semanal: lunes 9:00"]
    assert hit["distance"] is not None
    assert 0 <= hit["distance"] <= 2


def test_rrf_score_is_absent_when_no_word_matched(memory: Memory) -> None:
    results = memory.search_semantic("zzqx wvut")["results"]
    assert all("rrf_score" not in hit for hit in results)


def test_explain_says_what_was_found(memory: Memory) -> None:
    explained = memory.search_semantic("reunión eléctrica", explain=True)["results"][0].get("explain")
    assert explained is not None
    assert explained["best_text"] == NOTES["Compañía"]
    assert explained["words"] > 0


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("reunion electrica", "Compañía"),
        ("cafe", "Café"),
        ("CAFÉ", "Café"),
        ("lunes reunión", "Faro"),
        ("compras responsable", "Compras"),
        ("pre-commit", "Hook"),
        ("-commit", "Hook"),
        ("C++", "Curso"),
        ("node.js", "Curso"),
        ("src/app/main.py", "Ruta"),
    ],
)
def test_words_find_in_any_order_and_spelling(memory: Memory, query: str, name: str) -> None:
    assert names(memory, query)[0] == name


@pytest.mark.parametrize("query", ['"', "*", "(", "a AND", "NEAR(", "100%", "'; --", "😀", "¿?"])
def test_no_query_breaks_the_index(memory: Memory, query: str) -> None:
    assert isinstance(names(memory, query), list)


def test_words_spread_over_observations_count_together(memory: Memory) -> None:
    memory.create_entities([{"name": "Proyecto Faro", "observations": ["Responsable: Nuria", "Cierra los lunes"]}])
    assert names(memory, "nuria lunes")[0] == "Proyecto Faro"


def test_limit_cuts_the_same_order(memory: Memory) -> None:
    whole = memory.search_semantic("el perro y la reunión", limit=9, track=False)["results"]
    assert memory.search_semantic("el perro y la reunión", limit=3, track=False)["results"] == whole[:3]


def test_the_same_call_twice_gives_the_same_answer(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert names(memory, "la reunión") == names(memory, "la reunión")


def test_an_archived_entity_ranks_below_an_active_one(memory: Memory) -> None:
    memory.create_entities(
        [
            {"name": "Vieja", "observations": ["presupuesto anual"], "status": "archivado"},
            {"name": "Nueva", "observations": ["presupuesto anual"]},
        ]
    )
    assert names(memory, "presupuesto anual")[:2] == ["Nueva", "Vieja"]


def test_entities_of_mostly_metadata_rank_lower(memory: Memory) -> None:
    memory.create_entities([{"name": "Datos"}, {"name": "Hechos"}])
    memory.add_observations(["presupuesto anual"], name="Datos", kind="metadata")
    memory.add_observations(["presupuesto anual"], name="Hechos", kind="hallazgo")
    results = memory.search_semantic("presupuesto anual", track=False)["results"]
    assert [hit["name"] for hit in results[:2]] == ["Hechos", "Datos"]
    assert results[1]["scoring"]["metadata_factor"] == 0.7


def test_use_raises_importance_and_company(memory: Memory) -> None:
    before = memory.search_semantic("el perro", track=False)["results"][0]["scoring"]
    for _ in range(3):
        memory.open_nodes(["Perro", "Café"])
    after = {hit["name"]: hit["scoring"] for hit in memory.search_semantic("el perro", track=False)["results"]}
    assert before["cooc_boost"] == 0
    assert after["Perro"]["cooc_boost"] > 0
    assert after["Perro"]["importance"] > after["Hook"]["importance"]


def test_without_tracking_nothing_is_learnt(memory: Memory) -> None:
    first = memory.search_semantic("el perro", track=False)["results"]
    assert memory.search_semantic("el perro", track=False)["results"] == first
    memory.search_semantic("el perro", limit=1)
    learnt = memory.search_semantic("el perro", track=False)["results"]
    assert {hit["name"]: hit["scoring"]["importance"] for hit in learnt} != {
        hit["name"]: hit["scoring"]["importance"] for hit in first
    }


def test_filters_act_inside_the_search(memory: Memory) -> None:
    memory.create_entities(
        [{"name": f"Acta {n}", "entityType": "Acta", "observations": [f"reunión {n}"]} for n in range(30)]
    )
    memory.create_entities([{"name": "Solo", "entityType": "Nota", "status": "pausado", "observations": ["reunión"]}])
    assert names(memory, "reunión", entity_types=["NOTA"]) == ["Solo"]
    assert names(memory, "reunión", statuses=["pausado"], limit=1) == ["Solo"]
    assert names(memory, "reunión", entity_types=["nada"]) == []


def test_what_is_deleted_or_superseded_is_not_found(memory: Memory) -> None:
    memory.create_entities([{"name": "Zoo", "observations": ["El zarigüeyómetro marca 7"]}])
    assert names(memory, "zarigüeyómetro")[0] == "Zoo"
    memory.delete_observations(name="Zoo", observations=["El zarigüeyómetro marca 7"])
    assert memory.search_semantic("zarigüeyómetro")["results"][0].get("rrf_score") is None


def test_the_end_of_a_long_text_is_found(memory: Memory) -> None:
    filler = "Las plantas del jardín necesitan agua y sol en primavera. " * 400
    text = filler + "La contraseña del almacén la guarda el portero del número 4."
    memory.create_entities([{"name": "Jardín", "observations": [text]}])
    results = memory.search_semantic("contraseña almacén portero", track=False)["results"]
    assert results[0]["name"] == "Jardín"
    assert results[0]["observations"] == [text]
    assert [hit["name"] for hit in results].count("Jardín") == 1


def test_a_long_query_is_answered(memory: Memory) -> None:
    assert names(memory, "palabra " * 490 + "perro") != []


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"query": "  "}, "query"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": 201}, "limit"),
        ({"query": "x" * 4_001}, "query"),
    ],
)
def test_arguments_out_of_range_are_refused(memory: Memory, arguments: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        memory.search_semantic(**arguments)  # pyright: ignore[reportArgumentType]
    assert error.value.field == field


def test_without_a_model_the_error_says_how_to_get_one(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        with pytest.raises(ModelUnavailable) as error:
            memory.search_semantic("x")
        assert error.value.message.startswith("Embedding model not available.")
        assert memory.create_entities([{"name": "Ada"}])["created"] == ["Ada"]


def test_in_a_memory_of_all_ages_a_limit_cuts_the_same_order(tmp_path: Path) -> None:
    clock = FrozenClock(from_iso("2025-01-01"))
    runtime = Runtime(load_settings(store=str(tmp_path / "memory.db"), embedder="hash", catch_up=60), clock)
    catalogue = {each.name: each for each in CATALOGUE}
    for number in range(60):
        entities = [
            {"name": f"Acta {number}-{part}", "observations": [f"reunión del comité {number}" + " y más" * part]}
            for part in range(3)
        ]
        runtime.call(catalogue["create_entities"], {"entities": entities})
        clock.advance(11 * DAY)
    runtime.call(catalogue["open_nodes"], {"names": ["Acta 3-2", "Acta 4-2"]})

    def found(limit: int) -> list[object]:
        given = {"query": "reunión del comité", "limit": limit, "track": False}
        return cast("list[object]", runtime.call(catalogue["search_semantic"], given)["results"])

    whole = found(200)
    assert len(whole) > 100
    assert [found(limit) for limit in (1, 5, 40)] == [whole[:1], whole[:5], whole[:40]]
    runtime.close()


def test_a_candidate_of_little_relevance_may_come_first_by_use(memory: Memory) -> None:
    memory.create_entities([{"name": f"Acta {n:03}", "observations": [f"reunión del comité {n}"]} for n in range(150)])
    whole = memory.search_semantic("reunión del comité", limit=200, track=False)["results"]
    late = whole[len(whole) // 4]["name"]
    for _ in range(40):
        memory.open_nodes([late])
    best = memory.search_semantic("reunión del comité", limit=3, track=False)["results"]
    assert best == memory.search_semantic("reunión del comité", limit=200, track=False)["results"][:3]
    assert late in [hit["name"] for hit in best]
