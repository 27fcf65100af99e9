"""Waiting for a condition, with a deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

DEADLINE = 60.0


def until(condition: Callable[[], bool], what: str) -> None:
    """Return when `condition` holds; fail when it does not within the deadline."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        threading.Event().wait(0.005)
