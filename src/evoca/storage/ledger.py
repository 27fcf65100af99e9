"""What a write transaction owes before its commit: index rows, the change feed, the ids it took.

Index rows are collected and written last: written between other statements they cost twice as much.
A group holds several units of work; what a unit owes joins the group's debt when the unit has succeeded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from evoca.storage.connection import Connection, IdSource, Indexes, Span, Terms

NEAR = 16
"""Changed ids up to so far apart are one range of the change feed."""
KEPT_CHANGES = 65_536
"""So many values of the change counter are remembered; who is further behind reads everything."""
_FORGET_EVERY = 4_096

T = TypeVar("T")


@dataclass(slots=True)
class _Entry(Generic[T]):
    content: T | None
    stored: bool
    """Whether the index held a row before."""


class Journal(Generic[T]):
    """The last word on each id: put with a content, or dropped. In two layers: the group's and the unit's."""

    def __init__(self) -> None:
        self._group: dict[int, _Entry[T]] = {}
        self._unit: dict[int, _Entry[T]] = {}
        self._exposed = False

    def put(self, row: int, content: T, replaces: bool = False) -> None:
        known = self._unit.get(row)
        self._unit[row] = _Entry(content, known.stored if known else replaces)

    def drop(self, row: int) -> None:
        known = self._unit.get(row)
        self._unit[row] = _Entry(None, known.stored if known else True)

    def keep_unit(self) -> None:
        if self._exposed:
            self._group = {}
        self._merge(self._group, self._unit)
        self.forget_unit()

    def forget_unit(self) -> None:
        self._unit = {}
        self._exposed = False

    def unwritten(self) -> dict[int, _Entry[T]]:
        """Both layers as one."""
        if self._exposed or not self._group:
            return self._unit
        whole = dict(self._group)
        self._merge(whole, self._unit)
        return whole

    def written_by_unit(self) -> None:
        """The unit has written both layers. Should it be rolled back, the group's is owed again."""
        self._unit = {}
        self._exposed = True

    @staticmethod
    def _merge(into: dict[int, _Entry[T]], newer: dict[int, _Entry[T]]) -> None:
        for row, entry in newer.items():
            older = into.get(row)
            into[row] = _Entry(entry.content, older.stored) if older else entry


def _removed(entries: dict[int, _Entry[T]]) -> list[int]:
    return [row for row, entry in entries.items() if entry.stored]


def _added(entries: dict[int, _Entry[T]]) -> Iterator[tuple[int, T]]:
    return ((row, entry.content) for row, entry in entries.items() if entry.content is not None)


@dataclass(slots=True)
class _Feed:
    """Documents put and removed, as the in-process indexes of all processes will hear of them."""

    changed: set[int] = field(default_factory=set[int])
    removed: set[int] = field(default_factory=set[int])

    def put(self, ids: Iterable[int]) -> None:
        ids = list(ids)
        self.changed.update(ids)
        self.removed.difference_update(ids)

    def drop(self, ids: Iterable[int]) -> None:
        ids = list(ids)
        self.removed.update(ids)
        self.changed.difference_update(ids)


class CounterIds:
    """Ids from a counter in the store, for an engine with one writer at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.clear()

    def clear(self) -> None:
        self._first = 0
        self._next = 0

    def take(self, count: int) -> int:
        if not self._next:
            self._first = self._next = self._connection.select(_NEXT_ID, {}, tuple[int])[0][0]
        first = self._next
        self._next += count
        return first

    def taken(self) -> list[Span]:
        return [(self._first, self._next - 1)] if self._next > self._first else []

    def save(self) -> None:
        if self._next > self._first:
            self._connection.run(_SAVE_NEXT_ID, {"next": self._next})


class Ledger:
    """The debts of one write transaction. `settle` pays them; `clear` forgets them with the transaction."""

    def __init__(self, connection: Connection, indexes: Indexes, ids: IdSource) -> None:
        self._connection = connection
        self._indexes = indexes
        self._ids = ids
        self.clear()

    def clear(self) -> None:
        self._ids.clear()
        self.terms: Journal[Terms] = Journal()
        self._group_feed = _Feed()
        self._unit_feed = _Feed()
        self._group_substrings: set[int] = set()
        self._unit_substrings: set[int] = set()
        self._bumped: set[int] = set()

    # -- units of work ---------------------------------------------------------------------------

    def keep_unit(self) -> None:
        """The unit succeeded: its debts become the group's."""
        self.terms.keep_unit()
        self._group_feed.put(self._unit_feed.changed)
        self._group_feed.drop(self._unit_feed.removed)
        self._group_substrings |= self._unit_substrings
        self._unit_substrings.clear()
        self._unit_feed = _Feed()
        self._bumped.clear()

    def forget_unit(self) -> None:
        """The unit was rolled back. The ids it took stay taken."""
        self.terms.forget_unit()
        self._unit_feed = _Feed()
        self._unit_substrings.clear()
        self._bumped.clear()

    # -- what units owe --------------------------------------------------------------------------

    def take_ids(self, count: int) -> int:
        """The first of `count` ids in a row that nobody else has or will have."""
        return self._ids.take(count)

    def first_bump(self, collection: int) -> bool:
        """Whether the unit has not said yet that the collection's graph changes."""
        fresh = collection not in self._bumped
        self._bumped.add(collection)
        return fresh

    def documents_changed(self, ids: Iterable[int]) -> None:
        self._unit_feed.put(ids)

    def documents_removed(self, ids: Iterable[int]) -> None:
        self._unit_feed.drop(ids)

    def substrings_changed(self, owners: Iterable[int]) -> None:
        """Owners that the substring index knows have another text, or are gone."""
        self._unit_substrings.update(owners)

    # -- payment ---------------------------------------------------------------------------------

    def settle(self) -> None:
        """Write the group's debts; nothing but COMMIT comes after.

        The change counter is last: an engine with several writers holds its row from here to the end of the
        commit, so that its values become visible in order and nobody misses the slower commit.
        """
        self._ids.save()
        self._write_terms()
        new = self._ids.taken()
        if new or self._group_substrings:
            self._indexes.write_substrings(self._group_substrings, new)
        if self._group_feed.changed or self._group_feed.removed:
            self._write_feed()

    def expose_terms(self) -> None:
        """Write the rows of the text index that are owed so far, because the unit is about to search."""
        self._write_terms()
        self.terms.written_by_unit()

    def expose_substrings(self) -> None:
        """The same with the substring index."""
        dirty, new = self._group_substrings | self._unit_substrings, self._ids.taken()
        if dirty or new:
            self._indexes.write_substrings(dirty, new)

    def _write_terms(self) -> None:
        terms = self.terms.unwritten()
        if terms:
            self._indexes.write_terms(_removed(terms), _added(terms))

    def _write_feed(self) -> None:
        counter = self._connection.select(_ADVANCE, {}, tuple[int])[0][0]
        ranges = id_ranges(self._group_feed.changed)
        self._connection.run_many(_ADD_CHANGE, [(counter, first, last) for first, last in ranges])
        self._connection.run_many(_ADD_TOMBSTONE, [(counter, gone) for gone in sorted(self._group_feed.removed)])
        if counter % _FORGET_EVERY == 0:
            kept = {"kept": counter - KEPT_CHANGES}
            for forget in (_FORGET_CHANGES, _FORGET_TOMBSTONES, _SAVE_KEPT):
                self._connection.run(forget, kept)


def id_ranges(ids: Iterable[int], near: int = NEAR) -> list[tuple[int, int]]:
    """Cover ids by ascending ranges (first, last); ids at most `near` apart share one."""
    ranges: list[tuple[int, int]] = []
    for each in sorted(ids):
        if ranges and each - ranges[-1][1] <= near:
            ranges[-1] = (ranges[-1][0], each)
        else:
            ranges.append((each, each))
    return ranges


_NEXT_ID = "SELECT value FROM counters WHERE name = 'items'"
_SAVE_NEXT_ID = "UPDATE counters SET value = :next WHERE name = 'items'"
_ADVANCE = "UPDATE counters SET value = value + 1 WHERE name = 'documents' RETURNING value"
_ADD_CHANGE = "INSERT INTO document_changes (counter, first_id, last_id) VALUES (?, ?, ?)"
_ADD_TOMBSTONE = "INSERT INTO tombstones (counter, document_id) VALUES (?, ?)"
_FORGET_CHANGES = "DELETE FROM document_changes WHERE counter <= :kept"
_FORGET_TOMBSTONES = "DELETE FROM tombstones WHERE counter <= :kept"
_SAVE_KEPT = "UPDATE counters SET value = :kept WHERE name = 'documents_kept' AND value < :kept"
