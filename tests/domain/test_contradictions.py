"""Contradictions between short statements: found by evidence, left alone when unsure (contract, Hipocampo 6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.contradictions import Pair, interval, own_pairs, score
from evoca.domain.contradictions import LEAST_SIMILARITY, audit
from evoca.domain.differences import DIFFERENCES
from evoca.domain.identity import near_identical

PAIRS = own_pairs()


def found(older: str, newer: str) -> bool:
    return audit(older, newer) is not None


def halves(pair: Pair) -> str:
    return pair.split


@pytest.mark.parametrize(
    ("older", "newer", "kind", "differs_in"),
    [
        ("Marta vive en Lugo", "Marta vive en Gijón", "value", "name"),
        ("Marta lives in Lugo", "Marta vive en Gijón", "value", "name"),
        ("The meeting is on Monday", "The meeting is on Tuesday", "date", "date"),
        ("Me encanta el café", "Ya no tomo café, ahora té", "negation", "negation"),
        ("Iker fuma", "Iker dejó de fumar", "negation", "negation"),
        ("The server has 16 GB of RAM", "The server has 32 GB of RAM", "number", "number"),
        ("El puerto de Redis es el 6379", "El puerto de Redis es el 6380", "number", "number"),
        ("La puerta está abierta", "La puerta está cerrada", "antonym", "antonym"),
        ("Likes jazz, hates opera", "Likes opera", "antonym", "antonym"),
        ("Ana is taller than Eva", "Eva is taller than Ana", "order", "order"),
        ("Prefers tabs over spaces", "Prefers spaces over tabs", "order", "order"),
        ("The car is red", "The car is blue", "value", "antonym"),
    ],
)
def test_what_contradicts_is_named(older: str, newer: str, kind: str, differs_in: str) -> None:
    contradiction = audit(older, newer)
    assert contradiction is not None
    assert (contradiction.kind, contradiction.differs_in) == (kind, (differs_in,))


def test_the_values_that_exclude_each_other_are_told_in_order() -> None:
    contradiction = audit("Marta vive en Lugo", "Marta vive en Gijón")
    assert contradiction is not None
    assert (contradiction.older, contradiction.newer) == ("lugo", "gijon")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Iria habla gallego", "Iria habla inglés"),
        ("Iria conoce a Bea", "Iria conoce a Luis"),
        ("Marta vive en Galicia", "Marta vive en Lugo"),
        ("Marta vivía en Lugo", "Marta vive en Gijón"),
        ("Marta vive en Lugo", "Tomás vive en Gijón"),
        ("Vivo en Lugo", "Vive en Gijón"),
        ("Mi hermano vive en Lugo", "Mi hermana vive en Gijón"),
        ("Ana: Thanks, Eva! The cake is lovely.", "Ana: Yeah, Eva! See you at the lake."),
        ("Ana: ¡Gracias!", "Ana: Hola, Eva"),
        ("Prueba 17: 812 ms", "Prueba 18: 815 ms"),
        ("Vuelo el 3 de mayo", "Vuelo el 13 de mayo"),
        ("The limit is 1 GB", "The limit is 1024 MB"),
        ("The backup takes 2 hours", "The backup takes 120 minutes"),
        ("The window is not open", "The window is closed"),
        ("We use Redis", "We don't use Redis for sessions"),
        ("We use Redis", "Why don't we use Redis?"),
        ("We use Redis", "If the budget is cut, we don't use Redis"),
        ("We use Redis", "Ana says we don't use Redis"),
        ("We use Redis", "“We don't use Redis”"),
        ("This server is on", "That server is off"),
        ("Vive en Londres", "Lives in London"),
        ("El coche es amarillo", "The car is yellow"),
        ("Ana lives in St. Gallen", "Ana lives in St. Gall"),
        ("Los tests pasan", ""),
    ],
)
def test_what_can_both_be_is_left_alone(one: str, other: str) -> None:
    assert audit(one, other) is None
    assert audit(other, one) is None


def test_a_long_text_is_not_judged() -> None:
    filler = "Además hay muchas cosas que contar de este viaje. " * 20
    assert audit(f"Marta vive en Lugo. {filler}", "Marta vive en Gijón") is None
    assert found("Marta vive en Lugo. Tiene un gato y trabaja en casa.", "Marta vive en Gijón")


def test_texts_known_to_mean_other_things_are_not_compared() -> None:
    assert audit("Marta vive en Lugo", "Marta vive en Gijón", LEAST_SIMILARITY - 0.01) is None
    assert audit("Marta vive en Lugo", "Marta vive en Gijón", 0.8) == audit("Marta vive en Lugo", "Marta vive en Gijón")


@pytest.mark.parametrize("split", ["dev", "test"])
@pytest.mark.parametrize("language", ["es", "en"])
def test_precision_and_recall_on_the_project_s_own_pairs(split: str, language: str) -> None:
    chosen = [pair for pair in PAIRS if pair.split == split and pair.language == language]
    assert len(chosen) >= 150
    figures = score(chosen, found)
    assert figures.precision >= 0.95
    assert figures.recall >= 0.6


def test_the_languages_are_found_about_equally_often() -> None:
    recalls = [score([pair for pair in PAIRS if pair.language == language], found).recall for language in ("es", "en")]
    assert abs(recalls[0] - recalls[1]) <= 0.15


def test_the_pairs_are_many_balanced_and_split_by_group() -> None:
    assert len(PAIRS) >= 400
    assert len({(pair.older, pair.newer) for pair in PAIRS}) == len({pair.id for pair in PAIRS}) == len(PAIRS)
    assert {pair.language for pair in PAIRS} == {"es", "en", "mix"}
    dev = {pair.group for pair in PAIRS if pair.split == "dev"}
    test = {pair.group for pair in PAIRS if pair.split == "test"}
    assert dev
    assert test
    assert dev.isdisjoint(test)
    low, high = interval(95, 100)
    assert low == pytest.approx(0.888, abs=1e-3)
    assert high == pytest.approx(0.978, abs=1e-3)


def test_each_pair_gets_the_same_verdict_whichever_is_older() -> None:
    for pair in PAIRS:
        forth, back = audit(pair.older, pair.newer), audit(pair.newer, pair.older)
        assert (forth is None) == (back is None), pair
        if forth is not None and back is not None:
            assert (forth.kind, forth.confidence, forth.differs_in) == (back.kind, back.confidence, back.differs_in)
            assert (forth.older, forth.newer) == (back.newer, back.older)


WORDS = (
    "Ana Eva Lugo Gijón vive vivo lives in en a to no not never ya nunca is es está was abierto cerrado open closed "
    "the el la un a of de 3 16 GB mayo lunes Monday 10:30 prefiere prefers over than que más taller , . ? ; : and y "
    "si if gusta le me hates likes don't can't ' \" « $ 5 km has tiene dejó quit fumar smoking tres one solo only"
).split()
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=14).map(" ".join)


@given(texts, texts)
def test_the_audit_is_symmetric_deterministic_and_bounded(one: str, other: str) -> None:
    forth, back = audit(one, other), audit(other, one)
    assert (forth is None) == (back is None)
    assert forth == audit(one, other)
    if forth is not None:
        assert 0.0 < forth.confidence <= 1.0
        assert forth.differs_in
        assert set(forth.differs_in) <= set(DIFFERENCES)


@given(st.text(), st.text())
def test_any_text_can_be_audited(one: str, other: str) -> None:
    for pair in ((one, other), (f"{one} no {other}", f"{other} {one}")):
        found = audit(*pair)
        assert found is None or 0.0 < found.confidence <= 1.0


@given(texts, st.sampled_from(["", " ", ".", "\n", "!"]))
def test_a_text_contradicts_neither_itself_nor_its_copy(text: str, ending: str) -> None:
    assert audit(text, text) is None
    assert audit(text, text + ending) is None
    if near_identical(text, text.lower()) is not None:
        assert audit(text, text.lower()) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("El faro número 3 parpadea", "El faro número 4 parpadea"),
        ("El faro num. 3 parpadea", "El faro num. 4 parpadea"),
        ("El faro nº 3 parpadea", "El faro nº 4 parpadea"),
        ("The lighthouse number 3 blinks", "The lighthouse number 4 blinks"),
        ("Lighthouse #3 blinks", "Lighthouse #4 blinks"),
    ],
)
def test_a_number_that_names_a_thing_tells_it_apart(older: str, newer: str) -> None:
    assert audit(older, newer) is None
    assert audit(newer, older) is None
