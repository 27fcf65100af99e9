"""What the design promises, and whether a run reached it. The promises are ratios and CPU; wall times are shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """`measured` may not exceed `most` (or fall below `least`). `note` says how it is measured."""

    what: str
    measured: float
    unit: str
    most: float | None = None
    least: float | None = None
    note: str = ""

    @property
    def reached(self) -> bool:
        above = self.most is None or self.measured <= self.most
        return above and (self.least is None or self.measured >= self.least)

    @property
    def line(self) -> str:
        bound = f"≤ {self.most:g}" if self.most is not None else f"≥ {self.least:g}"
        verdict = "reached" if self.reached else f"MISSED by {self._missed()}"
        return f"{self.what:<58} {self.measured:>10.2f} {self.unit:<9} {bound:<9} {verdict}  {self.note}".rstrip()

    def _missed(self) -> str:
        bound = self.most if self.most is not None else self.least
        assert bound
        return f"{abs(self.measured - bound) / bound:.0%}"


CALL_CPU_MS = {
    "create 1": 1.0,
    "add 1": 1.0,
    "search rare": 1.0,
    "search common, 10": 3.0,
    "open 5": 0.7,
    "semantic": 5.0,
}
"""Server CPU for one call at 10,000 entities above the bare server's, in ms; `semantic` above the query's embedding."""

START_RATIO = 1.25
IDLE_MB = 25.0
MODEL_MB = 130.0
ENTITIES_PER_S = 3_000.0
RELATIONS_PER_S = 5_000.0
BYTES_PER_ENTITY = 2_000.0
LISTING_KB = 18.0
"""`tools/list` of `bench.server.GRAPH` alone."""
WHOLE_LISTING_KB = 40.0
