"""Two servers on one store: what one has acknowledged, the other knows at once."""

from __future__ import annotations

import http.client
import json
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from evoca.domain.tenancy import Scope
from tests.process.support.client import JsonObject, objects_at, text_at
from tests.process.support.graph import additions, entities, entity, relations, triple
from tests.process.support.http import HttpServer, bearer, make_key, revoke_key
from tests.support.engines import POSTGRES, SQLITE, Servers

GRAPH = "memory://knowledge-graph"
MODERN = "2026-07-28"
ENV = {"EVOCA_EMBEDDER": "hash", "EVOCA_CATCH_UP": "30", "EVOCA_INDEXER_REST": "0"}
ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Pair:
    one: HttpServer
    other: HttpServer
    place: str

    def turns(self) -> Iterator[tuple[int, HttpServer, HttpServer]]:
        """A number, who writes, and who reads."""
        for number in range(ROUNDS):
            yield number, *((self.one, self.other) if number % 2 else (self.other, self.one))


@contextmanager
def started(engine: str, servers: Servers, folder: Path) -> Generator[Pair]:
    home = folder / "home"
    with (
        servers.place(engine, folder) as place,
        HttpServer(home, place, env=ENV) as one,
        HttpServer(home, place, env=ENV) as other,
    ):
        yield Pair(one, other, place)


@pytest.fixture(params=[SQLITE, POSTGRES], scope="module")
def pair(request: pytest.FixtureRequest, servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two servers; the last test of the module makes keys."""
    with started(str(request.param), servers, tmp_path_factory.mktemp("pair")) as pair:
        yield pair


def names(found: JsonObject, key: str = "entities") -> list[str]:
    return [text_at(each, "name") for each in objects_at(found, key)]


def test_entities_are_found_by_their_words(pair: Pair) -> None:
    for number, writer, reader in pair.turns():
        name, word = f"Molino {number}", f"harina{number}"
        writer.done("create_entities", entities(entity(name)))
        assert names(reader.done("open_nodes", {"names": [name]})) == [name]
        writer.done("add_observations", additions((name, [f"Muele {word} de noche"])))
        assert names(reader.done("search_nodes", {"query": word})) == [name]
        assert name in names(reader.done("search_semantic", {"query": f"muele {word}"}), "results")
        writer.done("delete_entities", {"entityNames": [name]})
        assert not names(reader.done("search_nodes", {"query": word}))
        assert name not in names(reader.done("search_semantic", {"query": f"muele {word}"}), "results")


def test_memories_are_found_by_their_words(pair: Pair) -> None:
    for number, writer, reader in pair.turns():
        saved = writer.done("save_hipocampo", {"content": f"La clave del portal {number} es k{number}z"})
        found = reader.done("search_hipocampo", {"query": f"k{number}z"})
        assert saved["id"] in [each["id"] for each in objects_at(found, "memories")]
        writer.done("update_hipocampo", {"id": saved["id"], "content": f"La clave del portal {number} es q{number}y"})
        found = reader.done("search_hipocampo", {"query": f"q{number}y"})
        assert saved["id"] in [each["id"] for each in objects_at(found, "memories")]
        writer.done("delete_hipocampo", {"id": saved["id"], "force": True})
        assert reader.call("get_hipocampo", {"id": saved["id"]}).status == 404


def test_facts_are_recalled_and_walked(pair: Pair) -> None:
    for number, writer, reader in pair.turns():
        who, town, land = f"Eva {number}", f"Villa {number}", f"Valle {number}"
        writer.done("remember", {"subject": who, "predicate": "vive_en", "object": town})
        assert [each["object"] for each in _facts(reader, who)] == [town]
        writer.done("remember", {"subject": town, "predicate": "en", "object": land})
        path = reader.done("find_path", {"from": who, "to": land})
        assert path["path"] == [who, town, land]
        walked = reader.done("recall_connections", {"entity": who, "depth": 2})
        assert len(objects_at(walked, "facts")) == 2
        writer.done("remember", {"subject": who, "predicate": "vive_en", "object": f"Otra {town}"})
        assert [each["object"] for each in _facts(reader, who)] == [f"Otra {town}"]
        assert reader.done("find_path", {"from": who, "to": land})["found"] is False
        writer.done("forget", {"subject": town, "predicate": "en", "object": land})
        assert not _facts(reader, town, "en")


def _facts(server: HttpServer, subject: str, predicate: str = "vive_en") -> list[JsonObject]:
    found = server.done("recall", {"query": subject, "predicate": predicate})
    return [each for each in objects_at(found, "facts") if each["subject"] == subject]


def test_relations_are_walked(pair: Pair) -> None:
    for number, writer, reader in pair.turns():
        ends = [f"Norte {number}", f"Sur {number}"]
        reader.done("create_entities", entities(*map(entity, ends)))
        writer.done("create_relations", relations(triple(ends[0], "mira_a", ends[1])))
        assert len(objects_at(reader.done("open_nodes", {"names": ends}), "relations")) == 1
        assert reader.done("find_path", {"from": ends[0], "to": ends[1]})["path"] == ends
        writer.done("end_relation", triple(ends[0], "mira_a", ends[1]))
        assert reader.done("find_path", {"from": ends[0], "to": ends[1]})["found"] is False
        assert not objects_at(reader.done("open_nodes", {"names": ends}), "relations")


def test_collections_come_and_go(pair: Pair) -> None:
    for number, writer, reader in pair.turns():
        within: JsonObject = {"collection": "obra"}
        writer.done("create_collection", {"code": "obra"})
        assert names(reader.done("read_graph", within)) == []
        reader.done("create_entities", {**entities(entity(f"Grúa {number}")), **within})
        assert names(writer.done("read_graph", within)) == [f"Grúa {number}"]
        reader.done("remember", {"subject": f"Grúa {number}", "predicate": "pesa", "value": "9 t", **within})
        assert objects_at(writer.done("recall", {"query": f"Grúa {number}", **within}), "facts")
        writer.done("delete_collection", {"code": "obra", "confirm": True})
        for operation, arguments in (
            ("read_graph", {}), ("create_entities", entities(entity("x"))), ("search_hipocampo", {"query": "x"}),
            ("recall", {"query": "x"}), ("search_semantic", {"query": "x"}),
        ):  # fmt: skip
            assert reader.call(operation, {**arguments, **within}).status == 404, operation


def heard(stream: http.client.HTTPResponse, method: str) -> None:
    """Read the stream until it says this; it fails at the end of the stream, or after the client's deadline."""
    for line in iter(stream.readline, b""):
        if method.encode() in line:
            return
    raise AssertionError(f"the stream ended before {method}")


def test_a_subscriber_hears_of_the_other_servers_writes(pair: Pair) -> None:
    session = pair.other.session()
    subscribe: JsonObject = {"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": GRAPH}}
    assert pair.other.request("POST", "/mcp", subscribe, session).status == 200
    with closing(pair.other.connection()) as connection:
        connection.request("GET", "/mcp", headers=session)
        stream = connection.getresponse()
        for number in range(3):
            pair.one.done("create_entities", entities(entity(f"Aviso {number}")))
            heard(stream, "notifications/resources/updated")


def test_a_listener_of_the_current_revision_hears_them_too(pair: Pair) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params: JsonObject = {"notifications": {"resourceSubscriptions": [GRAPH]}, "_meta": meta}
    message: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "subscriptions/listen",
        "Content-Type": "application/json",
    }
    with closing(pair.other.connection()) as connection:
        connection.request("POST", "/mcp", json.dumps(message).encode(), headers)
        stream = connection.getresponse()
        heard(stream, "notifications/subscriptions/acknowledged")
        for number in range(3):
            pair.one.done("create_entities", entities(entity(f"Nota {number}")))
            heard(stream, "notifications/resources/updated")


def test_keys_count_at_once_on_both(pair: Pair) -> None:
    """Last: from here on both servers want a key."""
    for number, one, other in pair.turns():
        secret = make_key(pair.place, f"llave {number}", Scope.READ)
        for server in (one, other):
            assert server.call("read_graph").status == 401
            assert server.call("read_graph", headers=bearer(secret)).status == 200
            assert server.call("create_collection", {"code": "x"}, headers=bearer(secret)).status == 403
        revoke_key(pair.place, f"llave {number}")
        for server in (one, other):
            assert server.call("read_graph", headers=bearer(secret)).status == 401
