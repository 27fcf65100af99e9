"""The limbic score: the contract's numbers, and what must hold for any numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.domain import limbic
from evoca.domain.clock import DAY, HOUR, FrozenClock, from_iso
from evoca.domain.graph import Access, CoOccurrence

CONSTANTS = limbic.LimbicConstants()
NOW = from_iso("2026-04-14T22:47:23Z")
CLOCK = FrozenClock(NOW)


def signals(count: int = 1, days: int = 1, degree: int = 0, last: int | None = NOW) -> limbic.Signals:
    return limbic.Signals(Access(count, last, days), NOW, degree)


@pytest.mark.parametrize(
    ("hours", "expected"),
    [(1, 0.9999), (24, 0.9976), (7 * 24, 0.9833), (30 * 24, 0.9305), (90 * 24, 0.8057), (365 * 24, 0.4164)],
)
def test_temporal_factor_follows_the_contract(hours: int, expected: float) -> None:
    known = signals(last=NOW - hours * HOUR)
    assert round(limbic.temporal(known, NOW, CONSTANTS), 4) == expected


def test_temporal_factor_has_a_floor_and_ignores_the_future() -> None:
    assert limbic.temporal(signals(last=NOW - 960 * DAY), NOW, CONSTANTS) == 0.1
    assert limbic.temporal(signals(last=NOW + 5 * DAY), NOW, CONSTANTS) == 1.0


def test_temporal_factor_counts_from_creation_without_use() -> None:
    never_used = limbic.Signals(Access(1, None, 1), NOW - 30 * DAY, 0)
    assert round(limbic.temporal(never_used, NOW, CONSTANTS), 4) == 0.9305


def test_importance_of_half_the_uses() -> None:
    scale = limbic.Scale(max_count=20, max_days=1)
    assert round(limbic.importance(signals(count=10), scale, CONSTANTS), 4) == 0.7876


def test_greatest_importance_is_1_38() -> None:
    scale = limbic.Scale(max_count=20, max_days=9)
    greatest = limbic.importance(signals(count=20, days=9, degree=99), scale, CONSTANTS)
    assert round(greatest, 4) == 1.38
    assert round(1 + CONSTANTS.beta_salience * greatest, 4) == 1.69


def test_importance_is_zero_without_any_use() -> None:
    assert limbic.importance(signals(count=0), limbic.Scale(0, 0), CONSTANTS) == 0.0


def test_company_counts_only_other_members_of_the_context() -> None:
    together = [CoOccurrence(1, 2, 3, NOW), CoOccurrence(1, 9, 7, NOW)]
    company = limbic.Company.of(together, [1, 2], NOW, CONSTANTS)
    assert company.boost(1) == math.log2(4)
    assert company.boost(2) == math.log2(4)
    assert company.boost(9) == math.log2(8)
    assert company.boost(5) == 0.0


def test_company_fades() -> None:
    old = limbic.Company.of([CoOccurrence(1, 2, 1, NOW - 30 * DAY)], [2], NOW, CONSTANTS)
    assert round(old.boost(1), 4) == 0.9305


@pytest.mark.parametrize(
    ("query", "routing"),
    [
        ("qué es docker", "cosine_heavy"),
        ("¿Qué es?", "cosine_heavy"),
        ("que es docker", "cosine_heavy"),
        ("what is docker", "cosine_heavy"),
        ("definición", "cosine_heavy"),
        ("definition of done", "cosine_heavy"),
        ("cómo funciona el motor de búsqueda interno", "cosine_heavy"),
        ("aunque es tarde seguimos con ello", "hybrid_balanced"),
        ("astro", "hybrid_balanced"),
        ("estado del proyecto de facturas", "hybrid_balanced"),
        ("explícame la arquitectura del sistema actual", "limbic_heavy"),
        ("cuéntame lo de ayer por la tarde", "limbic_heavy"),
        ("cuentame lo de ayer por la tarde", "limbic_heavy"),
        ("tell me everything you know of the billing service", "limbic_heavy"),
        ("dime todo lo que sabes acerca de la migración de la base de datos", "limbic_heavy"),
    ],
)
def test_routing_is_read_from_the_words(query: str, routing: str) -> None:
    assert limbic.route(query) == routing


@given(st.text(max_size=200))
def test_any_query_has_a_routing(query: str) -> None:
    assert limbic.route(query) in limbic.ROUTING_EXPONENTS


fractions = st.floats(0, 1, allow_nan=False)


@given(
    relevance=fractions,
    importance=st.floats(0, 1.38),
    temporal=st.floats(0.1, 1),
    cooc=st.floats(0, 1000),
    routing=st.sampled_from(sorted(limbic.ROUTING_EXPONENTS)),
    status=st.sampled_from(sorted(limbic.STATUS_FACTORS.values())),
)
def test_score_is_finite_bounded_and_grows_with_its_parts(
    relevance: float, importance: float, temporal: float, cooc: float, routing: limbic.Routing, status: float
) -> None:
    def score(relevance: float = relevance, importance: float = importance, cooc: float = cooc) -> float:
        return limbic.combine(relevance, importance, temporal, cooc, routing, status, 1.0, CONSTANTS).score

    most = (1.69 * (1 + CONSTANTS.gamma * 1000)) ** 1.5
    assert 0 <= score() <= most
    assert score(relevance=min(1.0, relevance + 0.1)) >= score()
    assert score(importance=importance + 0.1) >= score()
    assert score(cooc=cooc + 1) >= score()


@given(count=st.integers(1, 10_000), top=st.integers(1, 10_000), days=st.integers(1, 400), degree=st.integers(0, 500))
def test_importance_is_bounded(count: int, top: int, days: int, degree: int) -> None:
    value = limbic.importance(signals(count, days, degree), limbic.Scale(top, max(1, days // 2)), CONSTANTS)
    assert 0 <= value <= 1.38 + 1e-9


def test_an_archived_entity_ranks_below_an_active_one_of_equal_relevance() -> None:
    scores = [
        limbic.combine(0.8, 0.5, 1.0, 0.0, "hybrid_balanced", factor, 1.0, CONSTANTS).score
        for factor in limbic.STATUS_FACTORS.values()
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


@given(
    relevance=fractions,
    count=st.integers(1, 500),
    degree=st.integers(0, 50),
    days=st.integers(1, 90),
    ties=st.lists(st.integers(1, 40), max_size=4),
    routing=st.sampled_from(sorted(limbic.ROUTING_EXPONENTS)),
)
def test_no_score_is_above_the_ceiling(  # the search leaves out what cannot reach its best
    relevance: float, count: int, degree: int, days: int, ties: list[int], routing: limbic.Routing
) -> None:
    together = [CoOccurrence(1, 10 + at, times, NOW) for at, times in enumerate(ties)]
    company = limbic.Company.of(together, [10 + at for at in range(len(ties))], NOW, CONSTANTS)
    known = signals(count, days, degree)
    scale = limbic.Scale.of([known.access])
    importance = limbic.importance(known, scale, CONSTANTS)
    score = limbic.combine(relevance, importance, 1.0, company.boost(1), routing, 1.0, 1.0, CONSTANTS).score
    assert score <= relevance * limbic.ceiling(known.access, company.boost(1), scale, routing, CONSTANTS) + 1e-9
