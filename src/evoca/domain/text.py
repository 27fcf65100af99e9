"""Text as the indexes see it. (Contract; being completed.)"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

UNKNOWN, SPANISH, ENGLISH = 0, 1, 2


def nfc(text: str) -> str:
    """The composed form: the identity of names and contents."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold_case(text: str) -> str:
    """NFC and casefolded, accents kept: what substring search compares (`ß` becomes `ss`)."""
    return nfc(nfc(text).casefold())


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text's lexical terms, in order, and its guessed language."""

    language: int
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of a query: any of `alternatives` (stems of both languages) counts as this term."""

    word: str
    alternatives: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a long text: `begin` is its first character's index."""

    begin: int
    text: str
