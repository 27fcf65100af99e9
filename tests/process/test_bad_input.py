"""Every way to call a tool wrongly: a sentence that names the field, and a graph as it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.process.support.client import Json, RpcError, object_at, strings_at, text_at
from tests.process.support.graph import additions, entities, entity, refused, relations, snapshot, triple
from tests.process.support.launch import start_evoca

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.process.support.client import JsonObject, Server

MEGABYTE = "x" * 1_000_000
SURROGATE = "mitad \ud83d de un emoji"
NUL = "antes\0después"
TOO_MANY = 10_001


@pytest.fixture(scope="module")
def stable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a little graph that no test of this module may change."""
    folder = tmp_path_factory.mktemp("stable")
    with start_evoca(folder / "home", folder / "memory.db", env={"EVOCA_EMBEDDER": "hash"}) as server:
        server.ok("create_entities", entities(entity("Pozo", "seco", "hondo"), entity("Molino", "muele")))
        server.ok("create_relations", relations(triple("Pozo", "junto_a", "Molino")))
        yield server


def _refused_without_effect(server: Server, tool: str, arguments: JsonObject, *fragments: str) -> None:
    before = snapshot(server)
    refused(server.call(tool, arguments), *fragments)
    assert snapshot(server) == before


WRONG: dict[str, list[Json]] = {
    "string": [7, 1.5, True, ["x"], {"x": 1}],
    "integer": ["siete", 1.5, True, [1], {}],
    "number": ["siete", True, [1], {}],
    "boolean": ["quizá", 2, [], {}],
    "array": [7, True, "sin corchetes", {"x": 1}, '{"x": 1}', '["sin cerrar'],
}
"""Values that are not of the type, by the type that a schema declares."""
LITERALS = {"object", "value", "new_object", "new_value"}
"""What a fact says of its subject may be a number or a flag, whatever clients are told of it."""
NO_SCALARS: list[Json] = [["x"], {"x": 1}]


def test_a_wrong_type_is_refused_for_every_argument_of_every_tool(stable: Server) -> None:
    before = snapshot(stable)
    checked = 0
    for tool in stable.tools():
        schema = object_at(tool, "inputSchema")
        for argument, declared in object_at(schema, "properties").items():
            scalar = argument in LITERALS or "anyOf" in object_at(declared)
            for value in NO_SCALARS if scalar else WRONG[text_at(declared, "type")]:
                reply = stable.call(text_at(tool, "name"), {**_valid(stable, tool), argument: value})
                refused(reply, argument)
                checked += 1
    assert checked > 80
    assert snapshot(stable) == before


def _valid(server: Server, tool: JsonObject) -> JsonObject:
    """Arguments that would do, so that only the wrong one can be what is complained of."""
    known: dict[str, JsonObject] = {
        "create_entities": entities(),
        "create_relations": relations(),
        "delete_relations": relations(),
        "delete_entities": {"entityNames": []},
        "open_nodes": {"names": []},
        "search_nodes": {"query": "x"},
        "search_semantic": {"query": "x", "track": False},
        "add_observations": {"name": "Pozo", "observations": []},
        "delete_observations": {"name": "Pozo", "observations": []},
    }
    return known.get(text_at(tool, "name"), {})


def test_a_missing_required_argument_is_named(stable: Server) -> None:
    for tool in stable.tools():
        name, schema = text_at(tool, "name"), object_at(tool, "inputSchema")
        for required in strings_at(schema, "required") if "required" in schema else []:
            _refused_without_effect(stable, name, {}, required)
    for tool, arguments, field in (
        ("add_observations", {}, "observations"),
        ("add_observations", {"observations": ["x"]}, "name"),
        ("add_observations", {"name": "Pozo"}, "observations"),
        ("delete_observations", {}, "deletions"),
        ("delete_observations", {"name": "Pozo"}, "observations"),
        ("delete_observations", {"observations": ["x"]}, "name"),
    ):
        _refused_without_effect(stable, tool, arguments, field)


def test_an_unknown_argument_is_refused_by_every_tool(stable: Server) -> None:
    for tool in stable.tools():
        names = list(object_at(tool, "inputSchema", "properties"))
        _refused_without_effect(
            stable, text_at(tool, "name"), {**_valid(stable, tool), "inventado": 1}, "inventado", *names
        )


def test_a_tool_that_does_not_exist_is_named(stable: Server) -> None:
    for name in ("no_such_tool", "", "read_graph "):
        with pytest.raises(RpcError) as raised:
            stable.call(name, {})
        assert name.strip() in raised.value.message


GOOD = triple("Pozo", "a", "Molino")
TAKEN: JsonObject = {"entityName": "Pozo", "observations": ["seco"]}


def _links(bad: JsonObject) -> JsonObject:
    return relations(GOOD, bad)


def _gives(bad: Json) -> JsonObject:
    return {"observations": [{"entityName": "Pozo", "contents": ["x"]}, bad]}


ITEMS: list[tuple[str, JsonObject, tuple[str, ...]]] = [
    ("create_entities", {"entities": [entity("Una"), 7]}, ("entities[1]",)),
    ("create_entities", {"entities": [entity("Una"), "Otra"]}, ("entities[1]",)),
    ("create_entities", {"entities": [entity("Una"), None]}, ("entities[1]",)),
    ("create_entities", {"entities": [{"name": "Una", "entityType": 7}]}, ("entities[0]", "entityType")),
    ("create_entities", {"entities": [{"name": "Una", "observations": ["a", 7]}]}, ("entities[0]", "observations")),
    ("create_entities", {"entities": [{"name": "Una", "observations": ["a", None]}]}, ("entities[0]", "observations")),
    ("create_entities", {"entities": [{"name": "Una", "observations": "a"}]}, ("entities[0]", "observations")),
    ("create_entities", {"entities": [entity("Una"), entity("")]}, ("entities[1]", "name")),
    ("create_entities", {"entities": [entity("Una"), entity(" \t\n")]}, ("entities[1]", "name")),
    ("create_entities", {"entities": [entity("Una"), {"entityType": "x"}]}, ("name", "Field required", "1")),
    ("create_entities", {"entities": [entity("Una", "x"), {"name": 7}]}, ("entities[1]", "name")),
    ("create_entities", {"entities": [entity("Una"), {"name": "B", "nombre": 1}]}, ("entities[1]", "nombre")),
    ("create_relations", _links({"from": "Pozo", "to": "Molino"}), ("[1]", "relationType")),
    ("create_relations", _links({"to": "Molino", "relationType": "x"}), ("[1]", "from")),
    ("create_relations", _links({**GOOD, "type": 7}), ("[1]", "type")),
    ("create_relations", _links(triple("Pozo", " ", "Molino")), ("[1]", "relationType")),
    ("create_relations", _links(triple("", "b", "Molino")), ("[1]", "from")),
    ("create_relations", _links({**GOOD, "kontext": "x"}), ("[1]", "kontext")),
    ("delete_relations", {"relations": [triple("Pozo", "junto_a", "Molino"), {"from": "Pozo"}]}, ("[1]",)),
    ("add_observations", _gives({"entityName": "Pozo"}), ("[1]", "contents")),
    ("add_observations", _gives({"contents": ["y"]}), ("[1]", "entityName")),
    ("add_observations", _gives("y"), ("observations",)),
    ("add_observations", {"observations": [{"entityName": "Pozo", "contents": ["x", 7]}]}, ("[0]", "contents")),
    ("add_observations", {"name": "Pozo", "observations": ["x", 7]}, ("observations[1]",)),
    ("add_observations", {"name": "Pozo", "observations": ["x"], "supersedes": 999_999}, ("supersedes", "999999")),
    ("delete_observations", {"deletions": [TAKEN, {"entityName": "Pozo"}]}, ("[1]", "observations")),
    ("delete_observations", {"name": "Pozo", "observations": ["seco"], "deletions": []}, ("deletions",)),
    ("delete_entities", {"entityNames": ["Pozo", 7]}, ("entityNames[1]",)),
    ("delete_entities", {"entityNames": ["Pozo", None]}, ("entityNames[1]",)),
    ("open_nodes", {"names": ["Pozo", ["x"]]}, ("names[1]",)),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "fragments"), ITEMS)
def test_a_bad_item_names_its_place_and_stops_the_whole_call(
    stable: Server, tool: str, arguments: JsonObject, fragments: tuple[str, ...]
) -> None:
    _refused_without_effect(stable, tool, arguments, *fragments)


def _texts(text: str) -> list[tuple[str, JsonObject, str]]:
    """Each place where a text can stand, after good items, and the name of its field."""
    return [
        ("create_entities", entities(entity("Una"), entity(text)), "entities[1].name"),
        ("create_entities", entities(entity("Una"), entity("B", kind=text)), "entities[1].entityType"),
        ("create_entities", entities(entity("Una"), entity("B", "a", text)), "entities[1].observations[1]"),
        ("create_entities", {"entities": [entity("Una"), {"name": "B", "status": text}]}, "entities[1].status"),
        ("create_relations", relations(triple("Pozo", "a", "Molino"), triple(text, "b", "Molino")), "from"),
        ("create_relations", relations(triple("Pozo", "a", "Molino"), triple("Pozo", "b", text)), "to"),
        ("create_relations", relations(triple("Pozo", "a", "Molino"), triple("Pozo", text, "Molino")), "relationType"),
        ("create_relations", relations({**triple("Pozo", "a", "Molino"), "context": text}), "context"),
        ("add_observations", additions(("Pozo", ["a"]), ("Molino", [text])), "contents[0]"),
        ("add_observations", {"name": "Pozo", "observations": ["a", text]}, "observations[1]"),
        ("add_observations", {"name": "Pozo", "observations": ["a"], "kind": text}, "kind"),
        ("delete_entities", {"entityNames": ["Pozo", text]}, "entityNames[1]"),
        ("delete_observations", {"name": text, "observations": ["seco"]}, "name"),
        ("delete_relations", relations(triple("Pozo", "junto_a", "Molino"), triple("Pozo", "b", text)), "to"),
        ("search_nodes", {"query": text}, "query"),
        ("search_semantic", {"query": text}, "query"),
        ("open_nodes", {"names": ["Pozo", text]}, "names[1]"),
    ]


@pytest.mark.parametrize("text", [NUL, SURROGATE], ids=["NUL", "lone surrogate"])
def test_text_that_cannot_be_kept_is_refused_wherever_it_stands(stable: Server, text: str) -> None:
    for tool, arguments, field in _texts(text):
        _refused_without_effect(stable, tool, arguments, field)
    refused(stable.call("migrate", {"source_path": text}), "source_path")


def test_a_megabyte_of_text_is_refused_with_its_limit(stable: Server) -> None:
    before = snapshot(stable)
    for tool, arguments, field in _texts(MEGABYTE):
        sentence = refused(stable.call(tool, arguments), "1000000")
        assert len(sentence) < 500, "the text itself is in the error"
        assert any(word in sentence.casefold() for word in (field.casefold(), "observation", "query")), sentence
        assert snapshot(stable) == before


MANY: list[Json] = [f"N{n}" for n in range(TOO_MANY)]
MANY_LINKS = [triple("Pozo", f"r{n}", "Molino") for n in range(TOO_MANY)]


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        (
            "create_entities",
            {"entities": [{"name": f"N{n}"} for n in range(TOO_MANY)]},
            "Too many entities: 10001 > 10000. Create fewer entities at a time.",
        ),
        ("create_relations", relations(*MANY_LINKS), "10001 > 10000"),
        ("delete_relations", relations(*MANY_LINKS), "10001 > 10000"),
        ("delete_entities", {"entityNames": MANY}, "Too many entity names: 10001 > 10000."),
        ("open_nodes", {"names": MANY}, "Too many entity names: 10001 > 10000."),
        ("add_observations", {"name": "Pozo", "observations": MANY}, "Too many observations: 10001"),
        ("create_entities", {"entities": [{"name": "Una", "observations": MANY}]}, "Entity 0 has too many"),
        ("delete_observations", {"name": "Pozo", "observations": MANY}, "10001 > 10000"),
        ("create_entities", {"entities": [{"name": "Una", "observations": ["x" * 100_001]}]}, "100001 > 100000"),
        ("create_entities", {"entities": [{"name": "x" * 501}]}, "501 > 500"),
        ("create_entities", {"entities": [{"name": "Una", "entityType": "x" * 129}]}, "129 > 128"),
        ("create_relations", {"relations": [triple("Pozo", "x" * 129, "Molino")]}, "129 > 128"),
        ("search_nodes", {"query": "x" * 4_001}, "Query too long: 4001 > 4000 characters."),
        ("search_semantic", {"query": "x" * 4_001}, "Query too long: 4001 > 4000 characters."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_too_much_in_one_call_is_refused_with_both_numbers(
    stable: Server, tool: str, arguments: JsonObject, sentence: str
) -> None:
    _refused_without_effect(stable, tool, arguments, sentence)


@pytest.mark.parametrize("limit", [0, -1, 201, 10**9, 10**30, -(10**30), 1.5, "diez", True])
@pytest.mark.parametrize("tool", ["search_nodes", "search_semantic", "open_nodes", "read_graph"])
def test_a_limit_out_of_range_is_refused_and_never_clamped(stable: Server, tool: str, limit: Json) -> None:
    given: dict[str, JsonObject] = {"open_nodes": {"names": ["Pozo"]}, "read_graph": {}}
    arguments = {**given.get(tool, {"query": "x"}), "limit": limit}
    _refused_without_effect(stable, tool, arguments, "imit")


@pytest.mark.parametrize("offset", [-1, 1.5, -(10**30), "uno", False])
def test_an_offset_out_of_range_is_refused(stable: Server, offset: Json) -> None:
    _refused_without_effect(stable, "read_graph", {"limit": 5, "offset": offset}, "offset")


def test_an_offset_beyond_the_end_is_an_empty_page(stable: Server) -> None:
    for offset in (2, 10**6, 10**15):
        page = stable.ok("read_graph", {"limit": 5, "offset": offset})
        assert (page.names(), page.number("total"), page.data["has_more"]) == ([], 2, False)


@pytest.mark.parametrize("shape", ["[", '{"a":'], ids=["lists", "objects"])
@pytest.mark.parametrize("depth", [200, 20_000])
def test_deep_nesting_is_an_error_and_no_crash(stable: Server, shape: str, depth: int) -> None:
    closing = "]" if shape == "[" else "}"
    nested = shape * depth + ("" if shape == "[" else "1") + closing * depth
    before = snapshot(stable)
    request = '{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"open_nodes","arguments":{"names":'
    stable.send_bytes(f"{request}{nested}}}}}}}\n".encode())
    refused(stable.call("open_nodes", {"names": nested}), "names")
    assert snapshot(stable) == before


@pytest.mark.parametrize(
    "line",
    [
        b"no es JSON",
        b"{",
        b"[]",
        b"7",
        b'"texto"',
        b"null",
        b"\xff\xfe\x00",
        b'{"jsonrpc":"2.0"}',
        b'{"jsonrpc":"1.0","id":7,"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":7,"method":"no/such/method"}',
        b'{"jsonrpc":"2.0","id":7,"method":7}',
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call"}',
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}',
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":7}}',
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_graph","arguments":[1]}}',
        b'{"jsonrpc":"2.0","id":7,"result":{}}',
        b'{"jsonrpc":"2.0","id":{"x":1},"method":"tools/list"}',
        b"",
        b"   ",
        b"\r",
    ],
)
def test_a_line_that_is_no_request_does_not_end_the_conversation(stable: Server, line: bytes) -> None:
    already = len(stable.lines)
    stable.send_bytes(line + b"\n")
    assert stable.ok("open_nodes", {"names": ["Pozo"]}).names() == ["Pozo"]
    for answer in stable.lines[already:]:
        parsed: object = json.loads(answer)
        assert isinstance(parsed, dict)
        assert "Traceback" not in answer.decode()


def test_a_text_of_every_kind_comes_back_as_it_went_in(home: Path, store: Path) -> None:
    texts = [
        "comillas \" ' ` y barras \\ /",
        "línea\nnueva\r\n\ttabulador",
        "control \x01\x1f\x7f",
        "emoji 👩‍🚀 🇪🇸",
        "de derecha a izquierda: مرحبا",
        "東京 \u200b\u2028\u2029 \ufeff",
        "descompuesto: e\u0301",
        "plano alto: 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
        "no carácter: \ufffe \U0010ffff",
        "'; DROP TABLE entities; --",
        "",
        " ",
        "x" * 100_000,
    ]
    with start_evoca(home, store) as server:
        server.ok("create_entities", entities(entity("Textos", *texts)))
        assert server.ok("read_graph").observations("Textos") == texts
    with start_evoca(home, store) as again:
        assert again.ok("read_graph").observations("Textos") == texts
