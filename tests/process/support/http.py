"""`evoca serve` as a process, and a plain HTTP client for it."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from evoca.domain.tenancy import LOCAL, Scope
from evoca.runtime import Runtime
from evoca.settings import load_settings
from tests.process.support.client import DEADLINE, PROTOCOL, Json, JsonObject, at, object_at, objects_at, text_at
from tests.process.support.launch import ENDS_WITHIN, evoca_command, isolated_env

if TYPE_CHECKING:
    from evoca.services import Services

_ADDRESS = re.compile(r"listening on http://[^\s]*:(\d+)")


@dataclass(frozen=True, slots=True)
class HttpReply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> JsonObject:
        parsed: object = json.loads(self.body)
        assert isinstance(parsed, dict), f"not an object: {parsed!r}"
        return cast("JsonObject", parsed)

    def at(self, *path: str | int) -> Json:
        return at(self.json, *path)

    @property
    def code(self) -> Json:
        """The code of the error."""
        return self.at("error", "code")


class HttpServer:
    """A server child process. Use as a context manager: leaving it ends the process, whatever happened."""

    def __init__(
        self,
        home: Path,
        store: Path | str,
        *,
        env: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`headers`: what every request sends."""
        command = evoca_command("serve", "--store", str(store), "--port", "0", *arguments)
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=isolated_env(home, env), cwd=home,
        )  # fmt: skip
        self.port = 0
        self._headers = dict(headers or {})
        self._log: list[str] = []
        self._settled = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._log.append(line)
            found = _ADDRESS.search(line)
            if found is not None:
                self.port = int(found[1])
                self._settled.set()
        self._settled.set()

    @property
    def log(self) -> str:
        return "".join(self._log)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)

    def request(
        self,
        method: str,
        path: str,
        body: bytes | JsonObject | None = None,
        headers: Mapping[str, str] | None = None,
        over: http.client.HTTPConnection | None = None,
    ) -> HttpReply:
        """One request, over a connection of its own unless one is given. A mapping is sent as JSON."""
        sent = {**self._headers, **(headers or {})}
        if isinstance(body, Mapping):
            sent = {"Content-Type": "application/json", **sent}
            body = json.dumps(body).encode()
        connection = over or self.connection()
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return HttpReply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            if over is None:
                connection.close()

    def call(self, operation: str, arguments: JsonObject | None = None, **options: Mapping[str, str]) -> HttpReply:
        return self.request("POST", f"/v1/{operation}", arguments or {}, options.get("headers"))

    def done(
        self, operation: str, arguments: JsonObject | None = None, over: http.client.HTTPConnection | None = None
    ) -> JsonObject:
        """The result of an operation that must succeed."""
        reply = self.request("POST", f"/v1/{operation}", arguments or {}, over=over)
        assert reply.status == 200, f"{reply.status}: {reply.body!r}"
        return reply.json

    def names(self) -> set[str]:
        """The names of all entities."""
        return {text_at(each, "name") for each in objects_at(self.done("read_graph"), "entities")}

    def session(self, headers: Mapping[str, str] | None = None) -> dict[str, str]:
        """The headers of a new MCP session's requests."""
        params: JsonObject = {
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        message: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        own = {"Accept": "application/json, text/event-stream", **(headers or {})}
        return own | {"Mcp-Session-Id": self.request("POST", "/mcp", message, own).headers["mcp-session-id"]}

    def tool(self, session: Mapping[str, str], name: str, arguments: JsonObject) -> JsonObject:
        """The result of a tool call in this session."""
        params: JsonObject = {"name": name, "arguments": arguments}
        message: JsonObject = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
        return object_at(self.request("POST", "/mcp", message, session).json, "result")

    def end(self, signal: int) -> int:
        """Send the signal; the exit code of the process that ended in time."""
        self.process.send_signal(signal)
        code = self.process.wait(ENDS_WITHIN)
        self._reader.join(ENDS_WITHIN)
        return code

    def __enter__(self) -> Self:
        assert self._settled.wait(DEADLINE), "the server does not listen"
        assert self.port, f"the server ended:\n{self.log}"
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(ENDS_WITHIN)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                self._reader.join(ENDS_WITHIN)
                pipe.close()


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


@contextmanager
def _services(store: Path | str) -> Generator[Services]:
    runtime = Runtime(load_settings(store=str(store), embedder="none"))
    try:
        yield runtime.services()
    finally:
        runtime.close()


def make_key(store: Path | str, name: str, scope: Scope = Scope.WRITE, collections: Sequence[str] | None = None) -> str:
    """A key's secret; the collections are made."""
    with _services(store) as services:
        for code in collections or ():
            if code not in {each.code for each in services.collections.all(LOCAL)}:
                services.collections.create(LOCAL, code, code, "")
        return services.keys.create(name, scope, collections).secret


def revoke_key(store: Path | str, name: str) -> None:
    with _services(store) as services:
        services.keys.revoke(name)
