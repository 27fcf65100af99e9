"""How many requests a key may make."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

_KEPT = 10_000
"""Buckets in memory; beyond, those that are full again are forgotten."""


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class RateLimit:
    """A token bucket for each key: `per_minute` requests a minute, as many at once after a quiet one. 0: no limit."""

    def __init__(self, per_minute: float, now: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._most = max(1.0, per_minute)
        self._now = now
        self._buckets: dict[int, _Bucket] = {}

    def wait(self, key: int) -> int:
        """Count one request of `key`: 0 when it may be made, else the seconds until it may be."""
        if not self._per_minute:
            return 0
        now = self._now()
        bucket = self._buckets.get(key)
        if bucket is None:
            self._forget(now)
            bucket = self._buckets[key] = _Bucket(self._most, now)
        bucket.tokens = self._refilled(bucket, now)
        bucket.at = now
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return 0
        return max(1, math.ceil((1 - bucket.tokens) * 60 / self._per_minute))

    def _refilled(self, bucket: _Bucket, now: float) -> float:
        return min(self._most, bucket.tokens + (now - bucket.at) * self._per_minute / 60)

    def _forget(self, now: float) -> None:
        if len(self._buckets) >= _KEPT:
            self._buckets = {
                key: bucket for key, bucket in self._buckets.items() if self._refilled(bucket, now) < self._most
            }
