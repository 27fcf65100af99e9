"""Waiting for a database that is away, by all threads of a process together."""

from __future__ import annotations

import threading
import time

from evoca.errors import EvocaError

_PAUSE = 0.1
"""Seconds between two attempts to reach it."""


class Outage:
    """How long the database has been away. `patience`: seconds that anybody waits for it."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._since: float | None = None
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def wait(self, error: EvocaError) -> None:
        """Pause before the next attempt. Raises `error` when the database has been away for too long already.

        Whoever comes after that is told so after one attempt.
        """
        with self._lock:
            now = time.monotonic()
            self._since = now if self._since is None else self._since
            late = now - self._since >= self._patience
        if late or self._closing.wait(_PAUSE):
            raise error

    def over(self) -> None:
        """It answers again."""
        with self._lock:
            self._since = None

    def close(self) -> None:
        """Nobody waits any longer: the store is closing."""
        self._closing.set()
