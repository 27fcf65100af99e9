"""MCP over stdin and stdout: one JSON-RPC message a line.

Only JSON-RPC reaches the client's stdout: the descriptor is moved away before anything is served, and what anybody
else prints goes to stderr. At end of input every call received is answered, then the process ends; a stdout that
cannot be written, SIGTERM and SIGINT end it too. Whatever hangs, it is over `LIFETIME` seconds after that.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self, cast

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from evoca.logs import get_logger
from evoca.surfaces.backend import Backend, Workers
from evoca.surfaces.mcp.server import build_server
from evoca.surfaces.signals import on_signals

LIFETIME = 4.8
"""Seconds from the end of input, or a signal, to the end of the process, whatever hangs."""
GRACE_AT_END_OF_INPUT = 3.7
"""Seconds for the calls received to finish; then they are asked to leave nothing."""
GRACE_AT_SIGNAL = 2.0
LAST_WORDS = 0.3
"""Seconds for calls that were told to stop, and for the last answers to be written."""
BACKLOG = 64 * 1024 * 1024
"""Bytes that wait for a client to read; beyond, answers wait in their tasks."""
_CHUNK = 1 << 16


class Wire:
    """Private copies of stdin and stdout. fd 0 becomes the null device and fd 1 stderr: others cannot disturb."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self.incoming = incoming
        self.outgoing = outgoing

    @classmethod
    def claim(cls) -> Wire:
        for standard in (0, 1, 2):
            try:
                os.fstat(standard)
            except OSError:
                os.open(os.devnull, os.O_RDWR)
        if sys.platform == "win32":  # pragma: no cover
            import msvcrt

            msvcrt.setmode(0, os.O_BINARY)
            msvcrt.setmode(1, os.O_BINARY)
        wire = cls(os.dup(0), os.dup(1))
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        return wire

    def lines(self) -> Iterator[bytes]:
        """The lines of stdin, without their ends, until it is closed. Blocks."""
        pieces: list[bytes] = []
        while chunk := self._read():
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                pieces.append(line)
                yield b"".join(pieces)
                pieces.clear()
            if rest:
                pieces.append(rest)
        if pieces:
            yield b"".join(pieces)

    def _read(self) -> bytes:
        try:
            return os.read(self.incoming, _CHUNK)
        except OSError:
            return b""

    def write(self, data: bytes) -> None:
        """Write all of it; blocks. Raises OSError when nobody can read any more."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self.outgoing, rest) :]


def decode(line: bytes) -> types.JSONRPCMessage:
    """Read one line. Raises Malformed with the error to answer."""
    try:
        value: object = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Malformed(types.PARSE_ERROR, "Parse error: the line is not JSON") from None
    if not isinstance(value, dict):
        raise Malformed(types.INVALID_REQUEST, "Invalid request: one JSON-RPC object a line is expected")
    message = cast("dict[str, object]", value)
    kind: type[types.JSONRPCMessage]
    if "method" in message:
        kind = types.JSONRPCRequest if "id" in message else types.JSONRPCNotification
    else:
        kind = types.JSONRPCError if "error" in message else types.JSONRPCResponse
    try:
        return kind.model_validate(message, by_name=False)
    except ValidationError as error:
        fields = ", ".join(sorted({str(each["loc"][0]) for each in error.errors() if each["loc"]}))
        raise Malformed(types.INVALID_REQUEST, f"Invalid request: {fields}", _usable_id(message.get("id"))) from None


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _usable_id(value: object) -> types.RequestId | None:
    if isinstance(value, str):
        return value if value.isprintable() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class Malformed(Exception):
    """A line that is no JSON-RPC message, with its answer."""

    def __init__(self, code: int, message: str, request: types.RequestId | None = None) -> None:
        super().__init__(message)
        self.answer = types.JSONRPCError(jsonrpc="2.0", id=request, error=types.ErrorData(code=code, message=message))


def encode(message: types.JSONRPCMessage) -> bytes:
    """One line, with its end."""
    match message:
        case types.JSONRPCResponse():
            plain: object = {"jsonrpc": "2.0", "id": message.id, "result": message.result}
        case _:
            plain = message.model_dump(by_alias=True, exclude_unset=True)
    try:
        return to_json(plain) + b"\n"
    except (PydanticSerializationError, UnicodeEncodeError):
        return json.dumps(plain, separators=(",", ":")).encode() + b"\n"


class Outbox:
    """Where the SDK sends messages: a thread writes them in order, so that a slow client never stops the server."""

    def __init__(self, wire: Wire, answered: Callable[[], None], broken: Callable[[], None]) -> None:
        self._wire = wire
        self._answered = answered
        self._broken = broken
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting = 0
        self._room = anyio.Event()
        self._thread = threading.Thread(target=self._write, name="evoca-stdout", daemon=True)
        self._thread.start()

    async def send(self, item: SessionMessage, /) -> None:
        while self._waiting > BACKLOG:
            if self._room.is_set():
                self._room = anyio.Event()
            await self._room.wait()
        self.put(item.message)
        if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
            self._answered()

    def put(self, message: types.JSONRPCMessage) -> None:
        """Send without waiting for room."""
        data = encode(message)
        self._waiting += len(data)
        self._queue.put(data)

    async def aclose(self) -> None:
        """The SDK is done; `finish` ends the thread."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()

    def finish(self, seconds: float) -> None:
        """Write what waits, for at most so many seconds; blocks."""
        self._queue.put(None)
        self._thread.join(seconds)

    def _write(self) -> None:
        try:
            while (data := self._queue.get()) is not None:
                self._wire.write(data)
                self._loop.call_soon_threadsafe(self._written, len(data))
        except OSError:
            self._tell(self._broken)
        except RuntimeError:
            return  # the loop has ended

    def _tell(self, what: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(what)
        except RuntimeError:
            return  # the loop has ended

    def _written(self, size: int) -> None:
        self._waiting -= size
        self._room.set()


class Connection:
    """The one connection of the process, from its first line to its last.

    `stop_calls` asks the running calls to leave nothing; `close_streams` ends what would never end by itself.
    """

    def __init__(
        self, wire: Wire, server: Server[None], stop_calls: Callable[[], None], close_streams: Callable[[], None]
    ) -> None:
        self._wire = wire
        self._server = server
        self._stop_calls = stop_calls
        self._close_streams = close_streams
        self._loop = asyncio.get_running_loop()
        self._send, self._receive = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
        self._outbox = Outbox(wire, self._settled, lambda: self._end("stdout cannot be written", GRACE_AT_SIGNAL))
        self._metadata = ServerMessageMetadata(on_request_unanswered=self._unanswered)
        self._open_calls = 0
        self._quiet = anyio.Event()
        self._ending = anyio.Event()
        self._grace = 0.0

    async def run(self) -> None:
        """Serve until the end; returns when every answer has been handed over."""
        threading.Thread(target=self._read, name="evoca-stdin", daemon=True).start()
        async with anyio.create_task_group() as group:
            group.start_soon(self._wind_up)
            with on_signals(self._loop, lambda: self._end("signal", GRACE_AT_SIGNAL)):
                await self._server.run(self._receive, self._outbox, self._server.create_initialization_options())
            group.cancel_scope.cancel()
        self._outbox.finish(LAST_WORDS)

    def _read(self) -> None:
        for line in self._wire.lines():
            if not line or line.isspace():
                continue
            try:
                message = decode(line)
            except Malformed as malformed:
                self._post(self._refuse, malformed)
            else:
                self._post(self._arrived, message)
        self._post(self._end, "end of input", GRACE_AT_END_OF_INPUT)

    def _post(self, what: Callable[..., None], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(what, *arguments)
        except RuntimeError:
            return  # the loop has ended

    def _arrived(self, message: types.JSONRPCMessage) -> None:
        if self._ending.is_set():
            return
        if isinstance(message, types.JSONRPCRequest):
            self._open_calls += 1
        self._send.send_nowait(SessionMessage(message, self._metadata))

    def _refuse(self, malformed: Malformed) -> None:
        self._outbox.put(malformed.answer)

    def _settled(self) -> None:
        self._open_calls -= 1
        if self._open_calls <= 0:
            self._quiet.set()

    async def _unanswered(self) -> None:
        self._settled()

    def _end(self, reason: str, grace: float) -> None:
        if self._ending.is_set():
            return
        get_logger("mcp").info("ending", reason=reason, open_calls=self._open_calls)
        watchdog = threading.Timer(LIFETIME, os._exit, (0,))
        watchdog.daemon = True
        watchdog.start()
        self._grace = grace
        self._ending.set()

    async def _wind_up(self) -> None:
        await self._ending.wait()
        self._close_streams()
        await self._until_quiet(self._grace)
        self._stop_calls()
        await self._until_quiet(LAST_WORDS)
        self._send.close()

    async def _until_quiet(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            while self._open_calls > 0:
                self._quiet = anyio.Event()
                await self._quiet.wait()


def serve(backend: Backend) -> None:
    """Serve the backend to the process's stdin and stdout until the end, then close it."""
    wire = Wire.claim()

    async def main() -> None:
        workers = Workers()
        server, updates = build_server(backend, workers)
        await Connection(wire, server, workers.abandon, updates.close).run()
        workers.close()

    try:
        anyio.run(main)
    finally:
        backend.close()
