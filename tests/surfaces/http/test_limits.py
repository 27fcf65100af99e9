"""The token bucket."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evoca.surfaces.http.limits import RateLimit


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_no_limit_by_default() -> None:
    limit = RateLimit(0)
    assert all(limit.wait(1) == 0 for _ in range(1000))


def test_a_minutes_worth_at_once_then_one_by_one() -> None:
    clock = Clock()
    limit = RateLimit(6, clock)
    assert [limit.wait(1) for _ in range(8)] == [0] * 6 + [10, 10]
    clock.now = 9.9
    assert limit.wait(1) == 1
    clock.now = 10.1
    assert limit.wait(1) == 0
    assert limit.wait(1) == 10


def test_keys_do_not_share() -> None:
    limit = RateLimit(1, Clock())
    assert limit.wait(1) == 0
    assert limit.wait(1) == 60
    assert limit.wait(2) == 0


@given(st.floats(0.1, 1000), st.lists(st.floats(0, 30), max_size=60))
def test_never_more_than_the_rate(per_minute: float, pauses: list[float]) -> None:
    """Whatever the rhythm: at most one bucket and what has flown into it since."""
    clock = Clock()
    limit = RateLimit(per_minute, clock)
    made = 0
    for pause in pauses:
        clock.now += pause
        made += limit.wait(7) == 0
        assert made <= max(1.0, per_minute) + clock.now * per_minute / 60 + 1e-6
