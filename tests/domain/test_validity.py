"""Periods: one object at a time where a predicate has one, several where it has several, and nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.domain.facts import EntityObject, LiteralObject, Scalar
from evoca.domain.validity import Period, Plan, Target, Twin, place, target_of, tell

LUGO, GIJON, VIGO = (("text", name) for name in ("Lugo", "Gijón", "Vigo"))
Telling = tuple[Target, int]


def told(tellings: Sequence[Telling], single: bool = True) -> list[Period]:
    """What stands after these were told one after another."""
    known: dict[int, Period] = {}
    for target, at in tellings:
        plan = tell(list(known.values()), target, at, single)
        number = plan.period.id or len(known) + 1
        known[number] = Period(number, plan.period.target, plan.period.begin, plan.period.end)
        known |= {each.id: each for each in plan.closed}
    return list(known.values())


def timeline(periods: Sequence[Period]) -> list[tuple[str, int, int | None]]:
    return sorted((each.target[1], each.begin, each.end) for each in periods)


def test_the_first_is_open() -> None:
    assert tell([], LUGO, 5, single=True) == Plan(Period(0, LUGO, 5))


def test_another_object_closes_the_earlier_one_at_its_own_begin() -> None:
    assert timeline(told([(LUGO, 5), (GIJON, 9)])) == [("Gijón", 9, None), ("Lugo", 5, 9)]


def test_of_many_valued_predicates_all_go_on() -> None:
    assert timeline(told([(LUGO, 5), (GIJON, 9)], single=False)) == [("Gijón", 9, None), ("Lugo", 5, None)]


def test_a_back_dated_one_ends_where_the_next_begins() -> None:
    assert timeline(told([(GIJON, 9), (LUGO, 5)])) == [("Gijón", 9, None), ("Lugo", 5, 9)]


def test_one_between_two_shortens_the_earlier_one() -> None:
    assert timeline(told([(LUGO, 1), (GIJON, 9), (VIGO, 5)])) == [("Gijón", 9, None), ("Lugo", 1, 5), ("Vigo", 5, 9)]


def test_the_same_while_it_holds_is_the_same() -> None:
    before = told([(LUGO, 5)])
    assert tell(before, LUGO, 7, single=True) == Plan(before[0])


@pytest.mark.parametrize("single", [True, False])
def test_the_same_from_earlier_on_begins_earlier(single: bool) -> None:
    assert timeline(told([(LUGO, 5), (LUGO, 2)], single)) == [("Lugo", 2, None)]


@pytest.mark.parametrize("single", [True, False])
def test_after_an_end_it_is_a_new_period(single: bool) -> None:
    plan = tell([Period(1, LUGO, 1, 4)], LUGO, 4, single)
    assert plan == Plan(Period(0, LUGO, 4))


def test_the_same_again_after_another_is_a_new_period() -> None:
    assert timeline(told([(LUGO, 1), (GIJON, 5), (LUGO, 9)])) == [("Gijón", 5, 9), ("Lugo", 1, 5), ("Lugo", 9, None)]


def test_of_two_from_the_same_instant_the_later_told_one_holds() -> None:
    periods = told([(LUGO, 5), (GIJON, 5)])
    assert timeline(periods) == [("Gijón", 5, None), ("Lugo", 5, 5)]
    assert [each.target for each in periods if each.covers(5)] == [GIJON]


def test_what_never_held_bounds_nothing() -> None:
    assert tell([Period(1, LUGO, 5, 5)], GIJON, 3, single=True) == Plan(Period(0, GIJON, 3))


def test_a_correction_obeys_the_rules() -> None:
    others = [Period(1, LUGO, 1), Period(2, GIJON, 9)]
    assert place(others, Period(3, VIGO, 5), single=True) == Plan(Period(3, VIGO, 5, 9), (Period(1, LUGO, 1, 5),))
    assert place(others, Period(3, VIGO, 5, 7), single=True) == Plan(Period(3, VIGO, 5, 7), (Period(1, LUGO, 1, 5),))
    assert place(others, Period(3, VIGO, 5), single=False) == Plan(Period(3, VIGO, 5))


def test_a_correction_does_not_repeat_what_is_known() -> None:
    known = Period(1, LUGO, 1)
    assert place([known], Period(3, LUGO, 5), single=True) == Twin(known)
    assert place([Period(1, LUGO, 1, 4)], Period(3, LUGO, 5), single=True) == Plan(Period(3, LUGO, 5))


def test_numbers_texts_and_truths_are_different_objects() -> None:
    values: list[Scalar] = [1, 1.5, "1", True, "True", "1.5"]
    assert len({target_of(LiteralObject(value)) for value in values}) == len(values)
    assert target_of(EntityObject(1)) not in {target_of(LiteralObject(value)) for value in values}


TARGETS = st.sampled_from([LUGO, GIJON, VIGO])
TELLINGS = st.lists(st.tuples(TARGETS, st.integers(0, 12)), max_size=12)


@given(TELLINGS)
def test_periods_of_a_single_valued_predicate_never_overlap(tellings: list[Telling]) -> None:
    periods = told(tellings)
    assert not [one for one, other in product(periods, periods) if one is not other and one.overlaps(other)]
    for at in range(14):
        assert sum(each.covers(at) for each in periods) <= 1


@given(TELLINGS, st.booleans())
def test_nothing_is_lost_by_telling(tellings: list[Telling], single: bool) -> None:
    before: list[Period] = []
    for count in range(1, len(tellings) + 1):
        after = told(tellings[:count], single)
        assert {each.id for each in before} <= {each.id for each in after}
        assert [each for each in after if each.covers(tellings[count - 1][1])]
        before = after


@given(TELLINGS)
def test_what_was_told_last_holds_at_its_time(tellings: list[Telling]) -> None:
    if tellings:
        target, at = tellings[-1]
        assert [each.target for each in told(tellings) if each.covers(at)] == [target]


@given(TELLINGS)
def test_of_a_many_valued_predicate_no_end_is_made(tellings: list[Telling]) -> None:
    periods = told(tellings, single=False)
    assert all(each.end is None for each in periods)
    assert len(periods) == len({each.target for each in periods})


@given(st.data())
def test_the_order_of_telling_does_not_matter_for_objects_that_hold_once(data: st.DataObject) -> None:
    """Each object is told for several instants of one stretch: in any order the same stretches come out."""
    once = list(data.draw(st.dictionaries(TARGETS, st.integers(1, 4), min_size=1)).items())
    tellings = [(target, 10 * place + step) for place, (target, steps) in enumerate(once) for step in range(steps)]
    expected = [
        (target[1], 10 * place, 10 * (place + 1) if place + 1 < len(once) else None)
        for place, (target, _) in enumerate(once)
    ]
    assert timeline(told(data.draw(st.permutations(tellings)))) == sorted(expected)


@given(TELLINGS, TARGETS, st.integers(0, 12), st.none() | st.integers(0, 12))
def test_a_correction_leaves_no_overlap(tellings: list[Telling], target: Target, begin: int, end: int | None) -> None:
    others = told(tellings)
    plan = place(others, Period(99, target, begin, end), single=True)
    if isinstance(plan, Plan):
        closed = {each.id: each for each in plan.closed}
        periods = [closed.get(each.id, each) for each in others] + [plan.period]
        assert not [one for one, other in product(periods, periods) if one is not other and one.overlaps(other)]
