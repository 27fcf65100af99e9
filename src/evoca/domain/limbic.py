"""Limbic ranking: how use, age and company change the order of what is relevant (seed 000, `search_semantic`).

    M     = (1 + beta_sal · importance) · temporal · (1 + gamma · cooc)
    score = relevance · M^w · status · metadata          w by the query's routing

Scores do not depend on how many results are asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evoca.domain.clock import HOUR, Instant
from evoca.domain.graph import Access, CoOccurrence
from evoca.domain.text import nfc

Routing = Literal["cosine_heavy", "hybrid_balanced", "limbic_heavy"]

STATUS_FACTORS: Mapping[str, float] = {"activo": 1.0, "pausado": 0.85, "completado": 0.7, "archivado": 0.5}
METADATA_FACTOR = 0.7
"""For an entity whose live observations are by more than half of kind `metadata`."""

ROUTING_EXPONENTS: Mapping[Routing, float] = {"cosine_heavy": 0.5, "hybrid_balanced": 1.0, "limbic_heavy": 1.5}


@dataclass(frozen=True, slots=True)
class LimbicConstants:
    """Defaults are the contract's. `decay` is per hour; `floor` bounds both decays from below."""

    beta_salience: float = 0.5
    beta_degree: float = 0.15
    alpha_consolidation: float = 0.2
    max_degree: int = 15
    decay: float = 0.0001
    floor: float = 0.1
    gamma: float = 0.01


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of one candidate. `access.count` is at least 1: being made counts as the first use."""

    access: Access
    created_at: Instant
    degree: int


@dataclass(frozen=True, slots=True)
class Scale:
    """The largest counts among the candidates that importance is measured against."""

    max_count: int
    max_days: int

    @classmethod
    def of(cls, read: Iterable[Access]) -> Scale:
        """Of how candidates were read; to have been made is a use, on one day."""
        reads = tuple(read)
        return cls(
            1 + max((access.count for access in reads), default=0),
            max((access.days for access in reads), default=1),
        )


@dataclass(frozen=True, slots=True)
class Scoring:
    """One candidate's score and its parts; `multiplier` is M before the routing's exponent."""

    score: float
    relevance: float
    importance: float
    temporal_factor: float
    cooc_boost: float
    multiplier: float
    status_factor: float
    metadata_factor: float


def use_of(created_at: Instant, read: Access | None) -> Access:
    """An entity's use, given how it was read: being made counts as the first one."""
    if read is None:
        return Access(count=1, last_access=created_at, days=1)
    return Access(read.count + 1, read.last_access, read.days)


def importance(signals: Signals, scale: Scale, constants: LimbicConstants) -> float:
    """Use against the most used candidate, raised by degree and by the number of days with use; 0 … 1.38."""
    if scale.max_count <= 0:
        return 0.0
    usage = min(1.0, math.log2(1 + signals.access.count) / math.log2(1 + scale.max_count))
    degree = min(signals.degree, constants.max_degree) / constants.max_degree
    consolidation = 0.0
    if scale.max_days > 1:
        consolidation = min(1.0, math.log2(1 + signals.access.days) / math.log2(1 + scale.max_days))
    return usage * (1 + constants.beta_degree * degree) * (1 + constants.alpha_consolidation * consolidation)


def decayed(since: Instant, now: Instant, constants: LimbicConstants) -> float:
    """`max(floor, exp(-decay · hours))`; a time in the future counts as now."""
    hours = max(0.0, (now - since) / HOUR)
    return max(constants.floor, math.exp(-constants.decay * hours))


def temporal(signals: Signals, now: Instant, constants: LimbicConstants) -> float:
    """Decay since the last use, else since the entity was made."""
    last = signals.access.last_access
    return decayed(signals.created_at if last is None else last, now, constants)


@dataclass(frozen=True, slots=True)
class Company:
    """How strongly each candidate is tied to the context by having been found together with it."""

    boosts: Mapping[int, float]

    @classmethod
    def of(
        cls, together: Sequence[CoOccurrence], context: Sequence[int], now: Instant, constants: LimbicConstants
    ) -> Company:
        """Σ over the other members of `context`: log2(1 + times found together) · decay."""
        members = frozenset(context)
        boosts: dict[int, float] = {}
        for pair in together:
            tie = math.log2(1 + pair.count) * decayed(pair.last, now, constants)
            for entity, other in ((pair.first, pair.second), (pair.second, pair.first)):
                if other in members:
                    boosts[entity] = boosts.get(entity, 0.0) + tie
        return cls(boosts)

    def boost(self, entity: int) -> float:
        return self.boosts.get(entity, 0.0)


def combine(
    relevance: float,
    importance_: float,
    temporal_: float,
    cooc: float,
    routing: Routing,
    status_factor: float,
    metadata_factor: float,
    constants: LimbicConstants,
) -> Scoring:
    """Put the parts together (CONTRACT, Graph 6)."""
    multiplier = (1 + constants.beta_salience * importance_) * temporal_ * (1 + constants.gamma * cooc)
    score = relevance * multiplier ** ROUTING_EXPONENTS[routing] * status_factor * metadata_factor
    return Scoring(score, relevance, importance_, temporal_, cooc, multiplier, status_factor, metadata_factor)


def ceiling(use: Access, cooc: float, scale: Scale, routing: Routing, constants: LimbicConstants) -> float:
    """The score of a candidate of this use and company is at most its relevance times this."""
    connected = Signals(use, 0, constants.max_degree)
    most = 1 + constants.beta_salience * importance(connected, scale, constants)
    return (most * (1 + constants.gamma * cooc)) ** ROUTING_EXPONENTS[routing]


# A phrase counts once, wherever it stands; weights add up. The English phrases mirror the Spanish ones.
_PHRASES: tuple[tuple[int, re.Pattern[str]], ...] = tuple(
    (weight, re.compile(pattern))
    for weight, pattern in (
        (2, r"\bqué es\b|^\W*que es\b|\bwhat (?:is|are)\b"),
        (2, r"\bdefinici[óo]n\b|\bdefinition\b"),
        (2, r"\bcómo funciona\b|^\W*como funciona\b|\bhow does .+ work\b"),
        (2, r"\bes un\s|\bis an?\s"),
        (2, r"\bes una\b"),
        (1, r"\brelaci[óo]n\b|\brelation(?:ship)?\b"),
        (1, r"\bdiferencia\b|\bdifference\b"),
        (1, r"\bejemplos\b|\bexamples\b"),
        (1, r"\bcomparar\b|\bcompare\b"),
        (-2, r"\bexpl[íi]came\b|\bexplain\b"),
        (-2, r"\brelaci[óo]n entre\b|\brelation(?:ship)? between\b"),
        (-2, r"\bdime todo\b|\btell me everything\b"),
        (-2, r"\bcu[ée]ntame\b|\btell me about\b"),
        (-2, r"\bqué piensas\b|\bque piensas\b|\bwhat do you think\b"),
    )
)
_SHORT_QUERY, _LONG_QUERY = 3, 10
_DECIDED = 2


def route(query: str) -> Routing:
    """Which blend a query asks for, from its words alone (seeds: query routing)."""
    text = nfc(query).lower()
    points = sum(weight for weight, phrase in _PHRASES if phrase.search(text))
    words = len(text.split())
    points += int(words <= _SHORT_QUERY) - int(words >= _LONG_QUERY)
    if points >= _DECIDED:
        return "cosine_heavy"
    return "limbic_heavy" if points <= -_DECIDED else "hybrid_balanced"
