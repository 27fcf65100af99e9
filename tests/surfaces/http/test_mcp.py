"""MCP over streamable HTTP: both revisions, sessions, and whose they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import anyio
import pytest

from evoca.domain.tenancy import Caller
from evoca.errors import Unavailable
from tests.surfaces.http.asgi import MCP, Answer, Client, Exchange, Keyed, bearer, client, until
from tests.surfaces.toy import Toy
from tests.surfaces.waiting import DEADLINE

pytestmark = pytest.mark.anyio

GRAPH = "memory://knowledge-graph"
MODERN = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)


@pytest.fixture
def keyed(tmp_path: Path) -> Keyed:
    return Keyed(tmp_path)


def message(method: str, params: Mapping[str, object], request: int | str | None = 1) -> bytes:
    identity = {} if request is None else {"id": request}
    return json.dumps({"jsonrpc": "2.0", **identity, "method": method, "params": params}).encode()


async def initialize(http: Client, headers: Mapping[str, str] | None = None) -> dict[str, str]:
    """The headers of a new session's requests."""
    own = {**MCP, **(headers or {})}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    answer = await http.ask("POST", "/mcp", own, message("initialize", params))
    assert answer.status == 200
    assert cast("dict[str, object]", answer.json["result"])["protocolVersion"] == "2025-11-25"
    session = own | {"mcp-session-id": answer.headers["mcp-session-id"]}
    noted = await http.ask("POST", "/mcp", session, message("notifications/initialized", {}, None))
    assert noted.status == 202
    return session


async def tool(http: Client, headers: Mapping[str, str], name: str, arguments: Mapping[str, object]) -> Answer:
    return await http.ask("POST", "/mcp", headers, message("tools/call", {"name": name, "arguments": arguments}))


def modern(method: str, params: Mapping[str, object], name: str = "") -> tuple[dict[str, str], bytes]:
    headers = {**MCP, "mcp-protocol-version": MODERN, "mcp-method": method} | ({"mcp-name": name} if name else {})
    return headers, message(method, {**params, "_meta": _META})


def structured(answer: Answer) -> object:
    return cast("dict[str, object]", answer.json["result"])["structuredContent"]


async def test_a_session_of_the_earlier_revision(toy: Toy) -> None:
    async with client(toy) as http:
        session = await initialize(http)
        answer = await tool(http, session, "echo", {"text": "hola"})
        assert answer.headers["content-type"] == "application/json"
        assert structured(answer) == {"text": "hola"}
        wrong = await tool(http, session, "echo", {})
        assert cast("dict[str, object]", wrong.json["result"])["isError"] is True
        assert (await http.ask("DELETE", "/mcp", session)).status == 200
        assert (await tool(http, session, "echo", {"text": "hola"})).status == 404


async def test_a_request_of_the_current_revision(toy: Toy) -> None:
    async with client(toy) as http:
        answer = await http.ask(
            "POST", "/mcp", *modern("tools/call", {"name": "echo", "arguments": {"text": "a"}}, "echo")
        )
        assert answer.status == 200
        assert structured(answer) == {"text": "a"}
        assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("other", ["evoca_lectura", "evoca_casa", ""])
async def test_a_session_is_of_no_use_with_another_key(keyed: Keyed, other: str) -> None:
    async with client(keyed) as http:
        session = await initialize(http, bearer("evoca_todo"))
        stolen = session | (bearer(other) if other else {"authorization": ""})
        expected = 404 if other else 401
        for method in ("POST", "GET", "DELETE"):
            body = message("tools/list", {}) if method == "POST" else b""
            assert (await http.ask(method, "/mcp", stolen, body)).status == expected
        assert structured(await tool(http, session, "echo", {"text": "mine"})) == {"text": "mine"}


async def test_a_session_without_a_key_is_of_no_use_once_there_are_keys(tmp_path: Path) -> None:
    keyed = Keyed(tmp_path, {})
    async with client(keyed) as http:
        session = await initialize(http)
        keyed.keys, keyed.ever = dict(Keyed(tmp_path).keys), True
        assert (await tool(http, session, "echo", {"text": "a"})).status == 401
        assert (await tool(http, session | bearer("evoca_todo"), "echo", {"text": "a"})).status == 404


async def test_the_key_is_whom_a_tool_works_for(keyed: Keyed) -> None:
    async with client(keyed) as http:
        session = await initialize(http, bearer("evoca_casa"))
        await tool(http, session, "echo", {"text": "a"})
        assert keyed.caller == keyed.keys["evoca_casa"]
        headers, body = modern("resources/read", {"uri": GRAPH}, GRAPH)
        read = await http.ask("POST", "/mcp", headers | bearer("evoca_lectura"), body)
        assert "result" in read.json
        assert keyed.caller == keyed.keys["evoca_lectura"]


async def test_sessions_are_limited(toy: Toy) -> None:
    async with client(toy, max_sessions=2) as http:
        first = await initialize(http)
        await initialize(http)
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        assert (await http.ask("POST", "/mcp", MCP, message("initialize", params))).status == 503
        assert (await http.ask("DELETE", "/mcp", first)).status == 200
        await initialize(http)


async def test_an_idle_session_ends(toy: Toy) -> None:
    async with client(toy, session_idle=0.05) as http:
        session = await initialize(http)
        with anyio.fail_after(DEADLINE):
            while b"evoca_mcp_sessions 0.0" not in (await http.ask("GET", "/metrics")).body:  # noqa: ASYNC110
                await anyio.sleep(0.01)
        assert (await tool(http, session, "echo", {"text": "a"})).status == 404


class Stream:
    """A request whose answer is a stream of events, read while it is under way."""

    def __init__(self, http: Client, method: str, headers: Mapping[str, str], body: bytes = b"") -> None:
        self._http, self._method, self._headers = http, method, headers
        self.exchange = Exchange([body])
        self.ended = anyio.Event()

    async def run(self) -> None:
        await self._http.send(self.exchange, self._method, "/mcp", self._headers)
        self.ended.set()

    @property
    def events(self) -> list[dict[str, object]]:
        text = self.exchange.answer.body.decode().replace("\r\n", "\n")
        return [json.loads(line.removeprefix("data: ")) for line in text.split("\n") if line.startswith("data: ")]

    async def until_event(self, number: int, method: str | None) -> dict[str, object]:
        await until(lambda: len(self.events) >= number)
        event = self.events[number - 1]
        assert event.get("method") == method
        return event


async def test_changes_reach_a_subscriber_of_the_earlier_revision(toy: Toy) -> None:
    async with client(toy) as http, anyio.create_task_group() as group:
        session = await initialize(http)
        await http.ask("POST", "/mcp", session, message("resources/subscribe", {"uri": GRAPH}))
        stream = Stream(http, "GET", session)
        group.start_soon(stream.run)
        with anyio.fail_after(DEADLINE):
            await stream.exchange.begun.wait()
        await http.call("save", {"text": "uno"})
        await stream.until_event(1, "notifications/resources/updated")
        await tool(http, session, "save", {"text": "dos"})
        await stream.until_event(2, "notifications/resources/updated")
        stream.exchange.leave()


async def test_changes_reach_a_listener_of_the_current_revision(toy: Toy) -> None:
    async with client(toy) as http, anyio.create_task_group() as group:
        stream = Stream(
            http, "POST", *modern("subscriptions/listen", {"notifications": {"resourceSubscriptions": [GRAPH]}})
        )
        group.start_soon(stream.run)
        await stream.until_event(1, "notifications/subscriptions/acknowledged")
        await http.call("save", {"text": "uno"})
        await stream.until_event(2, "notifications/resources/updated")
        stream.exchange.leave()


async def test_streams_end_with_the_server(toy: Toy) -> None:
    async with client(toy, request_timeout=0.5) as http, anyio.create_task_group() as group:
        session = await initialize(http)
        older = Stream(http, "GET", session)
        newer = Stream(
            http, "POST", *modern("subscriptions/listen", {"notifications": {"resourceSubscriptions": [GRAPH]}})
        )
        group.start_soon(older.run)
        group.start_soon(newer.run)
        await newer.until_event(1, "notifications/subscriptions/acknowledged")
        await anyio.sleep(0.6)
        assert not older.ended.is_set()
        assert not newer.ended.is_set()
        await http.app.stop()
        with anyio.fail_after(DEADLINE):
            await older.ended.wait()
            await newer.ended.wait()
        assert older.exchange.answer.ended
        assert newer.events[-1]["id"] == 1
        assert "result" in newer.events[-1]


async def test_a_stream_ends_when_its_key_is_revoked(keyed: Keyed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evoca.surfaces.http.guard.STREAM_CHECK", 0.02)
    async with client(keyed) as http, anyio.create_task_group() as group:
        session = await initialize(http, bearer("evoca_casa"))
        stream = Stream(http, "GET", session)
        group.start_soon(stream.run)
        with anyio.fail_after(DEADLINE):
            await stream.exchange.begun.wait()
            del keyed.keys["evoca_casa"]
            await stream.ended.wait()
        assert stream.exchange.answer.ended


async def test_a_stream_outlives_a_store_that_is_away(keyed: Keyed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evoca.surfaces.http.guard.STREAM_CHECK", 0.01)
    asked = 0

    def away(_secret: str) -> Caller | None:
        nonlocal asked
        asked += 1
        raise Unavailable("The store cannot be reached.")

    async with client(keyed) as http, anyio.create_task_group() as group:
        session = await initialize(http, bearer("evoca_casa"))
        stream = Stream(http, "GET", session)
        group.start_soon(stream.run)
        with anyio.fail_after(DEADLINE):
            await stream.exchange.begun.wait()
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(keyed, "authenticate", away)
            await until(lambda: asked >= 3)
        assert not stream.ended.is_set()
        del keyed.keys["evoca_casa"]
        with anyio.fail_after(DEADLINE):
            await stream.ended.wait()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"[1]", b'{"jsonrpc": "2.0"}', b"\xff", b"[" * 100_000])
@pytest.mark.parametrize("version", [{}, {"mcp-protocol-version": MODERN}, {"mcp-protocol-version": "1999-01-01"}])
async def test_what_is_no_message_is_the_clients_fault(toy: Toy, body: bytes, version: dict[str, str]) -> None:
    async with client(toy) as http:
        answer = await http.ask("POST", "/mcp", MCP | version, body)
        assert 400 <= answer.status < 500
