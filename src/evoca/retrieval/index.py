"""The in-process index of all documents, kept current from the store's change feed.

One shard for each collection and family of things that are sought together. A snapshot (`ShardView`) never changes:
columns grow behind its end, and are copied before a value inside is overwritten. Vectors are kept centred and
normalised (`Calibration`), in one of three forms by how many the process holds: float32; above `Limits.exact` one bit
a dimension, the best of which are scored again with eight; above `Limits.coarse` the bit alone, and the best are scored
again with the store's vectors.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evoca.errors import StoreDamaged
from evoca.retrieval.columns import BLOCK, Bits, BitVectors, Column, ExactVectors, Rows, Scalar
from evoca.storage.contract import DocumentChanges, DocumentRow, OwnerKind, Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evoca.retrieval.calibration import Calibration


@dataclass(frozen=True, slots=True)
class Limits:
    """Vectors in the process up to which they are kept as float32 (1.5 KB each at 384 dimensions) and as one bit with
    eight beside it (432 B); above that, 48 B.

    25,000 rows of float32 cost 4 ms to compare; 60,000 of bits with rescoring 2 ms.
    """

    exact: int = 25_000
    coarse: int = 200_000


_SPARSE = 4
"""A table from ids to rows may have so many places for each document."""
_FEW_DEAD = 1_024
_PATIENCE = 8


def pack_vectors(vectors: NDArray[np.float32]) -> list[bytes]:
    """Unit rows (n, dim) as they are stored: float16, little-endian."""
    return [row.tobytes() for row in vectors.astype("<f2")]


def unpack_vectors(packed: Sequence[bytes], dim: int) -> NDArray[np.float32]:
    """Stored vectors → float32 rows (n, dim). Raises StoreDamaged when one has another size."""
    _check_sizes(packed, dim)
    return np.frombuffer(b"".join(packed), "<f2").reshape(-1, dim).astype(np.float32)


def _check_sizes(packed: Sequence[bytes], dim: int) -> None:
    if any(len(each) != 2 * dim for each in packed):
        raise StoreDamaged(
            f"A stored vector does not have {dim} dimensions.",
            "Restore a copy of the store, or set EVOCA_EMBEDDER to another model: everything is embedded anew for it.",
        )


class Family(IntEnum):
    """What is sought together: the graph's entities (by names and observations), reflections, episodes, facts."""

    GRAPH = 1
    REFLECTIONS = 2
    EPISODES = 3
    FACTS = 4


_FAMILIES = {
    OwnerKind.ENTITY: Family.GRAPH,
    OwnerKind.OBSERVATION: Family.GRAPH,
    OwnerKind.REFLECTION: Family.REFLECTIONS,
    OwnerKind.EPISODE: Family.EPISODES,
    OwnerKind.FACT: Family.FACTS,
}


@dataclass(frozen=True)
class ShardView:
    """One family of a collection's documents at one moment; row i of each array is one document, in order of ids.

    `entities`: a number for each entity, an index into `entity_ids`. `places`: where a document's vector stands in
    `vectors`, -1 without one. `owners`: the document row of each vector, -1 when it is of the past.
    `mean_sum`, `mean_count`: the sum over entities of the mean of their centred vectors, names left out, and how many
    entities these are: one that says very much about one thing weighs as much in it as any other.
    `names`: what readers remember of entities' names, by id; it is dropped when one of them changes.
    """

    ids: NDArray[np.int64]
    entities: NDArray[np.int32]
    entity_ids: NDArray[np.int64]
    kinds: NDArray[np.int8]
    languages: NDArray[np.int8]
    lengths: NDArray[np.int32]
    alive: NDArray[np.bool_]
    places: NDArray[np.int32]
    owners: NDArray[np.int32]
    vectors: ExactVectors | BitVectors
    mean_sum: NDArray[np.float64]
    mean_count: int
    names: dict[int, str]

    @cached_property
    def all_alive(self) -> bool:
        """Whether no document is of the past."""
        return bool(self.alive.all())

    @cached_property
    def passages(self) -> NDArray[np.bool_]:
        """The living documents that are not names."""
        return self.alive & (self.kinds != OwnerKind.ENTITY)

    @cached_property
    def entity_count(self) -> int:
        """How many things the living documents are of."""
        return int(np.count_nonzero(np.bincount(self.entities[self.alive])))

    @cached_property
    def typical_length(self) -> float:
        """The mean length of passages, in terms; of names when there is nothing else."""
        for documents in (self.passages, self.alive):
            if documents.any():
                return max(1.0, float(self.lengths[documents].mean()))
        return 1.0

    @cached_property
    def pending(self) -> int:
        """Documents that have no vector yet."""
        return int(np.count_nonzero(self.alive & (self.places < 0)))

    @cached_property
    def living(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The places of living documents' vectors, their document rows and their entities."""
        places = np.flatnonzero(self.owners >= 0)
        rows = self.owners[places].astype(np.int64)
        alive = self.alive[rows]
        return places[alive], rows[alive], self.entities[rows[alive]].astype(np.int64)

    @cached_property
    def _table(self) -> NDArray[np.int32] | None:
        """Document id - first id → row, where ids lie dense enough."""
        if not len(self.ids):
            return None
        reach = int(self.ids[-1] - self.ids[0]) + 1
        if reach > _SPARSE * len(self.ids) + _FEW_DEAD:
            return None
        table = np.full(reach, -1, np.int32)
        table[self.ids - self.ids[0]] = np.arange(len(self.ids), dtype=np.int32)
        return table

    def rows_of(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of living documents with these ids (ascending); unknown ones are left out."""
        if not len(ids) or not len(self.ids):
            return np.empty(0, np.int64)
        if self._table is not None:
            begin, end = np.searchsorted(ids, [self.ids[0], self.ids[-1] + 1])
            rows = self._table[ids[begin:end] - self.ids[0]].astype(np.int64)
            rows = rows[rows >= 0]
        else:
            rows = np.searchsorted(self.ids, ids).clip(max=len(self.ids) - 1)
            rows = rows[self.ids[rows] == ids]
        return rows if self.all_alive else rows[self.alive[rows]]


class _Shard:
    """The columns of one family in one collection; changed by one thread at a time."""

    def __init__(self, calibration: Calibration, dim: int, vectors: Rows | Bits) -> None:
        self._calibration = calibration
        self._dim = dim
        self.ids: Column[np.int64] = Column(np.int64)
        self.entities: Column[np.int32] = Column(np.int32)
        self.entity_ids: Column[np.int64] = Column(np.int64)
        self.kinds: Column[np.int8] = Column(np.int8)
        self.languages: Column[np.int8] = Column(np.int8)
        self.lengths: Column[np.int32] = Column(np.int32)
        self.alive: Column[np.bool_] = Column(np.bool_)
        self.places: Column[np.int32] = Column(np.int32)
        self.owners: Column[np.int32] = Column(np.int32)
        self.vectors = vectors
        self._number_of: dict[int, int] = {}
        self._mean_sum = np.zeros(dim, np.float64)
        self._mean_count = 0
        self._names: dict[int, str] = {}
        self.dead = 0
        self._view: ShardView | None = None

    def view(self) -> ShardView:
        if self._view is None:
            self._view = ShardView(
                self.ids.view(),
                self.entities.view(),
                self.entity_ids.view(),
                self.kinds.view(),
                self.languages.view(),
                self.lengths.view(),
                self.alive.view(),
                self.places.view(),
                self.owners.view(),
                self.vectors.view(),
                self._mean_sum.copy(),
                self._mean_count,
                self._names,
            )
        return self._view

    @property
    def size(self) -> int:
        return len(self.owners)

    @property
    def wasteful(self) -> bool:
        return self.dead > _FEW_DEAD and self.dead > self.size // 3

    def fits(self, rows: Sequence[DocumentRow]) -> bool:
        """Whether the rows are known ones or come after all of them."""
        if not len(self.ids) or rows[0].id > self.ids.view()[-1]:
            return True
        last = int(self.ids.view()[-1])
        known = np.array([row.id for row in rows if row.id <= last], np.int64)
        return bool(np.isin(known, self.ids.view()).all())

    def put(self, rows: Sequence[DocumentRow]) -> None:
        """Add or replace documents; ids ascending, and `fits` them."""
        self._view = None
        before = len(self.ids)
        last = int(self.ids.view()[-1]) if before else 0
        known = [row for row in rows if row.id <= last]
        new = rows[len(known) :]
        at = np.searchsorted(self.ids.view(), [row.id for row in known]).astype(np.int64)
        touched = {*self.entities.view()[at].tolist(), *(self._number(row.entity_id) for row in rows)}
        self._count_in_mean(touched, -1)
        if known:
            # Another dictionary: who reads an older state may still put older names into the former one.
            gone = {row.entity_id for row in known if row.owner_kind == OwnerKind.ENTITY}
            self._names = {entity: name for entity, name in self._names.items() if entity not in gone}
            self._forget_vectors(at)
            self._describe(known, at)
            self._put_vectors(at, known)
        if new:
            self.ids.append(np.array([row.id for row in new], np.int64))
            self._describe(new, None)
            self.places.append(np.full(len(new), -1, np.int32))
            self._put_vectors(np.arange(before, before + len(new), dtype=np.int64), new)
        self._count_in_mean(touched, 1)

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Drop documents, as far as they are here. `ids` ascending."""
        known = self.ids.view()
        if not len(known):
            return
        at = np.searchsorted(known, ids).clip(max=len(known) - 1).astype(np.int64)
        at = at[(known[at] == ids) & self.alive.view()[at]]
        if len(at):
            self._view = None
            touched = set(self.entities.view()[at].tolist())
            self._count_in_mean(touched, -1)
            self._forget_vectors(at)
            self._count_in_mean(touched, 1)
            self.alive.overwrite(at, np.zeros(len(at), np.bool_))
            self.dead += len(at)

    def _describe(self, rows: Sequence[DocumentRow], at: NDArray[np.int64] | None) -> None:
        """Everything but ids and vectors, at known rows or (None) at the end."""
        _write(self.entities, np.array([self._number(row.entity_id) for row in rows], np.int32), at)
        _write(self.kinds, np.array([row.owner_kind for row in rows], np.int8), at)
        _write(self.languages, np.array([row.language for row in rows], np.int8), at)
        _write(self.lengths, np.array([row.length for row in rows], np.int32), at)
        _write(self.alive, np.ones(len(rows), np.bool_), at)

    def _number(self, entity: int) -> int:
        number = self._number_of.get(entity)
        if number is None:
            number = self._number_of[entity] = len(self._number_of)
            self.entity_ids.append(np.array([entity], np.int64))
        return number

    def _put_vectors(self, at: NDArray[np.int64], rows: Sequence[DocumentRow]) -> None:
        given = [index for index, row in enumerate(rows) if row.vector is not None]
        if not given:
            return
        packed = [row.vector for row in rows if row.vector is not None]
        # Before the first is put anywhere: vectors and their owners must not part.
        _check_sizes(packed, self._dim)
        where = at[given]
        keeps_rows, first = self.vectors.view().keeps_rows, len(self.owners)
        passages = self.kinds.view()[where] != OwnerKind.ENTITY
        # A part at a time: on its way from float16 to bits a vector takes ten times its room.
        for begin in range(0, len(packed), BLOCK):
            part = slice(begin, begin + BLOCK)
            unit = unpack_vectors(packed[part], self._dim)
            centred = self._calibration.centre_passages(unit, self.languages.view()[where[part]])
            self.vectors.append(centred)
            if not keeps_rows:
                self._mean_sum += centred[passages[part]].sum(axis=0, dtype=np.float64)
        self.owners.append(where.astype(np.int32))
        self.places.overwrite(where, np.arange(first, first + len(where), dtype=np.int32))
        if not keeps_rows:
            self._mean_count += int(passages.sum())

    def _forget_vectors(self, at: NDArray[np.int64]) -> None:
        places = self.places.view()[at]
        where, places = at[places >= 0], places[places >= 0].astype(np.int64)
        if not len(where):
            return
        self.owners.overwrite(places, np.full(len(places), -1, np.int32))
        self.places.overwrite(where, np.full(len(where), -1, np.int32))
        self.dead += len(where)

    def _count_in_mean(self, touched: set[int], sign: int) -> None:
        """Put the means of some entities (numbers) in, or take them out.

        Where no rows are kept, of hundreds of thousands, all passages count alike and for good.
        """
        vectors = self.vectors.view()
        if not len(self.owners) or not vectors.keeps_rows:
            return
        among = np.zeros(len(self.entity_ids), np.bool_)
        among[list(touched)] = True
        entities = self.entities.view()
        rows = np.flatnonzero(among[entities] & (self.places.view() >= 0) & (self.kinds.view() != OwnerKind.ENTITY))
        counts = np.bincount(entities[rows], minlength=1)
        weights = (sign / counts[entities[rows]]).astype(np.float32)
        for begin in range(0, len(rows), BLOCK):
            part = rows[begin : begin + BLOCK]
            self._mean_sum += weights[begin : begin + BLOCK] @ vectors.rows(self.places.view()[part].astype(np.int64))
        self._mean_count += sign * int(np.count_nonzero(counts))


def _write(column: Column[Scalar], values: NDArray[Scalar], at: NDArray[np.int64] | None) -> None:
    if at is None:
        column.append(values)
    else:
        column.overwrite(at, values)


class DocumentIndex:
    """All documents of one store, with one model's vectors (`model` None: without). Safe for many threads."""

    def __init__(self, model: str | None, dim: int, calibration: Calibration, limits: Limits) -> None:
        self._model = model
        self._dim = dim
        self._calibration = calibration
        self._limits = limits
        self._level = 0
        self._lock = threading.Lock()
        self._shards: dict[tuple[int, Family], _Shard] = {}
        self._counter = 0
        self._behind = 0

    def view(self, session: Session, collection: int, family: Family = Family.GRAPH) -> tuple[ShardView, bool]:
        """A family of the collection as the session sees it; True when the index knows later changes than that."""
        counter = session.documents.counter()
        with self._lock:
            ahead = counter < self._counter
            self._behind = self._behind + 1 if ahead else 0
            # Sessions that stay behind for so long are of a store that was put back from a copy.
            if counter > self._counter or self._behind > _PATIENCE:
                self._refresh(session)
                ahead = False
            shard = self._shards.get((collection, family))
            return (shard or self._new_shard()).view(), ahead

    def _new_shard(self) -> _Shard:
        vectors = Rows(self._dim) if self._level == 0 else Bits(self._dim, keep=self._level == 1)
        return _Shard(self._calibration, self._dim, vectors)

    def _level_for(self, vectors: int) -> int:
        """0 float32, 1 bits with eight beside them, 2 bits."""
        return (vectors > self._limits.exact) + (vectors > self._limits.coarse)

    def _refresh(self, session: Session) -> None:
        changes = session.documents.changes(self._counter, self._model)
        if not changes.complete and not self._follow(changes):
            changes = session.documents.changes(0, self._model)
        if changes.complete:
            self._level = self._level_for(_vectors_in(changes.rows))
            self._shards = {}
            self._put(changes.rows)
        self._counter, self._behind = changes.counter, 0

    def _follow(self, changes: DocumentChanges) -> bool:
        """Take over some changes. False when all must be read anew, which is rare: too much is of the past, the
        next limit is reached, or an id lies between known ones. Nothing is lost when it stopped half-way.
        """
        size = sum(shard.size for shard in self._shards.values())
        if self._level_for(size + _vectors_in(changes.rows)) > self._level:
            return False
        if any(shard.wasteful for shard in self._shards.values()):
            return False
        removed = np.array(sorted(changes.removed), np.int64)
        if len(removed):
            for shard in self._shards.values():
                shard.remove(removed)
        return self._put(changes.rows)

    def _put(self, rows: Sequence[DocumentRow]) -> bool:
        by_shard: dict[tuple[int, Family], list[DocumentRow]] = {}
        for row in rows:
            by_shard.setdefault((row.collection_id, _FAMILIES[OwnerKind(row.owner_kind)]), []).append(row)
        for key, members in by_shard.items():
            shard = self._shards.setdefault(key, self._new_shard())
            if not shard.fits(members):
                return False
            shard.put(members)
        return True


def _vectors_in(rows: Iterable[DocumentRow]) -> int:
    return sum(row.vector is not None for row in rows)
