"""Memories' rules: age, links that fade, labels that compare, tiers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.domain.clock import DAY
from evoca.domain.episodes import (
    AUTOMATICA,
    EPISODICA,
    SEMANTICA,
    Episode,
    EpisodeLink,
    effective_weight,
    fold_label,
    recency,
    tidy_categories,
)

EPISODE = Episode(1, "", "x", "event", "", EPISODICA, False, created_at=0, updated_at=0)


@pytest.mark.parametrize(
    ("days", "expected"), [(0, 1.0), (7, 1.0), (8, math.exp(-0.05)), (27, math.exp(-1)), (365, 0.2)]
)
def test_an_episode_fades_from_the_eighth_day_on_to_a_fifth(days: int, expected: float) -> None:
    assert recency(EPISODICA, False, 0, days * DAY) == pytest.approx(expected)


@given(st.integers(0, 400 * DAY), st.integers(0, DAY))
def test_fading_has_no_jumps(age: int, later: int) -> None:
    before, after = recency(EPISODICA, False, 0, age), recency(EPISODICA, False, 0, age + later)
    assert 0.2 <= after <= before <= 1.0
    assert before - after <= 0.05 * later / DAY + 1e-9


@pytest.mark.parametrize(("nivel", "critico"), [(SEMANTICA, False), (AUTOMATICA, False), (EPISODICA, True)])
def test_what_is_kept_does_not_fade(nivel: str, critico: bool) -> None:
    assert recency(nivel, critico, 0, 1000 * DAY) == 1.0


def test_a_link_has_half_its_weight_after_ninety_days_without_use() -> None:
    link = EpisodeLink(1, 1, 2, "related", 0.8, created_at=0, last_used_at=None, details=None)
    assert effective_weight(link, 90 * DAY) == pytest.approx(0.4)
    assert effective_weight(replace(link, last_used_at=90 * DAY), 90 * DAY) == pytest.approx(0.8)
    assert effective_weight(link, -DAY) == 0.8, "a clock that was set back adds no weight"


@pytest.mark.parametrize(
    ("one", "other"),
    [("Política", "politica"), ("MÚSICA ", "música"), ("C++", "c++"), ("dos  palabras", "Dos palabras")],
)
def test_labels_compare_without_case_and_accents(one: str, other: str) -> None:
    assert fold_label(one) == fold_label(other)


@pytest.mark.parametrize(("one", "other"), [("año", "ano"), ("c++", "c#"), ("a b", "ab")])
def test_labels_that_differ_stay_apart(one: str, other: str) -> None:
    assert fold_label(one) != fold_label(other)


def test_categories_are_kept_once_in_order_as_first_written() -> None:
    assert tidy_categories([" Política ", "", "casa", "politica", "Casa"]) == ("Política", "casa")


def test_tiers() -> None:
    assert [EPISODE.tier(embedded) for embedded in (True, False)] == ["HOT", "WARM"]
    assert replace(EPISODE, archived_at=5).tier(embedded=False) == "COLD"


def test_a_critical_memory_never_expires() -> None:
    ended = replace(EPISODE, expires_at=10)
    assert [ended.expired(now) for now in (9, 10, 11)] == [False, True, True]
    assert not replace(ended, critico=True).expired(11)
