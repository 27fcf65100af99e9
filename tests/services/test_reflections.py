"""Reflections: checked targets, forgiving spellings, filters inside the search, and what outlives its target."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evoca import Memory
from evoca.errors import InvalidInput, ModelUnavailable, NotFound
from tests.services.test_relations import relation

CENTRAL = "Esta entidad representa la decisión arquitectónica central que dio forma a todo el proyecto."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", embedder="hash") as opened:
        opened.create_entities([{"name": "Proyecto", "observations": ["x"]}, {"name": "Casa"}])
        yield opened


def entity_id(memory: Memory, name: str) -> int:
    return memory.open_nodes([name], details=True)["entities"][0].get("id", 0)


def test_the_contract_s_example(memory: Memory) -> None:
    target = entity_id(memory, "Proyecto")
    result = memory.add_reflection("entity", CENTRAL, author="nolan", mood="insight", target_id=target)["result"]
    assert {key: value for key, value in result.items() if key not in ("id", "created_at")} == {
        "target_type": "entity",
        "target_id": target,
        "author": "nolan",
        "content": CENTRAL,
        "mood": "insight",
    }
    found = memory.search_reflections("decisiones de arquitectura que formaron el proyecto", author="nolan", limit=5)
    assert [set(hit) for hit in found["results"]] == [{*result, "score"}]
    assert found["results"][0]["id"] == result["id"]


def test_the_author_is_sofia_unless_said(memory: Memory) -> None:
    assert memory.add_reflection("global", "Un buen día")["result"]["author"] == "sofia"


def test_targets_by_name(memory: Memory) -> None:
    result = memory.add_reflection("entity", "x", target_name="Proyecto")["result"]
    assert result["target_id"] == entity_id(memory, "Proyecto")
    memory.create_relations([relation("Proyecto", "ocupa", "Casa")])
    edge = memory.open_nodes(["Casa"], details=True)["relations"][0].get("id")
    by_names = memory.add_reflection("relation", "y", from_="Proyecto", to="Casa", relationType="ocupa")["result"]
    assert by_names["target_id"] == edge
    assert memory.add_reflection("relation", "z", target_id=edge)["result"]["target_id"] == edge


def test_case_and_accents_are_forgiven(memory: Memory) -> None:
    result = memory.add_reflection(" Global ", "x", mood="Frustración")["result"]
    assert (result["target_type"], result["mood"]) == ("global", "frustracion")


def test_a_session_may_have_a_number(memory: Memory) -> None:
    assert memory.add_reflection("session", "x")["result"]["target_id"] is None
    assert memory.add_reflection("session", "x", target_id=7)["result"]["target_id"] == 7


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"target_type": "planet", "content": "x"}, "target_type"),
        ({"target_type": "global", "content": "x", "mood": "hambre"}, "mood"),
        ({"target_type": "global", "content": "  "}, "content"),
        ({"target_type": "global", "content": "x", "target_id": 1}, "target_id"),
        ({"target_type": "entity", "content": "x"}, "target_id"),
        ({"target_type": "relation", "content": "x"}, "target_id"),
        ({"target_type": "relation", "content": "x", "from_": "Casa"}, "relationType"),
        ({"target_type": "entity", "content": "x", "target_id": 1, "target_name": "Casa"}, "target_name"),
    ],
)
def test_what_is_wrong_is_named(memory: Memory, arguments: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        memory.add_reflection(**arguments)  # pyright: ignore[reportArgumentType]
    assert error.value.field == field
    assert memory.memory_status()["counts"]["reflections"] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"target_type": "entity", "target_id": 999},
        {"target_type": "entity", "target_name": "Nadie"},
        {"target_type": "relation", "target_id": 999},
        {"target_type": "relation", "from_": "Casa", "to": "Proyecto", "relationType": "ocupa"},
    ],
)
def test_unknown_targets_are_refused(memory: Memory, arguments: dict[str, str]) -> None:
    with pytest.raises(NotFound):
        memory.add_reflection(content="x", **arguments)  # pyright: ignore[reportArgumentType]
    assert memory.memory_status()["counts"]["reflections"] == 0


def test_an_entity_of_another_collection_is_unknown(tmp_path: Path, memory: Memory) -> None:
    target = entity_id(memory, "Proyecto")
    with Memory(tmp_path / "memory.db", embedder="hash", collection="otra") as other, pytest.raises(NotFound):
        other.add_reflection("entity", "x", target_id=target)


def test_filters_do_not_hide_matches_behind_others(memory: Memory) -> None:
    for number in range(60):
        memory.add_reflection("global", f"El viento de la tarde {number}", author="nolan")
    memory.add_reflection("session", "El viento", author="sofia", mood="duda")
    assert len(memory.search_reflections("viento de la tarde", author="sofia")["results"]) == 1
    assert len(memory.search_reflections("viento de la tarde", mood="Duda")["results"]) == 1
    assert len(memory.search_reflections("viento de la tarde", target_type="session")["results"]) == 1
    assert memory.search_reflections("viento", author="nadie")["results"] == []


def test_observations_are_no_reflections_and_the_reverse(memory: Memory) -> None:
    memory.add_reflection("global", "El zarigüeyómetro duerme")
    assert all("rrf_score" not in hit for hit in memory.search_semantic("zarigüeyómetro")["results"])
    memory.create_entities([{"name": "Zoo", "observations": ["ornitorrinco"]}])
    assert all("ornitorrinco" not in hit["content"] for hit in memory.search_reflections("ornitorrinco")["results"])


def test_details_show_what_is_said_of_an_entity(memory: Memory) -> None:
    memory.add_reflection("entity", CENTRAL, target_name="Proyecto", mood="insight")
    said = memory.open_nodes(["Proyecto"], details=True)["entities"][0].get("reflections", [])
    assert [(row["content"], row["mood"]) for row in said] == [(CENTRAL, "insight")]


def test_a_reflection_outlives_what_it_is_about(memory: Memory) -> None:
    memory.create_relations([relation("Proyecto", "ocupa", "Casa")])
    memory.add_reflection("entity", CENTRAL, target_name="Proyecto")
    memory.add_reflection("relation", "Fue por el ruido", from_="Proyecto", to="Casa", relationType="ocupa")
    memory.delete_entities(["Proyecto"])
    found = {hit["content"]: hit for hit in memory.search_reflections("decisión ruido")["results"]}
    assert found[CENTRAL].get("former_target") == "Proyecto"
    assert found["Fue por el ruido"].get("former_target") == "Proyecto -> Casa (ocupa)"
    assert {hit["target_type"] for hit in found.values()} == {"global"}
    assert {hit["target_id"] for hit in found.values()} == {None}


def test_a_deleted_relation_leaves_what_was_said_of_it(memory: Memory) -> None:
    memory.create_relations([relation("Proyecto", "ocupa", "Casa")])
    memory.add_reflection("relation", "Fue por el ruido", from_="Proyecto", to="Casa", relationType="ocupa")
    memory.delete_relations([relation("Proyecto", "ocupa", "Casa")])
    assert memory.search_reflections("ruido")["results"][0].get("former_target") == "Proyecto -> Casa (ocupa)"


def test_without_a_model_the_search_says_so_and_writing_works(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        memory.add_reflection("global", "x")
        with pytest.raises(ModelUnavailable, match=r"^Embedding model not available\."):
            memory.search_reflections("x")
