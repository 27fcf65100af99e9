"""A short text as tokens: words with their stems, numbers, dates and signs, cut into sentences."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from evoca.domain.languages import ENGLISH, ENGLISH_STOP_WORDS, SPANISH, SPANISH_STOP_WORDS, UNKNOWN, guess_language
from evoca.domain.predicates import known_words
from evoca.domain.quantities import dates_in, plain
from evoca.domain.steering import SENTENCE_ENDS
from evoca.domain.text import nfc, stems

LONGEST = 600
"""Characters; a longer text is no short statement and is not read."""


class Token(NamedTuple):
    """A word, number or sign. `capital`: written as a name. `date`: the name of a date, which has no word."""

    folded: str
    written: str
    stem: str
    capital: bool
    date: str


class Sentence(NamedTuple):
    tokens: list[Token]
    asks: bool


# -- languages -----------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W_]+")
_ENGLISH_APOSTROPHE = re.compile(r"\w['\u2019](?:s|t|m|re|ve|ll|d)\b", re.IGNORECASE)
_SPANISH_MARKS = SPANISH_STOP_WORDS - ENGLISH_STOP_WORDS
_ENGLISH_MARKS = ENGLISH_STOP_WORDS - SPANISH_STOP_WORDS


class _Guess(NamedTuple):
    language: int
    sure: bool


def languages_of(one: str, other: str) -> tuple[int, int]:
    """The languages in which to read two texts, never UNKNOWN: one that gives little evidence has that of the other."""
    left, right = _guess(one), _guess(other)
    if not left.sure and (right.sure or left.language == UNKNOWN):
        left = right
    if not right.sure and (left.sure or right.language == UNKNOWN):
        right = left
    return left.language or SPANISH, right.language or SPANISH


@lru_cache(maxsize=512)
def _guess(text: str) -> _Guess:
    if len(text) > LONGEST:
        return _Guess(UNKNOWN, False)
    words = _WORD.findall(plain(text))
    spanish, english = sum(map(_SPANISH_MARKS.__contains__, words)), sum(map(_ENGLISH_MARKS.__contains__, words))
    if spanish == english and _ENGLISH_APOSTROPHE.search(text):
        return _Guess(ENGLISH, True)
    if spanish == english:
        # A name may look like a verb of any language.
        words = [plain(word) for word in _WORD.findall(nfc(text)) if not word[0].isupper()]
        spanish = known_words(words, stems(words, SPANISH), SPANISH)
        english = known_words(words, stems(words, ENGLISH), ENGLISH)
    if spanish == english:
        return _Guess(guess_language(words), False)
    return _Guess(SPANISH if spanish > english else ENGLISH, True)


# -- tokens --------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""
    [-+]?\d+(?:[.,]\d+)*(?![\w@/+:]|[-.]\w|[-+](?!\w))
    | [^\W_][\w]*(?:[@./+:_\\-]+\w+)*(?:\+\+|[+#]|(?<=\d)[+-])?
    | [.;:,!?=()\u2026\u2014\n%\u20ac$\u00a3\u00bf"\u00ab\u201c]
    """,
    re.VERBOSE,
)
NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*")
_ABBREVIATED = re.compile(r"\b(Dra?|Mrs?|Ms|Prof|Sra?|Sta?|vs|etc|D|D\u00f1a)\.")
_SHORTENED = tuple(
    (re.compile(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"\bcan['\u2019]t\b|\bcannot\b", "can not"),
        (r"\bwon['\u2019]t\b", "will not"),
        (r"n['\u2019]t\b", " not"),
        (r"\b(it|he|she|that|there|what|who|here|where)['\u2019]s\b", r"\1 is"),
        (r"(?<=\bI)['\u2019]m\b", " am"),
        (r"['\u2019]re\b", " are"),
        (r"['\u2019]ve\b", " have"),
        (r"['\u2019]ll\b", " will"),
        (r"(?<=\w)['\u2019]d\b", " would"),
        (r"(?<=\w)['\u2019]s\b", ""),
    )
)
_PHRASES = tuple(
    (re.compile(pattern, re.IGNORECASE), plainer)
    for pattern, plainer in (
        (r"\bcan ?not (?:stand|bear|abide)\b", "hate"),
        (r"\bno longer\b", "not"),
        (r"\bgave up (?=\w+ing\b)", "quit "),
        (r"\b(?:no s[o\u00f3]lo|no solamente|not only|no obstante|sin embargo|sin duda|no doubt)\b", ""),
        (r"\bha(n)? dejado (?=de \w+r\b)", "dej\u00f3 "),
        (r"\b(?:is|am|are) (?:a |an )?(?:big |huge |great )?(?:fan of|fond of|crazy about)\b", "likes"),
    )
)
"""Phrases → words that say the same and can be read."""
_PHRASE_AHEAD = re.compile(
    r"\b(?:can ?not|no (?:longer|s|o|d)|not only|gave up|sin (?:e|d)|han? dejado|(?:fan|fond) of|crazy)",
    re.IGNORECASE,
)


@lru_cache(maxsize=512)
def sentences(text: str, language: int) -> tuple[Sentence, ...]:
    """The sentences of a text, without the signs that end them."""
    found: list[Sentence] = []
    current: list[Token] = []
    for token in _tokens(text, language):
        if token.folded and token.folded in SENTENCE_ENDS:
            found.append(Sentence(current, token.folded == "?"))
            current = []
        else:
            current.append(token)
    found.append(Sentence(current, False))
    return tuple(sentence for sentence in found if sentence.tokens)


def _tokens(text: str, language: int) -> list[Token]:
    text = _spelled_out(nfc(text))
    folded = plain(text)
    if len(folded) != len(text):
        text = folded
    blanked, dates = dates_in(folded)
    if dates:
        text = "".join(char if was == now else now for char, was, now in zip(text, folded, blanked, strict=True))
    named = {date.begin: date.name for date in dates}
    raw: list[tuple[str, str, bool, str]] = []
    first = True
    for match in _TOKEN.finditer(text):
        written = match[0]
        date = named.get(match.start(), "")
        if date:
            raw.append(("", "", False, date))
        else:
            capital = (written[0].isupper() and not first) or _is_technical(written)
            raw.append((plain(written), written.lower(), capital, ""))
        first = (written in SENTENCE_ENDS and not date) or (first and written in '\u00bf"\u00ab\u201c')
    found = stems([word for word, _, _, _ in raw], language)
    return [
        Token(word, written, stem, name, date) for (word, written, name, date), stem in zip(raw, found, strict=True)
    ]


def _spelled_out(text: str) -> str:
    """Abbreviations without their dots, English contractions in full, a few phrases in plainer words."""
    if "." in text:
        text = _ABBREVIATED.sub(r"\1", text)
    if "'" in text or "\u2019" in text or "annot" in text:
        for pattern, full in _SHORTENED:
            text = pattern.sub(full, text)
    if _PHRASE_AHEAD.search(text):
        for pattern, plainer in _PHRASES:
            text = pattern.sub(plainer, text)
    return text


def _is_technical(word: str) -> bool:
    """`main.py`, `eu-west-1`, `girasol7`, `GitHub`, `HTTP`."""
    if word.islower() and word.isalpha():
        return False
    bare = word[1:]
    if bare != bare.lower():
        return True
    return len(word) > 1 and not word.replace("-", "").isalpha() and not NUMBER.fullmatch(word)
