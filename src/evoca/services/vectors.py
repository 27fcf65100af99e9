"""The stored vectors of observations, as one calibrated row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evoca.storage.contract import DocumentRow, Session

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoca.retrieval.embedders import Embedder


@dataclass(frozen=True, slots=True)
class ObservationVectors:
    """`rows`: centred unit rows, shape (n, dim); zeros where `known`, shape (n,), is False."""

    rows: NDArray[np.float32]
    known: NDArray[np.bool_]


def observation_vectors(session: Session, embedder: Embedder, observations: Sequence[int]) -> ObservationVectors:
    """The vectors of these observations, in their order.

    A text of several passages has their mean, weighted by their words, and none before all of them are embedded.
    Raises StoreDamaged for a vector of another size.
    """
    return arranged(session.documents.of_owners(observations, embedder.model_id), embedder, observations)


def arranged(documents: Sequence[DocumentRow], embedder: Embedder, observations: Sequence[int]) -> ObservationVectors:
    """`observation_vectors` from documents that were read before."""
    import numpy as np

    from evoca.retrieval.index import unpack_vectors

    place = {observation: at for at, observation in enumerate(observations)}
    waiting = {document.owner_id for document in documents if document.vector is None}
    usable = [document for document in documents if document.owner_id in place and document.owner_id not in waiting]
    rows = np.zeros((len(observations), embedder.dim), np.float32)
    known = np.zeros(len(observations), np.bool_)
    if usable:
        packed = [document.vector for document in usable if document.vector is not None]
        languages = np.array([document.language for document in usable], np.int8)
        centred = embedder.calibration.centre_passages(unpack_vectors(packed, embedder.dim), languages)
        at = np.array([place[document.owner_id] for document in usable], np.intp)
        weights = np.array([max(1, document.length) for document in usable], np.float32)
        np.add.at(rows, at, centred * weights[:, None])
        known[at] = True
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-9))
    return ObservationVectors(rows, known)
