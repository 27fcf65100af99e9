"""A raw JSON-RPC conversation with a server process: exactly what goes in, exactly what comes out.

No SDK in between: tests see every byte of stdout, may have many calls in flight, may close or kill
either side at any moment, and never sleep: they wait for an answer or an end, with a deadline.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, TypeAlias, cast

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = "Mapping[str, Json]"

DEADLINE = 90.0
"""Seconds after which a missing answer is a failure; generous, because machines are busy."""

PROTOCOL = "2025-11-25"
_CHUNK = 1 << 18


def at(value: Json, *path: str | int) -> Json:
    """What stands at `path` inside JSON; fails, saying what is there, when the path does not exist."""
    for step in path:
        if isinstance(step, str):
            assert isinstance(value, Mapping), f"no {step!r} in {value!r}"
        else:
            assert isinstance(value, Sequence), f"no item {step} in {value!r}"
        value = cast("dict[str | int, Json]", value)[step]
    return value


def text_at(value: Json, *path: str | int) -> str:
    found = at(value, *path)
    assert isinstance(found, str), f"not a text: {found!r}"
    return found


def number_at(value: Json, *path: str | int) -> float:
    found = at(value, *path)
    assert isinstance(found, int | float), f"not a number: {found!r}"
    return found


def object_at(value: Json, *path: str | int) -> JsonObject:
    found = at(value, *path)
    assert isinstance(found, Mapping), f"not an object: {found!r}"
    return found


def objects_at(value: Json, *path: str | int) -> list[JsonObject]:
    found = at(value, *path)
    assert isinstance(found, list), f"not a list: {found!r}"
    return [object_at(item) for item in found]


def strings_at(value: Json, *path: str | int) -> list[str]:
    found = at(value, *path)
    assert isinstance(found, list), f"not a list: {found!r}"
    return [text_at(item) for item in found]


class ServerGone(Exception):
    """The process ended, or closed its stdout, before it answered."""


class RpcError(Exception):
    """The server answered with a JSON-RPC error instead of a result."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool call came back with. `data` is the structured content, `{}` when there is none."""

    is_error: bool
    text: str
    data: JsonObject = field(default_factory=dict[str, Json])
    has_data: bool = False

    @property
    def error(self) -> str:
        """The sentence of a failed call: Evoca's `error` key, else the text as it stands."""
        stated = self.data.get("error", self._from_text().get("error"))
        return stated if isinstance(stated, str) else self.text

    @property
    def complaint(self) -> str:
        """The sentence, and the hint that may stand beside it."""
        hint = self.data.get("hint", "")
        return f"{self.error} {hint}".strip()

    def _from_text(self) -> JsonObject:
        try:
            parsed: object = json.loads(self.text)
        except ValueError:
            return {}
        return cast("JsonObject", parsed) if isinstance(parsed, dict) else {}

    def objects(self, key: str) -> list[JsonObject]:
        return objects_at(self.data, key)

    def strings(self, key: str) -> list[str]:
        return strings_at(self.data, key)

    def number(self, key: str) -> float:
        return number_at(self.data, key)

    def names(self, key: str = "entities") -> list[str]:
        return [text_at(item, "name") for item in self.objects(key)]

    def triples(self, key: str = "relations") -> list[tuple[str, str, str]]:
        """(from, relationType, to) of each relation."""
        return [
            (text_at(item, "from"), text_at(item, "relationType"), text_at(item, "to")) for item in self.objects(key)
        ]

    def observations(self, name: str) -> list[str]:
        """The observations of the entity called `name`."""
        found = [item for item in self.objects("entities") if item["name"] == name]
        assert len(found) == 1, f"{name!r} is {len(found)} times in the reply"
        return strings_at(found[0], "observations")


def _reply(result: JsonObject) -> Reply:
    content = cast("list[Mapping[str, str]]", result.get("content", []))
    data = result.get("structuredContent")
    return Reply(
        is_error=bool(result.get("isError", False)),
        text="\n".join(part.get("text", "") for part in content),
        data=cast("JsonObject", data) if isinstance(data, dict) else {},
        has_data=isinstance(data, dict),
    )


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A tool call in flight."""

    id: int | str
    answer: Future[JsonObject]

    def reply(self, timeout: float = DEADLINE) -> Reply:
        """Wait for the answer. Raises RpcError, ServerGone, TimeoutError."""
        return _reply(self.answer.result(timeout))


class Server:
    """A server child process. Use as a context manager: leaving it ends the process, whatever happened."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            bufsize=0,
        )
        self.lines: list[bytes] = []
        self.notifications: list[JsonObject] = []
        self._stderr = bytearray()
        self._ids = itertools.count(1)
        self._waiting: dict[int | str, Future[JsonObject]] = {}
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._gone = False
        self._wake_read, self._wake_write = os.pipe()
        self._readers = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    # -- reading ---------------------------------------------------------------------------------

    def _chunks(self) -> Iterator[bytes]:
        assert self.process.stdout is not None
        stdout = self.process.stdout.fileno()
        while True:
            ready, _, _ = select.select([stdout, self._wake_read], [], [])
            if self._wake_read in ready:
                return
            chunk = os.read(stdout, _CHUNK)
            if not chunk:
                return
            yield chunk

    def _read_stdout(self) -> None:
        parts: list[bytes] = []
        for chunk in self._chunks():
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                self._take(b"".join([*parts, line]))
                parts.clear()
            parts.append(rest)
        if tail := b"".join(parts):
            self.lines.append(tail)
        with self._lock:
            self._gone = True
            waiting, self._waiting = self._waiting, {}
            self._arrived.notify_all()
        for future in waiting.values():
            future.set_exception(ServerGone("the server closed its stdout before it answered"))

    def _take(self, line: bytes) -> None:
        self.lines.append(line)
        try:
            parsed: object = json.loads(line)
        except ValueError:
            return
        for one in cast("list[object]", parsed if isinstance(parsed, list) else [parsed]):
            if isinstance(one, dict):
                self._dispatch(cast("JsonObject", one))

    def _dispatch(self, message: JsonObject) -> None:
        if "method" in message:
            with self._lock:
                self.notifications.append(message)
                self._arrived.notify_all()
            return
        with self._lock:
            future = self._waiting.pop(cast("int | str", message.get("id")), None)
        if future is None:
            return
        if "error" in message:
            error = cast("Mapping[str, Json]", message["error"])
            future.set_exception(RpcError(cast("int", error["code"]), cast("str", error["message"])))
        else:
            future.set_result(cast("JsonObject", message["result"]))

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        stderr = self.process.stderr.fileno()
        while chunk := os.read(stderr, _CHUNK):
            self._stderr += chunk

    # -- writing ---------------------------------------------------------------------------------

    def send_bytes(self, payload: bytes) -> None:
        """Write raw bytes to the server's stdin. Raises BrokenPipeError when it is gone."""
        assert self.process.stdin is not None
        view = memoryview(payload)
        while view:
            view = view[os.write(self.process.stdin.fileno(), view) :]

    def send(self, message: JsonObject) -> None:
        self.send_bytes(json.dumps(message, ensure_ascii=True).encode() + b"\n")

    def notify(self, method: str, params: JsonObject | None = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method} | ({"params": params} if params is not None else {}))

    def prepare(self, method: str, params: JsonObject) -> tuple[bytes, int, Future[JsonObject]]:
        """A request as bytes that are not sent yet, its id, and the future that its answer resolves."""
        request_id = next(self._ids)
        future: Future[JsonObject] = Future()
        with self._lock:
            if self._gone:
                future.set_exception(ServerGone("the server has ended"))
            else:
                self._waiting[request_id] = future
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        return json.dumps(message, ensure_ascii=True).encode() + b"\n", request_id, future

    def request(self, method: str, params: JsonObject | None = None, timeout: float = DEADLINE) -> JsonObject:
        """Send a request and wait for its result. Raises RpcError, ServerGone, TimeoutError."""
        payload, _, future = self.prepare(method, params or {})
        self.send_bytes(payload)
        return future.result(timeout)

    def post(self, tool: str, arguments: JsonObject | None = None) -> PendingCall:
        """Send a tool call and do not wait."""
        payload, request_id, future = self.prepare("tools/call", {"name": tool, "arguments": arguments or {}})
        self.send_bytes(payload)
        return PendingCall(request_id, future)

    def post_all(self, calls: Sequence[tuple[str, JsonObject]]) -> list[PendingCall]:
        """Send many tool calls in one write and do not wait."""
        prepared = [self.prepare("tools/call", {"name": tool, "arguments": args}) for tool, args in calls]
        self.send_bytes(b"".join(payload for payload, _, _ in prepared))
        return [PendingCall(request_id, future) for _, request_id, future in prepared]

    def call(self, tool: str, arguments: JsonObject | None = None, timeout: float = DEADLINE) -> Reply:
        """Call a tool and wait. Raises RpcError, ServerGone, TimeoutError."""
        return self.post(tool, arguments).reply(timeout)

    def ok(self, tool: str, arguments: JsonObject | None = None, timeout: float = DEADLINE) -> Reply:
        """Call a tool that must succeed."""
        reply = self.call(tool, arguments, timeout)
        assert not reply.is_error, f"{tool}: {reply.text}\n{self.stderr()[-2000:]}"
        return reply

    # -- life ------------------------------------------------------------------------------------

    def initialize(self, protocol: str = PROTOCOL, timeout: float = DEADLINE) -> JsonObject:
        result = self.request(
            "initialize",
            {"protocolVersion": protocol, "capabilities": {}, "clientInfo": {"name": "evoca-tests", "version": "1"}},
            timeout,
        )
        self.notify("notifications/initialized")
        return result

    def tools(self) -> list[JsonObject]:
        return cast("list[JsonObject]", self.request("tools/list")["tools"])

    def wait_notification(self, method: str, seen: int = 0, timeout: float = DEADLINE) -> JsonObject:
        """The first notification called `method` after the first `seen` ones of any kind."""

        def found() -> JsonObject | None:
            return next((m for m in self.notifications[seen:] if m["method"] == method), None)

        with self._arrived:
            assert self._arrived.wait_for(lambda: found() is not None or self._gone, timeout), f"no {method} came"
            message = found()
        assert message is not None, f"the server ended before {method}"
        return message

    def stderr(self) -> str:
        """What the server has written to stderr so far."""
        return self._stderr.decode(errors="replace")

    def close_stdin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def close_stdout(self) -> None:
        """Close our end of the server's stdout, as a client that has gone away does."""
        os.write(self._wake_write, b".")
        self._readers[0].join(DEADLINE)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def wait(self, timeout: float = DEADLINE) -> int:
        """Wait for the process to end and for its last output; the exit status (negative: a signal)."""
        status = self.process.wait(timeout)
        for reader in self._readers:
            reader.join(timeout)
        return status

    def kill(self) -> None:
        self.process.kill()
        self.wait()

    def stop(self, timeout: float = DEADLINE) -> int:
        """Close stdin and wait for the end; the exit status."""
        self.close_stdin()
        return self.wait(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(DEADLINE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        os.close(self._wake_read)
        os.close(self._wake_write)
