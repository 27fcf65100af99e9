"""The dense side: how close each entity's best document comes to a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evoca.retrieval.calibration import Calibration
from evoca.retrieval.columns import ExactVectors
from evoca.retrieval.index import ShardView, unpack_vectors
from evoca.storage.contract import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESCORED = 600
"""The closest documents, about so many, are compared exactly even where scores are estimates."""
ENOUGH = 150
"""Entities that are wanted. Where the closest documents are of fewer, all documents are looked at."""
_SAMPLE = 16
PRIOR = 50
"""As many entities at the shipped mean temper the mean of a store: a small one says little about its kind."""
GRID = np.float32(2**16)
"""Cosines are told apart down to one part in this."""


@dataclass(frozen=True, slots=True)
class Closeness:
    """Of some entities: `cosines`, the centred cosine of the closest document (NaN without a vector); `adapted`, the
    same less the store's mean; `rows`, that document's row (-1 without a vector).
    """

    cosines: NDArray[np.float32]
    adapted: NDArray[np.float32]
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class Meaning:
    """How close the documents of a shard come to a query.

    `scores`: of every document with a vector, the greater the closer; `rows` and `entities` of these documents.
    `best`, `best_rows`: for every entity number the cosine and the row of its closest document, as far as it is among
    the closest of all, else NaN and -1. `query`, `mean`: the centred query and the store's mean in centred space.
    `fetched`: vectors that were read from the store, by row.
    """

    shard: ShardView
    rows: NDArray[np.int64]
    entities: NDArray[np.int64]
    scores: NDArray[np.float32] | NDArray[np.uint16]
    best: NDArray[np.float32]
    best_rows: NDArray[np.int64]
    query: NDArray[np.float32]
    mean: NDArray[np.float32]
    fetched: dict[int, NDArray[np.float32]]

    @property
    def found(self) -> NDArray[np.int64]:
        """The entities (numbers) that are closest, ascending."""
        return np.flatnonzero(self.best_rows >= 0)

    def of(self, entities: NDArray[np.int64]) -> Closeness:
        """Some entities (numbers), those that are not among the closest too."""
        cosines, rows = self.best[entities], self.best_rows[entities]
        missing = rows < 0
        if missing.any():
            cosines[missing], rows[missing] = self._farther(entities[missing])
        at = np.flatnonzero(rows >= 0)
        vectors, at = self._vectors(rows[at], at)
        with_query, with_mean = (vectors @ np.stack([self.query, self.mean], axis=1)).T
        farther = missing[at]
        cosines[at[farther]] = _on_grid(with_query[farther])
        adapted = cosines.copy()
        said = self.shard.passages[rows[at]]
        adapted[at[said]] = self._adapted(with_query[said], with_mean[said])
        return Closeness(cosines, adapted, rows)

    def _farther(self, entities: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """As far as scores tell: the cosine and the row of each one's closest document."""
        wanted = np.zeros(len(self.best), np.bool_)
        wanted[entities] = True
        at = np.flatnonzero(wanted[self.entities])
        cosines = _on_grid(self.shard.vectors.cosines(self.scores[at]))
        best, rows = _closest(len(self.best), self.entities[at], self.rows[at], cosines)
        return best[entities], rows[entities]

    def _adapted(self, with_query: NDArray[np.float32], with_mean: NDArray[np.float32]) -> NDArray[np.float32]:
        """Cosines after taking off the store's own mean, from the products of unit vectors with the query and the mean.

        What all texts of a store have in common (a tone, a subject) says nothing about any of them. It re-ranks; the
        distances that are shown and stored stay on the shipped scale.
        """
        square = float(self.mean @ self.mean)
        products = with_query - with_mean + (square - float(self.query @ self.mean))
        lengths = np.sqrt(np.maximum(1 + square - 2 * with_mean, 0)) * float(np.linalg.norm(self.query - self.mean))
        return (products / np.maximum(lengths, 1e-9)).astype(np.float32, copy=False)

    def _vectors(
        self, rows: NDArray[np.int64], positions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The vectors of these rows, and the positions of those that have one here."""
        vectors = self.shard.vectors
        if vectors.keeps_rows:
            return vectors.rows(self.shard.places[rows].astype(np.int64)), positions
        known = np.array([row in self.fetched for row in rows.tolist()], np.bool_)
        kept = [self.fetched[row] for row in rows[known].tolist()]
        return np.array(kept, np.float32).reshape(-1, len(self.query)), positions[known]


def find_meaning(
    session: Session,
    shard: ShardView,
    model: str,
    calibration: Calibration,
    query: NDArray[np.float32],
    usable: NDArray[np.bool_] | None,
) -> Meaning:
    """Compare a centred query (dim,) with every document. `usable`: entity numbers that count, None for all."""
    places, rows, entities = shard.living
    if usable is not None:
        kept = usable[entities]
        places, rows, entities = places[kept], rows[kept], entities[kept]
    scores = shard.vectors.scores(query)
    if len(places) != len(scores):
        scores = scores[places]
    at = _promising(scores)
    cosines, fetched = _rescored(session, shard, model, calibration, query, scores[at], rows[at])
    if len(at) < len(scores) and np.count_nonzero(np.bincount(entities[at])) < ENOUGH:
        everything = shard.vectors.cosines(scores)
        everything[at] = cosines
        at, cosines = np.arange(len(scores)), everything
    best, best_rows = _closest(len(shard.entity_ids), entities[at], rows[at], _on_grid(cosines))
    mean = (shard.mean_sum / (shard.mean_count + PRIOR)).astype(np.float32)
    return Meaning(shard, rows, entities, scores, best, best_rows, query, mean, fetched)


def _on_grid(cosines: NDArray[np.float32]) -> NDArray[np.float32]:
    """The last bits depend on where vectors happen to stand: without them equal texts are equal in every process."""
    return (np.rint(cosines * GRID) / GRID).astype(np.float32, copy=False)


def _closest(
    count: int, entities: NDArray[np.int64], rows: NDArray[np.int64], cosines: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """For every entity number below `count` the greatest cosine and its row; NaN and -1 without any."""
    best = np.full(count, -np.inf, np.float32)
    np.maximum.at(best, entities, cosines)
    winners = np.flatnonzero(cosines == best[entities])
    # Of equal ones the earliest document stands, in whatever order their vectors came.
    nothing = np.iinfo(np.int64).max
    best_rows = np.full(count, nothing, np.int64)
    np.minimum.at(best_rows, entities[winners], rows[winners])
    best_rows[best_rows == nothing] = -1
    best[best_rows < 0] = np.nan
    return best, best_rows


def _rescored(
    session: Session,
    shard: ShardView,
    model: str,
    calibration: Calibration,
    query: NDArray[np.float32],
    scores: NDArray[np.float32] | NDArray[np.uint16],
    rows: NDArray[np.int64],
) -> tuple[NDArray[np.float32], dict[int, NDArray[np.float32]]]:
    """The cosines of some documents, exact as far as their vectors can be had.

    Returns also what was read from the store for it: document row → centred vector.
    """
    vectors = shard.vectors
    cosines = vectors.cosines(scores)
    if isinstance(vectors, ExactVectors):
        return cosines, {}
    if vectors.keeps_rows:
        return vectors.rows(shard.places[rows].astype(np.int64)) @ query, {}
    documents = shard.ids[rows].tolist()
    stored = session.documents.vectors(documents, model)
    there = np.array([document in stored for document in documents], np.bool_)
    packed = [stored[document] for document in documents if document in stored]
    if not packed:
        return cosines, {}
    centred = calibration.centre_passages(unpack_vectors(packed, len(query)), shard.languages[rows[there]])
    cosines[there] = centred @ query
    return cosines, dict(zip(rows[there].tolist(), centred, strict=True))


def _promising(scores: NDArray[np.float32] | NDArray[np.uint16]) -> NDArray[np.int64]:
    """Where about `RESCORED` of the greatest scores stand; a sample says where they begin."""
    if len(scores) <= 2 * RESCORED:
        return np.arange(len(scores))
    sample = scores[::_SAMPLE]
    wanted = max(1, RESCORED * len(sample) // len(scores))
    found = np.flatnonzero(scores >= np.partition(sample, len(sample) - wanted)[-wanted])
    if RESCORED // 2 <= len(found) <= 2 * RESCORED:
        return found
    return np.sort(np.argpartition(scores, len(scores) - RESCORED)[-RESCORED:])
