"""Names that are nearly what was asked for: entities by the likeness of their spelling."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from evoca.domain.episodes import fold_label
from evoca.domain.graph import split_name
from evoca.storage.contract import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = 0.6
"""The least likeness that counts as similar (seeds-spec 3.d, 16)."""


@dataclass(frozen=True, slots=True)
class SimilarName:
    """`likeness`: the normalised similarity of the spellings, case and accents folded, in [0, 1]."""

    id: int
    name: str
    likeness: float


@dataclass(frozen=True, slots=True)
class _Names:
    """A collection's names at one version of its graph, by id. `types`: "" for a name that is not `type:id`."""

    version: int
    ids: tuple[int, ...]
    names: tuple[str, ...]
    folded: tuple[str, ...]
    types: NDArray[np.str_]
    keys: tuple[str, ...]


class NameIndex:
    """The names of one store's entities, read again when the graph has changed. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[int, _Names] = {}

    def similar(self, session: Session, collection: int, text: str, most: int) -> list[SimilarName]:
        """At most so many names that are spelled like `text`, the most alike first; ties by the whole name, then by id.

        Of names of the form `type:id` and the same type only the ids are compared, else `project:a` would be like every
        project; a bare name is compared with the ids of all types.
        """
        names = self._view(session, collection)
        if not names.ids:
            return []
        likeness, whole = _likeness(fold_label(text), names)
        order: list[int] = np.lexsort((-whole, -likeness))[:most].tolist()
        return [
            SimilarName(names.ids[at], names.names[at], round(float(likeness[at]), 4))
            for at in order
            if likeness[at] >= LEAST
        ]

    def _view(self, session: Session, collection: int) -> _Names:
        version = session.collections.graph_version(collection)
        with self._lock:
            known = self._known.get(collection)
        if known is not None and known.version == version:
            return known
        read = _read(session, collection, version, known)
        with self._lock:
            self._known[collection] = read
        return read


def _read(session: Session, collection: int, version: int, before: _Names | None) -> _Names:
    """The names as they are now; folding, the dear part, is done for new ones only."""
    done = {} if before is None else dict(zip(before.names, before.folded, strict=True))
    rows = session.entities.names(collection)
    names = tuple(name for _, name in rows)
    folded = tuple(done.get(name) or fold_label(name) for name in names)
    parts = [split_name(name) for name in folded]
    return _Names(
        version,
        tuple(number for number, _ in rows),
        names,
        folded,
        np.array([kind for kind, _ in parts], np.str_),
        tuple(key for _, key in parts),
    )


def _likeness(text: str, names: _Names) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How alike each name is, and how alike as a whole."""
    kind, key = split_name(text)
    whole, by_key = _ratios(text, names.folded), _ratios(key, names.keys)
    if not kind:
        return np.maximum(whole, by_key), whole
    return np.where((names.types == kind) | (names.types == ""), by_key, whole), whole


def _ratios(text: str, names: tuple[str, ...]) -> NDArray[np.float32]:
    found = cdist([text], names, scorer=Indel.normalized_similarity, score_cutoff=LEAST, dtype=np.float32)
    return found[0]
