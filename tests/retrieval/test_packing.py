"""Evidence in a budget: never above it, whole where it fits, the telling sentences where it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.retrieval.packing import Piece, extract, pack, tokens

FILLER = "Esto se dijo de paso. Aquello también se comentó sin más. "
TEXTS = st.lists(st.text(st.sampled_from("aé .\n!?faro"), max_size=300), max_size=6)


@pytest.mark.parametrize(("text", "count"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_a_token_is_four_characters(text: str, count: int) -> None:
    assert tokens(text) == count


@given(TEXTS, st.integers(1, 200))
def test_what_is_packed_fits(texts: list[str], budget: int) -> None:
    packed = pack("¿dónde está el faro?", [Piece(f"[{at}] ", text) for at, text in enumerate(texts)], budget)
    assert tokens("\n".join(line for _, line in packed)) <= budget
    assert [place for place, _ in packed] == sorted({place for place, _ in packed})
    for place, line in packed:
        assert line.startswith(f"[{place}] ")


@given(st.text(max_size=400), st.integers(0, 200))
def test_an_extract_fits_and_is_of_the_text(text: str, most: int) -> None:
    found = extract("faro", text, most)
    assert len(found) <= most
    for part in found.rstrip("…").split(" … "):
        assert part.strip(" ,;:") in " ".join(text.split())


def test_short_texts_go_in_whole() -> None:
    assert pack("faro", [Piece("", "El faro parpadea.")], 100) == [(0, "El faro parpadea.")]


def test_of_a_long_text_the_sentences_that_tell_are_kept_in_order() -> None:
    text = f"{FILLER * 5}El faro parpadea. {FILLER * 5}Su luz es roja. {FILLER * 5}"
    found = extract("¿de qué color es la luz del faro?", text, 120)
    assert "El faro parpadea." in found
    assert "Su luz es roja." in found
    assert found.index("El faro") < found.index("Su luz")
    assert " … " in found


def test_what_does_not_fit_makes_room_for_what_does() -> None:
    pieces = [Piece("", "palabra" * 100), Piece("", "El faro parpadea.")]
    packed = pack("faro", pieces, 90)
    assert [place for place, _ in packed] == [0, 1]
    assert len(packed[0][1]) <= 240


def test_numbers_and_addresses_stay_as_they_are() -> None:
    text = f"{FILLER * 5}La IP del faro es 192.168.7.1 y su versión la 3.5. {FILLER * 5}"
    assert "La IP del faro es 192.168.7.1 y su versión la 3.5." in extract("IP del faro", text, 80)
