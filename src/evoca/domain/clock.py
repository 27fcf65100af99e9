"""Time as Evoca keeps it: an `Instant` is a whole number of microseconds since 1970-01-01T00:00:00Z."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

Instant = int
"""Microseconds since the Unix epoch, UTC."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST: Instant = (datetime(1, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
LAST: Instant = (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
"""The calendar's first and last moment."""
HOUR: Instant = 3_600_000_000
DAY: Instant = 24 * HOUR


class Clock(Protocol):
    """Where the time comes from; injected, so that tests and replays can set it."""

    def now(self) -> Instant: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> Instant:
        return time.time_ns() // 1_000


class ShiftedClock:
    """A clock that stood at `start` when it was made and runs on from there (`EVOCA_NOW`)."""

    def __init__(self, start: Instant) -> None:
        self._start = start
        self._began = time.monotonic_ns()

    def now(self) -> Instant:
        return self._start + (time.monotonic_ns() - self._began) // 1_000


class FrozenClock:
    """A clock that moves only when told to."""

    def __init__(self, at: Instant) -> None:
        self._at = at

    def now(self) -> Instant:
        return self._at

    def advance(self, by: Instant) -> None:
        self._at += by


def to_iso(at: Instant) -> str:
    """`2026-04-14T22:47:23Z`: UTC, whole seconds (a fraction is cut off); beyond the calendar, its first or last."""
    moment = EPOCH + timedelta(microseconds=min(max(at, FIRST), LAST))
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def from_iso(text: str) -> Instant:
    """Read ISO 8601; a time without offset is UTC. Raises ValueError on anything else, and outside years 1 to 9999."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    at = (moment - EPOCH) // timedelta(microseconds=1)
    if not FIRST <= at <= LAST:
        raise ValueError(f"{text!r} lies outside the years 1 to 9999 of UTC")
    return at


def day_of(at: Instant) -> int:
    """The UTC day as a count since 1970-01-01."""
    return at // DAY
