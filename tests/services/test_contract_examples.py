"""The contract's requests and answers, section by section (11 to 16 are in the tests of splitting and upkeep)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest

from evoca.errors import EvocaError
from evoca.operations.catalogue import CATALOGUE
from evoca.runtime import Runtime
from evoca.settings import load_settings
from evoca.surfaces.rendering import refusal

OPERATIONS = {name: each for each in CATALOGUE for name in (each.name, *each.aliases)}
SPACE = {
    "name": "CachorroSpace",
    "entityType": "Project",
    "observations": ["Stack: Astro 6.x + Starlight 0.38.x", "Deployed on Vercel at cachorro.space"],
}
INK = {"name": "CachorroInk", "entityType": "Project", "observations": ["Blog built with Astro 5.x"]}
USES = {"from": "CachorroSpace", "to": "Astro", "relationType": "uses"}
Json = Mapping[str, object]


class Server:
    """Calls as a client sees them: errors are answers."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def __call__(self, name: str, arguments: Json) -> Json:
        try:
            return dict(self._runtime.call(OPERATIONS[name], arguments))
        except EvocaError as error:
            return dict(refusal(error, OPERATIONS[name].family))


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Server]:
    runtime = Runtime(load_settings(store=str(tmp_path / "m.db"), embedder="hash"))
    yield Server(runtime)
    runtime.close()


@pytest.fixture
def graph(call: Server) -> Server:
    call("create_entities", {"entities": [SPACE]})
    return call


def without(result: Json, *keys: str) -> dict[str, object]:
    return {key: value for key, value in result.items() if key not in keys}


def test_1_create_entities(call: Server) -> None:
    assert without(call("create_entities", {"entities": [SPACE]}), "created", "updated") == {"entities": [SPACE]}
    error = str(call("create_entities", {"entities": [{"entityType": "Project"}]})["error"])
    assert error.startswith("1 validation error for EntityInput\nname\n  Field required")


def test_2_create_relations(graph: Server) -> None:
    missing = {"from": "CachorroSpace", "to": "NonExistentEntity", "relationType": "uses"}
    assert without(graph("create_relations", {"relations": [missing]}), "error", "hint") == {
        "relations": [{"error": "Entity not found: NonExistentEntity"}],
        "errors": ["Entity not found: NonExistentEntity"],
    }
    graph("create_entities", {"entities": [{"name": "Astro"}]})
    assert graph("create_relations", {"relations": [USES]}) == {"relations": [USES]}
    assert graph("create_relations", {"relations": [USES]}) == {
        "relations": [{**USES, "error": "Relation already exists"}]
    }


def test_3_add_observations(graph: Server) -> None:
    new = ["ECharts 6.x chosen for visualizations", "Accent color: teal (#2dd4bf)"]
    result = graph("add_observations", {"name": "CachorroSpace", "observations": new})
    assert without(result, "results") == {"entity": {**SPACE, "observations": [*SPACE["observations"], *new]}}
    missing = graph("add_observations", {"name": "NonExistentEntity", "observations": new})
    assert without(missing, "hint") == {"error": "Entity not found: NonExistentEntity"}


def test_4_delete_entities(call: Server) -> None:
    call("create_entities", {"entities": [{"name": "Old Project"}, {"name": "Deprecated Component"}]})
    names = ["Old Project", "Deprecated Component"]
    assert call("delete_entities", {"entityNames": names})["deleted"] == names
    call("create_entities", {"entities": [{"name": "Old Project"}]})
    partly = call("delete_entities", {"entityNames": ["Old Project", "Already Deleted Entity"]})
    assert without(partly, "success", "message") == {
        "deleted": ["Old Project"],
        "errors": ["Entity not found: Already Deleted Entity"],
    }


def test_5_delete_observations(graph: Server) -> None:
    given = {"name": "CachorroSpace", "observations": ["Accent color: teal (#2dd4bf)"]}
    graph("add_observations", given)
    assert graph("delete_observations", given)["entity"] == SPACE
    assert graph("delete_observations", {**given, "name": "Nobody"})["error"] == "Entity not found: Nobody"


def test_6_delete_relations(graph: Server) -> None:
    graph("create_entities", {"entities": [{"name": "Astro"}, {"name": "A"}, {"name": "B"}]})
    graph("create_relations", {"relations": [USES]})
    assert without(graph("delete_relations", {"relations": [USES]}), "success", "message") == {"deleted": [USES]}
    unknown = {"from": "A", "to": "B", "relationType": "contains"}
    assert without(graph("delete_relations", {"relations": [unknown]}), "success", "message") == {
        "deleted": [],
        "errors": ["Relation not found: A -> B (contains)"],
    }


def test_7_search_nodes(graph: Server) -> None:
    graph("create_entities", {"entities": [INK]})
    assert graph("search_nodes", {"query": "astro"})["entities"] == [SPACE, INK]


def test_8_open_nodes(graph: Server) -> None:
    assert graph("open_nodes", {"names": ["CachorroSpace", "Astro"]})["entities"] == [SPACE]


def test_9_search_semantic(graph: Server) -> None:
    graph("create_entities", {"entities": [INK]})
    results = cast("list[Json]", graph("search_semantic", {"query": "astro documentation", "limit": 5})["results"])
    assert {str(hit["name"]) for hit in results} == {"CachorroSpace", "CachorroInk"}
    for hit in results:
        assert isinstance(hit["limbic_score"], float)
        assert isinstance(hit["distance"], float)
        assert isinstance(hit["rrf_score"], float)
        scoring = cast("Json", hit["scoring"])
        assert all(isinstance(scoring[key], float) for key in ("importance", "temporal_factor", "cooc_boost"))


def test_10_migrate(call: Server, tmp_path: Path) -> None:
    lines: list[Json] = [
        {"type": "entity", **SPACE},
        {"type": "entity", "name": "Astro", "entityType": "Framework"},
        {"type": "relation", **USES},
        {"type": "entity"},
    ]
    path = tmp_path / "mcp-memory.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\nno json\n", "utf-8")
    result = call("migrate", {"source_path": str(path)})
    assert {key: result[key] for key in ("entities_imported", "relations_imported", "errors", "skipped")} == {
        "entities_imported": 2,
        "relations_imported": 1,
        "errors": 0,
        "skipped": 2,
    }
    assert str(call("migrate", {})["error"]).startswith("source_path is required")


def test_17_end_relation(graph: Server) -> None:
    graph("create_entities", {"entities": [{"name": "Astro"}]})
    graph("create_relations", {"relations": [USES]})
    opened = cast("list[Json]", graph("open_nodes", {"names": ["Astro"], "details": True})["relations"])
    number = opened[0]["id"]
    assert graph("end_relation", {"relation_id": number})["result"] == f"Relation {number} expired successfully"
    assert graph("end_relation", {"relation_id": number})["result"] == f"Relation {number} is already expired"
    assert graph("read_graph", {})["relations"] == []
    assert without(graph("end_relation", {"relation_id": 999}), "hint") == {"error": "Relation with id=999 not found"}


def test_18_and_19_reflections(graph: Server) -> None:
    opened = cast("list[Json]", graph("open_nodes", {"names": ["CachorroSpace"], "details": True})["entities"])
    given = {
        "target_type": "entity",
        "target_id": opened[0]["id"],
        "content": "Esta entidad representa la decisión arquitectónica central que dio forma a todo el proyecto.",
        "author": "nolan",
        "mood": "insight",
    }
    added = cast("Json", graph("add_reflection", given)["result"])
    assert set(added) == {"id", "target_type", "target_id", "author", "content", "mood", "created_at"}
    assert without(added, "id", "created_at") == given
    asked = {"query": "decisiones de arquitectura que formaron el proyecto", "author": "nolan", "limit": 5}
    (found,) = cast("list[Json]", graph("search_reflections", asked)["results"])
    assert without(found, "score") == added
    assert isinstance(found["score"], float)
    assert graph("add_reflection", {"target_type": "global", "content": ""})["error"] == "content cannot be empty"
