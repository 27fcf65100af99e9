"""A judge of contradictions that a person has set is asked in the background, and only marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from evoca import Memory
from evoca.errors import EvocaError, InvalidInput
from evoca.services.judging import LONGEST, Judging
from evoca.settings import load_settings
from tests.retrieval import tiny_onnx
from tests.services.test_episodes import saved
from tests.services.test_episodes_enriching import settled


def test_what_only_the_judge_sees_is_linked_and_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_onnx.write_judge(tmp_path / "judge")
    monkeypatch.setenv("EVOCA_JUDGE", f"onnx:{tmp_path / 'judge'}")
    with Memory(tmp_path / "memory.db") as memory:
        older = saved(memory, "luz de la costa norte encendida")
        newer = saved(memory, "faro de la costa norte encendido")
        settled(memory)
        (found,) = memory.contradicciones_hipocampo(newer)["contradictions"]
        assert (found["id"], found["kind"]) == (older, "judged")
        hits = memory.search_hipocampo("costa norte")["memories"]
        assert {hit["id"] for hit in hits} == {older, newer}


def test_without_a_judge_nothing_is_loaded_or_said() -> None:
    judging = Judging("none", _unwanted)
    assert not judging.wanted
    assert judging.opinion("luz", "faro") is None


def test_a_judge_that_cannot_be_used_is_reported_once_and_left(tmp_path: Path) -> None:
    told: list[EvocaError] = []
    judging = Judging(f"onnx:{tmp_path}", lambda _event, error: told.append(error))
    assert judging.wanted
    assert judging.opinion("luz", "faro") is None
    assert judging.opinion("luz", "faro") is None
    assert not judging.wanted
    assert len(told) == 1


def test_a_long_memory_is_not_judged(tmp_path: Path) -> None:
    tiny_onnx.write_judge(tmp_path)
    judging = Judging(f"onnx:{tmp_path}", _unwanted)
    assert judging.opinion("luz", "faro") is not None
    assert judging.opinion("luz", "faro " * LONGEST) is None


def test_the_setting_takes_a_folder_or_none() -> None:
    assert load_settings(judge="none").judge == "none"
    with pytest.raises(InvalidInput, match="onnx:FOLDER"):
        load_settings(judge="gpt")


def _unwanted(event: str, error: EvocaError) -> None:
    raise AssertionError(f"{event}: {error}")
