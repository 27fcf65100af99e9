"""How errors of every kind look, family by family."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.errors import FACES, EvocaError, InvalidInput
from evoca.surfaces.rendering import compact, refusal, sentence


@pytest.mark.parametrize("kind", FACES)
def test_every_error_says_what_is_wrong_and_the_way_out(kind: type[EvocaError]) -> None:
    error = kind("It broke.", "Mend it.")
    assert refusal(error, "graph") == {"error": "It broke.", "hint": "Mend it."}
    assert refusal(error, "hipocampo")["error"] == "It broke. Mend it."
    assert refusal(error, "facts") == {"error": {"code": FACES[kind].code, "message": "It broke.", "hint": "Mend it."}}


@pytest.mark.parametrize("message", ["Entity not found: X", "Is it running?"])
def test_a_hint_is_a_sentence_of_its_own(message: str) -> None:
    stop = "" if message.endswith("?") else "."
    assert sentence(EvocaError(message, "Mend it.")) == f"{message}{stop} Mend it."


def test_without_a_hint_the_sentence_stands_alone() -> None:
    assert refusal(InvalidInput("Entity not found: X"), "graph") == {"error": "Entity not found: X"}


@given(st.dictionaries(st.text(), st.text(st.characters(exclude_categories=[])) | st.integers() | st.none()))
def test_json_comes_back_whatever_the_texts_hold(value: dict[str, object]) -> None:
    assert json.loads(compact(value)) == value
