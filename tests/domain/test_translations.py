"""Words that mean the same in Spanish and English."""

from __future__ import annotations

import pytest

from evoca.domain.languages import ENGLISH, SPANISH, UNKNOWN
from evoca.domain.text import stems
from evoca.domain.translations import equivalents


@pytest.mark.parametrize(
    ("spanish", "english"),
    [
        ("vive", "lives"),
        ("trabajan", "work"),
        ("edad", "age"),
        ("jefa", "boss"),
        ("londres", "london"),
        ("sede", "headquarters"),
    ],
)
def test_each_word_leads_to_the_other(spanish: str, english: str) -> None:
    assert stems([english], ENGLISH)[0] in equivalents(spanish, SPANISH)
    assert stems([spanish], SPANISH)[0] in equivalents(english, ENGLISH)
    assert equivalents(spanish, SPANISH) == equivalents(spanish, SPANISH)
    assert set(equivalents(spanish, SPANISH)) <= set(equivalents(spanish, UNKNOWN))


def test_other_forms_of_a_word_mean_the_same() -> None:
    assert equivalents("viviendo", SPANISH) == equivalents("vive", SPANISH)
    assert equivalents("living", ENGLISH) == equivalents("lives", ENGLISH)


def test_names_and_unknown_words_stand_alone() -> None:
    for word in ("marta", "zyxw", "postgresql", "4471"):
        assert equivalents(word, UNKNOWN) == ()


def test_a_word_is_of_the_query_s_language_where_that_is_known() -> None:
    assert "live" not in equivalents("sale", SPANISH)
    assert equivalents("sale", SPANISH) != equivalents("sale", ENGLISH)
