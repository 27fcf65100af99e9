"""Comparing the observations of an entity by their stored vectors and their words (seed 000, tool 15)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evoca.domain.duplicates import CONTAINED, LONGER, SIMILAR, Judged, Pair, contained_words, settle
from evoca.services.vectors import ObservationVectors, observation_vectors
from evoca.storage.contract import OwnerKind, Session

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoca.domain.differences import Reading
    from evoca.retrieval.calibration import Calibration
    from evoca.retrieval.embedders import Embedder

_AT_ONCE = 256
"""Rows compared with all others in one matrix product."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which similarity and which containment on two texts are duplicates."""

    similar: float = SIMILAR
    contained: float = CONTAINED


@dataclass(frozen=True, slots=True)
class Matches:
    """Pairs of places as columns, `first` < `second`, in ascending order, each once.

    `similarity`: NaN while a vector is missing. `containment`: NaN for texts of like length.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    similarity: NDArray[np.float32]
    containment: NDArray[np.float32]
    similar: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.first)

    def strongest(self, most: int) -> list[Pair]:
        """The pairs with the highest number behind them first; ties by place."""
        import numpy as np

        strength = np.where(self.similar, self.similarity, self.containment)
        order = np.lexsort((self.second, self.first, -strength))[:most]
        return [self._pair(int(at)) for at in order]

    def _pair(self, at: int) -> Pair:
        similarity, containment = float(self.similarity[at]), float(self.containment[at])
        return Pair(
            int(self.first[at]),
            int(self.second[at]),
            "cosine" if self.similar[at] else "containment",
            None if math.isnan(similarity) else similarity,
            None if math.isnan(containment) else containment,
        )


def match(
    texts: Sequence[str],
    vectors: ObservationVectors,
    calibration: Calibration,
    thresholds: Thresholds,
    only: Sequence[int] | None = None,
) -> Matches:
    """All pairs that are duplicates; with `only`, those with one of these places."""
    import numpy as np

    asked = np.arange(len(texts)) if only is None else np.array(sorted(set(only)), np.intp)
    words = _SharedWords(texts)
    found: list[Matches] = []
    for begin in range(0, len(asked), _AT_ONCE):
        part = asked[begin : begin + _AT_ONCE]
        similarities = calibration.similarity(vectors.rows[part] @ vectors.rows.T)
        similarities[:, ~vectors.known] = np.nan
        similarities[~vectors.known[part]] = np.nan
        for at, similarity in zip(part, similarities, strict=True):
            containment = words.containment(int(at))
            similar = similarity >= thresholds.similar
            hits = similar | (containment >= thresholds.contained)
            hits[at] = False
            if only is None:
                hits[:at] = False
            other = hits.nonzero()[0]
            if len(other):
                first, second = np.minimum(other, at), np.maximum(other, at)
                found.append(Matches(first, second, similarity[other], containment[other], similar[other]))
    return _together(found, len(texts))


def _together(found: Sequence[Matches], count: int) -> Matches:
    """One table, in order of places; a pair that was found from both its ends stands once."""
    import numpy as np

    if not found:
        none = np.empty(0, np.float32)
        return Matches(np.empty(0, np.intp), np.empty(0, np.intp), none, none, np.empty(0, np.bool_))
    first = np.concatenate([each.first for each in found])
    second = np.concatenate([each.second for each in found])
    _, at = np.unique(first * count + second, return_index=True)
    return Matches(
        first[at],
        second[at],
        np.concatenate([each.similarity for each in found])[at],
        np.concatenate([each.containment for each in found])[at],
        np.concatenate([each.similar for each in found])[at],
    )


class _SharedWords:
    """Which texts hold which words: gives the containment of one text with all others at once."""

    def __init__(self, texts: Sequence[str]) -> None:
        import numpy as np

        self._words = [contained_words(text) for text in texts]
        holders: dict[str, list[int]] = {}
        for at, words in enumerate(self._words):
            for word in words:
                holders.setdefault(word, []).append(at)
        self._holders = {word: np.array(each, np.intp) for word, each in holders.items()}
        self._counts = np.array([len(words) for words in self._words], np.float32)
        self._lengths = np.array([len(text) for text in texts], np.float32)

    def containment(self, at: int) -> NDArray[np.float32]:
        """Shape (n,): the share of the shorter one's words in the longer; NaN for texts of like length."""
        import numpy as np

        count = len(self._counts)
        held = [self._holders[word] for word in self._words[at]]
        shared = np.bincount(np.concatenate(held), minlength=count) if held else np.zeros(count, np.intp)
        longer = self._lengths >= LONGER * max(self._lengths[at], 1.0)
        shorter = self._lengths[at] >= LONGER * np.maximum(self._lengths, 1.0)
        of = np.where(longer, self._counts[at], self._counts)
        shares = shared / np.maximum(of, 1.0)
        return np.where(longer | shorter, shares, np.nan).astype(np.float32)


def judge(texts: Sequence[str], pairs: Iterable[Pair]) -> list[Judged]:
    """What the texts of each pair do not agree in, and which of the two could go."""
    from evoca.domain.differences import Reading

    readings: dict[int, Reading] = {}

    def reading(at: int) -> Reading:
        return readings.setdefault(at, Reading(texts[at]))

    return settle([_judged(pair, reading(pair.first), reading(pair.second)) for pair in pairs])


def _judged(pair: Pair, first: Reading, second: Reading) -> Judged:
    from evoca.domain.differences import differences, may_be_another_fact

    if pair.match == "containment":
        place, short, long = pair.second, second, first
        if len(first.text) < len(second.text):
            place, short, long = pair.first, first, second
        found = differences(short, long, contained=True)
        return Judged(pair, found, None if found else place)
    found = differences(first, second)
    if found or may_be_another_fact(first, second):
        return Judged(pair, found)
    # The one that says less goes; of equals the later one, which is the one that is flagged.
    less = len(first.content - second.content) < len(second.content - first.content)
    return Judged(pair, found, pair.first if less else pair.second)


def flag_similar(session: Session, embedder: Embedder, documents: Iterable[int]) -> None:
    """Flag observations that repeat another live one of their entity, now that these documents have vectors.

    Of a pair the later observation is flagged, whichever is embedded first. Flags are never taken back here.
    """
    owners = session.documents.owners(documents, OwnerKind.OBSERVATION)
    rows_of = session.observations.of(set(owners.values()))
    for entity, rows in rows_of.items():
        if len(rows) < 2:
            continue
        fresh = [at for at, row in enumerate(rows) if owners.get(row.id) == entity]
        vectors = observation_vectors(session, embedder, [row.id for row in rows])
        found = match([row.content for row in rows], vectors, embedder.calibration, Thresholds(), fresh)
        later = {rows[int(at)].id for at in found.second if not rows[int(at)].similarity_flag}
        if later:
            session.observations.flag(sorted(later))
