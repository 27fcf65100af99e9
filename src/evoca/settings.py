"""Settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one call may carry."""

    items: int = 10_000
    text: int = 100_000
    query: int = 4_000
    name: int = 500
    type: int = 128
    limit: int = 200
