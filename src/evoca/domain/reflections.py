"""Reflections: prose about an entity, a relation, a time of work, or everything (seed 000, tools 18 and 19)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evoca.domain.clock import HOUR, Instant

TARGET_TYPES = ("entity", "session", "relation", "global")
MOODS = ("frustracion", "satisfaccion", "curiosidad", "duda", "insight")
DEFAULT_AUTHOR = "sofia"
_DECAY_PER_HOUR = 0.0001
_FLOOR = 0.1


@dataclass(frozen=True, slots=True)
class NewReflection:
    """`target_id`: an entity's or a relation's id; None for the others, or any number for a session."""

    target_type: str
    content: str
    author: str = DEFAULT_AUTHOR
    mood: str | None = None
    target_id: int | None = None


@dataclass(frozen=True, slots=True)
class Reflection:
    """`former_target`: what it was about before that was deleted."""

    id: int
    target_type: str
    target_id: int | None
    author: str
    content: str
    mood: str | None
    created_at: Instant
    former_target: str | None = None


def recency(created_at: Instant, now: Instant) -> float:
    """`max(0.1, exp(-0.0001 · hours))`: a reflection's age in its score."""
    return max(_FLOOR, math.exp(-_DECAY_PER_HOUR * max(0.0, (now - created_at) / HOUR)))
