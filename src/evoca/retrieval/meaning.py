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
"""Documents, about, whose estimated cosine is replaced by a better one, where only bits are compared."""
_SAMPLE = 16
PRIOR = 50
"""As many entities at the shipped mean temper the mean of a store: a small one says little about its kind."""


@dataclass(frozen=True)
class Meaning:
    """For every entity number of the shard: `best`, its greatest centred cosine (NaN without a vector), and `rows`,
    the document row that has it (-1). `query`, `mean`: the centred query and the store's mean in centred space.
    """

    shard: ShardView
    best: NDArray[np.float32]
    rows: NDArray[np.int64]
    query: NDArray[np.float32]
    mean: NDArray[np.float32]
    fetched: dict[int, NDArray[np.float32]]

    def adapted(self, entities: NDArray[np.int64]) -> NDArray[np.float32]:
        """The cosines of some entities' best documents after taking off the store's own mean.

        What all texts of a store have in common (a tone, a subject) says nothing about any of them. It re-ranks; the
        distances that are shown and stored stay on the shipped scale. Where only an estimate is known it stays.
        """
        rows, cosines = self.rows[entities], self.best[entities].copy()
        passages = np.flatnonzero((rows >= 0) & self.shard.passages[rows])
        if not len(passages):
            return cosines
        vectors, at = self._vectors(rows[passages], passages)
        if len(at):
            query = self.query - self.mean
            moved = vectors - self.mean
            lengths = np.linalg.norm(moved, axis=1) * float(np.linalg.norm(query))
            cosines[at] = (moved @ query) / np.maximum(lengths, 1e-9)
        return cosines

    def _vectors(
        self, rows: NDArray[np.int64], positions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        vectors = self.shard.vectors
        if vectors.keeps_rows:
            return vectors.rows(self.shard.places[rows].astype(np.int64)), positions
        known = np.array([row in self.fetched for row in rows.tolist()], np.bool_)
        kept = [self.fetched[row] for row in rows[known].tolist()]
        return np.array(kept, np.float32).reshape(-1, len(self.query)), positions[known]


GRID = np.float32(2**16)
"""Cosines are told apart down to one part in this."""


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
    cosines = shard.vectors.cosines(query)[places]
    fetched: dict[int, NDArray[np.float32]] = {}
    if not isinstance(shard.vectors, ExactVectors):
        fetched = _rescore(session, shard, model, calibration, query, cosines, rows)
    # The last bits depend on where vectors happen to stand: without them equal texts are equal in every process.
    cosines = np.rint(cosines * GRID) / GRID
    best = np.full(len(shard.entity_ids), -np.inf, np.float32)
    np.maximum.at(best, entities, cosines)
    winners = np.flatnonzero(cosines == best[entities])
    # Of equal ones the earliest document stands, in whatever order their vectors came.
    nothing = len(shard.ids)
    best_rows = np.full(len(best), nothing, np.int64)
    np.minimum.at(best_rows, entities[winners], rows[winners])
    best_rows[best_rows == nothing] = -1
    best[best_rows < 0] = np.nan
    mean = (shard.mean_sum / (shard.mean_count + PRIOR)).astype(np.float32)
    return Meaning(shard, best, best_rows, query, mean, fetched)


def _rescore(
    session: Session,
    shard: ShardView,
    model: str,
    calibration: Calibration,
    query: NDArray[np.float32],
    cosines: NDArray[np.float32],
    rows: NDArray[np.int64],
) -> dict[int, NDArray[np.float32]]:
    """Put better cosines of the most promising documents in place of the estimates, in `cosines`, one for each row.

    Returns what was read from the store for it: document row → centred vector.
    """
    at = _promising(cosines)
    vectors = shard.vectors
    if vectors.keeps_rows:
        cosines[at] = vectors.rows(shard.places[rows[at]].astype(np.int64)) @ query
        return {}
    documents = shard.ids[rows[at]].tolist()
    stored = session.documents.vectors(documents, model)
    there = at[np.array([document in stored for document in documents], np.bool_)]
    packed = [stored[document] for document in documents if document in stored]
    if not packed:
        return {}
    centred = calibration.centre_passages(unpack_vectors(packed, len(query)), shard.languages[rows[there]])
    cosines[there] = centred @ query
    return dict(zip(rows[there].tolist(), centred, strict=True))


def _promising(cosines: NDArray[np.float32]) -> NDArray[np.int64]:
    """Where about `RESCORED` of the greatest cosines stand; a sample says where they begin."""
    if len(cosines) <= 2 * RESCORED:
        return np.arange(len(cosines))
    sample = cosines[::_SAMPLE]
    wanted = max(1, RESCORED * len(sample) // len(cosines))
    found = np.flatnonzero(cosines >= np.partition(sample, len(sample) - wanted)[-wanted])
    if RESCORED // 2 <= len(found) <= 2 * RESCORED:
        return found
    return np.argpartition(-cosines, RESCORED)[:RESCORED]
