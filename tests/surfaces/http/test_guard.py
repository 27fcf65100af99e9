"""What holds for every route."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from evoca.domain.tenancy import LOCAL
from evoca.logs import configure
from tests.surfaces.http.asgi import JSON, MCP, Exchange, Keyed, bearer, client, until
from tests.surfaces.toy import Toy

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.anyio

OPEN = ["/", "/docs", "/assets/docs.js", "/assets/swagger-ui.css", "/healthz", "/readyz", "/openapi.json"]
CLOSED = [
    ("GET", "/metrics"), ("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("POST", "/v1/echo"),
    ("POST", "/v1/save"), ("POST", "/v1/read_graph"), ("GET", "/v1/export"), ("GET", "/nothing"), ("GET", "/viewer"),
    ("GET", "/docs/"), ("GET", "/docs/x"), ("PUT", "/v1/echo"), ("OPTIONS", "/v1/echo"),
]  # fmt: skip
EVERYWHERE = [("GET", path) for path in OPEN] + CLOSED


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)


@pytest.fixture
def keyed(tmp_path: Path) -> Keyed:
    return Keyed(tmp_path)


@pytest.mark.parametrize(("method", "path"), EVERYWHERE)
async def test_a_foreign_host_or_origin_gets_nothing_anywhere(toy: Toy, method: str, path: str) -> None:
    async with client(toy) as http:
        foreign = await http.ask(method, path, {"host": "malo.example"})
        assert (foreign.status, foreign.code) == (421, "wrong_host")
        page = await http.ask(method, path, {"origin": "https://malo.example"})
        assert (page.status, page.code) == (403, "forbidden")


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1:8420", "[::1]:8420", "10.1.2.3:8420"])
async def test_the_servers_own_names_pass(toy: Toy, host: str) -> None:
    async with client(toy) as http:
        for headers in ({"host": host}, {"host": host, "origin": f"http://{host}"}):
            answer = await http.ask("POST", "/v1/echo", headers | JSON, {"text": "hola"}, here="10.1.2.3")
            assert answer.json == {"text": "hola"}


async def test_further_hosts_and_origins_are_settings(toy: Toy) -> None:
    async with client(toy, allowed_hosts="memoria.lan:*", allowed_origins="https://app.example") as http:
        headers = {"host": "memoria.lan:8420", "origin": "https://app.example"}
        answer = await http.ask("POST", "/v1/echo", headers, {"text": "hola"})
        assert answer.status == 200
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        assert (await http.ask("GET", "/", {"host": "memoria.lan.malo.example"})).status == 421


async def test_a_page_of_a_listed_origin_may_ask_first(keyed: Keyed) -> None:
    asks = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    async with client(keyed, allowed_origins="https://app.example") as http:
        answer = await http.ask("OPTIONS", "/v1/echo", asks | {"origin": "https://app.example"})
        assert answer.status == 204
        assert answer.headers["access-control-allow-headers"] == "authorization"
        local = await http.ask("OPTIONS", "/v1/echo", asks | {"origin": "http://localhost:3000"} | bearer("evoca_todo"))
        assert local.status == 405
        assert "access-control-allow-origin" not in local.headers


@pytest.mark.parametrize("path", OPEN)
async def test_what_needs_no_key(keyed: Keyed, path: str) -> None:
    async with client(keyed) as http:
        assert (await http.ask("GET", path)).status == 200


@pytest.mark.parametrize(("method", "path"), CLOSED)
@pytest.mark.parametrize(
    "headers",
    [
        {}, bearer(""), bearer("evoca_nada"), {"authorization": "evoca_todo"}, {"authorization": "Basic evoca_todo"},
        {"authorization": "Bearer evoca_nada, Bearer evoca_todo"}, {"x-api-key": "evoca_todo"},
        {"cookie": "authorization=evoca_todo"},
    ],
)  # fmt: skip
async def test_everything_else_needs_a_known_key(keyed: Keyed, method: str, path: str, headers: dict[str, str]) -> None:
    async with client(keyed) as http:
        answer = await http.ask(method, path, {**MCP, **headers}, b"{}" if method == "POST" else b"")
        assert (answer.status, answer.code) == (401, "unauthorized")
        assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("query", ["token=evoca_todo", "access_token=x", "api_key=", "a=1&KEY=x", "q=evoca_todo"])
@pytest.mark.parametrize(("method", "path"), [("POST", "/v1/echo"), ("GET", "/docs"), ("POST", "/mcp"), ("GET", "/x")])
async def test_a_key_in_the_address_is_refused(keyed: Keyed, query: str, method: str, path: str) -> None:
    async with client(keyed) as http:
        for headers in ({}, bearer("evoca_todo")):
            assert (await http.ask(method, f"{path}?{query}", headers)).status == 401


async def test_two_keys_are_none(keyed: Keyed) -> None:
    async with client(keyed) as http:
        twice = [("authorization", "Bearer evoca_todo"), ("authorization", "Bearer evoca_casa")]
        assert (await http.ask("POST", "/v1/echo", twice)).status == 401


async def test_a_known_key_is_whom_the_operation_works_for(keyed: Keyed) -> None:
    async with client(keyed) as http:
        answer = await http.call("echo", {"text": "hola"}, bearer("evoca_casa"))
        assert answer.status == 200
        assert keyed.caller == keyed.keys["evoca_casa"]


async def test_without_keys_everybody_is_the_local_user(toy: Toy) -> None:
    async with client(toy) as http:
        assert (await http.call("echo", {"text": "hola"}, bearer("misconfigured"))).status == 200
        assert toy.caller == LOCAL


async def test_a_key_made_meanwhile_closes_the_door_for_good(tmp_path: Path) -> None:
    keyed = Keyed(tmp_path, {})
    async with client(keyed) as http:
        assert (await http.call("echo", {"text": "a"})).status == 200
        keyed.keys, keyed.ever = dict(Keyed(tmp_path).keys), True
        assert (await http.call("echo", {"text": "a"})).status == 401
        keyed.keys, keyed.ever = {}, False
        assert (await http.call("echo", {"text": "a"}, bearer("evoca_todo"))).status == 401


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/v1/echo"), ("POST", "/mcp"), ("GET", "/healthz"), ("PUT", "/x")]
)
async def test_a_large_body_is_refused_wherever_it_goes(toy: Toy, method: str, path: str) -> None:
    async with client(toy, max_body=2000) as http:
        declared = await http.ask(method, path, JSON | {"content-length": "2001"}, b"{}")
        assert (declared.status, declared.code) == (413, "payload_too_large")
        chunked = await http.ask(method, path, JSON, [b"x" * 500] * 5)
        assert (chunked.status, chunked.code) == (413, "payload_too_large")


async def test_a_body_in_pieces_is_one_body(toy: Toy) -> None:
    async with client(toy, max_body=2000) as http:
        pieces = [bytes([letter]) for letter in b'{"text": "hola"}']
        assert (await http.ask("POST", "/v1/echo", JSON, pieces)).json == {"text": "hola"}


async def test_each_key_has_its_rate(keyed: Keyed) -> None:
    async with client(keyed, rate_limit=2) as http:
        first = [(await http.call("echo", {"text": "a"}, bearer("evoca_todo"))).status for _ in range(3)]
        assert first == [200, 200, 429]
        late = await http.call("echo", {"text": "a"}, bearer("evoca_todo"))
        assert (late.status, late.code) == (429, "rate_limited")
        assert 1 <= int(late.headers["retry-after"]) <= 30
        assert (await http.call("echo", {"text": "a"}, bearer("evoca_casa"))).status == 200
        assert (await http.ask("GET", "/healthz")).status == 200


async def test_without_keys_there_is_no_rate(toy: Toy) -> None:
    async with client(toy, rate_limit=1) as http:
        assert {(await http.call("echo", {"text": "a"})).status for _ in range(5)} == {200}


async def test_a_slow_request_is_given_up_and_leaves_nothing(toy: Toy, tmp_path: Path) -> None:
    async with client(toy, request_timeout=0.2) as http:
        answer = await http.call("hold", {"text": "tarde"})
        assert (answer.status, answer.code) == (503, "timeout")
        assert (tmp_path / "dropped-tarde").exists()
        assert (await http.call("read_graph", {})).json == {"names": []}


async def test_a_body_that_does_not_come_is_not_waited_for(toy: Toy) -> None:
    async with client(toy, request_timeout=0.1) as http:
        answer = await http.send(Exchange([b"{"], stalled=True), "POST", "/v1/echo", JSON)
        assert (answer.status, answer.code) == (503, "timeout")


async def test_a_client_that_goes_away_leaves_nothing(toy: Toy, tmp_path: Path) -> None:
    exchange = Exchange([json.dumps({"text": "adiós"}).encode()])
    async with client(toy) as http, anyio.create_task_group() as group:
        group.start_soon(http.send, exchange, "POST", "/v1/hold", JSON)
        await until((tmp_path / "holding-adiós").exists)
        exchange.leave()
        await until((tmp_path / "dropped-adiós").exists)
    assert not exchange.answer.status
    assert toy.graph_version() == 0


async def test_every_answer_has_its_headers(keyed: Keyed) -> None:
    async with client(keyed) as http:
        answers = [
            await http.ask("GET", "/docs"),
            await http.ask("GET", "/healthz"),
            await http.ask("GET", "/nothing", bearer("evoca_todo")),
            await http.ask("POST", "/v1/echo"),
            await http.ask("GET", "/", {"host": "malo.example"}),
            await http.ask("POST", "/mcp", MCP | bearer("evoca_todo"), b"{"),
        ]
    for answer in answers:
        headers = answer.headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"].split("script-src")[-1].split(";")[0]
        assert len(headers["x-request-id"]) == 32


async def test_a_request_may_bring_its_id(toy: Toy) -> None:
    async with client(toy) as http:
        assert (await http.ask("GET", "/", {"x-request-id": "abc-1"})).headers["x-request-id"] == "abc-1"
        forged = await http.ask("GET", "/", {"x-request-id": "a b\tc" + "x" * 100})
        assert len(forged.headers["x-request-id"]) == 32


@pytest.fixture
def quiet_again() -> Iterator[None]:
    yield
    configure("warning")


@pytest.mark.usefixtures("quiet_again")
async def test_the_log_tells_requests_and_no_contents(
    keyed: Keyed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configure("info", "json", tmp_path / "log")
    async with client(keyed) as http:
        await http.call("echo", {"text": "confidencial"}, bearer("evoca_casa"))
        await http.ask("GET", "/v1/confidencial?que=confidencial", bearer("evoca_todo"))
        await http.ask("GET", "/v1/echo?token=confidencial")
        await http.call("explode", {"text": "confidencial"}, bearer("evoca_todo"))
    logged = (tmp_path / "log").read_text("utf-8")
    lines = [json.loads(line) for line in logged.splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert [(line["method"], line["route"], line["status"], line["key"]) for line in requests] == [
        ("POST", "/v1/echo", 200, 2), ("GET", "other", 404, 3), ("GET", "/v1/echo", 401, None),
        ("POST", "/v1/explode", 500, 3),
    ]  # fmt: skip
    assert all(line["ms"] >= 0 and line["id"] for line in requests)
    for word in ("confidencial", "evoca_casa", "evoca_todo"):
        assert word not in logged + capsys.readouterr().err


async def test_an_ending_server_takes_nothing_more(toy: Toy) -> None:
    async with client(toy) as http:
        await http.app.stop()
        answer = await http.call("echo", {"text": "a"})
        assert (answer.status, answer.code) == (503, "shutting_down")


async def test_websockets_are_closed(toy: Toy) -> None:
    sent: list[object] = []

    async def receive() -> dict[str, object]:
        return {"type": "websocket.connect"}

    async def send(message: object) -> None:
        sent.append(message)

    async with client(toy) as http:
        await http.app({"type": "websocket", "path": "/mcp", "headers": []}, receive, send)  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008}]
