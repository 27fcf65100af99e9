"""What a memory's place says: its neighbours in the session, the session's best, the day that is asked for.

Evidence (see `fusion`) of memories of one session supports each other: an answer often stands beside what sounds
like the question, and a session that holds one good hit is more likely to hold others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evoca.domain.clock import DAY
from evoca.domain.quantities import plain, quantities
from evoca.retrieval.fusion import inverse_document_frequency
from evoca.retrieval.traits import TraitView

if TYPE_CHECKING:
    from numpy.typing import NDArray

BESIDE = (0.3, 0.1)
"""Shares of the evidence of the memories next to one, and of those next to them, that are added to its own."""
SESSION = 0.5
"""Share of the best evidence in its session. Measured on dialogues, recall@10: neither .68, one of the two .74 and .75,
both .78; shares half as large or half as large again change it by less than .01.
"""
DATE_WEIGHT = 0.06
"""What a nat of an asked date counts: twice a word's (recall@10 on dialogues + .01)."""
REACH = len(BESIDE)


def within_sessions(
    evidence: NDArray[np.float32], sessions: NDArray[np.int32], positions: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Evidence with what neighbours and the session add, on the scale of a memory that stands alone, which keeps it.

    `sessions`: -1 for none. `positions`: a memory's place in its session. Missing neighbours add nothing.
    """
    order = np.lexsort((positions, sessions))
    own, of, at = evidence[order], sessions[order], positions[order]
    support = np.maximum(own, 0)
    total = (own + SESSION * _best_of_session(own, of)).astype(np.float32)
    for behind in range(1, REACH + 1):
        apart = at[behind:] - at[:-behind]
        for distance, share in enumerate(BESIDE, 1):
            beside = (of[behind:] == of[:-behind]) & (of[behind:] >= 0) & (apart == distance)
            total[behind:] += np.float32(share) * support[:-behind] * beside
            total[:-behind] += np.float32(share) * support[behind:] * beside
    changed = np.empty_like(total)
    changed[order] = total / np.float32(1 + SESSION)
    return changed


def _best_of_session(evidence: NDArray[np.float32], sessions: NDArray[np.int32]) -> NDArray[np.float32]:
    """For rows in order of sessions: the greatest evidence of each one's session; without one, its own."""
    if not len(evidence):
        return evidence
    begins = np.flatnonzero(np.concatenate(([True], sessions[1:] != sessions[:-1])))
    best = np.repeat(np.maximum.reduceat(evidence, begins), np.diff(np.append(begins, len(evidence))))
    return np.where(sessions >= 0, best, evidence)


@dataclass(frozen=True, slots=True)
class AskedDate:
    """A date as a query names it; 0 where it leaves a part open."""

    year: int
    month: int
    day: int


def asked_dates(query: str, language: int) -> list[AskedDate]:
    """The dates that a query names; relative ones and days of the week are none."""
    found: list[AskedDate] = []
    for name in sorted(quantities(plain(query), language).dates):
        parts = name.split("-")
        if len(parts) == 3 and all(part.isdigit() or not part for part in parts):
            found.append(AskedDate(*(int(part or 0) for part in parts)))
    return found


def dated(created: NDArray[np.int64], chosen: NDArray[np.int64], dates: Iterable[AskedDate]) -> NDArray[np.float32]:
    """What the asked dates add to the evidence of the chosen rows: each part that a memory's day shares, as if it were
    a word of its text. `created`: instants of all memories, by which rare dates say more.
    """
    added = np.zeros(len(chosen), np.float32)
    for date in dates:
        days = created // DAY
        months = days.astype("datetime64[D]").astype("datetime64[M]")
        parts = (
            (date.year, months.astype("datetime64[Y]").astype(np.int64) + 1970),
            (date.month, months.astype(np.int64) % 12 + 1),
            (date.day, (days.astype("datetime64[D]") - months.astype("datetime64[D]")).astype(np.int64) + 1),
        )
        for asked, of in parts:
            if asked:
                holds = of == asked
                idf = inverse_document_frequency(len(created), int(holds.sum()))
                added += np.float32(DATE_WEIGHT * idf) * holds[chosen]
    return added


class Arrangement:
    """Which memories a search may find, and how their places change their evidence."""

    def __init__(self, traits: TraitView, allowed: NDArray[np.bool_], dates: Iterable[AskedDate]) -> None:
        """`allowed`: a mask over the rows of `traits`."""
        self._traits = traits
        self._allowed = allowed
        self._dates = tuple(dates)

    def usable(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        rows = self._traits.rows_of(ids)
        return (rows >= 0) & self._allowed[rows] if len(self._allowed) else np.zeros(len(ids), np.bool_)

    def neighbours(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The ids of the memories beside these in their sessions."""
        traits = self._traits
        rows = traits.rows_of(ids)
        near = np.concatenate((traits.before[rows], traits.after[rows])).astype(np.int64)
        near = near[near >= 0]
        return traits.ids[near[self._allowed[near]]]

    def rearrange(self, ids: NDArray[np.int64], evidence: NDArray[np.float32]) -> NDArray[np.float32]:
        traits = self._traits
        rows = traits.rows_of(ids)
        if self._dates:
            evidence = evidence + dated(traits.created, rows, self._dates)
        return within_sessions(evidence, traits.sessions[rows], traits.positions[rows])
