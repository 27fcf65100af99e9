"""Time: one instant, whatever it was written as."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.domain.clock import DAY, FIRST, LAST, FrozenClock, ShiftedClock, SystemClock, day_of, from_iso, to_iso


def test_iso_round_trip() -> None:
    assert to_iso(from_iso("2026-04-14T22:47:23Z")) == "2026-04-14T22:47:23Z"


def test_offsets_and_naive_times_are_one_instant() -> None:
    assert from_iso("2026-03-01T10:00:00+02:00") == from_iso("2026-03-01T08:00:00Z")
    assert from_iso("2026-03-01T09:45:00") == from_iso("2026-03-01T09:45:00Z")
    assert from_iso("2026-03-01") == from_iso("2026-03-01T00:00:00Z")


def test_order_is_by_instant_not_by_text() -> None:
    assert from_iso("2026-03-01T10:00:00+02:00") < from_iso("2026-03-01T09:30:00Z")


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="isoformat"):
        from_iso("yesterday")


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+05:00"])
def test_what_has_no_form_in_utc_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="years 1 to 9999"):
        from_iso(text)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "0999-06-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_the_calendar_s_ends_can_be_written_and_read(text: str) -> None:
    assert to_iso(from_iso(text)) == text


def test_a_clock_beyond_the_calendar_still_shows_a_time() -> None:
    assert to_iso(LAST + DAY) == "9999-12-31T23:59:59Z"
    assert to_iso(FIRST - DAY) == "0001-01-01T00:00:00Z"


@given(st.integers(0, 4_000_000_000))
def test_whole_seconds_survive(second: int) -> None:
    assert from_iso(to_iso(second * 1_000_000)) == second * 1_000_000


def test_a_shifted_clock_starts_where_it_is_told_and_runs() -> None:
    start = from_iso("2030-01-01")
    clock = ShiftedClock(start)
    first = clock.now()
    assert start <= first < start + DAY
    assert clock.now() >= first


def test_a_frozen_clock_moves_when_told() -> None:
    clock = FrozenClock(5)
    clock.advance(7)
    assert clock.now() == 12
    assert day_of(DAY * 3 + 1) == 3


def test_the_system_clock_is_after_2025() -> None:
    assert SystemClock().now() > from_iso("2025-01-01")
