"""The formulas of relevance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from evoca.retrieval.fusion import (
    even_out_languages,
    inverse_document_frequency,
    ranks_of,
    reciprocal_rank,
    relevance,
    saturation,
)

COSINES = arrays.arrays(np.float32, 12, elements=st.floats(-1, 1, width=32))
GAINS = arrays.arrays(np.float32, 12, elements=st.floats(0, 3, width=32))
FLAGS = arrays.arrays(np.bool_, 12)


def test_reciprocal_ranks() -> None:
    first = reciprocal_rank(np.array([1]))[0]
    assert first == pytest.approx(1 / 61)
    assert 2 * first == pytest.approx(0.032787, abs=5e-7)
    assert reciprocal_rank(np.array([0, 2])).tolist() == [0.0, 1 / 62]


def test_ranks_are_by_score_then_id_and_only_of_the_listed() -> None:
    scores = np.array([0.5, 0.9, 0.5, 0.7], np.float32)
    ids = np.array([9, 4, 2, 1])
    assert ranks_of(scores, ids, np.array([True, True, True, False])).tolist() == [3, 1, 2, 0]


def test_rare_terms_weigh_more_and_none_is_negative() -> None:
    weights = [inverse_document_frequency(100, holding) for holding in range(1, 101)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0
    assert weights[0] == pytest.approx(math.log(1 + 99.5 / 1.5))


def test_a_term_counts_one_in_a_text_of_typical_length_and_less_in_a_longer_one() -> None:
    typical, longer, shorter = saturation(np.array([10, 40, 2], np.int32), 10.0)
    assert typical == pytest.approx(1.0)
    assert longer < typical < shorter


@given(st.lists(st.floats(-2, 4, width=32), min_size=1, max_size=20), st.floats(0.3, 1))
def test_relevance_is_bounded_and_never_falls(evidence: list[float], exponent: float) -> None:
    ordered = np.array(sorted(evidence), np.float32)
    found = relevance(ordered, exponent)
    assert np.isfinite(found).all()
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= 0).all()


def test_relevance_of_a_cosine_is_its_similarity_and_more_evidence_tells_to_the_end() -> None:
    assert relevance(np.array([0.3], np.float32), 0.6)[0] == pytest.approx(0.3**0.6)
    below, above = relevance(np.array([0.4999, 0.5001], np.float32), 0.6)
    assert above - below < 0.001
    assert relevance(np.array([2.0], np.float32), 0.6)[0] < relevance(np.array([2.1], np.float32), 0.6)[0] < 1


@given(COSINES, GAINS, FLAGS)
def test_evening_out_languages_takes_from_nobody(
    meaning: np.ndarray[tuple[int], np.dtype[np.float32]],
    gains: np.ndarray[tuple[int], np.dtype[np.float32]],
    foreign: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> None:
    fused = meaning + gains
    evened = even_out_languages(meaning, fused, foreign)
    assert (evened >= fused).all()
    assert (evened[~foreign] == fused[~foreign]).all()


def test_a_translation_as_close_as_the_best_gets_their_gain() -> None:
    meaning = np.array([0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.1], np.float32)
    fused = meaning + np.array([0.3, 0.3, 0.3, 0.3, 0.3, 0, 0], np.float32)
    foreign = np.array([False] * 5 + [True, True])
    evened = even_out_languages(meaning, fused, foreign)
    assert evened[5] == pytest.approx(0.9)
    assert evened[6] == pytest.approx(0.15)
