"""What commits leave behind: how long the change feed remembers, how far the substring index goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Protocol, cast

import apsw

from evoca.domain.clock import SystemClock
from evoca.storage import open_store
from evoca.storage.contract import Store
from tests.storage.given import entity


class _Statements(Protocol):
    def execute(self, statements: str, bindings: Mapping[str, object], /) -> Iterable[tuple[int]]: ...


class Counters:
    """The store's counters, through a connection of the same SQLite: two in one process lose each other's locks."""

    def __init__(self, store: Store) -> None:
        self._path = store.location

    def __getitem__(self, name: str) -> int:
        ((value,),) = self._run("SELECT value FROM counters WHERE name = :name", {"name": name})
        return value

    def set_documents(self, value: int) -> None:
        self._run("UPDATE counters SET value = :value WHERE name = 'documents'", {"value": value})

    def _run(self, sql: str, values: Mapping[str, object]) -> list[tuple[int]]:
        with closing(apsw.Connection(self._path)) as database:
            return list(cast(_Statements, database).execute(sql, values))


def test_old_changes_are_forgotten_in_the_end(tmp_path: Path) -> None:
    """The counter is set forward by hand: it would take many thousand commits."""
    with closing(open_store(tmp_path / "memory.db", SystemClock())) as store:
        made = entity(store, 1, "Ana")
        since = store.read(lambda s: s.documents.counter())
        Counters(store).set_documents(69_631)
        late = store.read(lambda s: s.documents.counter())
        new = entity(store, 1, "Bea")
        behind, near = store.read(lambda s: (s.documents.changes(since, None), s.documents.changes(late, None)))
        assert (behind.complete, [row.id for row in behind.rows]) == (True, [made, new])
        assert (near.complete, [row.id for row in near.rows]) == (False, [new])


def test_the_substring_index_follows_close_behind(tmp_path: Path) -> None:
    """Searching looks through what the index does not know yet; that must stay little."""
    with closing(open_store(tmp_path / "memory.db", SystemClock())) as store:
        behind: list[int] = []
        for n in range(20):
            entity(store, 1, f"n{n}", "t", *(f"nota {i}" for i in range(40)))
            behind.append(Counters(store)["items"] - 1 - Counters(store)["substrings"])
        assert max(behind) < 256
        assert Counters(store)["substrings"] > 500
