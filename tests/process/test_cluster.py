"""Several servers on one store, while servers are killed and the database goes away: nothing acknowledged is lost."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from evoca.domain.clock import SystemClock
from evoca.storage import open_store
from tests.process.support.cluster import Client, HttpMember, Member, StdioMember, at_work, check
from tests.process.support.graph import check_integrity
from tests.process.support.launch import PROVING
from tests.support.postgres import Server, embedded, running
from tests.surfaces.waiting import until

pytestmark = pytest.mark.timeout(900)

SECONDS = 300.0 if PROVING else 8.0
"""How long the clients work, not counting the times when the database is away."""
CLIENTS = 32
PATIENCE = 60.0
RECOVERY = 15.0
"""Seconds from the database's return to the last server's being ready; a busy machine gets three times the promise."""
ENV = {"EVOCA_EMBEDDER": "hash", "EVOCA_INDEXER_REST": "0.5"}


@contextmanager
def members(*these: Member) -> Generator[Sequence[Member]]:
    with ExitStack() as stack:
        for each in these:
            stack.callback(each.close)
        for each in these:
            if not isinstance(each, StdioMember):
                each.start()
        yield these


def harass(these: Sequence[Member], seconds: float, randomly: random.Random) -> int:
    """Kill servers and start them again, one after the other; how many."""
    end, killed = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        threading.Event().wait(randomly.uniform(0.2, 2.0))
        victim = randomly.choice(these)
        victim.kill()
        victim.start()
        killed += 1
    return killed


def take_away(database: Server, mode: str, these: Sequence[HttpMember]) -> None:
    """Stop the database and start it again: each server says so, none ends, and all recover."""
    database.stop(mode)
    away = time.monotonic()
    for each in these:
        until(lambda each=each: each.ready() == 503, f"{each.name} says that the database is away")
    assert time.monotonic() - away < RECOVERY
    for _ in range(5):
        assert [each.ready() for each in these] == [503] * len(these)
    database.start()
    back = time.monotonic()
    for each in these:
        until(lambda each=each: each.ready() == 200, f"{each.name} is ready again")
    assert time.monotonic() - back < RECOVERY
    assert all(each.alive() for each in these)


def tell(capsys: pytest.CaptureFixture[str], text: str) -> None:
    """A long run's figures are for whoever started it."""
    if PROVING:
        with capsys.disabled():
            sys.stdout.write(f"\n{text}\n")


def report(clients: Sequence[Client], killed: int) -> str:
    again: dict[str, int] = {}
    for client in clients:
        for why, count in client.again.items():
            again[why] = again.get(why, 0) + count
    calls, longest = sum(client.calls for client in clients), max(client.longest for client in clients)
    return f"{calls} calls, {killed} kills, longest {longest:.1f} s, again {again}"


def test_servers_killed_and_a_database_restarted_lose_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    randomly = random.Random(6)
    with running(embedded()) as database:
        database.sql("CREATE DATABASE memory")
        url = database.url("memory")
        patience = ("0.5", "3", "30")
        these = [HttpMember(f"server {n}", home, url, {**ENV, "EVOCA_BUSY_TIMEOUT": patience[n]}) for n in range(3)]
        with members(*these):
            clients = [Client(number, these, PATIENCE) for number in range(CLIENTS)]
            with at_work(clients):
                killed = harass(these, SECONDS / 2, randomly)
                take_away(database, "fast", these)
                take_away(database, "immediate", these)
                killed += harass(these, SECONDS / 2, randomly)
            tell(capsys, report(clients, killed))
            check(these, clients, PATIENCE)
            with closing(open_store(url, SystemClock())) as store:
                assert store.check()["integrity"] == "ok"
            assert all(each.alive() for each in these)


def test_servers_killed_on_one_file_lose_nothing(home: Path, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    randomly = random.Random(7)
    http = [HttpMember(f"server {n}", home, str(store), ENV) for n in range(3)]
    with members(*http, StdioMember("stdio", home, store, ENV)) as these:
        clients = [Client(number, these, PATIENCE) for number in range(CLIENTS)]
        with at_work(clients):
            killed = harass(these, SECONDS, randomly)
        tell(capsys, report(clients, killed))
        check(these, clients, PATIENCE)
        assert all(each.alive() for each in these)
    check_integrity(store)
