"""Asks an HTTP application in this process, message by message; no server and no socket in between."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio

from evoca.domain.tenancy import Caller, Scope
from evoca.settings import load_settings
from evoca.surfaces.http.app import HttpApp
from evoca.surfaces.http.health import Condition
from tests.surfaces.toy import Toy
from tests.surfaces.waiting import DEADLINE

if TYPE_CHECKING:
    from starlette.types import Message

HOST = "localhost:8420"
JSON = {"content-type": "application/json"}
MCP = JSON | {"accept": "application/json, text/event-stream"}
KEYS: Mapping[str, Caller] = {
    "evoca_lectura": Caller(1, Scope.READ),
    "evoca_casa": Caller(2, Scope.WRITE, frozenset({1})),
    "evoca_todo": Caller(3, Scope.ADMIN),
}


async def until(condition: Callable[[], bool]) -> None:
    """Return when `condition` holds; fail when it does not within the deadline."""
    with anyio.fail_after(DEADLINE):
        while not condition():  # noqa: ASYNC110 - what is waited for may be a file
            await anyio.sleep(0.005)


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


class Keyed(Toy):
    """The toy with keys, which may be taken away."""

    def __init__(self, folder: Path, keys: Mapping[str, Caller] = KEYS) -> None:
        super().__init__(folder)
        self.keys = dict(keys)
        self.ever = bool(keys)

    def authenticate(self, secret: str) -> Caller | None:
        return self.keys.get(secret)

    def keys_in_place(self) -> bool:
        return self.ever


class Well:
    """A store that is well."""

    def condition(self) -> Condition:
        return Condition(pending=3, size=4096, model="idle")

    def try_writing(self) -> None:
        pass


@dataclass
class Answer:
    """What came back. `chunks`: the pieces of the body as they were sent."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict[str, str])
    chunks: list[bytes] = field(default_factory=list[bytes])
    ended: bool = False

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    @property
    def json(self) -> dict[str, object]:
        return cast("dict[str, object]", json.loads(self.body))

    @property
    def code(self) -> str:
        """The code of the error, whose shape is checked."""
        error = cast("dict[str, object]", self.json["error"])
        assert error.keys() == {"code", "message", "hint"}
        assert all(isinstance(each, str) for each in error.values())
        assert error["message"]
        return str(error["code"])


class Exchange:
    """One request under way. `leave`: the client goes away. `stalled`: its body never ends."""

    def __init__(self, chunks: Sequence[bytes], stalled: bool = False) -> None:
        self.answer = Answer()
        self.left = anyio.Event()
        self.begun = anyio.Event()
        self._chunks = list(chunks) or [b""]
        self._stalled = stalled

    def leave(self) -> None:
        self.left.set()

    async def receive(self) -> Message:
        if self._chunks:
            piece = self._chunks.pop(0)
            return {"type": "http.request", "body": piece, "more_body": self._stalled or bool(self._chunks)}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            assert not self.begun.is_set(), "two answers"
            self.answer.status = message["status"]
            self.answer.headers = {name.decode().lower(): value.decode("latin-1") for name, value in message["headers"]}
            self.begun.set()
        else:
            assert self.begun.is_set(), "a body before its headers"
            assert not self.answer.ended, "more after the end"
            self.answer.chunks.append(message.get("body", b""))
            self.answer.ended = not message.get("more_body", False)
            if self.answer.ended:
                # As a server does: once it has the answer it says that the client is gone.
                self.left.set()


class Client:
    """Sends requests to one application."""

    def __init__(self, app: HttpApp) -> None:
        self.app = app

    async def send(
        self,
        exchange: Exchange,
        method: str,
        target: str,
        headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        here: str = "127.0.0.1",
    ) -> Answer:
        path, _, query = target.partition("?")
        pairs = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
        if not any(name.lower() == "host" for name, _ in pairs):
            pairs.append(("host", HOST))
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in pairs],
            "server": (here, 8420), "client": ("127.0.0.1", 50_000),
        }  # fmt: skip
        await self.app(scope, exchange.receive, exchange.send)
        return exchange.answer

    async def ask(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        body: bytes | Sequence[bytes] | Mapping[str, object] = b"",
        here: str = "127.0.0.1",
    ) -> Answer:
        """The whole answer. A mapping is sent as JSON."""
        if isinstance(body, Mapping):
            headers = {**JSON, **dict(headers)}
            body = json.dumps(body).encode()
        chunks = [body] if isinstance(body, bytes) else list(body)
        return await self.send(Exchange(chunks), method, target, headers, here)

    async def call(
        self, name: str, arguments: Mapping[str, object], headers: Mapping[str, str] | None = None
    ) -> Answer:
        return await self.ask("POST", f"/v1/{name}", headers or {}, arguments)


@asynccontextmanager
async def client(backend: Toy, **settings: object) -> AsyncGenerator[Client]:
    """A client of an application over `backend`, with these settings."""
    app = HttpApp(backend, Well(), load_settings(**settings))
    async with app.running():
        yield Client(app)
