"""A second opinion on contradictions from a model in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from evoca.domain.contradictions import audit
from evoca.errors import ModelUnavailable
from evoca.retrieval.judges import TRUST, audited, load_judge, second_opinion
from evoca.services.enriching import SURE
from tests.retrieval import tiny_onnx


def test_a_judge_speaks_where_the_rules_are_silent(tmp_path: Path) -> None:
    tiny_onnx.write_judge(tmp_path)
    judge = load_judge(f"onnx:{tmp_path}")
    assert judge.contradictions([("luz", "faro"), ("luz", "luz")]) == [pytest.approx(1.0), pytest.approx(0.0, abs=0.01)]
    assert audit("luz luz", "faro") is None
    found = audited("luz luz", "faro", None, judge)
    assert found is not None
    assert (found.kind, found.confidence) == ("judged", TRUST)
    assert audited("luz luz", "luz", None, judge) is None


def test_the_rules_come_first(tmp_path: Path) -> None:
    tiny_onnx.write_judge(tmp_path)
    older, newer = "El faro tiene 3 plantas", "El faro tiene 4 plantas"
    assert audited(older, newer, None, load_judge(f"onnx:{tmp_path}")) == audit(older, newer) is not None


def test_what_only_a_model_says_replaces_no_memory() -> None:
    assert TRUST < SURE


def test_a_judge_may_be_asked_about_any_text(tmp_path: Path) -> None:
    tiny_onnx.write_judge(tmp_path)
    judge = load_judge(f"onnx:{tmp_path}")
    assert second_opinion(judge, "", "") is None
    assert second_opinion(judge, "\0 \ud800", "luz" * 5_000) is None


@pytest.mark.parametrize("spec", ["none", "onnx:", "onnx:/nowhere/at/all", "nli"])
def test_a_judge_that_cannot_be_had_is_an_error(spec: str) -> None:
    with pytest.raises(ModelUnavailable, match="The judge of contradictions is not available"):
        load_judge(spec)


def test_a_model_without_the_label_is_no_judge(tmp_path: Path) -> None:
    tiny_onnx.write_judge(tmp_path, labels=("yes", "no"))
    with pytest.raises(ModelUnavailable, match="names no label"):
        load_judge(f"onnx:{tmp_path}")
    tiny_onnx.write_judge(tmp_path, labels=("a", "b", "c", "contradiction"))
    with pytest.raises(ModelUnavailable, match="3 labels"):
        load_judge(f"onnx:{tmp_path}").contradictions([("luz", "faro")])
