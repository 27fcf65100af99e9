"""Connections break and databases go away: nothing acknowledged is lost or done twice, and nobody waits for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from evoca.domain.clock import FrozenClock
from evoca.domain.graph import NewEntity
from evoca.errors import CommitUnknown, Unavailable
from evoca.storage.contract import Session, Store
from evoca.storage.postgres.location import parse
from evoca.storage.postgres.opening import PostgresOptions
from evoca.storage.postgres.store import PostgresStore
from tests.support.cutting import Wire, wire
from tests.support.engines import POSTGRES, Servers
from tests.support.postgres import Server, embedded, running

SECONDS = 30
DURING = [f"during {number}" for number in range(5)]
END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'evoca' AND datname = "


def opened(url: str, patience: float = SECONDS) -> PostgresStore:
    return PostgresStore(parse(url), FrozenClock(1_000_000), PostgresOptions(busy_timeout=patience))


def put(store: Store, name: str) -> int:
    return store.write(lambda session: session.entities.insert(1, [NewEntity(name)], 1)[0])


def names(store: Store) -> list[str]:
    return store.read(lambda session: [entity.name for entity in session.entities.page(1)])


@pytest.fixture
def server(servers: Servers) -> Server:
    return servers.of(POSTGRES)


@pytest.fixture
def database(server: Server) -> Iterator[str]:
    name = server.empty_store()
    yield name
    server.take_back(name)


@pytest.fixture
def cut(server: Server) -> Iterator[Wire]:
    with wire(server.folder) as laid:
        yield laid


@pytest.mark.parametrize("arrives", [False, True], ids=["request lost", "answer lost"])
@pytest.mark.parametrize("statement", [b"COMMIT", b"SAVEPOINT unit", b"COPY entities", b"BEGIN"])
def test_a_write_whose_connection_breaks_is_done_once(
    cut: Wire, database: str, statement: bytes, arrives: bool
) -> None:
    store = opened(cut.url(database))
    put(store, "before")
    runs = 0

    def work(session: Session) -> int:
        nonlocal runs
        runs += 1
        return session.entities.insert(1, [NewEntity(name) for name in DURING], 1)[0]

    cut.cut(statement, arrives)
    number = store.write(work)
    put(store, "after")
    assert cut.cuts == 1
    assert names(store) == ["before", *DURING, "after"]
    assert store.read(lambda session: session.entities.by_ids([number])[number].name) == DURING[0]
    # Only what was certainly undone is done again.
    undone = statement == b"COPY entities" or (statement == b"COMMIT" and not arrives)
    assert runs == (2 if undone else 1)
    assert store.check()["integrity"] == "ok"
    store.close()


def test_a_read_whose_connection_breaks_is_done_again(cut: Wire, database: str) -> None:
    store = opened(cut.url(database))
    put(store, "there")
    cut.cut(b"REPEATABLE READ", arrives=False)
    assert names(store) == ["there"]
    cut.cut(b"REPEATABLE READ", arrives=True)
    assert names(store) == ["there"]
    assert cut.cuts == 2
    store.close()


def test_an_outcome_that_cannot_be_found_out_is_not_guessed() -> None:
    with running(embedded()) as server, wire(server.folder) as laid:
        store = opened(laid.url(server.empty_store()), patience=1)
        put(store, "before")

        def stops(session: Session) -> None:
            session.entities.insert(1, [NewEntity("in doubt")], 1)
            laid.cut(b"COMMIT", arrives=True, whole=True)

        with pytest.raises(CommitUnknown, match="whether it was is not known"):
            store.write(stops)
        laid.mend()
        put(store, "after")
        assert names(store) == ["before", "in doubt", "after"]
        store.close()


def test_every_acknowledged_write_outlives_broken_connections(server: Server, database: str) -> None:
    store = opened(server.url(database))
    with ThreadPoolExecutor(16) as pool:
        writes = [pool.submit(put, store, f"n{number:04}") for number in range(400)]
        for _ in range(5):
            server.sql(f"{END}'{database}'")
            time.sleep(0.05)
        numbers = [write.result(SECONDS) for write in writes]
    assert names(store) == [
        entity.name for entity in store.read(lambda s: [s.entities.by_ids([n])[n] for n in sorted(numbers)])
    ]
    assert sorted(names(store)) == [f"n{number:04}" for number in range(400)]
    assert store.check()["integrity"] == "ok"
    store.close()


def test_a_database_that_restarts_costs_time_only() -> None:
    with running(embedded()) as server:
        store = opened(server.url(server.empty_store()))
        stop = threading.Event()
        done: list[str] = []

        def work(worker: int) -> None:
            for number in range(1_000_000):
                name = f"w{worker}-{number}"
                put(store, name)
                done.append(name)
                assert name in names(store)
                if stop.is_set():
                    return

        with ThreadPoolExecutor(4) as pool:
            workers = [pool.submit(work, worker) for worker in range(4)]
            _wait_for(lambda: len(done) > 20)
            server.restart()
            seen = len(done)
            _wait_for(lambda: len(done) > seen + 20)
            stop.set()
            for worker in workers:
                worker.result(SECONDS)
        assert sorted(names(store)) == sorted(done)
        assert store.check()["integrity"] == "ok"
        store.close()


def test_a_database_that_stays_away_is_told_in_bounded_time_and_may_come_back() -> None:
    with running(embedded()) as server:
        url = server.url(server.empty_store())
        store = opened(url, patience=1)
        put(store, "before")
        server.stop("fast")
        for call in (lambda: names(store), lambda: put(store, "never")):
            begun = time.monotonic()
            with pytest.raises(Unavailable, match="cannot be reached"):
                call()
            assert time.monotonic() - begun < 10
        with pytest.raises(Unavailable, match="cannot be reached"):
            opened(url)
        server.start()
        put(store, "after")
        assert names(store) == ["before", "after"]
        store.close()


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
