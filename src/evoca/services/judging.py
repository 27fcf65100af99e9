"""The second opinion on contradictions that a person may have set; loaded at first need, once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from evoca.errors import EvocaError

if TYPE_CHECKING:
    from evoca.domain.contradictions import Contradiction
    from evoca.retrieval.judges import Judge

LONGEST = 1_000
"""Characters; a longer memory holds more than one statement, and no judge is asked about it."""


class Judging:
    """Asks the judge that `spec` names; safe for many threads. `report` is told once why there is none."""

    def __init__(self, spec: str, report: Callable[[str, EvocaError], None]) -> None:
        self._spec = spec
        self._report = report
        self._lock = threading.Lock()
        self._judge: Judge | None = None
        self._failed = False

    @property
    def wanted(self) -> bool:
        """False when none is set, or the one that is cannot be used."""
        return self._spec != "none" and not self._failed

    def opinion(self, older: str, newer: str) -> Contradiction | None:
        """What the judge finds; None when it finds nothing or cannot be used. May take as long as a model takes."""
        if not self.wanted or max(len(older), len(newer)) > LONGEST:
            return None
        from evoca.retrieval.judges import load_judge, second_opinion

        with self._lock:
            try:
                self._judge = self._judge or load_judge(self._spec)
                return second_opinion(self._judge, older, newer)
            except EvocaError as error:
                self._failed = True
                self._report("judge not used", error)
                return None
