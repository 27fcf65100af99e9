"""The store's edges in the process, as columns: walking them costs a few passes over arrays, never one step an edge.

Like the document index it is kept current from the change feed, so that other processes' writes are seen. Of each
collection there is a table, whose rows are in order of ids; a view of it never changes.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evoca.retrieval.columns import Column
from evoca.storage.contract import Session
from evoca.storage.fact_contract import EdgeChanges, EdgeRow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evoca.domain.clock import Instant

    Ids = NDArray[np.int64]
    Mask = NDArray[np.bool_]

Direction = Literal["out", "in", "both"]
_NEVER = np.iinfo(np.int64).max
_LITERAL = 0
"""The number of an object that is no entity."""
_FEW_DEAD = 1_024
_PATIENCE = 8
"""Sessions that stay behind for so long are of a store that was put back from a copy."""


@dataclass(frozen=True, slots=True)
class Walk:
    """`edges`: ids in order of (hop, id), each once; `hops`: of each, from 1.

    `entities`: ids in order of (distance, id), those it began at too; `distances`: of each, from 0.
    """

    edges: Ids
    hops: Ids
    entities: Ids
    distances: Ids


@dataclass(frozen=True, slots=True)
class Path:
    """One shortest path: ids of its edges and of its entities, both ends too, from start to end."""

    edges: list[int]
    entities: list[int]


@dataclass(frozen=True, slots=True)
class _Way:
    """Which edges count, and how they are walked. `predicates`: whether each code counts, None for all.

    `at`: None for any time.
    """

    direction: Direction
    predicates: Mask | None
    at: Instant | None


@dataclass(frozen=True, slots=True)
class EdgeView:
    """A collection's edges at one moment; row i of each array is one edge, in order of ids.

    `subjects`, `objects`: numbers of entities, indexes into `entity_ids`; 0 is a literal. `predicates`: codes.
    `begins`, `ends_at`: when an edge holds, from and until.
    """

    edge_ids: Ids
    subjects: Ids
    objects: Ids
    predicates: Ids
    begins: Ids
    ends_at: Ids
    alive: Mask
    entity_ids: Ids
    _numbers: dict[int, int]
    _codes: dict[str, int]

    def ids(self, *, at: Instant | None = None, include_ended: bool = False) -> Ids:
        """The edges that hold at an instant (None: at any), ascending; `include_ended`: all."""
        way = _Way("both", None, None if include_ended else at)
        return self.edge_ids[self._counting(np.flatnonzero(self.alive), way)]

    def touching(self, entities: Sequence[int]) -> Ids:
        """The edges at these entities, ended ones too, ascending."""
        return self.edge_ids[self._touched(self._marked(entities), "both") & self.alive]

    def ends(self, ids: Ids | Sequence[int]) -> Ids:
        """The entities at these edges, ascending."""
        rows = self._rows(ids)
        rows = rows[rows >= 0]
        marks = self._nowhere()
        marks[self.subjects[rows]] = True
        marks[self.objects[rows]] = True
        marks[_LITERAL] = False
        return np.sort(self.entity_ids[marks])

    def having(self, ids: Ids, predicates: Collection[str]) -> Mask:
        """Of each of these edges whether its predicate is one of these."""
        rows = self._rows(ids)
        return (rows >= 0) & self._wanted(predicates)[self.predicates[rows]]

    def touched(self, ids: Ids, entities: Ids) -> Mask:
        """Of each of these edges whether it is at one of these entities."""
        rows = self._rows(ids)
        marks = self._marked(entities.tolist())
        return (rows >= 0) & (marks[self.subjects[rows]] | marks[self.objects[rows]])

    def walk(
        self,
        start: Sequence[int],
        depth: int,
        *,
        direction: Direction = "both",
        predicates: Collection[str] | None = None,
        at: Instant | None = None,
        include_ended: bool = False,
        reached: bool = True,
    ) -> Walk:
        """The edges at most `depth` steps from some entities, breadth first.

        `direction`: `out` is from subject to object. `predicates`: only edges with one of these. `at`: only edges that
        hold at this instant; None or `include_ended`: at any time. `reached`: tell the entities too.
        """
        way = self._way(direction, predicates, None if include_ended else at)
        numbers = self._known(start)
        edges: list[Ids] = []
        entities: list[Ids] = [np.sort(self.entity_ids[numbers])]
        for rows, front in self._levels(numbers, depth, way):
            edges.append(self.edge_ids[rows])
            if reached:
                entities.append(np.sort(self.entity_ids[front]))
        return Walk(*_levelled(edges, 1), *_levelled(entities, 0))

    def shortest_path(
        self,
        start: int,
        end: int,
        max_depth: int,
        *,
        direction: Direction = "both",
        predicates: Collection[str] | None = None,
        at: Instant | None = None,
        include_ended: bool = False,
    ) -> Path | None:
        """A shortest path of at most `max_depth` edges; of several, from its end on, the one with the smallest ids.

        None when there is none. Arguments as for `walk`.
        """
        way = self._way(direction, predicates, None if include_ended else at)
        if start == end:
            return Path([], [start])
        known = [self._known([entity]) for entity in (start, end)]
        if not all(map(len, known)):
            return None
        first, last = (int(each[0]) for each in known)
        distances = np.full(len(self.entity_ids), -1, np.int64)
        distances[first] = 0
        for hop, (_rows, reached) in enumerate(self._levels(np.array([first]), max_depth, way), 1):
            distances[reached] = hop
            if distances[last] >= 0:
                break
        if distances[last] < 0:
            return None
        edges: list[int] = []
        entities = [last]
        while entities[-1] != first:
            row, before = self._step_back(entities[-1], distances, way)
            edges.append(int(self.edge_ids[row]))
            entities.append(before)
        return Path(edges[::-1], self.entity_ids[entities[::-1]].tolist())

    # -- steps -----------------------------------------------------------------------------------

    def _levels(self, start: Ids, depth: int, way: _Way) -> Iterator[tuple[Ids, Ids]]:
        """For each hop the rows that are met in it, ascending, and the numbers of the entities reached first."""
        fresh, unmet = ~self._nowhere(), self.alive.copy()
        front = self._nowhere()
        front[start] = True
        fresh[start] = fresh[_LITERAL] = False
        for _ in range(depth):
            touched = self._touched(front, way.direction)
            touched &= unmet
            rows = np.flatnonzero(touched)
            unmet[rows] = False
            rows = self._counting(rows, way)
            front = self._nowhere()
            if way.direction != "in":
                front[self.objects[rows]] = True
            if way.direction != "out":
                front[self.subjects[rows]] = True
            front &= fresh
            fresh &= ~front
            reached = np.flatnonzero(front)
            yield rows, reached
            if not len(reached):
                return

    def _touched(self, front: Mask, direction: Direction) -> Mask:
        """The rows that can be walked from the marked entities."""
        marked = np.flatnonzero(front)
        if len(marked) == 1:
            # One comparison costs a third of looking marks up.
            alone = int(marked[0])
            if direction == "out":
                return self.subjects == alone
            if direction == "in":
                return self.objects == alone
            return (self.subjects == alone) | (self.objects == alone)
        if direction == "out":
            return front[self.subjects]
        if direction == "in":
            return front[self.objects]
        return front[self.subjects] | front[self.objects]

    def _counting(self, rows: Ids, way: _Way) -> Ids:
        """Those of these rows that hold at the time and have one of the predicates."""
        if way.at is not None:
            rows = rows[(self.begins[rows] <= way.at) & (self.ends_at[rows] > way.at)]
        if way.predicates is not None:
            rows = rows[way.predicates[self.predicates[rows]]]
        return rows

    def _step_back(self, entity: int, distances: Ids, way: _Way) -> tuple[int, int]:
        """The first row that leads to an entity from one that is a step nearer, and that one."""
        nearer = distances == distances[entity] - 1
        found: list[tuple[int, int]] = []
        if way.direction != "in":
            rows = np.flatnonzero((self.objects == entity) & nearer[self.subjects] & self.alive)
            found += [(int(row), int(self.subjects[row])) for row in self._counting(rows, way)[:1]]
        if way.direction != "out":
            rows = np.flatnonzero((self.subjects == entity) & nearer[self.objects] & self.alive)
            found += [(int(row), int(self.objects[row])) for row in self._counting(rows, way)[:1]]
        return min(found)

    # -- names of things -------------------------------------------------------------------------

    def _way(self, direction: Direction, predicates: Collection[str] | None, at: Instant | None) -> _Way:
        return _Way(direction, None if predicates is None else self._wanted(predicates), at)

    def _wanted(self, predicates: Collection[str]) -> Mask:
        """For each code whether its predicate is one of these."""
        codes = [self._codes[each] for each in predicates if each in self._codes]
        # Counted after: the dictionary may grow on behind the view.
        wanted = np.zeros(len(self._codes), np.bool_)
        wanted[codes] = True
        return wanted

    def _known(self, entities: Sequence[int]) -> Ids:
        """The numbers of those entities that an edge of this view may touch."""
        count, numbers = len(self.entity_ids), self._numbers
        # The dictionaries grow on behind the view.
        found = {numbers[entity] for entity in entities if numbers.get(entity, count) < count}
        return np.array(sorted(found), np.int64)

    def _marked(self, entities: Sequence[int]) -> Mask:
        marks = self._nowhere()
        marks[self._known(entities)] = True
        return marks

    def _nowhere(self) -> Mask:
        return np.zeros(len(self.entity_ids), np.bool_)

    def _rows(self, ids: Ids | Sequence[int]) -> Ids:
        """The row of each of these edges, -1 for an unknown one."""
        wanted = np.asarray(ids, np.int64)
        if not len(self.edge_ids):
            return np.full(len(wanted), -1, np.int64)
        rows = np.searchsorted(self.edge_ids, wanted).clip(max=len(self.edge_ids) - 1)
        return np.where((self.edge_ids[rows] == wanted) & self.alive[rows], rows, -1)


def _levelled(levels: Sequence[Ids], first: int) -> tuple[Ids, Ids]:
    """The members of all levels, and the level of each."""
    if not levels:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return np.concatenate(levels), np.repeat(np.arange(first, first + len(levels)), [len(each) for each in levels])


class _Table:
    """The columns of one collection; changed by one thread at a time. Rows ascend by id."""

    def __init__(self) -> None:
        self.ids: Column[np.int64] = Column(np.int64)
        self.subjects: Column[np.int64] = Column(np.int64)
        self.objects: Column[np.int64] = Column(np.int64)
        self.predicates: Column[np.int64] = Column(np.int64)
        self.begins: Column[np.int64] = Column(np.int64)
        self.ends_at: Column[np.int64] = Column(np.int64)
        self.alive: Column[np.bool_] = Column(np.bool_)
        self.entity_ids: Column[np.int64] = Column(np.int64)
        self.entity_ids.append(np.array([0], np.int64))
        self._numbers = {0: _LITERAL}
        self._codes: dict[str, int] = {}
        self._dead = 0
        self._view: EdgeView | None = None

    def view(self) -> EdgeView:
        if self._view is None:
            self._view = EdgeView(
                self.ids.view(),
                self.subjects.view(),
                self.objects.view(),
                self.predicates.view(),
                self.begins.view(),
                self.ends_at.view(),
                self.alive.view(),
                self.entity_ids.view(),
                self._numbers,
                self._codes,
            )
        return self._view

    def put(self, rows: Sequence[EdgeRow]) -> bool:
        """Add or replace edges; ids ascending. False when one lies between known ones: all must be read anew."""
        self._view = None
        known = self.ids.view()
        last = int(known[-1]) if len(known) else 0
        old = [row for row in rows if row.id <= last]
        if old:
            at = np.searchsorted(known, [row.id for row in old])
            if not np.array_equal(known[at], [row.id for row in old]):
                return False
            self._replace(at.astype(np.int64), old)
        self._append(rows[len(old) :])
        return True

    def remove(self, ids: Ids) -> None:
        """Drop edges, as far as they are here. `ids` ascending."""
        known = self.ids.view()
        if not len(known):
            return
        at = np.searchsorted(known, ids).clip(max=len(known) - 1).astype(np.int64)
        at = at[(known[at] == ids) & self.alive.view()[at]]
        if len(at):
            self._view = None
            self.alive.overwrite(at, np.zeros(len(at), np.bool_))
            self._dead += len(at)

    @property
    def wasteful(self) -> bool:
        return self._dead > _FEW_DEAD and self._dead > len(self.ids) // 3

    def _append(self, rows: Sequence[EdgeRow]) -> None:
        if rows:
            self.ids.append(np.array([row.id for row in rows], np.int64))
            self.alive.append(np.ones(len(rows), np.bool_))
            for column, values in self._described(rows):
                column.append(values)

    def _replace(self, at: Ids, rows: Sequence[EdgeRow]) -> None:
        """Write what differs only: overwriting copies a column, and most changes are of vectors or of one column."""
        for column, values in self._described(rows):
            differs = column.view()[at] != values
            column.overwrite(at[differs], values[differs])
        revived = at[~self.alive.view()[at]]
        self.alive.overwrite(revived, np.ones(len(revived), np.bool_))
        self._dead -= len(revived)

    def _described(self, rows: Sequence[EdgeRow]) -> list[tuple[Column[np.int64], Ids]]:
        return [
            (self.subjects, np.array([self._number(row.subject_id) for row in rows], np.int64)),
            (self.objects, np.array([self._number(row.object_id) for row in rows], np.int64)),
            (self.begins, np.array([row.valid_from for row in rows], np.int64)),
            (self.ends_at, np.array([_NEVER if row.ended_at is None else row.ended_at for row in rows], np.int64)),
            (self.predicates, np.array([self._code(row.predicate) for row in rows], np.int64)),
        ]

    def _number(self, entity: int) -> int:
        number = self._numbers.get(entity)
        if number is None:
            number = len(self._numbers)
            self.entity_ids.append(np.array([entity], np.int64))
            self._numbers[entity] = number
        return number

    def _code(self, predicate: str) -> int:
        return self._codes.setdefault(predicate, len(self._codes))


class EdgeTable:
    """All edges of one store. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tables: dict[int, _Table] = {}
        self._counter = 0
        self._behind = 0

    def view(self, session: Session, collection: int) -> EdgeView:
        """The collection's edges as the session sees them, or as they were committed a moment later."""
        counter = session.documents.counter()
        with self._lock:
            ahead = counter < self._counter
            self._behind = self._behind + 1 if ahead else 0
            if counter > self._counter or self._behind > _PATIENCE:
                self._refresh(session)
            return self._tables.get(collection, _Table()).view()

    def _refresh(self, session: Session) -> None:
        changes = session.facts.changes(0 if self._behind else self._counter)
        if not changes.complete and not self._follow(changes):
            changes = session.facts.changes(0)
        if changes.complete:
            self._tables = {}
            self._put(changes.rows)
        self._counter, self._behind = changes.counter, 0

    def _follow(self, changes: EdgeChanges) -> bool:
        """Take over some changes. False when all must be read anew; nothing is lost when it stopped half-way."""
        if any(table.wasteful for table in self._tables.values()):
            return False
        removed = np.array(sorted(changes.removed), np.int64)
        if len(removed):
            for table in self._tables.values():
                table.remove(removed)
        return self._put(changes.rows)

    def _put(self, rows: Sequence[EdgeRow]) -> bool:
        by_collection: dict[int, list[EdgeRow]] = {}
        for row in rows:
            by_collection.setdefault(row.collection_id, []).append(row)
        return all(
            self._tables.setdefault(collection, _Table()).put(members) for collection, members in by_collection.items()
        )
