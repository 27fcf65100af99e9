"""How long the change feed remembers."""

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
