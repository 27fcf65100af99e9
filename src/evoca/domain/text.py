"""Text as the indexes see it: folding, lexical terms, spelling, passages.

A lexical term is a run of letters and digits: composed (NFKC), casefolded, accents folded, then stemmed.
`ñ` is a letter of its own; a word with `ñ` is indexed with `n` too, so that each is found through the other.
Scripts that are written without spaces give single characters and pairs of neighbours, so that any
substring is found. Terms never hold ASCII but `a-z0-9`: engines may split stored terms at anything else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from evoca.domain.languages import (
    CONTENT_IN_ENGLISH,
    CONTENT_IN_SPANISH,
    ENGLISH,
    ENGLISH_STOP_WORDS,
    SPANISH,
    SPANISH_STOP_WORDS,
    UNKNOWN,
    guess_language,
)

__all__ = [
    "ENGLISH",
    "SPANISH",
    "UNKNOWN",
    "Analysis",
    "Passage",
    "QueryTerm",
    "Spelling",
    "UnusableCharacter",
    "analyse",
    "fold_case",
    "folded_words",
    "nfc",
    "passages",
    "query_terms",
    "stems",
    "unusable_character",
]


def nfc(text: str) -> str:
    """The composed form: the identity of names and contents."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold_case(text: str) -> str:
    """NFC and casefolded, accents kept: what substring search compares (`ß` becomes `ss`)."""
    return nfc(nfc(text).casefold())


@dataclass(frozen=True, slots=True)
class UnusableCharacter:
    """A character that no text may hold: where it stands, and what it is called in an error."""

    position: int
    name: str


def unusable_character(text: str) -> UnusableCharacter | None:
    """The first NUL or lone surrogate of `text`, or None."""
    nul = text.find("\0")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            if nul < 0 or error.start < nul:
                return UnusableCharacter(error.start, "lone surrogate")
    return None if nul < 0 else UnusableCharacter(nul, "NUL character")


# -- words ---------------------------------------------------------------------------------------

_SPACELESS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3105, 0x312F),  # Bopomofo
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7AF),  # Hangul: written with spaces, but particles are joined to the word
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
_OPTIONAL_MARKS = (
    (0x0300, 0x036F),  # accents
    (0x0483, 0x0489),  # Cyrillic
    (0x0591, 0x05C7),  # Hebrew points
    (0x0610, 0x061A),  # Arabic vowel signs
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFE20, 0xFE2F),
)


def _within(code: int, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(first <= code <= last for first, last in ranges)


class _Folding(dict[int, str]):
    """What each code point of an NFKC, casefolded text becomes; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = self._fold(code)
        return folded

    @staticmethod
    def _fold(code: int) -> str:
        char = chr(code)
        if char == "ñ" or _within(code, _SPACELESS):
            return char if unicodedata.category(char)[0] in "LNM" else " "
        if _within(code, _OPTIONAL_MARKS) or unicodedata.category(char) == "Cf":
            return ""
        base = "".join(
            part for part in unicodedata.normalize("NFKD", char).casefold() if not _within(ord(part), _OPTIONAL_MARKS)
        )
        return "".join(part if unicodedata.category(part)[0] in "LNM" else " " for part in base)


_FOLDING = _Folding()
_ASCII_WORD = re.compile("[a-z0-9]+")
_CONTRACTION = re.compile(r"(?<=[^\W_])['\u2019](?:s|t|d|m|ll|re|ve)(?![^\W_])", re.IGNORECASE)
_SPACELESS_CLASS = "".join(f"{chr(first)}-{chr(last)}" for first, last in _SPACELESS)
_SPACELESS_RUN = re.compile(f"[{_SPACELESS_CLASS}]+")
_PIECE = re.compile(f"[{_SPACELESS_CLASS}]+|[^{_SPACELESS_CLASS}]+")
_SPANISH_SIGN = re.compile("[áéíóúüñ¿¡]", re.IGNORECASE)


def _words(text: str) -> list[str]:
    """Folded runs of letters and digits, in order; what an English apostrophe adds (`'s`, `'ll`) is left out."""
    if "'" in text or "\u2019" in text:
        text = _CONTRACTION.sub(" ", text)
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return unicodedata.normalize("NFKC", text).casefold().translate(_FOLDING).split()


def folded_words(text: str) -> list[str]:
    """Runs of letters and digits, in order: composed, casefolded, accents folded, `ñ` kept."""
    return _words(text)


def _grams(run: str) -> list[str]:
    """Each character, and each pair of neighbours, of a run of a spaceless script."""
    return [*run, *(run[i : i + 2] for i in range(len(run) - 1))]


# -- stems ---------------------------------------------------------------------------------------


class _Stemmer(Protocol):
    def stemWords(self, words: Sequence[str]) -> list[str]: ...  # noqa: N802 -- PyStemmer's name


class _Stemmers:
    """Snowball's stemmers. PyStemmer works under the interpreter's lock, so threads may share them."""

    def __init__(self) -> None:
        make = import_module("Stemmer").Stemmer
        self.spanish = cast(_Stemmer, make("spanish"))
        self.english = cast(_Stemmer, make("english"))


@cache
def _stemmers() -> _Stemmers:
    # On first use: PyStemmer is no part of the start.
    return _Stemmers()


def _stem(words: list[str], language: int) -> list[str]:
    """The words' stems; UNKNOWN gives both languages' stems, equal ones once."""
    stemmers = _stemmers()
    if language == SPANISH:
        return stemmers.spanish.stemWords(words)
    if language == ENGLISH:
        return stemmers.english.stemWords(words)
    spanish, english = stemmers.spanish.stemWords(words), stemmers.english.stemWords(words)
    return [stem for pair in zip(spanish, english, strict=True) for stem in dict.fromkeys(pair)]


def stems(words: Sequence[str], language: int) -> list[str]:
    """One stem for each folded word; in a text whose language is UNKNOWN the Spanish one."""
    return _stem(list(words), SPANISH if language == UNKNOWN else language)


# -- analysis ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text's lexical terms, in order, and its guessed language.

    `length`: how many words the terms stand for; `terms` may be more (`ñ` and `n`, both languages' stems,
    pairs of characters). BM25 takes it as the document's length.
    """

    language: int
    terms: tuple[str, ...]
    length: int


def analyse(text: str) -> Analysis:
    """The lexical terms of a text to be indexed.

    Function words of the text's language are left out, except in a line made of nothing else. A text
    whose language is UNKNOWN gives the stems of both. No term but for a text without letters and digits.
    """
    lines = [words for line in text.splitlines() if (words := _words(line))]
    language = guess_language([word for words in lines for word in words], _SPANISH_SIGN.search(text) is not None)
    stop = _STOP_WORDS[language]
    kept: list[str] = []
    for words in lines:
        kept += [word for word in words if word not in stop] or words
    if text.isascii():
        return Analysis(language, tuple(_stem(kept, language)), len(kept))
    return _analyse_any(language, kept)


_STOP_WORDS = {
    UNKNOWN: SPANISH_STOP_WORDS & ENGLISH_STOP_WORDS,
    SPANISH: SPANISH_STOP_WORDS,
    ENGLISH: ENGLISH_STOP_WORDS,
}


def _analyse_any(language: int, words: list[str]) -> Analysis:
    plain: list[str] = []
    grams: list[str] = []
    length = 0
    for word in words:
        if _SPACELESS_RUN.search(word) is None:
            plain.append(word)
            if "ñ" in word:
                plain.append(word.replace("ñ", "n"))
            length += 1
            continue
        for piece in _PIECE.findall(word):
            if _SPACELESS_RUN.match(piece):
                grams += _grams(piece)
                length += len(piece)
            else:
                plain.append(piece)
                length += 1
    return Analysis(language, (*_stem(plain, language), *grams), length)


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of a query: any of `alternatives` (stems of both languages) counts as this term."""

    word: str
    alternatives: tuple[str, ...]


def query_terms(text: str) -> list[QueryTerm]:
    """The distinct terms of a query, in order.

    Function words of both languages are left out unless nothing else is left (a word such as `son` or
    `once`, which means something in the query's language, stays). Not empty for a text with a letter or digit.
    """
    words = list(dict.fromkeys(_words(text)))
    language = guess_language(words, _SPANISH_SIGN.search(text) is not None)
    stop = SPANISH_STOP_WORDS | ENGLISH_STOP_WORDS
    if language == ENGLISH:
        stop -= CONTENT_IN_ENGLISH - ENGLISH_STOP_WORDS
    elif language == SPANISH:
        stop -= CONTENT_IN_SPANISH - SPANISH_STOP_WORDS
    kept = [word for word in words if word not in stop] or words
    return list({term.alternatives: term for word in kept for term in _terms_of(word)}.values())


def _terms_of(word: str) -> list[QueryTerm]:
    if word.isascii() or _SPACELESS_RUN.search(word) is None:
        spellings = [word, word.replace("ñ", "n")] if "ñ" in word else [word]
        return [QueryTerm(word, tuple(dict.fromkeys(_stem(spellings, UNKNOWN))))]
    terms: list[QueryTerm] = []
    for piece in _PIECE.findall(word):
        if not _SPACELESS_RUN.match(piece):
            terms += _terms_of(piece)
        else:
            parts = [piece[i : i + 2] for i in range(len(piece) - 1)] or [piece]
            terms += [QueryTerm(part, (part,)) for part in parts]
    return terms


# -- spelling ------------------------------------------------------------------------------------

_EDGES = "¿?¡!.,;:…\"'`\u00b4\u2018\u2019\u201c\u201d«»()[]{}<>"


class Spelling:
    """How exactly a query is spelled in a text: case is folded; accents, `ñ` and signs (`C++`) count."""

    def __init__(self, query: str) -> None:
        pieces = dict.fromkeys(piece.strip(_EDGES) for piece in fold_case(query).split())
        stop = SPANISH_STOP_WORDS | ENGLISH_STOP_WORDS
        kept = [piece for piece in pieces if piece and piece not in stop] or [piece for piece in pieces if piece]
        self._kept = kept
        whole = fold_case(query).strip().strip(_EDGES).strip()
        self._whole = whole if len(whole.split()) > 1 else None

    def share(self, text: str) -> float:
        """The share of the query's words that stand in `text` spelled as in the query, in [0, 1].

        1 too when the whole of a query of several words stands in it literally, its last word perhaps cut short.
        """
        if not self._kept:
            return 0.0
        folded = fold_case(text)
        if self._whole is not None and self._whole in folded and _begins_in(self._whole, folded, whole_words=False):
            return 1.0
        found = [piece for piece in self._kept if piece in folded and _begins_in(piece, folded, whole_words=True)]
        return len(found) / len(self._kept)


def _begins_in(piece: str, text: str, whole_words: bool) -> bool:
    """Whether `piece` stands where no letter or digit comes before it, and, if `whole_words`, none behind it.

    By hand: compiling patterns for every query cost more than looking for them.
    """
    at = text.find(piece)
    while at >= 0:
        end = at + len(piece)
        behind = whole_words and text[end : end + 1].isalnum()
        if not (behind or (at and text[at - 1].isalnum())):
            return True
        at = text.find(piece, at + 1)
    return False


# -- passages ------------------------------------------------------------------------------------

WHOLE = 300
"""A text of up to so many characters is one passage."""
TARGET = 240
"""A passage of a longer text ends at the last sentence, else word, within so many characters.

Measured on paragraphs of 800 characters, recall@10: whole .935, cut at 400 .945, at 240 .952, at 160 .942, at 110
.947. The shorter the pieces, the less it costs to embed them and the easier a sentence is found that has nothing to do
with those around it, but the more of them must be kept and compared.
"""
_TAIL = 160
"""What is left of a long text is one passage up to so many characters."""
_LONGEST_WORD = 1_000
_SPACE = re.compile(r"\s")
_SENTENCE_END = re.compile(r"[.!?…]+[\"'»\u201d)\]]*\s+|[\u3002\uff01\uff1f]+|\s*\n\s*")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a long text: `begin` is its first character's index."""

    begin: int
    text: str


def passages(text: str) -> list[Passage]:
    """Cut a text into passages short enough to embed. None is blank; a blank text has none.

    The passages are slices of the text in order, without overlap, and hold everything of it but the white
    space between them.
    """
    found: list[Passage] = []
    begin = 0
    while begin < len(text):
        end = _passage_end(text, begin)
        piece = text[begin:end]
        bare = piece.strip()
        if bare:
            found.append(Passage(begin + len(piece) - len(piece.lstrip()), bare))
        begin = end
    return found


def _passage_end(text: str, begin: int) -> int:
    if len(text) - begin <= (_TAIL if begin else WHOLE):
        return len(text)
    limit = begin + TARGET
    # Halves of the target: a cut too near its begin would leave scraps.
    least = begin + TARGET // 2
    sentences = [match.end() for match in _SENTENCE_END.finditer(text, least, limit)]
    if sentences:
        return sentences[-1]
    spaces = [match.end() for match in _SPACE.finditer(text, least, limit)]
    if spaces:
        return spaces[-1]
    if _SPACELESS_RUN.match(text, limit):
        return limit
    # A long address or number stays whole, as its word in the index does.
    space = _SPACE.search(text, limit, begin + _LONGEST_WORD)
    return space.end() if space else min(len(text), begin + _LONGEST_WORD)
