"""When two observations of an entity say the same, and what may be done about it (seed 000, tool 15).

A pair is a duplicate when its similarity reaches a threshold, or when one text is at least twice as long as the other
and holds most of its words. Neither tells a fact from its correction: `domain.differences` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evoca.domain.text import fold_case

if TYPE_CHECKING:
    from evoca.domain.differences import Difference

SIMILAR = 0.85
"""The similarity (calibrated cosine) from which on two texts are duplicates."""
CONTAINED = 0.7
"""The share of a short text's words in a long one from which on they are duplicates."""
LONGER = 2.0
"""So many times as long as the other, in characters, is a long text."""
_EDGES = "¿?¡!.,;:…\"'`\u00b4\u2018\u2019\u201c\u201d«»()[]{}<>|-–—*•"

MatchType = Literal["cosine", "containment"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two observations by their places, `first` < `second`.

    `similarity`: in [-1, 1]; None while a vector is missing. `containment`: in [0, 1]; None for texts of like length.
    """

    first: int
    second: int
    match: MatchType
    similarity: float | None
    containment: float | None

    @property
    def strength(self) -> float:
        """The number that made it a pair."""
        found = self.similarity if self.match == "cosine" else self.containment
        return 0.0 if found is None else found


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair with what its texts do not agree in. `drop`: the place that says nothing the other does not say."""

    pair: Pair
    differs_in: tuple[Difference, ...]
    drop: int | None = None


def contained_words(text: str) -> frozenset[str]:
    """What containment counts: words between white space, case folded, without punctuation at their ends."""
    return frozenset(word for piece in fold_case(text).split() if (word := piece.strip(_EDGES)))


def containment(short: frozenset[str], long: frozenset[str]) -> float:
    """The share of the short text's words that the long one holds, in [0, 1]; a text without words is in none."""
    return len(short & long) / len(short) if short else 0.0


def clusters(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The connected groups of at least two of `count` places, ascending (union-find with path halving)."""
    parent = list(range(count))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for one, other in pairs:
        if parent[one] != parent[other]:
            a, b = root(one), root(other)
            parent[max(a, b)] = min(a, b)
    groups: dict[int, list[int]] = {}
    for at in range(count):
        groups.setdefault(root(at), []).append(at)
    return [group for group in groups.values() if len(group) >= 2]


def settle(judged: Sequence[Judged]) -> list[Judged]:
    """Keep only offers to drop that can all be taken: what is dropped has a duplicate that stays.

    Earlier pairs have the first word.
    """
    dropped: set[int] = set()
    kept: set[int] = set()
    settled: list[Judged] = []
    for each in judged:
        drop = each.drop
        if drop is not None:
            stays = each.pair.first if drop == each.pair.second else each.pair.second
            if drop in kept or stays in dropped:
                drop = None
            else:
                dropped.add(drop)
                kept.add(stays)
        settled.append(Judged(each.pair, each.differs_in, drop))
    return settled
