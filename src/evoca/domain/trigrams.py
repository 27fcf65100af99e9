"""Trigram similarity as PostgreSQL's `pg_trgm` counts it (seeds-spec 2.c.1)."""

from __future__ import annotations

import re

from evoca.domain.text import nfc

_WORD = re.compile(r"[^\W_]+")


def trigrams(text: str) -> frozenset[str]:
    """All windows of three characters over the lower-case words, each with two spaces before it and one after.

    A word is a run of letters and digits; accents count. No trigram for a text without words.
    """
    found: set[str] = set()
    for word in _WORD.findall(nfc(nfc(text).lower())):
        padded = f"  {word} "
        found.update(padded[at : at + 3] for at in range(len(padded) - 2))
    return frozenset(found)


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """`|A ∩ B| / |A ∪ B|` of two texts' trigrams, in [0, 1]; 0 when either has none."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0


def trigram_similarity(one: str, other: str) -> float:
    """`similarity` of the trigrams of two texts: 1 for texts that differ in case, punctuation or order of words."""
    return similarity(trigrams(one), trigrams(other))
