"""`evoca serve` as people run it: a process, a socket, a store file."""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from evoca.domain.tenancy import Scope
from tests.process.support.client import DEADLINE
from tests.process.support.graph import entities, entity
from tests.process.support.http import HttpServer, bearer, make_key
from tests.process.support.launch import ENDS_WITHIN, evoca_command, isolated_env
from tests.surfaces.waiting import until

Serve = Callable[..., HttpServer]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(serve: Serve, number: signal.Signals) -> None:
    """An idle connection and an open stream do not hold it up; the stream ends as streams end."""
    server = serve()
    idle, streaming = server.connection(), server.connection()
    assert server.request("GET", "/healthz", over=idle).status == 200
    streaming.request("GET", "/mcp", headers=server.session())
    stream = streaming.getresponse()
    assert stream.status == 200
    assert server.end(number) == 0
    assert b"error" not in stream.read()
    idle.close()
    streaming.close()
    assert "Traceback" not in server.log
    assert '"level": "error"' not in server.log


def test_what_was_answered_is_there_after_the_end(serve: Serve) -> None:
    """Writers go on while the server is told to end: each was answered and stands, or was not answered."""
    server = serve()
    answered: list[str] = []
    enough = threading.Event()

    def write(worker: int) -> None:
        for number in range(10_000):
            name = f"{worker}-{number}"
            try:
                reply = server.call("create_entities", entities(entity(name)))
            except (OSError, EOFError):
                return
            if reply.status != 200:
                assert reply.status == 503
                return
            answered.append(name)
            if len(answered) >= 40:
                enough.set()

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, worker) for worker in range(4)]
        assert enough.wait(DEADLINE)
        assert server.end(signal.SIGTERM) == 0
        for writer in writers:
            writer.result(DEADLINE)
    there = serve().names()
    assert set(answered) <= there
    assert len(there - set(answered)) <= 4


def test_what_was_answered_survives_a_kill(serve: Serve) -> None:
    server = serve()
    for number in range(20):
        server.done("create_entities", entities(entity(str(number))))
    server.process.kill()
    server.process.wait()
    assert serve().names() == {str(number) for number in range(20)}


@contextmanager
def held(store: Path) -> Generator[None]:
    """Meanwhile another process has the store's write lock."""
    command = [sys.executable, "-c", _HOLD, str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        try:
            yield
        finally:
            holder.stdin.close()
            holder.wait(ENDS_WITHIN)


def test_a_busy_store_is_waited_for_and_then_told(serve: Serve, store: Path) -> None:
    server = serve(env={"EVOCA_BUSY_TIMEOUT": "0.3"})
    server.done("create_entities", entities(entity("Ana")))
    with held(store):
        refused = server.call("create_entities", entities(entity("Luis")))
        assert (refused.status, refused.code) == (503, "store_busy")
        assert refused.headers["retry-after"]
        unready = server.request("GET", "/readyz")
        assert (unready.status, unready.code) == (503, "store_busy")
        assert str(store.parent).encode() not in unready.body
        assert server.request("GET", "/healthz").status == 200
        assert server.names() == {"Ana"}
    until(lambda: server.request("GET", "/readyz").status == 200, "ready again")
    server.done("create_entities", entities(entity("Luis")))


def test_a_key_s_owner_is_not_told_where_the_store_is(serve: Serve, store: Path) -> None:
    secret = make_key(store, "reader", Scope.WRITE, collections=["default"])
    server = serve(env={"EVOCA_BUSY_TIMEOUT": "0.3"}, headers=bearer(secret))
    server.done("create_entities", entities(entity("Ana")))
    with held(store):
        refused = server.call("create_entities", entities(entity("Luis")))
    assert refused.code == "store_busy"
    assert refused.at("error", "message") == "The store is busy."
    assert str(store).encode() not in refused.body


@pytest.mark.parametrize("said", [b"", b"POST /v1/predicates HTTP/1.1\r\nHost: loc"])
def test_a_connection_that_says_nothing_whole_is_closed(serve: Serve, said: bytes) -> None:
    server = serve(env={"EVOCA_REQUEST_TIMEOUT": "0.5"})
    with socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE) as connection:
        connection.sendall(said)
        assert connection.recv(1) == b""


def test_a_connection_stays_open_between_requests(serve: Serve) -> None:
    server = serve(env={"EVOCA_REQUEST_TIMEOUT": "5"})
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE)) as connection:
        connection.connect()
        first = connection.sock
        for _ in range(3):
            connection.request("GET", "/healthz")
            assert connection.getresponse().read() == b'{"status":"ok"}'
        assert connection.sock is first


_HOLD = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
"""


def start_and_fail(home: Path, store: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = evoca_command("serve", "--store", str(store), *arguments)
    return subprocess.run(
        command, env=isolated_env(home), cwd=home, capture_output=True, text=True, timeout=DEADLINE, check=False
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104
def test_without_a_key_it_stays_on_this_machine(home: Path, store: Path, host: str) -> None:
    ended = start_and_fail(home, store, "--host", host, "--port", "0")
    assert ended.returncode == 2
    assert "evoca keys create" in ended.stderr
    assert "--insecure" in ended.stderr
    assert not ended.stdout


def test_a_person_may_insist(serve: Serve) -> None:
    server = serve("--host", "0.0.0.0", "--insecure")  # noqa: S104
    assert "everybody" in server.log
    assert server.call("read_graph").status == 200


def test_with_a_key_it_may_leave_this_machine(serve: Serve, store: Path) -> None:
    secret = make_key(store, "una", Scope.ADMIN)
    server = serve("--host", "0.0.0.0")  # noqa: S104
    assert "everybody" not in server.log
    assert server.call("read_graph").status == 401
    assert server.call("read_graph", headers=bearer(secret)).status == 200


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("--port", "nada"), 2), (("--port", "65536"), 2), (("--host", "no.such.host.invalid"), 2), (("--nada",), 2)],
)
def test_wrong_options_end_the_start(home: Path, store: Path, arguments: tuple[str, ...], code: int) -> None:
    ended = start_and_fail(home, store, *arguments)
    assert ended.returncode == code
    assert ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_port_that_is_taken_is_told(home: Path, store: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = start_and_fail(home, store, "--port", port)
    assert ended.returncode == 1
    assert port in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_store_that_is_none_is_told(home: Path, store: Path) -> None:
    store.write_text("not a database, and long enough to be seen as none" * 100)
    ended = start_and_fail(home, store, "--port", "0")
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr


def test_it_speaks_ipv6(home: Path, store: Path) -> None:
    if not socket.has_ipv6:  # pragma: no cover
        pytest.skip("no IPv6 here")
    with (
        HttpServer(home, store, arguments=("--host", "::1")) as server,
        socket.create_connection(("::1", server.port), timeout=DEADLINE) as connection,
    ):
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n")
        assert connection.makefile("rb").readline().startswith(b"HTTP/1.1 200")
