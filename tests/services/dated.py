"""A memory whose clock stands still until it is told to move."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evoca import Memory
from evoca.domain.clock import DAY, FrozenClock, from_iso, to_iso
from evoca.runtime import Runtime
from evoca.settings import load_settings

START = from_iso("2026-03-01T10:00:00Z")


class DatedMemory(Memory):
    """`settings`: as those of the process."""

    def __init__(self, folder: Path, **settings: object) -> None:
        super().__init__(folder / "memory.db")
        self.clock = FrozenClock(START)
        given: dict[str, object] = {"embedder": "none", "indexer": False, **settings}
        self._runtime = Runtime(load_settings(store=str(folder / "memory.db"), **given), clock=self.clock)

    @property
    def runtime(self) -> Runtime:
        return self._runtime

    def ask(self, name: str, **given: object) -> Mapping[str, object]:
        """Call an operation with whatever arguments."""
        return self._call(name, given)

    def days(self, count: float) -> None:
        self.clock.advance(int(count * DAY))


def day(number: float) -> str:
    """So many days after the clock's start."""
    return to_iso(START + int(number * DAY))
