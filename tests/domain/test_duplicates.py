"""Containment, clusters and what may be dropped (seed 000, tool 15)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.domain.duplicates import Judged, Pair, clusters, contained_words, containment, settle


@pytest.mark.parametrize(
    ("short", "long", "share"),
    [
        ("FastMCP", "Stack: FastMCP + SQLite + ONNX Runtime para embeddings", 1.0),
        ("fastmcp, sqlite!", "Stack: FastMCP + SQLite", 1.0),
        ("uno dos tres cuatro cinco seis siete ocho nueve diez", "uno dos tres cuatro cinco seis siete", 0.7),
        ("C++", "C para todo", 0.0),
        ("«Madrid»", "Vive en Madrid.", 1.0),
        ("", "Vive en Madrid", 0.0),
        ("...", "Vive en Madrid ...", 0.0),
    ],
)
def test_containment_is_the_share_of_the_short_text_s_words(short: str, long: str, share: float) -> None:
    assert containment(contained_words(short), contained_words(long)) == pytest.approx(share)


@given(st.text(max_size=40), st.text(max_size=80))
def test_containment_is_bounded(short: str, long: str) -> None:
    words = contained_words(short)
    assert 0.0 <= containment(words, contained_words(long)) <= 1.0
    assert containment(words, words) == (1.0 if words else 0.0)


@st.composite
def pairings(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(2, 30))
    places = st.integers(0, count - 1)
    return count, draw(st.lists(st.tuples(places, places)))


@given(pairings())
def test_clusters_are_what_the_pairs_connect(case: tuple[int, list[tuple[int, int]]]) -> None:
    count, drawn = case
    pairs = [(min(pair), max(pair)) for pair in drawn if pair[0] != pair[1]]
    found = clusters(count, pairs)
    members = [at for group in found for at in group]
    assert len(members) == len(set(members))
    assert set(members) == {at for pair in pairs for at in pair}
    home = {at: number for number, group in enumerate(found) for at in group}
    assert all(home[one] == home[other] for one, other in pairs)
    for group in found:
        # Connected: from its first member every other is reached over pairs.
        reached = {group[0]}
        while grown := {at for pair in pairs if reached & set(pair) for at in pair} - reached:
            reached |= grown
        assert reached == set(group)
        assert group == sorted(group)
    assert found == sorted(found)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), max_size=40))
def test_what_is_dropped_has_a_duplicate_that_stays(drawn: list[tuple[int, int, bool]]) -> None:
    judged = [
        Judged(Pair(min(a, b), max(a, b), "cosine", 0.9, None), (), a if first else b)
        for a, b, first in drawn
        if a != b
    ]
    settled = settle(judged)
    dropped = {each.drop for each in settled if each.drop is not None}
    for at in dropped:
        partners = {
            other for each in settled if each.drop == at for other in (each.pair.first, each.pair.second) if other != at
        }
        assert partners
        assert not partners & dropped
    assert [each.pair for each in settled] == [each.pair for each in judged]
