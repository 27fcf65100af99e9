"""Episodes: free-text memories, their links, their history, and the rules that need no store (seed 002)."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evoca.domain.clock import DAY, Instant
from evoca.domain.text import fold_case

NIVELES = ("episodica", "semantica", "automatica")
EPISODICA, SEMANTICA, AUTOMATICA = NIVELES
DEFAULT_MEMORY_TYPE = "event"
SIMILAR = "similar"
CONTRADICTS = "contradicts"
"""Relation types of the links that are made by themselves."""

Tier = Literal["HOT", "WARM", "COLD"]
"""HOT: found by words and by meaning. WARM: by words, its vector is still to come. COLD: only when asked for."""

FRESH_DAYS = 7.0
DECAY_PER_DAY = 0.05
LEAST_RECENCY = 0.2
_HALF_LIFE_DAYS = 90.0


@dataclass(frozen=True, slots=True)
class NewEpisode:
    """`signature`: see `domain.identity`. `session_id`: empty for none. `code`: a short label, may be empty."""

    content: str
    signature: bytes
    memory_type: str = DEFAULT_MEMORY_TYPE
    code: str = ""
    categories: tuple[str, ...] = ()
    session_id: str = ""
    nivel: str = EPISODICA
    critico: bool = False
    expires_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """`used_count`: how often it was recalled. `archived_at`: since when it is COLD.

    `possible_duplicate_of`: a memory that means the same. `superseded_by`: a newer one that contradicts it.
    `merged_into`: it was a copy of that one, and is hidden.
    """

    id: int
    session_id: str
    content: str
    memory_type: str
    code: str
    nivel: str
    critico: bool
    created_at: Instant
    updated_at: Instant
    expires_at: Instant | None = None
    used_count: int = 0
    last_used_at: Instant | None = None
    consolidated_at: Instant | None = None
    degraded_at: Instant | None = None
    degraded_reason: str | None = None
    archived_at: Instant | None = None
    archived_reason: str | None = None
    possible_duplicate_of: int | None = None
    superseded_by: int | None = None
    merged_into: int | None = None
    categories: tuple[str, ...] = ()

    def expired(self, now: Instant) -> bool:
        """Whether its time is over. A critical memory has no end."""
        return not self.critico and self.expires_at is not None and self.expires_at <= now

    def tier(self, embedded: bool) -> Tier:
        """`embedded`: whether the model that answers has its vector."""
        if self.archived_at is not None:
            return "COLD"
        return "HOT" if embedded else "WARM"


@dataclass(frozen=True, slots=True)
class EpisodeTraits:
    """What searches filter and arrange by, kept in the process. Labels, `categories` too, are folded (`fold_label`).

    `signature`: see `domain.identity`. `hidden`: merged into another one.
    """

    id: int
    collection_id: int
    session_id: str
    signature: bytes
    memory_type: str
    code: str
    nivel: str
    critico: bool
    created_at: Instant
    expires_at: Instant | None
    archived: bool
    superseded: bool
    hidden: bool
    categories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EpisodeVersion:
    """What a memory was before an update. `version` counts from 1."""

    episode_id: int
    version: int
    session_id: str
    content: str
    memory_type: str
    code: str
    categories: tuple[str, ...]
    nivel: str
    critico: bool
    expires_at: Instant | None
    replaced_at: Instant


@dataclass(frozen=True, slots=True)
class NewEpisodeLink:
    """`weight` in [0, 1]. `details`: JSON."""

    source_id: int
    target_id: int
    relation_type: str
    weight: float = 1.0
    details: str | None = None


@dataclass(frozen=True, slots=True)
class EpisodeLink:
    id: int
    source_id: int
    target_id: int
    relation_type: str
    weight: float
    created_at: Instant
    last_used_at: Instant | None
    details: str | None


@dataclass(frozen=True, slots=True)
class Merge:
    """A copy that went into a survivor. `details`: JSON, what is taken back with it."""

    id: int
    survivor_id: int
    merged_id: int
    merged_at: Instant
    undone_at: Instant | None
    details: str


def recency(nivel: str, critico: bool, created_at: Instant, now: Instant) -> float:
    """A memory's age in its score: `max(0.2, exp(-0.05 · max(0, days - 7)))`; 1 but for episodic, uncritical ones.

    Continuous where the public implementation drops by a third on day 8, and rules do not fade.
    """
    if nivel != EPISODICA or critico:
        return 1.0
    return max(LEAST_RECENCY, math.exp(-DECAY_PER_DAY * max(0.0, (now - created_at) / DAY - FRESH_DAYS)))


def effective_weight(link: EpisodeLink, now: Instant) -> float:
    """`weight · 0.5^(days since its last use / 90)`; computed, never written back, so it does not compound."""
    since = link.created_at if link.last_used_at is None else link.last_used_at
    return link.weight * 0.5 ** (max(0.0, (now - since) / DAY) / _HALF_LIFE_DAYS)


def fold_label(label: str) -> str:
    """A type, code or category as filters compare it: no case, no accents (`ñ` stays), single spaces."""
    folded = " ".join(fold_case(label).split())
    if folded.isascii():
        return folded
    return "".join(char if char == "ñ" else _without_marks(char) for char in folded)


def _without_marks(char: str) -> str:
    return "".join(part for part in unicodedata.normalize("NFD", char) if not unicodedata.combining(part))


def tidy_categories(categories: Sequence[str]) -> tuple[str, ...]:
    """Composed, stripped, without blanks; of labels that fold to the same the first stays."""
    kept: dict[str, str] = {}
    for each in categories:
        label = unicodedata.normalize("NFC", each).strip()
        if label:
            kept.setdefault(fold_label(label), label)
    return tuple(kept.values())
