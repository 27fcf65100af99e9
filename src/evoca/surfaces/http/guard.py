"""The one middleware: everything that holds for every route is checked, limited, logged and counted here.

In this order: the host, the origin, a key in the address, the key, its rate, the size of the body. Then the route
answers, within the time limit. A client that goes away cancels its request.
"""

from __future__ import annotations

import math
import re
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import anyio

from evoca.domain.tenancy import LOCAL, Caller
from evoca.errors import EvocaError, Forbidden, PayloadTooLarge, RateLimited, ShuttingDown, Unauthorized
from evoca.logs import get_logger
from evoca.surfaces.http.gate import Gate, refuse_secrets
from evoca.surfaces.http.hosts import Hosts, Origins
from evoca.surfaces.http.limits import RateLimit
from evoca.surfaces.http.replies import TooSlow, WrongHost, error_reply
from evoca.surfaces.rendering import Internal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

OTHER = "other"
"""The route, in logs and metrics, of a path that there is not: it may hold anything."""
STREAM_CHECK = 5.0
"""Seconds after which a stream whose key was revoked has ended."""
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_SECURITY: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_CLOSED_CONTENT = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
_NOT_STORED = (b"cache-control", b"no-store")
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="evoca"'}
_PREFLIGHT_SECONDS = b"600"


class Observer(Protocol):
    """Who counts the requests."""

    def began(self) -> None: ...
    def ended(self, method: str, route: str, status: int, seconds: float) -> None: ...


@dataclass(frozen=True, slots=True)
class GuardRules:
    """`routes`: the paths that there are. `open_routes`: those that need no key. Times in seconds, sizes in bytes."""

    hosts: Hosts
    origins: Origins
    routes: frozenset[str]
    open_routes: frozenset[str]
    max_body: int
    request_timeout: float


@dataclass(slots=True, eq=False)
class _Exchange:
    """One request, and what has been answered so far."""

    scope: Scope
    send: Send
    request_id: bytes
    headers: Mapping[str, str]
    route: str
    origin: str = ""
    caller: Caller | None = None
    status: int = 0
    started: bool = False
    finished: bool = False
    streaming: bool = False
    sent: int = 0
    on_stream: Callable[[], object] = lambda: None
    clock: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def answer(self, message: Message) -> None:
        """Pass a message on; the first one gets the headers that every answer has."""
        if message["type"] == "http.response.start":
            self.started = True
            self.status = message["status"]
            headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
            self.streaming = any(
                name.lower() == b"content-type" and value.startswith(b"text/event-stream") for name, value in headers
            )
            if self.streaming:
                self.clock.deadline = math.inf
                self.on_stream()
            message = {**message, "headers": headers + self._added({name.lower() for name, _ in headers})}
        elif message["type"] == "http.response.body":
            self.sent += len(message.get("body", b""))
            self.finished = not message.get("more_body", False)
        await self.send(message)

    def _added(self, present: set[bytes]) -> list[tuple[bytes, bytes]]:
        always = [*_SECURITY, _NOT_STORED, _CLOSED_CONTENT, (b"x-request-id", self.request_id)]
        if self.origin:
            always += [
                (b"access-control-allow-origin", self.origin.encode("latin-1")),
                (b"access-control-expose-headers", b"Mcp-Session-Id, X-Request-Id, Retry-After"),
                (b"vary", b"Origin"),
            ]
        return [(name, value) for name, value in always if name not in present]

    async def refuse(self, error: EvocaError, receive: Receive, headers: Mapping[str, str] | None = None) -> None:
        """Answer with the error, unless the answer has begun: then it just ends."""
        if self.started:
            await self.end()
            return
        await error_reply(error, headers)(self.scope, receive, self.answer)

    async def end(self) -> None:
        """End a stream in order, so that its client sees the end and not a broken connection."""
        if self.started and not self.finished:
            await self.answer({"type": "http.response.body", "body": b"", "more_body": False})


class Guard:
    """ASGI middleware before `app`. `stop()` ends the streams and refuses new requests."""

    def __init__(self, app: ASGIApp, rules: GuardRules, gate: Gate, rate: RateLimit, observer: Observer) -> None:
        self._app = app
        self._rules = rules
        self._gate = gate
        self._rate = rate
        self._observer = observer
        self._log = get_logger("http")
        self._exchanges: set[_Exchange] = set()
        self._stopping = False

    def stop(self) -> None:
        self._stopping = True
        for exchange in tuple(self._exchanges):
            if exchange.streaming:
                exchange.clock.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        began = time.perf_counter()
        exchange = self._exchange(scope, send)
        self._observer.began()
        try:
            await self._serve(exchange, receive)
        finally:
            seconds = time.perf_counter() - began
            self._observer.ended(scope["method"], exchange.route, exchange.status, seconds)
            self._log.info(
                "request",
                id=exchange.request_id.decode(),
                method=scope["method"],
                route=exchange.route,
                status=exchange.status,
                ms=round(seconds * 1000, 1),
                bytes=exchange.sent,
                key=exchange.caller.key_id or None if exchange.caller is not None else None,
            )

    def _exchange(self, scope: Scope, send: Send) -> _Exchange:
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            # Of what is there twice the first counts here; the checks below must not see what the routes do not.
            headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
        given = headers.get("x-request-id", "").encode("latin-1")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex.encode()
        route = scope["path"] if scope["path"] in self._rules.routes else OTHER
        return _Exchange(scope, send, request_id, headers, route)

    async def _serve(self, exchange: _Exchange, receive: Receive) -> None:
        try:
            if self._stopping:
                raise ShuttingDown("The server is ending: nothing was done.", "Call again when it is back.")
            self._check_sender(exchange)
            if _is_preflight(exchange):
                await _preflight(exchange)
                return
            with anyio.CancelScope(deadline=anyio.current_time() + self._rules.request_timeout) as clock:
                exchange.clock = clock
                await self._admit(exchange)
                body = await self._body(exchange, receive)
                if body is not None:
                    await self._run(exchange, body, receive)
            if clock.cancelled_caught:
                await exchange.refuse(self._too_slow(), receive)
        except Unauthorized as error:
            await exchange.refuse(error, receive, _CHALLENGE)
        except _TooMany as error:
            await exchange.refuse(error, receive, {"Retry-After": str(error.wait)})
        except EvocaError as error:
            await exchange.refuse(error, receive)

    def _check_sender(self, exchange: _Exchange) -> None:
        """Raises WrongHost or Forbidden for what a page of elsewhere sends. Notes an origin that may read answers."""
        rules, headers, server = self._rules, exchange.headers, exchange.scope.get("server")
        host = headers.get("host", "")
        if not rules.hosts.allow(host, str(server[0]) if server else None):
            raise WrongHost(
                "This host is not served here",
                "Use localhost or the server's address, or name the host in EVOCA_ALLOWED_HOSTS.",
            )
        origin = headers.get("origin")
        if origin is None:
            return
        if not rules.origins.allow(origin, host):
            raise Forbidden("Pages of this origin may not use the server", "Name the origin in EVOCA_ALLOWED_ORIGINS.")
        if rules.origins.listed(origin):
            exchange.origin = origin

    async def _admit(self, exchange: _Exchange) -> None:
        refuse_secrets(exchange.scope.get("query_string", b""))
        if exchange.route in self._rules.open_routes:
            caller = LOCAL
        else:
            if sum(name.lower() == b"authorization" for name, _ in exchange.scope["headers"]) > 1:
                raise Unauthorized("There is more than one header Authorization", "Send one: Bearer KEY.")
            caller = await self._gate.caller(exchange.headers)
        exchange.caller = caller
        wait = self._rate.wait(caller.key_id) if caller.key_id else 0
        if wait:
            raise _TooMany(wait)

    async def _body(self, exchange: _Exchange, receive: Receive) -> bytes | None:
        """The whole body; None when the client went away. Raises PayloadTooLarge."""
        most = self._rules.max_body
        too_large = PayloadTooLarge(f"The body is larger than {most} bytes", "Split the call.")
        declared = exchange.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > most:
            raise too_large
        pieces: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return None
            piece: bytes = message.get("body", b"")
            size += len(piece)
            if size > most:
                raise too_large
            pieces.append(piece)
            more = message.get("more_body", False)
        return b"".join(pieces)

    async def _run(self, exchange: _Exchange, body: bytes, receive: Receive) -> None:
        """Let the route answer, until the client goes away, its key is revoked or the server ends."""
        gone = anyio.Event()
        left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            if left:
                return left.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            gone.set()
            # After its answer a route may have work left; a server says "disconnected" then as well.
            if not exchange.finished:
                group.cancel_scope.cancel()

        scope = dict(exchange.scope)
        scope["state"] = {**scope.get("state", {}), "caller": exchange.caller}
        self._exchanges.add(exchange)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(watch)
                exchange.on_stream = lambda: group.start_soon(self._keep_checking, exchange)
                try:
                    await self._app(scope, replay, exchange.answer)
                except Exception as error:  # noqa: BLE001 - the edge: logged, and shown without internals
                    self._log.failure("request failed", error, route=exchange.route)
                    await exchange.refuse(Internal(), receive)
                group.cancel_scope.cancel()
        finally:
            self._exchanges.discard(exchange)
        if not gone.is_set():
            await exchange.end()

    async def _keep_checking(self, exchange: _Exchange) -> None:
        """End a stream soon after its key was revoked."""
        while True:
            await anyio.sleep(STREAM_CHECK)
            if not await self._gate.still_known(exchange.headers):
                exchange.clock.cancel()

    def _too_slow(self) -> TooSlow:
        return TooSlow(
            f"The request took longer than {self._rules.request_timeout:g} s and was given up",
            "What it had not finished was undone. Ask for less at a time, or set EVOCA_REQUEST_TIMEOUT.",
        )


class _TooMany(RateLimited):
    """`wait`: seconds until the key may ask again."""

    def __init__(self, wait: int) -> None:
        super().__init__("Too many requests for this key", f"Try again in {wait} s.")
        self.wait = wait


def _is_preflight(exchange: _Exchange) -> bool:
    """Whether a browser asks, for a page of a listed origin, what the page may send."""
    return (
        exchange.scope["method"] == "OPTIONS"
        and bool(exchange.origin)
        and "access-control-request-method" in exchange.headers
    )


async def _preflight(exchange: _Exchange) -> None:
    allowed: list[tuple[bytes, bytes]] = [
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
        (b"access-control-allow-headers", exchange.headers.get("access-control-request-headers", "").encode("latin-1")),
        (b"access-control-max-age", _PREFLIGHT_SECONDS),
    ]
    await exchange.answer({"type": "http.response.start", "status": 204, "headers": allowed})
    await exchange.answer({"type": "http.response.body", "body": b""})
