"""What commits leave behind: how long the change feed remembers, how far the substring index goes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from evoca.domain.clock import SystemClock
from evoca.storage import open_store
from tests.storage.given import entity


def test_old_changes_are_forgotten_in_the_end(tmp_path: Path) -> None:
    """The counter is set forward by hand: it would take many thousand commits."""
    with closing(open_store(tmp_path / "memory.db", SystemClock())) as store:
        made = entity(store, 1, "Ana")
        since = store.read(lambda s: s.documents.counter())
        with closing(sqlite3.connect(tmp_path / "memory.db")) as database, database:
            database.execute("UPDATE counters SET value = 69631 WHERE name = 'documents'")
        late = store.read(lambda s: s.documents.counter())
        new = entity(store, 1, "Bea")
        behind, near = store.read(lambda s: (s.documents.changes(since, None), s.documents.changes(late, None)))
        assert (behind.complete, [row.id for row in behind.rows]) == (True, [made, new])
        assert (near.complete, [row.id for row in near.rows]) == (False, [new])


def test_the_substring_index_follows_close_behind(tmp_path: Path) -> None:
    """Searching looks through what the index does not know yet; that must stay little."""
    path = tmp_path / "memory.db"
    with closing(open_store(path, SystemClock())) as store:
        for n in range(20):
            entity(store, 1, f"n{n}", "t", *(f"nota {i}" for i in range(40)))
            with closing(sqlite3.connect(path)) as database:
                counters = dict(database.execute("SELECT name, value FROM counters").fetchall())
            assert counters["items"] - 1 - counters["substrings"] < 256
        assert counters["substrings"] > 500
