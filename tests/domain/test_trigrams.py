"""Trigram similarity: the figures are those of PostgreSQL 18's `similarity()`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.domain.trigrams import trigram_similarity, trigrams


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("word", "two words", 0.363636),
        ("La IP del router es 192.168.7.1", "La IP del router es 192.168.9.1", 0.875),
        ("Vuelo el 3 de mayo", "Vuelo el 13 de mayo", 0.772727),
        ("Talla 38", "Talla 48", 0.5),
        ("Prueba 17: 812 ms", "Prueba 18: 815 ms", 0.619048),
        ("¿Qué tal, Ñandú?", "que tal ñandú", 0.75),
        ("user_id", "user id", 1.0),
        ("ÁRBOL", "árbol", 1.0),
        ("Ana gana a Eva", "Eva gana a Ana", 1.0),
        ("12ab", "ab12", 0.0),
        ("El café de Lucía", "El cafe de Lucia", 0.545455),
        ("日本語テスト", "日本語", 0.375),
        ("a b c", "c b", 0.666667),
        ("Straße", "STRASSE", 0.363636),
        ("", "", 0.0),
        ("...", "a", 0.0),
    ],
)
def test_similarity_is_that_of_pg_trgm(one: str, other: str, expected: float) -> None:
    assert trigram_similarity(one, other) == pytest.approx(expected, abs=1e-6)


def test_words_are_padded_with_two_spaces_before_and_one_after() -> None:
    assert trigrams("Cat, a!") == {"  c", " ca", "cat", "at ", "  a", " a "}


@given(st.text(max_size=30), st.text(max_size=30))
def test_similarity_is_symmetric_bounded_and_one_for_the_same_words(one: str, other: str) -> None:
    found = trigram_similarity(one, other)
    assert found == trigram_similarity(other, one)
    assert 0.0 <= found <= 1.0
    assert trigram_similarity(one, one) == (1.0 if trigrams(one) else 0.0)
