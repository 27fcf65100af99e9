"""`evoca serve` beside a bare FastAPI application: `python -m bench.http [--rounds N]`. About a minute.

All servers run in the same minutes, in turns. Each call is made over connections that stay open, by one client (CPU for
each request, and latency) and by 32 at once (throughput, and errors, of which there must be none). Wall times depend on
the machine and its load; CPU and ratios are what counts. Searches by meaning use the deterministic stand-in model.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from evoca.domain.tenancy import Scope
from tests.process.support.client import JsonObject
from tests.process.support.http import bearer, make_key
from tests.process.support.launch import ROOT, evoca_command, isolated_env

CLIENTS = 32
ENTITIES = 2_000
_ADDRESS = re.compile(r"listening on http://127\.0\.0\.1:(\d+)")


@dataclass(frozen=True, slots=True)
class Target:
    """A running server and what its requests send."""

    name: str
    process: psutil.Process
    port: int
    headers: dict[str, str]

    def cpu(self) -> float:
        times = self.process.cpu_times()
        return times.user + times.system


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    path: str
    arguments: Callable[[int], JsonObject]
    message: bool = False
    """Sent as an MCP message to `/mcp`."""

    def body(self, number: int) -> bytes:
        if not self.message:
            return json.dumps(self.arguments(number)).encode()
        params = {"name": self.path, "arguments": self.arguments(number), "_meta": _META}
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()

    def headers(self) -> dict[str, str]:
        if not self.message:
            return {"Content-Type": "application/json"}
        return {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "MCP-Method": "tools/call",
            "MCP-Name": self.path,
        }


_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
NOTHING = Call("nothing", "/v1/nothing", lambda number: {"query": str(number)})
OPEN = Call("open_nodes", "/v1/open_nodes", lambda number: {"names": [f"Nodo {number % ENTITIES}"]})
OPEN_MCP = Call("open_nodes, MCP", "open_nodes", lambda number: {"names": [f"Nodo {number % ENTITIES}"]}, message=True)
SEARCH = Call("search_nodes", "/v1/search_nodes", lambda number: {"query": f"nota {number % ENTITIES} de"})
RECALL = Call("recall", "/v1/recall", lambda number: {"query": f"Nodo {number % ENTITIES}"})
REMEMBER = Call(
    "remember",
    "/v1/remember",
    lambda number: {"subject": f"Nodo {number % 50}", "predicate": "vio", "value": str(number)},
)
CALLS = (OPEN, OPEN_MCP, SEARCH, RECALL, REMEMBER)


@contextmanager
def _started(name: str, command: list[str], home: Path, headers: dict[str, str]) -> Generator[Target]:
    env = isolated_env(home, {"EVOCA_EMBEDDER": "hash", "EVOCA_INDEXER": "false", "EVOCA_LOG_LEVEL": "warning"})
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env, cwd=ROOT) as process:
        assert process.stderr is not None
        try:
            found = next(filter(None, map(_ADDRESS.search, process.stderr)))
            yield Target(name, psutil.Process(process.pid), int(found[1]), headers)
        finally:
            process.terminate()


def _fill(target: Target) -> None:
    items = [
        {"name": f"Nodo {number}", "entityType": "prueba", "observations": [f"nota {number} de prueba"]}
        for number in range(ENTITIES)
    ]
    _send(target, [Call("fill", "/v1/create_entities", lambda _number: {"entities": items})], range(1))


def _send(target: Target, calls: list[Call], numbers: Iterable[int]) -> list[float]:
    """Each request's time in ms; the calls take turns. Every answer must be a success."""
    connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=60)
    connection.connect()
    # The standard library sends head and body apart; with Nagle's algorithm that alone is 40 ms.
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times: list[float] = []
    for number in numbers:
        call = calls[number % len(calls)]
        began = time.perf_counter()
        connection.request(
            "POST", "/mcp" if call.message else call.path, call.body(number), call.headers() | target.headers
        )
        answer = connection.getresponse()
        body = answer.read()
        times.append((time.perf_counter() - began) * 1000)
        assert answer.status == 200, f"{call.name}: {answer.status} {body[:300]!r}"
        assert b'"isError"' not in body, body[:300]
    connection.close()
    return times


def _alone(target: Target, call: Call, rounds: int) -> str:
    _send(target, [call], range(50))
    before = target.cpu()
    times = _send(target, [call], range(50, 50 + rounds))
    cpu = (target.cpu() - before) * 1000 / rounds
    p95 = sorted(times)[rounds * 95 // 100]
    return f"{target.name:24} {call.name:18} {cpu:8.2f} {statistics.median(times):8.2f} {p95:8.2f}"


def _together(target: Target, calls: list[Call], rounds: int) -> str:
    before, began = target.cpu(), time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        sent = [
            pool.submit(_send, target, calls, range(client * rounds, (client + 1) * rounds))
            for client in range(CLIENTS)
        ]
        times = sorted(each for done in sent for each in done.result())
    seconds, total = time.perf_counter() - began, CLIENTS * rounds
    cpu = (target.cpu() - before) * 1000 / total
    what, p95 = "mixed" if len(calls) > 1 else calls[0].name, times[total * 95 // 100]
    return f"{target.name:24} {what:18} {cpu:8.2f} {total / seconds:8.0f} {p95:8.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400, help="requests of one client")
    rounds: int = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        home = Path(folder)
        store, locked = home / "open.db", home / "locked.db"
        secret = make_key(locked, "bench", Scope.WRITE)
        bare = running.enter_context(_started("bare FastAPI", [sys.executable, "-m", "bench.bare_http"], home, {}))
        serve = evoca_command("serve", "--port", "0", "--store")
        evoca = running.enter_context(_started("evoca serve", [*serve, str(store)], home, {}))
        keyed = running.enter_context(_started("evoca serve, key", [*serve, str(locked)], home, bearer(secret)))
        for target in (evoca, keyed):
            _fill(target)
        print(f"{'one client':24} {'call':18} {'CPU ms':>8} {'p50 ms':>8} {'p95 ms':>8}")
        print(_alone(bare, NOTHING, rounds))
        for call in CALLS:
            for target in (evoca, keyed):
                print(_alone(target, call, rounds))
        print(f"\n{f'{CLIENTS} clients':24} {'calls':18} {'CPU ms':>8} {'req/s':>8} {'p95 ms':>8}")
        print(_together(bare, [NOTHING], rounds // 8))
        for target in (evoca, keyed):
            print(_together(target, list(CALLS), rounds // 8))


if __name__ == "__main__":
    main()
