"""Servers that are killed or told to end while they write: what was acknowledged is there, the store opens."""

from __future__ import annotations

import random
import signal
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.process.support.client import DEADLINE, RpcError, ServerGone
from tests.process.support.graph import additions, check_integrity, entities, entity, triple
from tests.process.support.launch import ENDS_WITHIN, PROVING, start_evoca

if TYPE_CHECKING:
    from pathlib import Path

    from tests.process.support.client import JsonObject, PendingCall, Server


@dataclass(slots=True)
class Acknowledged:
    """What the server said was done."""

    entities: set[str] = field(default_factory=set[str])
    observations: set[str] = field(default_factory=set[str])
    relations: set[str] = field(default_factory=set[str])

    def check(self, server: Server) -> None:
        graph = server.ok("read_graph")
        names = set(graph.names())
        assert self.entities <= names, f"lost: {sorted(self.entities - names)[:5]}"
        observed = set(graph.observations("Base"))
        assert self.observations <= observed, f"lost: {sorted(self.observations - observed)[:5]}"
        related = {subject for subject, _, _ in graph.triples()}
        assert self.relations <= related, f"lost: {sorted(self.relations - related)[:5]}"
        for item in graph.objects("entities"):
            assert item["name"] == "Base" or item["observations"] == ["dos", "tres"], f"half of a call: {item}"


def _calls(label: str, count: int) -> list[tuple[str, str, JsonObject]]:
    """(what, tool, arguments), in threes: an entity, an observation, a relation of an entity of three calls before."""
    calls: list[tuple[str, str, JsonObject]] = []
    for n in range(count):
        name = f"{label}-{n:03d}"
        calls.append((name, "create_entities", entities(entity(name, "dos", "tres"))))
        calls.append((name, "add_observations", additions(("Base", [name]))))
        if n >= 10:
            earlier = f"{label}-{n - 10:03d}"
            calls.append((earlier, "create_relations", {"relations": [triple(earlier, "parte", "Base")]}))
    return calls


def _write_until_gone(server: Server, label: str, count: int, enough: int) -> tuple[list[PendingCall], threading.Event]:
    """Post calls without waiting; the event is set when `enough` of them are answered (or the server is gone)."""
    reached = threading.Event()
    answered = threading.Semaphore(0)
    pending: list[PendingCall] = []
    lock = threading.Lock()
    seen = 0

    def one_more(_: object) -> None:
        nonlocal seen
        with lock:
            seen += 1
            if seen >= enough:
                reached.set()
        answered.release()

    for call in server.post_all([(tool, arguments) for _, tool, arguments in _calls(label, count)]):
        call.answer.add_done_callback(one_more)
        pending.append(call)
    return pending, reached


def _collect(label: str, count: int, pending: list[PendingCall], done: Acknowledged) -> int:
    """Sort the acknowledged calls by what they did; how many there were."""
    kinds = {
        "create_entities": done.entities,
        "add_observations": done.observations,
        "create_relations": done.relations,
    }
    acknowledged = 0
    for (name, tool, _), call in zip(_calls(label, count), pending, strict=True):
        try:
            reply = call.reply()
        except (ServerGone, RpcError):
            continue
        if not reply.is_error and "errors" not in reply.data:
            kinds[tool].add(name)
            acknowledged += 1
    return acknowledged


@pytest.mark.timeout(1_800 if PROVING else 180)
def test_a_killed_server_loses_nothing_that_it_acknowledged(home: Path, store: Path) -> None:
    rounds, writes = (30, 150) if PROVING else (4, 150)
    chance = random.Random(20)
    done = Acknowledged()
    acknowledged = 0
    with start_evoca(home, store) as first:
        first.ok("create_entities", entities(entity("Base")))
    for round_ in range(rounds):
        label = f"K{round_}"
        with start_evoca(home, store) as server:
            done.check(server)
            pending, reached = _write_until_gone(server, label, writes, chance.randrange(1, 2 * writes))
            assert reached.wait(DEADLINE)
            server.kill()
            acknowledged += _collect(label, writes, pending, done)
        check_integrity(store)
    with start_evoca(home, store) as last:
        done.check(last)
        last.ok("create_entities", entities(entity("Después", "dos", "tres")))
    assert acknowledged >= rounds


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_told_to_end_while_it_writes_finishes_or_rolls_back(
    home: Path, store: Path, number: signal.Signals
) -> None:
    done = Acknowledged()
    with start_evoca(home, store) as server:
        server.ok("create_entities", entities(entity("Base")))
        pending, reached = _write_until_gone(server, "T", 150, 3)
        assert reached.wait(DEADLINE)
        server.process.send_signal(number)
        server.wait(ENDS_WITHIN)
        assert _collect("T", 150, pending, done) >= 3
        assert "Traceback" not in server.stderr()
    check_integrity(store)
    with start_evoca(home, store) as again:
        done.check(again)
