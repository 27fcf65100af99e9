"""What is known of every memory besides its text, in the process: filters are masks over it, sessions are walked in it.

Kept current by the change feed like the document index. Rows are in order of ids; labels are numbers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evoca.domain.clock import DAY, Instant
from evoca.domain.episodes import DECAY_PER_DAY, EPISODICA, FRESH_DAYS, LEAST_RECENCY, EpisodeTraits
from evoca.retrieval.columns import Column, Scalar
from evoca.storage.contract import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOREVER = np.iinfo(np.int64).max
_NONE = -1
_AFTER = 3
_ALIVE = 2
"""Places among a table's columns."""
_SPARSE = 4
_SMALL = 1_024
"""A table from ids to rows may have so many places for each memory, and so many more."""


@dataclass(frozen=True, slots=True)
class TraitFilter:
    """What a search lets through; None and empty let everything through. Labels are folded (`fold_label`).

    `now`: what has expired by then is as good as archived. `past`: superseded and archived memories too.
    `every_category`: all of `categories` must be there, not just one.
    """

    now: int
    session_id: str | None = None
    memory_type: str | None = None
    code: str | None = None
    nivel: str | None = None
    critico: bool | None = None
    since: int | None = None
    until: int | None = None
    past: bool = False
    categories: tuple[str, ...] = ()
    every_category: bool = False


class _Labels:
    """Numbers for texts, in order of first sight."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, label: str) -> int:
        return self._numbers.setdefault(label, len(self._numbers))

    def known(self, label: str) -> int:
        return self._numbers.get(label, _NONE)


@dataclass(frozen=True)
class TraitView:
    """The memories of a collection at one moment; row i of each array is one memory, `ids` ascend.

    `sessions`: a number for each session, -1 for none. `positions`: a memory's place in its session, in order of ids;
    `before`, `after`: the rows beside it there, -1 for none. `past`: archived or superseded. `alive`: neither deleted
    nor merged away. `likeness`: equal in memories that say the same in the same words.
    """

    ids: NDArray[np.int64]
    sessions: NDArray[np.int32]
    positions: NDArray[np.int32]
    before: NDArray[np.int32]
    after: NDArray[np.int32]
    types: NDArray[np.int32]
    codes: NDArray[np.int32]
    niveles: NDArray[np.int32]
    critical: NDArray[np.bool_]
    past: NDArray[np.bool_]
    alive: NDArray[np.bool_]
    created: NDArray[np.int64]
    expires: NDArray[np.int64]
    likeness: NDArray[np.int64]
    _labels: _Labels = field(repr=False)
    _categorised: Mapping[int, Sequence[int]] = field(repr=False)

    def allowed(self, wanted: TraitFilter) -> NDArray[np.bool_]:
        """Which rows a filter lets through."""
        mask = self.alive.copy()
        if not wanted.past:
            mask &= ~self.past & (self.expires > wanted.now)
        for label, column in (
            (wanted.memory_type, self.types),
            (wanted.code, self.codes),
            (wanted.nivel, self.niveles),
        ):
            if label is not None:
                mask &= column == self._labels.known(label)
        if wanted.session_id is not None:
            mask &= self._in_session(wanted.session_id)
        if wanted.critico is not None:
            mask &= self.critical == wanted.critico
        if wanted.since is not None:
            mask &= self.created >= wanted.since
        if wanted.until is not None:
            mask &= self.created <= wanted.until
        if wanted.categories:
            mask &= self._in_categories(wanted.categories, wanted.every_category)
        return mask

    def _in_session(self, session_id: str) -> NDArray[np.bool_]:
        if not session_id:
            return self.sessions == _NONE
        number = self._labels.known(_session_label(session_id))
        return self.sessions == number if number >= 0 else np.zeros(len(self.ids), np.bool_)

    def _in_categories(self, labels: Iterable[str], every: bool) -> NDArray[np.bool_]:
        wanted = set(labels)
        held = np.zeros(len(self.ids), np.int32)
        for label in wanted:
            members = self._categorised.get(self._labels.known(label), ())
            rows = np.fromiter(members, np.int64, len(members))
            held[rows[rows < len(held)]] += 1
        return held >= (len(wanted) if every else 1)

    @cached_property
    def _table(self) -> NDArray[np.int32] | None:
        """Id - first id → row, where ids lie dense enough."""
        if not len(self.ids):
            return None
        reach = int(self.ids[-1] - self.ids[0]) + 1
        if reach > _SPARSE * len(self.ids) + _SMALL:
            return None
        table = np.full(reach, _NONE, np.int32)
        table[self.ids - self.ids[0]] = np.arange(len(self.ids), dtype=np.int32)
        return table

    def rows_of(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each id, -1 for an unknown one."""
        if not len(self.ids):
            return np.full(len(ids), _NONE, np.int64)
        if self._table is None:
            rows = np.searchsorted(self.ids, ids).clip(max=len(self.ids) - 1).astype(np.int64)
            return np.where(self.ids[rows] == ids, rows, _NONE)
        places = ids - self.ids[0]
        inside = (places >= 0) & (places < len(self._table))
        return np.where(inside, self._table[np.where(inside, places, 0)], _NONE).astype(np.int64)

    def recency(self, rows: NDArray[np.int64], now: Instant) -> NDArray[np.float64]:
        """See `domain.episodes.recency`."""
        days = np.maximum(0.0, (now - self.created[rows]) / DAY - FRESH_DAYS)
        faded = np.maximum(LEAST_RECENCY, np.exp(-DECAY_PER_DAY * days))
        fading = (self.niveles[rows] == self._labels.known(EPISODICA)) & ~self.critical[rows]
        return np.where(fading, faded, 1.0)


class _Table:
    """The columns of one collection; changed by one thread at a time."""

    def __init__(self, labels: _Labels) -> None:
        self._labels = labels
        self._ids: Column[np.int64] = Column(np.int64)
        self._places: tuple[Column[np.int32], ...] = tuple(Column(np.int32) for _ in range(4))
        """Session, position, before, after."""
        self._numbers: tuple[Column[np.int32], ...] = tuple(Column(np.int32) for _ in range(3))
        self._flags: tuple[Column[np.bool_], ...] = tuple(Column(np.bool_) for _ in range(3))
        self._wide: tuple[Column[np.int64], ...] = tuple(Column(np.int64) for _ in range(3))
        self._members: dict[int, list[int]] = {}
        self._categorised: dict[int, list[int]] = {}
        self._categories: list[tuple[int, ...]] = []
        self._view: TraitView | None = None

    def view(self) -> TraitView:
        if self._view is None:
            sessions, positions, before, after = (column.view() for column in self._places)
            types, codes, niveles = (column.view() for column in self._numbers)
            critical, past, alive = (column.view() for column in self._flags)
            created, expires, likeness = (column.view() for column in self._wide)
            self._view = TraitView(
                ids=self._ids.view(),
                sessions=sessions,
                positions=positions,
                before=before,
                after=after,
                types=types,
                codes=codes,
                niveles=niveles,
                critical=critical,
                past=past,
                alive=alive,
                created=created,
                expires=expires,
                likeness=likeness,
                _labels=self._labels,
                # Its lists only grow at their end, or are replaced: a view leaves out rows that came later.
                _categorised=dict(self._categorised),
            )
        return self._view

    def fits(self, rows: Sequence[EpisodeTraits]) -> bool:
        """Whether the rows are known ones or come after all of them, and none has changed its session."""
        known = self._ids.view()
        last = int(known[-1]) if len(known) else 0
        old = [row for row in rows if row.id <= last]
        if not old:
            return True
        ids = np.array([row.id for row in old], np.int64)
        at = np.searchsorted(known, ids).clip(max=len(known) - 1)
        sessions = np.array([self._session(row) for row in old], np.int32)
        return bool((known[at] == ids).all() and (self._places[0].view()[at] == sessions).all())

    def put(self, rows: Sequence[EpisodeTraits]) -> None:
        """Add or replace memories; ids ascending, and `fits` them."""
        self._view = None
        before = self._ids.view()
        last = int(before[-1]) if len(before) else 0
        known = [row for row in rows if row.id <= last]
        new = rows[len(known) :]
        if known:
            at = np.searchsorted(before, [row.id for row in known]).astype(np.int64)
            for row, place in zip(known, at.tolist(), strict=True):
                self._recategorise(row, place)
            self._write(known, at)
        if new:
            self._ids.append(np.array([row.id for row in new], np.int64))
            self._write(new, None)
            self._join_sessions(new, len(before))
            for place, row in enumerate(new, len(before)):
                self._categorise(row, place)

    def remove(self, ids: NDArray[np.int64]) -> None:
        at = self.view().rows_of(ids)
        at = at[at >= 0]
        if len(at):
            self._view = None
            self._flags[_ALIVE].overwrite(at, np.zeros(len(at), np.bool_))

    def _session(self, row: EpisodeTraits) -> int:
        return self._labels.number(_session_label(row.session_id)) if row.session_id else _NONE

    def _join_sessions(self, rows: Sequence[EpisodeTraits], first: int) -> None:
        """Put new memories at the end of their sessions."""
        sessions, positions, before = list[int](), list[int](), list[int]()
        followed: dict[int, int] = {}
        for place, row in enumerate(rows, first):
            session = self._session(row)
            members = self._members.setdefault(session, []) if session >= 0 else []
            sessions.append(session)
            positions.append(len(members))
            before.append(members[-1] if members else _NONE)
            if members:
                followed[members[-1]] = place
            members.append(place)
        for column, values in zip(self._places, (sessions, positions, before, [_NONE] * len(rows)), strict=True):
            column.append(np.array(values, np.int32))
        at = np.fromiter(followed, np.int64, len(followed))
        self._places[_AFTER].overwrite(at, np.fromiter(followed.values(), np.int32, len(followed)))

    def _categorise(self, row: EpisodeTraits, place: int) -> None:
        numbers = tuple(self._labels.number(label) for label in row.categories)
        self._categories.append(numbers)
        for number in numbers:
            self._categorised.setdefault(number, []).append(place)

    def _recategorise(self, row: EpisodeTraits, place: int) -> None:
        numbers = tuple(self._labels.number(label) for label in row.categories)
        for number in set(self._categories[place]) ^ set(numbers):
            rest = [each for each in self._categorised.get(number, ()) if each != place]
            self._categorised[number] = [*rest, place] if number in numbers else rest
        self._categories[place] = numbers

    def _write(self, rows: Sequence[EpisodeTraits], at: NDArray[np.int64] | None) -> None:
        number = self._labels.number
        numbers = [
            [number(row.memory_type) for row in rows],
            [number(row.code) for row in rows],
            [number(row.nivel) for row in rows],
        ]
        flags = [
            [row.critico for row in rows],
            [row.archived or row.superseded for row in rows],
            [not row.hidden for row in rows],
        ]
        wide = [
            [row.created_at for row in rows],
            [FOREVER if row.critico or row.expires_at is None else row.expires_at for row in rows],
            [int.from_bytes(row.signature[:7], "big") for row in rows],
        ]
        for column, values in zip(self._numbers, numbers, strict=True):
            _put(column, np.array(values, np.int32), at)
        for column, values in zip(self._flags, flags, strict=True):
            _put(column, np.array(values, np.bool_), at)
        for column, values in zip(self._wide, wide, strict=True):
            _put(column, np.array(values, np.int64), at)


def _put(column: Column[Scalar], values: NDArray[Scalar], at: NDArray[np.int64] | None) -> None:
    if at is None:
        column.append(values)
    else:
        column.overwrite(at, values)


def _session_label(session_id: str) -> str:
    """Sessions share the numbers of the labels and are compared exactly."""
    return f"session\0{session_id}"


class TraitIndex:
    """The traits of all memories of one store. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._labels = _Labels()
        self._tables: dict[int, _Table] = {}
        self._counter = 0

    def view(self, session: Session, collection: int) -> TraitView:
        """A collection's memories as the session sees them, or as they were shortly after."""
        counter = session.documents.counter()
        with self._lock:
            if counter > self._counter:
                self._refresh(session)
            table = self._tables.get(collection)
            return (table or _Table(self._labels)).view()

    def _refresh(self, session: Session) -> None:
        changes = session.episodes.changes(self._counter)
        if not changes.complete:
            removed = np.array(sorted(changes.removed), np.int64)
            if len(removed):
                for table in self._tables.values():
                    table.remove(removed)
            if not self._put(changes.rows):
                changes = session.episodes.changes(0)
        if changes.complete:
            self._tables = {}
            self._put(changes.rows)
        self._counter = changes.counter

    def _put(self, rows: Sequence[EpisodeTraits]) -> bool:
        by_collection: dict[int, list[EpisodeTraits]] = {}
        for row in rows:
            by_collection.setdefault(row.collection_id, []).append(row)
        for collection, members in by_collection.items():
            table = self._tables.setdefault(collection, _Table(self._labels))
            if not table.fits(members):
                return False
            table.put(members)
        return True
