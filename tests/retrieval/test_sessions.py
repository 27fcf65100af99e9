"""What a memory's place adds to its evidence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evoca.domain.clock import from_iso
from evoca.domain.languages import ENGLISH, SPANISH
from evoca.retrieval.sessions import AskedDate, asked_dates, dated, within_sessions


def arranged(evidence: list[float], sessions: list[int], positions: list[int]) -> NDArray[np.float32]:
    return within_sessions(np.array(evidence, np.float32), np.array(sessions, np.int32), np.array(positions, np.int32))


def test_what_stands_alone_keeps_its_evidence() -> None:
    assert arranged([0.5, 0.2, 0.9], [-1, -1, 4], [0, 0, 0]).tolist() == pytest.approx([0.5, 0.2, 0.9])


def test_neighbours_and_the_session_s_best_add() -> None:
    found = arranged([0.6, 0.0, 0.0, 0.0, 0.0], [1, 1, 1, 1, 2], [3, 4, 5, 9, 0])
    beside, next_but_one, far, elsewhere = (found * 1.5).tolist()[1:]
    assert (beside, next_but_one, far, elsewhere) == pytest.approx((0.48, 0.36, 0.3, 0.0))


def test_order_of_rows_does_not_matter_and_bad_neighbours_take_nothing_away() -> None:
    assert arranged([0.0, 0.6], [1, 1], [1, 0]).tolist() == arranged([0.6, 0.0], [1, 1], [0, 1])[::-1].tolist()
    alone = arranged([0.6], [1], [0])
    assert arranged([0.6, -0.5], [1, 1], [0, 1])[0] == alone[0]


@given(
    st.lists(
        st.tuples(st.floats(-1, 1, width=32), st.integers(-1, 3), st.integers(0, 20)),
        max_size=20,
        unique_by=lambda row: (row[1], row[2]),
    )
)
def test_the_best_stays_the_best_of_its_session_s_strangers(rows: list[tuple[float, int, int]]) -> None:
    found = arranged([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
    assert len(found) == len(rows)
    assert np.isfinite(found).all()
    for (evidence, session, _), after in zip(rows, found.tolist(), strict=True):
        if session < 0:
            assert after == pytest.approx(evidence, abs=1e-6)
        else:
            assert after >= evidence - 1e-6, "company never takes away"


@pytest.mark.parametrize(
    ("query", "language", "dates"),
    [
        ("What happened on 8 May, 2023?", ENGLISH, [AskedDate(2023, 5, 8)]),
        ("¿Qué pasó el 3 de mayo?", SPANISH, [AskedDate(0, 5, 3)]),
        ("What happened in May 2023?", ENGLISH, [AskedDate(2023, 5, 0)]),
        ("¿Qué pasó ayer, el lunes?", SPANISH, []),
        ("¿Qué pasó?", SPANISH, []),
    ],
)
def test_dates_of_a_query(query: str, language: int, dates: list[AskedDate]) -> None:
    assert asked_dates(query, language) == dates


def test_memories_of_the_asked_day_get_evidence_for_each_part_they_share() -> None:
    days = ("2023-05-08", "2023-05-09", "2023-06-08", "2024-01-01", "2024-02-29")
    created = np.array([from_iso(f"{day}T23:59:59Z") for day in days], np.int64)
    rows = np.arange(len(days), dtype=np.int64)
    whole = dated(created, rows, [AskedDate(2023, 5, 8)])
    assert whole[0] > whole[1] > whole[3] == 0
    assert whole[0] > whole[2] > 0
    assert (dated(created, rows, [AskedDate(0, 2, 29)]) > 0).tolist() == [False, False, False, False, True]
    assert not dated(created, rows, []).any()
