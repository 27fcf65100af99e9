"""Fitting evidence into a token budget: whole texts while they fit, of long ones the sentences that say most."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evoca.domain.text import analyse, query_terms

CHARACTERS_PER_TOKEN = 4
_LONG = 3
"""A text may take this part of what is left before it is cut down to its best sentences."""
_FIRST = 0.5
"""What the first sentence of a text is worth beyond its words: it says what the rest is about."""
_BETWEEN = re.compile(r"(?<=[.!?…])\s+|\s*\n\s*")
"""Where one sentence ends and the next begins: never inside `3.5` or an address."""
_GAP = " … "


def tokens(text: str) -> int:
    """About how many tokens a model reads in `text`: a quarter of its characters, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Piece:
    """A text to pack. `head` stands before it and is never cut."""

    head: str
    text: str


def pack(query: str, pieces: Sequence[Piece], budget: int) -> list[tuple[int, str]]:
    """(place, line) of the pieces that fit into `budget` tokens, the best first, each with a line break of its own.

    A piece that fits into a third of what is left goes in whole, a longer one as the sentences of it that hold most of
    the query's words, in their order. What does not fit even so is left out.
    """
    left = budget * CHARACTERS_PER_TOKEN
    packed: list[tuple[int, str]] = []
    for place, piece in enumerate(pieces):
        room = left - len(piece.head) - bool(packed)
        text = " ".join(piece.text.split())
        if len(text) > max(room // _LONG, 1):
            text = extract(query, piece.text, max(room // _LONG, min(room, len(text), 240)))
        if not text or len(text) > room:
            continue
        packed.append((place, piece.head + text))
        left = room - len(text)
    return packed


def extract(query: str, text: str, most: int) -> str:
    """At most `most` characters of a text: the sentences with most of the query's words, in order, gaps marked."""
    sentences = [each for each in (" ".join(part.split()) for part in _BETWEEN.split(text)) if each]
    wanted = [frozenset(term.alternatives) for term in query_terms(query)]

    def worth(at: int) -> float:
        terms = frozenset(analyse(sentences[at]).terms)
        return sum(not each.isdisjoint(terms) for each in wanted) + (_FIRST if at == 0 else 0)

    chosen: list[int] = []
    size = 0
    for at in sorted(range(len(sentences)), key=lambda at: (-worth(at), at)):
        cost = len(sentences[at]) + (len(_GAP) if chosen else 0)
        if size + cost <= most:
            chosen.append(at)
            size += cost
    if not chosen:
        return _cut(sentences[max(range(len(sentences)), key=worth)], most) if sentences else ""
    chosen.sort()
    joined = sentences[chosen[0]]
    for before, at in pairwise(chosen):
        joined += (" " if at == before + 1 else _GAP) + sentences[at]
    return joined


def _cut(sentence: str, most: int) -> str:
    """The beginning of a sentence that is too long, up to a whole word."""
    if most < 20:
        return ""
    short = sentence[: most - 1]
    return short[: short.rfind(" ")].rstrip(" ,;:") + "…" if " " in short else short + "…"
