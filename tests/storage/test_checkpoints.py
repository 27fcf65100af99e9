"""The log stays short, even when readers overlap without a pause, and is gone when the store is closed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from evoca.domain.clock import SystemClock
from evoca.domain.graph import NewEntity
from evoca.storage import open_store
from evoca.storage.contract import Session, Store
from evoca.storage.sqlite.opening import SqliteOptions
from evoca.storage.sqlite.store import SqliteStore
from tests.storage.given import entity, healthy
from tests.storage.test_group_commit import wait_for

LIMIT = 1024 * 1024


def log_size(store: Store) -> int:
    path = Path(f"{store.location}-wal")
    return path.stat().st_size if path.exists() else 0


def test_closing_copies_the_log_into_the_database(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(open_store(path, SystemClock())) as store:
        entity(store, 1, "Ana")
        assert log_size(store) > 0
    assert [each.name for each in tmp_path.iterdir()] == ["memory.db"]


def test_the_log_is_emptied_between_overlapping_readers(tmp_path: Path) -> None:
    options = SqliteOptions(checkpoint_bytes=LIMIT, idle=60)
    stop = threading.Event()
    longest = 0

    def look(session: Session) -> None:
        session.entities.count(1)
        threading.Event().wait(0.005)
        session.entities.count(1)

    def keep_reading(store: Store) -> int:
        rounds = 0
        while not stop.is_set():
            store.read(look)
            rounds += 1
        return rounds

    with closing(SqliteStore(tmp_path / "memory.db", SystemClock(), options)) as store, ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(keep_reading, store) for _ in range(4)]
        for n in range(600):
            store.write(lambda s, n=n: s.entities.insert(1, [NewEntity(f"n{n}", "t")], 1))
            longest = max(longest, log_size(store))
        stop.set()
        assert all(reader.result() > 10 for reader in readers)
        assert longest > LIMIT // 2, "there was something to empty"
        assert longest < 12 * LIMIT
        assert healthy(store)


def test_an_idle_store_copies_its_log(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "memory.db", SystemClock(), SqliteOptions(idle=0.05))) as store:
        entity(store, 1, "Ana")
        wait_for(lambda: log_size(store) == 0)
        entity(store, 1, "Bea")
        wait_for(lambda: log_size(store) == 0)
        assert store.read(lambda s: s.entities.count(1)) == 2


def test_a_long_reader_does_not_stop_writers(tmp_path: Path) -> None:
    options = SqliteOptions(checkpoint_bytes=4096, idle=0.05)
    with closing(SqliteStore(tmp_path / "memory.db", SystemClock(), options)) as store:
        entity(store, 1, "Ana")

        def long_read(session: Session) -> tuple[int, int]:
            before = session.entities.count(1)
            with ThreadPoolExecutor(1) as pool:
                for n in range(20):
                    pool.submit(entity, store, 1, f"n{n}").result()
            return before, session.entities.count(1)

        assert store.read(long_read) == (1, 1)
        assert store.read(lambda s: s.entities.count(1)) == 21
        wait_for(lambda: log_size(store) == 0)
        assert healthy(store)
