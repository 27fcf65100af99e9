"""What many clients of one `evoca serve` rely on: nothing lost, nobody let in who has no key."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evoca.domain.tenancy import Scope
from tests.process.support.client import DEADLINE, objects_at, strings_at
from tests.process.support.graph import entities, entity
from tests.process.support.http import HttpServer, bearer, make_key, revoke_key
from tests.process.support.launch import start_evoca

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.process.support.client import JsonObject

Serve = Callable[..., HttpServer]
ROUNDS = 6


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """One server without keys; searches by meaning use the stand-in model."""
    folder = tmp_path_factory.mktemp("serve")
    (folder / "home").mkdir()
    env = {"EVOCA_ALLOWED_HOSTS": "memoria.lan:*", "EVOCA_EMBEDDER": "hash"}
    with HttpServer(folder / "home", folder / "memory.db", env=env) as server:
        yield server


def test_b002_one_stdio_and_one_http_process_share_a_store(serve: Serve, home: Path, store: Path) -> None:
    server = serve()
    with start_evoca(home, store) as stdio:
        pending = [stdio.post("create_entities", entities(entity("A-000")))]
        for number in range(1, 50):
            pending.append(stdio.post("create_entities", entities(entity(f"A-{number:03}"))))
            server.done("create_entities", entities(entity(f"B-{number:03}")))
        server.done("create_entities", entities(entity("B-000")))
        assert not any(each.reply().is_error for each in pending)
        expected = {f"{who}-{number:03}" for who in "AB" for number in range(50)}
        assert set(stdio.ok("read_graph").names()) == expected
        assert server.names() == expected
    with start_evoca(home, store) as third:
        assert set(third.ok("read_graph").names()) == expected


def test_b025_just_stored_is_found(shared: HttpServer) -> None:
    connection = shared.connection()
    for number in range(50):
        text = f"El código del taller {number} es 44{number}-K"
        shared.done("save_hipocampo", {"content": text}, connection)
        found = shared.done("search_hipocampo", {"query": f"código del taller {number}"}, connection)
        assert text in [each["content"] for each in objects_at(found, "memories")]
    connection.close()


PING: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/mcp", PING), ("POST", "/v1/memory_status", {}), ("GET", "/docs", None), ("GET", "/", None),
        ("GET", "/metrics", None), ("GET", "/openapi.json", None), ("GET", "/healthz", None), ("GET", "/nada", None),
    ],
)  # fmt: skip
def test_b034_the_guard_is_the_same_everywhere(
    shared: HttpServer, method: str, path: str, body: JsonObject | None
) -> None:
    def status(**headers: str) -> int:
        return shared.request(method, path, body, headers).status

    plain = status()
    assert plain not in {403, 421}
    for foreign in ("malo.example", f"malo.example:{shared.port}", "localhost.malo.example"):
        assert status(Host=foreign) == 421
    for foreign in ("https://malo.example", "null"):
        assert status(Origin=foreign) == 403
    for own in (f"localhost:{shared.port}", "127.0.0.1", f"[::1]:{shared.port}", "memoria.lan:80", "memoria.lan"):
        assert status(Host=own) == plain
    assert status(Origin=f"http://localhost:{shared.port}") == plain


def test_32_clients_at_once(shared: HttpServer) -> None:
    """Mixed reads and writes over connections that stay: no error, and nothing lost."""

    def client(number: int) -> None:
        connection = shared.connection()
        for step in range(ROUNDS):
            name = f"c{number}-{step}"
            shared.done("create_entities", entities(entity(name, f"Vio {step} garzas")), connection)
            shared.done("add_observations", {"name": name, "observations": [f"Y {number} grullas"]}, connection)
            found = shared.done("open_nodes", {"names": [name]}, connection)
            assert len(strings_at(found, "entities", 0, "observations")) == 2
            shared.done("search_semantic", {"query": f"garzas {number}", "limit": 5}, connection)
            shared.done("search_nodes", {"query": name}, connection)
        connection.close()

    with ThreadPoolExecutor(32) as pool:
        for done in [pool.submit(client, number) for number in range(32)]:
            done.result(DEADLINE)
    made = {f"c{number}-{step}" for number in range(32) for step in range(ROUNDS)}
    assert made <= shared.names()
    counted = shared.request("GET", "/metrics").body.decode()
    line = f'evoca_operations_total{{operation="create_entities",outcome="ok",surface="rest"}} {len(made)}.0'
    assert line in counted
    assert "evoca_http_requests_in_flight 1.0" in counted


def test_b035_nothing_without_a_key(serve: Serve, store: Path) -> None:
    house = make_key(store, "casa", Scope.WRITE, ["casa"])
    site = make_key(store, "obra", Scope.WRITE, ["obra"])
    server = serve()
    kept = server.request("POST", "/v1/save_hipocampo", {"content": "La llave está bajo la maceta"}, bearer(house))
    memory = kept.at("id")
    for method, path in (
        ("POST", "/v1/get_hipocampo"), ("POST", "/v1/read_graph"), ("GET", "/metrics"), ("POST", "/mcp"),
        ("GET", "/mcp"), ("GET", "/v1/export"), ("GET", "/nada"),
    ):  # fmt: skip
        for headers in ({}, bearer("evoca_" + "A" * 43), bearer(house[:-1]), {"Authorization": house}):
            assert server.request(method, path, {}, headers).status == 401
        assert server.request(method, f"{path}?token={house}", {}, bearer(house)).status == 401
    for path in ("/", "/docs", "/openapi.json", "/healthz", "/readyz"):
        assert server.request("GET", path).status == 200
    for operation, arguments in (
        ("get_hipocampo", {"id": memory}), ("update_hipocampo", {"id": memory, "content": "otra"}),
        ("graph_hipocampo", {"node_id": memory}), ("delete_hipocampo", {"id": memory, "force": True}),
        ("get_hipocampo", {"id": memory, "collection": "casa"}), ("read_graph", {"collection": "casa"}),
    ):  # fmt: skip
        other = server.request("POST", f"/v1/{operation}", arguments, bearer(site))
        assert (other.status, other.code) == (404, "not_found"), operation
    assert b"maceta" in server.request("POST", "/v1/get_hipocampo", {"id": memory}, bearer(house)).body
    session = server.session(bearer(house))
    assert "isError" not in server.tool(session, "get_hipocampo", {"id": memory})
    assert server.request("POST", "/mcp", PING, session | bearer(site)).status == 404
    assert server.request("GET", "/metrics", headers=bearer(house)).status == 403
    server.process.terminate()
    server.process.wait(DEADLINE)
    assert "maceta" not in server.log
    assert not any(secret in server.log for secret in (house, site))


def test_a_reading_key_does_not_write(serve: Serve, store: Path) -> None:
    secret = make_key(store, "lee", Scope.READ)
    server = serve(headers=bearer(secret))
    refused = server.call("create_entities", entities(entity("Ana")))
    assert (refused.status, refused.code) == (403, "forbidden")
    assert server.tool(server.session(), "create_entities", entities(entity("Ana")))["isError"] is True
    assert server.names() == set()


def test_keys_made_and_revoked_meanwhile_count_at_once(serve: Serve, store: Path) -> None:
    server = serve()
    assert server.call("read_graph").status == 200
    secret = make_key(store, "nueva", Scope.READ)
    assert server.call("read_graph").status == 401
    assert server.call("read_graph", headers=bearer(secret)).status == 200
    revoke_key(store, "nueva")
    assert server.call("read_graph", headers=bearer(secret)).status == 401
    assert server.call("read_graph").status == 401
