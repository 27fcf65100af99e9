"""What two texts that sound alike do not agree in: a number, a date, a negation, a name, an antonym, the order.

No similarity tells "16 GB" from "32 GB" or "Ana beats Eva" from "Eva beats Ana", so these are read from the texts
themselves, in Spanish and English. The rules are made to err on the side of a difference: what they mark is shown to
a person, what they do not mark may be offered for deletion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from evoca.domain.languages import ENGLISH, ENGLISH_STOP_WORDS, SPANISH_STOP_WORDS, guess_language
from evoca.domain.lexicon import (
    COORDINATORS,
    NEGATORS,
    NOT_NEGATIONS,
    PREPOSITIONS,
    are_antonyms,
)
from evoca.domain.quantities import Quantities, plain, quantities
from evoca.domain.text import nfc, stems

Difference = Literal["number", "date", "negation", "name", "antonym", "order"]
DIFFERENCES: tuple[Difference, ...] = ("number", "date", "negation", "name", "antonym", "order")

_STOP_WORDS = SPANISH_STOP_WORDS | ENGLISH_STOP_WORDS
_TOKEN = re.compile(r"[^\W_]+|[,;/&+]")
_WRITTEN = re.compile(r"[^\W_]+")
_TECHNICAL = re.compile(r"[^\W_][\w.+-]*(?:[._/@:\\]+[^\W_][\w+-]*)+")
_CONTRACTED_NOT = re.compile(r"(?:n['\u2019]t|\bcannot)\b", re.IGNORECASE)
_OPENING = re.compile(r"(?:^|[.!?\u2026\n])[\s\"'\u00ab\u201c\u00bf\u00a1(\[*\u2022-]*$")
_ONE = frozenset({"a", "an", "one", "un", "una", "uno"})
_SCOPE = 2
"""A negator denies so many of the content words after it."""


@dataclass(frozen=True)
class Reading:
    """What a text says that a likeness does not show. Made once a text; its parts are read at first need."""

    text: str

    @cached_property
    def _plain(self) -> str:
        return _CONTRACTED_NOT.sub(" not ", plain(nfc(self.text)))

    @cached_property
    def quantities(self) -> Quantities:
        return quantities(self._plain, self.language)

    @cached_property
    def language(self) -> int:
        return guess_language(_WRITTEN.findall(self._plain))

    @cached_property
    def _tokens(self) -> list[str]:
        text = self._plain
        for phrase in NOT_NEGATIONS:
            if phrase in text:
                text = text.replace(phrase, " ")
        return _TOKEN.findall(text)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words, folded."""
        return frozenset(_WRITTEN.findall(self._plain))

    @cached_property
    def _stem_of(self) -> dict[str, str]:
        content = [token for token in dict.fromkeys(self._tokens) if self._is_content(token)]
        return dict(zip(content, stems(content, self.language), strict=True))

    def _is_content(self, token: str) -> bool:
        return token not in _STOP_WORDS and token.isalnum() and token not in self.quantities.words

    @cached_property
    def content(self) -> frozenset[str]:
        """Stems of the content words; numbers and dates are not among them."""
        return frozenset(self._stem_of.values())

    @cached_property
    def denied(self) -> frozenset[str] | None:
        """Stems that stand right after a negator; None when nothing is negated."""
        found: set[str] = set()
        negated = False
        for at, token in enumerate(self._tokens):
            if token in NEGATORS:
                negated = True
                after = [stem for each in self._tokens[at + 1 :] if (stem := self._stem_of.get(each))]
                found.update(after[:_SCOPE])
        return frozenset(found) if negated else None

    @cached_property
    def names(self) -> frozenset[str]:
        """Folded words that are written as names: a capital inside a sentence or a word, an address, an identifier."""
        text = nfc(self.text)
        if _shouts(text):
            return frozenset()
        found = {plain(match[0]) for match in _TECHNICAL.finditer(text) if not self._is_prose(match[0])}
        for match in _WRITTEN.finditer(text):
            word = match[0]
            inner = word[0].isalpha() and word[1:] != word[1:].lower()
            if inner or (word[0].isupper() and not _OPENING.search(text[: match.start()])):
                found.add(plain(word))
        return frozenset(word for word in found if word not in _STOP_WORDS and word not in self.quantities.words)

    @staticmethod
    def _is_prose(word: str) -> bool:
        """`y/o`, `3.5`: pieces that are function words or numbers."""
        return all(piece in _STOP_WORDS or not piece.isalpha() for piece in _WRITTEN.findall(plain(word)))

    @cached_property
    def opener(self) -> str:
        """The folded first word if it has a capital: a name perhaps, or any word that begins a sentence."""
        first = _WRITTEN.search(nfc(self.text))
        return plain(first[0]) if first and first[0][0].isupper() else ""

    def mentions(self, name: str) -> bool:
        return name in self.words or name in self._plain

    @cached_property
    def units(self) -> list[tuple[str, str]]:
        """(marker, stem or number) in order: the preposition before it, `,` in an enumeration, or nothing."""
        found: list[tuple[str, str]] = []
        marker = ""
        # Spanish `a` is a preposition, English `a` an article, which begins a text as well.
        article = self.language == ENGLISH or self._tokens[:1] == ["a"]
        for token in self._tokens:
            if token in COORDINATORS:
                marker = ","
                if found and not found[-1][0]:
                    found[-1] = (",", found[-1][1])
            elif token in PREPOSITIONS and not (article and token == "a"):  # noqa: S105 -- a word
                marker = token
            elif token in self._stem_of or token.isdecimal():
                found.append((marker, self._stem_of.get(token, token)))
                marker = ""
        return found


def differences(one: Reading, other: Reading, contained: bool = False) -> tuple[Difference, ...]:
    """What the texts do not agree in, in the order of `DIFFERENCES`.

    `contained`: the first is a short text that the second holds; what only the second says is no difference then.
    """
    found: set[Difference] = set()
    if _numbers_differ(one, other, contained):
        found.add("number")
    if _differ(one.quantities.dates, other.quantities.dates, contained):
        found.add("date")
    if _negations_differ(one, other, contained):
        found.add("negation")
    if _names_differ(one, other, contained):
        found.add("name")
    if are_antonyms(one.words - other.words, other.words - one.words):
        found.add("antonym")
    if not contained and _order_differs(one.units, other.units):
        found.add("order")
    return tuple(kind for kind in DIFFERENCES if kind in found)


def may_be_another_fact(one: Reading, other: Reading) -> bool:
    """Whether texts without a difference are too alike in their words to be called the same.

    The same words in another order, or all but one of them, are another fact more often than another wording.
    """
    return is_substitution(one, other) or _is_rearranged(one.units, other.units)


def is_substitution(one: Reading, other: Reading) -> bool:
    """Whether the texts are the same but for one content word: most often another fact (`red`, `green`)."""
    left, right = one.content - other.content, other.content - one.content
    if len(left) != 1 or len(right) != 1 or not one.content & other.content:
        return False
    (a,), (b,) = left, right
    return a[:4] != b[:4]


def _differ(one: frozenset[str], other: frozenset[str], contained: bool) -> bool:
    return bool(one - other) if contained else one != other


def _numbers_differ(one: Reading, other: Reading, contained: bool) -> bool:
    left, right = one.quantities.numbers, other.quantities.numbers
    # `1` may be an article on the other side.
    if other.words & _ONE:
        left -= {"1"}
    if one.words & _ONE:
        right -= {"1"}
    if _differ(left, right, contained):
        return True
    # The same numbers of different things: 5 GB, 5 MB.
    units = other.quantities.units
    return any(number in units and units[number] != unit for number, unit in one.quantities.units.items())


def _negations_differ(one: Reading, other: Reading, contained: bool) -> bool:
    left, right = one.denied, other.denied
    if left is None and right is None:
        return False
    if left is not None and right is not None:
        return bool(left and right) and not left & right
    if contained and left is None:
        # The long text may deny something that the short one does not speak of.
        return bool(one.content & (right or frozenset())) or not one.content
    return True


def _names_differ(one: Reading, other: Reading, contained: bool) -> bool:
    if any(not other.mentions(name) for name in one.names):
        return True
    if not contained and any(not one.mentions(name) for name in other.names):
        return True
    left, right = one.opener, other.opener
    if not left or not right or other.mentions(left) or one.mentions(right) or left[:4] == right[:4]:
        return False
    # Only the first words differ: it may be the one who acts.
    return is_substitution(one, other) and left not in _STOP_WORDS and right not in _STOP_WORDS


def _order_differs(one: Sequence[tuple[str, str]], other: Sequence[tuple[str, str]]) -> bool:
    """Whether the same words play other parts: two have changed their markers, or the unmarked ones their order."""
    left, right = _once(one), _once(other)
    common = [word for word in left if word in right]
    if len(common) < 2 or len(common) < 0.75 * max(len(one), len(other)):
        return False
    if _exchanged(left, right, common):
        return True
    if sorted(word for _, word in one) != sorted(word for _, word in other):
        return False
    bare = [word for word in common if not left[word] and not right[word]]
    placed = [word for word in right if word in set(bare)]
    return bare != placed


def _is_rearranged(one: Sequence[tuple[str, str]], other: Sequence[tuple[str, str]]) -> bool:
    left, right = _once(one), _once(other)
    common = [word for word in left if word in right]
    if len(common) < 0.75 * max(len(one), len(other)):
        return False
    return common != [word for word in right if word in left]


def _once(units: Iterable[tuple[str, str]]) -> dict[str, str]:
    """word → marker, in order, for words that stand once."""
    found: dict[str, str] = {}
    again: set[str] = set()
    for marker, word in units:
        if word in found:
            again.add(word)
        found[word] = marker
    return {word: marker for word, marker in found.items() if word not in again}


def _exchanged(left: dict[str, str], right: dict[str, str], common: Sequence[str]) -> bool:
    moved = [word for word in common if left[word] != right[word] and "," not in (left[word], right[word])]
    return any(left[a] == right[b] and left[b] == right[a] for a in moved for b in moved if a < b)


def _shouts(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return len(letters) >= 12 and sum(char.isupper() for char in letters) > 0.6 * len(letters)
