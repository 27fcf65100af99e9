"""Text as the indexes see it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.domain.languages import ENGLISH_STOP_WORDS, SPANISH_STOP_WORDS
from evoca.domain.text import (
    ENGLISH,
    SPANISH,
    UNKNOWN,
    WHOLE,
    Spelling,
    analyse,
    fold_case,
    nfc,
    passages,
    query_terms,
    unusable_character,
)

WORDS = st.text(st.characters(codec="utf-8"), max_size=60)


def found(query: str, text: str) -> bool:
    """Whether every term of the query matches the text."""
    held = set(analyse(text).terms)
    return all(held.intersection(term.alternatives) for term in query_terms(query))


def test_composed_and_decomposed_texts_are_the_same() -> None:
    assert nfc("Luci\u0301a") == "Lucía"
    assert fold_case("E\u0301CIJA") == fold_case("Écija") == "écija"


def test_case_is_folded_in_every_alphabet() -> None:
    assert fold_case("PEÑA ΣΙΓΜΑ STRASSE") == fold_case("peña σιγμα straße")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("campana politica", "Campaña política de otoño"),
        ("reunion electrica", "Reunión con la compañía eléctrica"),
        ("CAFÉ", "el cafe está caliente"),
        ("reuniones", "Reunión semanal: lunes 9:00"),
        ("batteries", "The backup battery lasts six hours"),
        ("pre-commit", "El hook pre-commit tarda"),
        ("C++", "Aprende C++ y node.js"),
        ("node.js", "Aprende C++ y node.js"),
        ("src/app/main.py", "ruta src/app/main.py"),
        ("3,5", "velocidad 3,5 GB/s"),
        ("100%", "sube 100% seguro"),
        ("-commit", "El hook pre-commit tarda"),
        ("4471-K", "El código del taller es 4471-K"),
        ("東京", "彼女は東京都に住んでいます"),
        ("京", "彼女は東京都に住んでいます"),
        ("한국어", "한국어를 배우다"),
        ("мария", "Мария Ивановна"),
        ("ABC", "ＡＢＣ"),
        ("Istanbul", "İstanbul"),
        ("strasse", "Lange Straße"),
        ("snake_case", "a function named snake_case"),
        ("O'Brien", "Mrs O’Brien called"),
    ],
)
def test_a_query_finds_the_text_that_holds_its_words(query: str, text: str) -> None:
    assert found(query, text)


def test_accents_are_folded_before_stemming() -> None:
    assert set(analyse("Lucía vive aquí").terms) & set(analyse("lucia vive aqui").terms) == {"luci", "viv"}


def test_a_word_with_a_tilde_is_its_own_and_is_reached_without() -> None:
    assert analyse("la campaña").terms == ("campañ", "campan")
    assert analyse("la campana").terms == ("campan",)
    assert found("campana", "la campaña")
    assert found("campaña", "la campana")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("El perro del faro se llama Trueno", SPANISH),
        ("The dog of the lighthouse is called Thunder", ENGLISH),
        ("Campaña política", SPANISH),
        ("monitoring deployment pipelines", ENGLISH),
        ("Zorblax 4471", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_the_language_is_guessed_from_function_words_and_endings(text: str, language: int) -> None:
    assert analyse(text).language == language


def test_a_text_of_unknown_language_has_the_stems_of_both() -> None:
    analysis = analyse("velocidad")
    assert analysis.language == UNKNOWN
    assert analysis.terms == ("veloc", "velocidad")
    assert analysis.length == 1


def test_function_words_are_left_out_unless_a_line_has_nothing_else() -> None:
    assert analyse("The dog is in the house").terms == ("dog", "hous")
    assert analyse("The Who\nbanda").terms[:2] == ("the", "who")
    assert [term.word for term in query_terms("The Who")] == ["the", "who"]
    assert [term.word for term in query_terms("¿quién es el dueño de la casa?")] == ["dueño", "casa"]


def test_a_word_that_means_something_in_the_querys_language_stays() -> None:
    assert "son" in [term.word for term in query_terms("where is my son today")]
    assert "son" not in [term.word for term in query_terms("¿dónde son las fiestas del pueblo?")]


@given(WORDS)
def test_a_query_with_a_letter_or_digit_has_terms_and_finds_itself(text: str) -> None:
    terms = query_terms(text)
    analysis = analyse(text)
    assert bool(terms) == bool(analysis.terms)
    if any(char.isascii() and char.isalnum() for char in text):
        assert terms
    held = set(analysis.terms)
    content = [term for term in terms if term.word not in SPANISH_STOP_WORDS | ENGLISH_STOP_WORDS]
    assert all(held.intersection(term.alternatives) for term in content)


@given(WORDS)
def test_terms_hold_no_ascii_but_letters_and_digits(text: str) -> None:
    analysis = analyse(text)
    assert all(char.isalnum() or not char.isascii() for term in analysis.terms for char in term)
    assert all(analysis.terms)
    assert 0 <= analysis.length <= max(1, len(text) * 18)
    assert analyse(text) == analysis


@given(st.text(st.sampled_from("東京都彼女はに住んでいます한국어ไทย"), min_size=2, max_size=20), st.data())
def test_any_substring_of_a_spaceless_script_is_found(text: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(begin + 1, len(text)))
    assert found(text[begin:end], text)


def test_spelling_tells_accents_tildes_and_signs_apart() -> None:
    assert Spelling("campaña").share("La campaña de otoño") == 1
    assert Spelling("campaña").share("La campana de la iglesia") == 0
    assert Spelling("C++").share("Aprende C++") == 1
    assert Spelling("C++").share("Aprende C") == 0
    assert Spelling("C").share("Aprende COBOL") == 0
    assert Spelling("CAFÉ caliente").share("un café frío") == 0.5
    assert Spelling("semanal: lun").share("Reunión semanal: lunes") == 1
    assert Spelling("manal: lun").share("Reunión semanal: lunes") == 0
    assert Spelling("¿?").share("anything") == 0


@given(WORDS, WORDS)
def test_spelling_is_a_share(query: str, text: str) -> None:
    assert 0 <= Spelling(query).share(text) <= 1


def test_a_short_text_is_one_passage_and_a_blank_one_none() -> None:
    assert [(each.begin, each.text) for each in passages("  Hola. Adiós. ")] == [(2, "Hola. Adiós.")]
    assert passages(" \n\t ") == []
    assert len(passages("x" * WHOLE)) == 1


def test_long_texts_are_cut_after_sentences() -> None:
    sentence = "The gardener watered the tomatoes before the sun came up. "
    cut = passages(sentence * 30)
    assert len(cut) > 3
    assert all(each.text.endswith(".") and each.text.startswith("The gardener") for each in cut)


def test_a_long_word_is_not_cut() -> None:
    address = "https://example.org/" + "a" * 600
    cut = passages(f"Read {address} first. " + "Then water the tomatoes again. " * 20)
    assert sum(address in each.text for each in cut) == 1
    assert all(len(each.text) <= WHOLE for each in passages("東京" * 1_000))


@given(st.text(st.characters(codec="utf-8") | st.sampled_from(" .\n!?…"), max_size=3 * WHOLE))
def test_passages_hold_the_whole_text_in_order(text: str) -> None:
    cut = passages(text)
    assert all(text[each.begin : each.begin + len(each.text)] == each.text for each in cut)
    assert all(each.text.strip() == each.text and 0 < len(each.text) <= 1_000 for each in cut)
    assert "".join("".join(each.text.split()) for each in cut) == "".join(text.split())
    assert [each.begin for each in cut] == sorted({each.begin for each in cut})


@pytest.mark.parametrize(
    ("text", "position", "name"),
    [("a\0", 1, "NUL character"), ("ñ\ud800", 1, "lone surrogate"), ("\0\udfff", 0, "NUL character")],
)
def test_unusable_characters_are_found_where_they_stand(text: str, position: int, name: str) -> None:
    unusable = unusable_character(text)
    assert unusable is not None
    assert (unusable.position, unusable.name) == (position, name)


@given(WORDS.map(lambda text: text.replace("\0", "")))
def test_all_other_text_is_usable(text: str) -> None:
    assert unusable_character(text) is None
