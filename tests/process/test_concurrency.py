"""Many calls at once, many servers at once: nothing that was acknowledged is lost, and nobody is refused."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.process.support.graph import (
    additions,
    all_replies,
    check_integrity,
    entities,
    entity,
    names_in,
    refused,
    triple,
)
from tests.process.support.launch import PROVING, start_evoca

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.process.support.client import Server

HOLDER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("COMMIT")
print("released", flush=True)
"""


@contextmanager
def _started_at_once(home: Path, store: Path, count: int) -> Generator[list[Server]]:
    """`count` servers on one store, all running before the first of them is greeted."""
    with ExitStack() as stack:
        servers = [stack.enter_context(start_evoca(home, store, handshake=False)) for _ in range(count)]
        with ThreadPoolExecutor(count) as threads:
            for greeting in [threads.submit(server.initialize) for server in servers]:
                greeting.result()
        yield servers


def _write(server: Server, label: str, count: int, in_flight: int) -> None:
    for begin in range(0, count, in_flight):
        calls = [
            ("create_entities", entities(entity(f"{label}-{n:03d}", f"observación {label} {n}")))
            for n in range(begin, min(begin + in_flight, count))
        ]
        for call in server.post_all(calls):
            reply = call.reply()
            assert not reply.is_error, reply.text


@pytest.mark.parametrize("in_flight", [1, 200])
def test_four_servers_on_an_empty_store_keep_every_entity(home: Path, store: Path, in_flight: int) -> None:
    with _started_at_once(home, store, 4) as servers, ThreadPoolExecutor(4) as threads:
        jobs = [threads.submit(_write, server, f"S{n}", 200, in_flight) for n, server in enumerate(servers)]
        for job in jobs:
            job.result()
        wanted = {f"S{s}-{n:03d}" for s in range(4) for n in range(200)}
        for server in servers:
            reply = server.ok("read_graph")
            assert len(reply.names()) == 800
            assert set(reply.names()) == wanted
            assert all(len(reply.observations(name)) == 1 for name in ("S0-000", "S3-199"))
    check_integrity(store)


def test_fifty_calls_in_flight_on_one_connection_are_all_there(evoca: Server) -> None:
    calls = [("create_entities", entities(entity(f"Vuelo-{n:02d}", f"puerta {n}"))) for n in range(50)]
    replies = [call.reply() for call in evoca.post_all(calls)]
    assert not any(reply.is_error for reply in replies)
    assert names_in(evoca) == {f"Vuelo-{n:02d}" for n in range(50)}


def test_interleaved_creations_and_additions_do_not_lose_each_other(evoca: Server) -> None:
    evoca.ok("create_entities", entities(entity("Base")))
    calls = [
        call
        for n in range(1, 31)
        for call in (
            ("create_entities", entities(entity(f"Nodo-{n:02d}"))),
            ("add_observations", additions(("Base", [f"obs {n:02d}"]))),
        )
    ]
    pending = evoca.post_all(calls)
    assert not any(call.reply().is_error for call in pending)
    assert len({call.id for call in pending}) == 60
    graph = evoca.ok("read_graph")
    assert set(graph.names()) == {"Base", *(f"Nodo-{n:02d}" for n in range(1, 31))}
    assert sorted(graph.observations("Base")) == [f"obs {n:02d}" for n in range(1, 31)]


def test_two_servers_on_one_store_see_each_other(home: Path, store: Path) -> None:
    with _started_at_once(home, store, 2) as (one, other):
        calls = [
            (server, "create_entities", entities(entity(f"{label}-{n:03d}")))
            for n in range(1, 51)
            for server, label in ((one, "A"), (other, "B"))
        ]
        assert not any(reply.is_error for reply in all_replies(calls))
        wanted = {f"{label}-{n:03d}" for n in range(1, 51) for label in "AB"}
        with start_evoca(home, store) as third:
            assert names_in(one) == names_in(other) == names_in(third) == wanted


@pytest.mark.parametrize("round_", range(20 if PROVING else 1))
def test_six_servers_starting_together_all_come_up(home: Path, store: Path, round_: int) -> None:
    """On a store that does not exist: who makes it, who migrates it and who switches its journal is a race."""
    with _started_at_once(home, store, 6) as servers:
        calls = [
            (server, "create_entities", entities(entity(f"Arranque {n}", "listo"))) for n, server in enumerate(servers)
        ]
        for reply in all_replies(calls):
            assert not reply.is_error, reply.text
        for server in servers:
            assert names_in(server) == {f"Arranque {n}" for n in range(6)}
    check_integrity(store)


@contextmanager
def _held(store: Path) -> Generator[subprocess.Popen[str]]:
    """Another process inside a write transaction on the store, until it is told to commit."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    try:
        assert holder.stdout.readline() == "held\n"
        yield holder
    finally:
        holder.kill()
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()


def _release(holder: subprocess.Popen[str]) -> None:
    assert holder.stdin is not None
    assert holder.stdout is not None
    holder.stdin.write("\n")
    holder.stdin.flush()
    assert holder.stdout.readline() == "released\n"


def test_a_write_waits_for_a_store_that_another_process_writes(home: Path, store: Path) -> None:
    with start_evoca(home, store) as server:
        server.ok("create_entities", entities(entity("Imprenta")))
        with _held(store) as holder:
            waiting = server.post("add_observations", additions(("Imprenta", ["abre a las 8:30"])))
            assert server.ok("read_graph").names() == ["Imprenta"], "reads never wait for a writer"
            assert not waiting.answer.done()
            _release(holder)
            assert not waiting.reply().is_error
        assert server.ok("read_graph").observations("Imprenta") == ["abre a las 8:30"]


def test_a_store_that_stays_busy_is_a_retryable_error_and_nothing_is_stored(home: Path, store: Path) -> None:
    with start_evoca(home, store, env={"EVOCA_BUSY_TIMEOUT": "0.3"}) as server:
        server.ok("create_entities", entities(entity("Imprenta")))
        with _held(store) as holder:
            reply = server.call("add_observations", additions(("Imprenta", ["abre a las 8:30"])))
            sentence = refused(reply, str(store)).lower()
            assert "busy" in sentence
            assert "again" in sentence or "retry" in sentence
            assert server.ok("read_graph").observations("Imprenta") == []
            _release(holder)
        server.ok("add_observations", additions(("Imprenta", ["abre a las 8:30"])))
        assert server.ok("read_graph").observations("Imprenta") == ["abre a las 8:30"]


def test_a_repeated_relation_leaves_no_lock_behind(home: Path, store: Path) -> None:
    """What is already so must end its transaction too: the next writer, in another process, is not held up."""
    with start_evoca(home, store) as one, start_evoca(home, store, env={"EVOCA_BUSY_TIMEOUT": "0.5"}) as other:
        one.ok("create_entities", entities(entity("Pozo"), entity("Molino")))
        for _ in range(2):
            one.ok("create_relations", {"relations": [triple("Pozo", "junto_a", "Molino")]})
        other.ok("create_entities", entities(entity("Río")))
