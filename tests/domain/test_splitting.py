"""Thresholds, topics and the names of parts (seed 000, tools 11 to 14; contract, Graph 8)."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.domain.splitting import (
    Topic,
    child_names,
    children_of,
    is_diverse,
    split_score,
    threshold_for,
    topics_of,
)

GARDEN = [
    "Los tomates del huerto necesitan riego diario",
    "El riego del huerto se hace al amanecer",
    "Hay pulgones en los tomates del huerto",
]
CHOIR = [
    "El coro ensaya la misa de Fauré",
    "La misa de Fauré se canta en junio con el coro",
    "Faltan tenores en el coro",
]
CAR = ["The car needs new tyres", "The car passed its inspection", "Winter tyres for the car are in the garage"]
WORDS = "huerto riego coro misa coche rueda perro gato Zürich ÑANDÚ x1 42 la the . ! 日本".split()

texts = st.lists(
    st.one_of(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), st.text(max_size=20)),
    max_size=40,
    unique=True,
)


@pytest.mark.parametrize(
    ("entity_type", "threshold"),
    [
        ("Sesion", 15),
        ("Sesión", 15),
        ("SESIO\u0301N", 15),
        ("sesion", 15),
        ("Proyecto", 25),
        ("PROYECTO", 25),
        ("Session", 20),
        ("Sesiones", 20),
        ("Generic", 20),
        ("", 20),
    ],
)
def test_the_threshold_of_a_type(entity_type: str, threshold: int) -> None:
    assert threshold_for(entity_type) == threshold


@pytest.mark.parametrize(("count", "threshold", "score"), [(28, 25, 1.12), (18, 15, 1.2), (20, 20, 1.0), (0, 20, 0.0)])
def test_the_score_is_the_share_of_the_threshold(count: int, threshold: int, score: float) -> None:
    assert split_score(count, threshold) == score


def grouped(observations: list[str], found: tuple[Topic, ...]) -> set[frozenset[str]]:
    return {frozenset(observations[at] for at in topic.members) for topic in found}


def test_texts_that_share_words_are_a_topic_called_by_one_of_them_as_it_is_written() -> None:
    observations = [text for trio in zip(GARDEN, CHOIR, CAR, strict=True) for text in trio]
    found = topics_of(observations)
    assert grouped(observations, found) == {frozenset(GARDEN), frozenset(CHOIR), frozenset(CAR)}
    assert {topic.name for topic in found} == {"Huerto", "Coro", "Car"}


def test_a_name_keeps_accents_and_capitals() -> None:
    observations = ["FastMCP arranca", "Los tests de FastMCP", "La información llegó", "Falta información"]
    assert {topic.name for topic in topics_of(observations)} == {"FastMCP", "Información"}


def test_the_words_of_the_entity_s_name_say_nothing_of_its_parts() -> None:
    observations = [f"Evoca {text}" for text in [*GARDEN, *CHOIR]]
    found = topics_of(observations, "Proyecto Evoca")
    assert grouped(observations, found) == {frozenset(observations[:3]), frozenset(observations[3:])}
    assert not any("Evoca" in topic.name for topic in found)


def test_a_stray_joins_the_topic_it_shares_most_with() -> None:
    stray = "Un tenor tiene un perro"
    observations = [*GARDEN, *CHOIR, stray]
    found = topics_of(observations)
    (home,) = [group for group in grouped(observations, found) if stray in group]
    assert home > frozenset(CHOIR)


def test_strays_that_share_nothing_are_one_topic_together() -> None:
    observations = [*GARDEN, *CHOIR, "Beethoven", "42 km"]
    found = topics_of(observations)
    assert [topic.name for topic in found] == ["Huerto", "Coro", "Otros"]
    assert found[-1].members == (6, 7)


def test_a_single_one_of_them_is_no_topic() -> None:
    found = topics_of([*GARDEN, "El riego tarda", *CHOIR, "Beethoven"])
    assert [len(topic.members) for topic in found] == [5, 3]


def test_meaning_brings_together_what_shares_no_word() -> None:
    observations = ["rojo", "azul", "verde", "perro", "gato", "pato"]
    vectors = np.array([[1, 0.1, 0], [1, 0, 0.1], [1, 0.1, 0.1], [0, 1, 0.1], [0.1, 1, 0], [0, 1, 0]], np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = topics_of(observations, vectors=vectors)
    assert [topic.members for topic in found] == [(0, 1, 2), (3, 4, 5)]


@given(texts, st.randoms(use_true_random=False))
def test_every_text_is_in_one_topic_whatever_their_order(observations: list[str], chance: random.Random) -> None:
    found = topics_of(observations, "Zürich")
    places = [at for topic in found for at in topic.members]
    assert sorted(places) == list(range(len(observations)))
    assert len({topic.name for topic in found}) == len(found)
    assert all(topic.name.strip() for topic in found)
    shuffled = list(observations)
    chance.shuffle(shuffled)
    assert grouped(shuffled, topics_of(shuffled, "Zürich")) == grouped(observations, found)


@given(texts)
def test_the_same_again_gives_the_same(observations: list[str]) -> None:
    assert topics_of(observations) == topics_of(observations)
    assert is_diverse(observations) == (sum(len(topic.members) >= 2 for topic in topics_of(observations)) >= 2)


@given(texts.filter(bool), st.integers(1, 25))
def test_parts_hold_every_text_once(observations: list[str], threshold: int) -> None:
    parts = children_of(topics_of(observations), observations, threshold)
    assert sorted(at for part in parts for at in part.members) == list(range(len(observations)))
    assert len({part.name for part in parts}) == len(parts)


def test_an_entity_without_topics_is_cut_in_order() -> None:
    observations = [f"Copia de seguridad número {number}" for number in range(41)]
    topics = topics_of(observations)
    assert not is_diverse(observations)
    parts = children_of(topics, observations, 20)
    assert [part.name for part in parts] == ["Parte 1", "Parte 2", "Parte 3"]
    assert [at for part in parts for at in part.members] == list(range(41))
    assert max(len(part.members) for part in parts) <= 20


def test_many_texts_are_all_grouped() -> None:
    chance = random.Random(3)
    pools = [[f"{stem}{number}" for number in range(30)] for stem in ("alba", "brisa", "cobre")]
    observations = [" ".join(chance.sample(pools[at % 3], 8)) for at in range(2_400)]
    found = topics_of(observations)
    assert sum(len(topic.members) for topic in found) == len(observations)
    for topic in found:
        homes = [at % 3 for at in topic.members]
        assert max(homes.count(home) for home in range(3)) > 0.9 * len(homes)


def test_texts_of_the_same_words_are_one_topic_however_many() -> None:
    observations = [f"huerto {number}" for number in range(900)] + [f"coro {number}" for number in range(700)]
    assert [len(topic.members) for topic in topics_of(observations)] == [900, 700]


def test_a_name_that_is_taken_is_numbered() -> None:
    topics = [Topic("Coro", (0,)), Topic("Huerto", (1,))]
    taken = {"Casa - Coro", "Casa - Coro 2"}
    assert child_names("Casa", topics, taken) == ("Casa - Coro 3", "Casa - Huerto")
