"""What is known of every memory besides its text, in the process: filters are masks over it, sessions are walked in it.

Kept current by the change feed like the document index. Rows are in order of ids; labels are numbers.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from evoca.domain.clock import Instant
from evoca.domain.episodes import EPISODICA, SEMANTICA, EpisodeTraits, recency
from evoca.retrieval.columns import Column, Scalar
from evoca.storage.contract import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOREVER = np.iinfo(np.int64).max
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class TraitFilter:
    """What a search lets through; None and empty let everything through. Labels are folded (`fold_label`).

    `now`: what has expired by then is as good as archived. `past`: superseded and archived memories too.
    `categorised`: ids of those in the wanted categories.
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
    categorised: frozenset[int] | None = None


class _Labels:
    """Numbers for texts, in order of first sight."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, label: str) -> int:
        return self._numbers.setdefault(label, len(self._numbers))

    def known(self, label: str) -> int:
        return self._numbers.get(label, _UNKNOWN)


@dataclass(frozen=True)
class TraitView:
    """The memories of a collection at one moment; row i of each array is one memory, `ids` ascend.

    `sessions`: a number for each session, -1 for none. `past`: archived or superseded. `alive`: neither deleted nor
    merged away. `likeness`: equal in memories that say the same in the same words.
    """

    ids: NDArray[np.int64]
    sessions: NDArray[np.int32]
    types: NDArray[np.int32]
    codes: NDArray[np.int32]
    niveles: NDArray[np.int32]
    critical: NDArray[np.bool_]
    created: NDArray[np.int64]
    expires: NDArray[np.int64]
    past: NDArray[np.bool_]
    alive: NDArray[np.bool_]
    likeness: NDArray[np.int64]
    _labels: _Labels = field(repr=False)
    _members: dict[int, list[int]] = field(repr=False)

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
            number = self._labels.known(_session_label(wanted.session_id)) if wanted.session_id else _UNKNOWN
            mask &= (self.sessions == number) & (number >= 0 or not wanted.session_id)
        if wanted.critico is not None:
            mask &= self.critical == wanted.critico
        if wanted.since is not None:
            mask &= self.created >= wanted.since
        if wanted.until is not None:
            mask &= self.created <= wanted.until
        if wanted.categorised is not None:
            mask &= np.isin(self.ids, np.fromiter(wanted.categorised, np.int64, len(wanted.categorised)))
        return mask

    def rows_of(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each id, -1 for an unknown one."""
        if not len(self.ids):
            return np.full(len(ids), _UNKNOWN, np.int64)
        rows = np.searchsorted(self.ids, ids).clip(max=len(self.ids) - 1).astype(np.int64)
        return np.where(self.ids[rows] == ids, rows, _UNKNOWN)

    def recency(self, row: int, now: Instant) -> float:
        """See `domain.episodes.recency`."""
        nivel = EPISODICA if self.niveles[row] == self._labels.known(EPISODICA) else SEMANTICA
        return recency(nivel, bool(self.critical[row]), int(self.created[row]), now)

    def position(self, row: int) -> int:
        """A memory's place among those of its session, in order of ids."""
        return bisect_left(self._members.get(int(self.sessions[row]), ()), row)

    def neighbours(self, row: int, reach: int) -> list[int]:
        """The rows before and after a memory in its session, at most `reach` each way."""
        members = self._members.get(int(self.sessions[row]), [])
        at = bisect_left(members, row)
        near = members[max(0, at - reach) : at + reach + 1]
        return [each for each in near if each != row and each < len(self.ids)]


class _Table:
    """The columns of one collection; changed by one thread at a time."""

    def __init__(self, labels: _Labels) -> None:
        self._labels = labels
        self._ids: Column[np.int64] = Column(np.int64)
        self._numbers: tuple[Column[np.int32], ...] = tuple(Column(np.int32) for _ in range(4))
        self._flags: tuple[Column[np.bool_], ...] = tuple(Column(np.bool_) for _ in range(3))
        self._wide: tuple[Column[np.int64], ...] = tuple(Column(np.int64) for _ in range(3))
        self._members: dict[int, list[int]] = {}
        self._view: TraitView | None = None

    def view(self) -> TraitView:
        if self._view is None:
            sessions, types, codes, niveles = (column.view() for column in self._numbers)
            critical, past, alive = (column.view() for column in self._flags)
            created, expires, likeness = (column.view() for column in self._wide)
            self._view = TraitView(
                self._ids.view(),
                sessions,
                types,
                codes,
                niveles,
                critical,
                created,
                expires,
                past,
                alive,
                likeness,
                self._labels,
                self._members,
            )
        return self._view

    def fits(self, rows: Sequence[EpisodeTraits]) -> bool:
        """Whether the rows are known ones or come after all of them."""
        known = self._ids.view()
        if not len(known) or rows[0].id > known[-1]:
            return True
        last = int(known[-1])
        return bool(np.isin([row.id for row in rows if row.id <= last], known).all())

    def put(self, rows: Sequence[EpisodeTraits]) -> None:
        """Add or replace memories; ids ascending, and `fits` them."""
        self._view = None
        before = self._ids.view()
        last = int(before[-1]) if len(before) else 0
        known = [row for row in rows if row.id <= last]
        new = rows[len(known) :]
        if known:
            at = np.searchsorted(before, [row.id for row in known]).astype(np.int64)
            self._join_sessions(known, at.tolist(), moved=True)
            self._write(known, at)
        if new:
            self._join_sessions(new, list(range(len(before), len(before) + len(new))), moved=False)
            self._ids.append(np.array([row.id for row in new], np.int64))
            self._write(new, None)

    def remove(self, ids: NDArray[np.int64]) -> None:
        at = self.view().rows_of(ids)
        at = at[at >= 0]
        if len(at):
            self._view = None
            self._flags[2].overwrite(at, np.zeros(len(at), np.bool_))

    def _session(self, row: EpisodeTraits) -> int:
        return self._labels.number(_session_label(row.session_id)) if row.session_id else _UNKNOWN

    def _join_sessions(self, rows: Sequence[EpisodeTraits], at: Sequence[int], moved: bool) -> None:
        for row, place in zip(rows, at, strict=True):
            session = self._session(row)
            if moved:
                former = int(self._numbers[0].view()[place])
                if former == session:
                    continue
                # Readers walk these lists without a lock: they get new ones.
                self._members[former] = [each for each in self._members.get(former, ()) if each != place]
                self._members[session] = list(self._members.get(session, ()))
            if session >= 0:
                insort(self._members.setdefault(session, []), place)

    def _write(self, rows: Sequence[EpisodeTraits], at: NDArray[np.int64] | None) -> None:
        number = self._labels.number
        numbers = [
            [self._session(row) for row in rows],
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
