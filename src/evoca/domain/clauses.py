"""Short statements read as clauses: of whom, what verb, said or denied, and with what (Spanish and English).

No grammar of either language, but what the comparison of two like statements needs. Two texts that are read wrong in
the same way can still be compared; what cannot be read for certain (a question, a condition, a report, a guess) is
left out, so that nothing is made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from evoca.domain.languages import ENGLISH, ENGLISH_STOP_WORDS, SPANISH, SPANISH_STOP_WORDS
from evoca.domain.predicates import name_key, noun_concept
from evoca.domain.quantities import UNITS, number_of, spelled_at
from evoca.domain.steering import (
    ADDITIVE,
    ALL,
    ASKING,
    BREAKS,
    CLITICS,
    COMPARATIVES,
    CONDITIONS,
    COORDINATE,
    DEFINITE,
    DEMONSTRATIVES,
    DOUBT,
    FILLERS,
    INDEFINITE,
    JOINING,
    NOT,
    NOTHING,
    ONLY,
    PERSONS,
    PREPOSITIONS,
    RELATIVES,
    REPORTS,
    ROUGH,
    SOME,
    USERS,
    listed,
)
from evoca.domain.verb_groups import Tense, VerbGroup, may_be_verb, verb_group
from evoca.domain.wording import LONGEST, NUMBER, Token, sentences

Kind = Literal["word", "name", "number", "date"]
Amount = Literal["", "all", "some", "none"]

_MOST_CLAUSES = 6


@dataclass(frozen=True, slots=True)
class Item:
    """A content word, name, number or date. `key` is equal for equal ones; `unit` is a number's, or empty."""

    key: str
    kind: Kind
    folded: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Content words with the preposition before them (`in` for `en`, `in`); "" for an object or predicate.

    The dates of a clause are one phrase, `date`.
    """

    marker: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """One statement. `subject` is all before the verb, `head` the key of the noun it turns on, or "".

    `verb`: a concept, `~` and a stem for an unknown verb, "" for none. `amount`: how many of the subject.
    `indefinite`: of some one of many (`a dog`, `otro`). `plural`: the copula is. `only`, `more`: it says `only`,
    `also`. `rough`: its number is about so much, or at least. `compared`: it compares.
    """

    subject: tuple[Item, ...]
    head: str
    verb: str
    tense: Tense
    modal: str
    negative: bool
    phrases: tuple[Phrase, ...]
    amount: Amount
    indefinite: bool
    plural: bool
    only: bool
    more: bool
    rough: bool
    compared: bool
    language: int


@lru_cache(maxsize=512)
def clauses(text: str, language: int) -> tuple[Clause, ...]:
    """The clauses of a short text (up to 600 characters) that state something; none for a longer one."""
    found: list[Clause] = []
    if len(text) > LONGEST:
        return ()
    said = list(sentences(text, language))
    for sentence in said:
        if sentence.asks or _is_unsure(sentence.tokens, language):
            continue
        subject: tuple[Item, ...] = ()
        for piece in _pieces(sentence.tokens, language):
            if _names_speaker(piece, language, len(said) > 1):
                continue
            clause = _Reader(piece, language).read(subject)
            if clause is not None:
                found.append(clause)
                subject = subject or clause.subject
    return tuple(found[:_MOST_CLAUSES])


def _names_speaker(piece: Sequence[Token], language: int, goes_on: bool) -> bool:
    """Whether a colon without a verb stands behind who speaks (`Ana: Thanks, Eva!`), and not behind an attribute.

    `goes_on`: the text has further sentences, which no attribute's value has.
    """
    if all(token.folded != ":" for token in piece):
        return False
    at = verb_group(piece, language).begin
    if at >= len(piece) or piece[at].folded != ":":
        return False
    return goes_on or piece[at + 1].folded in _INTERJECTIONS


_INTERJECTIONS = listed(
    "thanks thank hey hi hello wow yeah yep nope nah sure cool great awesome congrats definitely absolutely agreed bye "
    "ok okay oh ah haha woohoo gracias hola oye guau vale claro genial enhorabuena adios"
)


def _is_unsure(sentence: Sequence[Token], language: int) -> bool:
    """Whether it asks, guesses, reports, quotes or sets a condition."""
    first = sentence[0].folded
    if first == "\u00bf" or first in ASKING:
        return True
    for token in sentence:
        word = token.folded
        if word in DOUBT or word in REPORTS or word in _QUOTES:
            return True
        if word in CONDITIONS and token.written != "s\u00ed" and not (word == "si" and language == ENGLISH):
            return True
    return False


_QUOTES = frozenset('\u00ab\u201c"')
_LEADING = NOT | CLITICS | COORDINATE | listed("ahora now ya he she they i it still also tambien el ella")


def _pieces(sentence: Sequence[Token], language: int) -> Iterator[Sequence[Token]]:
    """The sentence cut where a new predicate begins: `, ahora vive`, `but is`, `y no tiene`."""
    last = len(sentence) - 1
    cuts = [at for at in range(1, last) if _begins_predicate(sentence, at, language)]
    return (sentence[begin:end] for begin, end in pairwise([0, *cuts, len(sentence)]))


def _begins_predicate(sentence: Sequence[Token], at: int, language: int) -> bool:
    word = sentence[at].folded
    if word != "," and word not in COORDINATE:
        return False
    if word == "," and sentence[at + 1].folded in ("ahora", "now", "but", "pero"):
        return True
    after = at + 1
    while after < len(sentence) and sentence[after].folded in _LEADING:
        after += 1
    return after < len(sentence) and may_be_verb(sentence, after, language)


class _Reader:
    """Reads the tokens of one clause."""

    def __init__(self, tokens: Sequence[Token], language: int) -> None:
        self.tokens = _without_opening(tokens)
        self.language = language
        self.modal = ""
        self.negations = 0
        self.unsure = False

    def read(self, inherited: tuple[Item, ...]) -> Clause | None:
        """The clause, or None when nothing can be made of it. `inherited`: the subject of the clause before it."""
        tokens, language = self.tokens, self.language
        group = verb_group(tokens, language)
        before, after = tokens[: group.begin], tokens[group.end :]
        self.modal, self.negations, self.unsure = group.modal, group.negations, group.unsure
        self._count_negations(before)
        after = self._complement(after)
        subject = tuple(item for phrase in self._phrases(before, True) for item in phrase.items)
        if group.experienced:
            subject = (*subject, _USER)
        elif not subject:
            subject = _implied(group, inherited)
        phrases = self._phrases(after, False)
        if group.moved:
            phrases = tuple(Phrase("in", each.items) if each.marker == "to" else each for each in phrases)
        if self.unsure or (not group.verb and not subject and not phrases):
            return None
        words = {token.folded for token in tokens}
        said = {token.folded for token in after}
        return Clause(
            subject=subject,
            head=self._head(before),
            verb=group.verb,
            tense=group.tense,
            modal=self.modal,
            negative=self.negations > 0,
            phrases=phrases,
            amount=_amount_of(before),
            indefinite=self._is_indefinite(before),
            plural=group.plural,
            only=bool(words & ONLY),
            more=bool(words & ADDITIVE),
            rough=bool(said & ROUGH),
            compared=bool(said & COMPARATIVES) or any(word.endswith("er") for word in said),
            language=language,
        )

    def _count_negations(self, tokens: Sequence[Token]) -> None:
        self.negations += sum(token.folded in NOT or token.folded in NOTHING for token in tokens)
        # Spanish negates twice to say it once: `no lo hace nunca`.
        if self.negations > 1 and self.language == ENGLISH:
            self.unsure = True

    def _complement(self, tokens: Sequence[Token]) -> Sequence[Token]:
        """What follows the verb, up to a clause that hangs on it; its negations are counted."""
        for at, token in enumerate(tokens):
            word = token.folded
            if word == "que" and at == 0:
                # `tiene que`
                self.modal = "must"
                return tokens[1:]
            if word in RELATIVES and not self._is_date_next(word, tokens, at):
                if word != "que" or not any(each.folded in COMPARATIVES for each in tokens[:at]):
                    return tokens[:at]
            elif word in NOT or word in NOTHING:
                # `café, no té`: not the verb is denied.
                if word in NOT and at and not (self.negations and self.language != ENGLISH):
                    self.unsure = True
                self._count_negations([token])
        return tokens

    @staticmethod
    def _is_date_next(word: str, tokens: Sequence[Token], at: int) -> bool:
        """`since 2019`, not `since it rains`."""
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        return word == "since" and following is not None and (bool(following.date) or following.folded.isdigit())

    def _is_indefinite(self, subject: Sequence[Token]) -> bool:
        # Spanish `a` is a preposition: `a Ana le gusta`.
        leading = (
            word
            for token in subject
            if ((word := token.folded) in DEFINITE or word in INDEFINITE) and (word != "a" or self.language == ENGLISH)
        )
        return next(leading, "") in INDEFINITE

    def _head(self, subject: Sequence[Token]) -> str:
        """`manager` of `Dana's manager`, `directora` of `la directora de Nimbus`."""
        nouns: list[Token] = []
        for token in subject:
            if self._counts(token) and not token.date:
                nouns.append(token)
            elif nouns and (token.folded in JOINING or token.folded in PREPOSITIONS or token.folded in BREAKS):
                break
        return self._item(nouns[-1 if self.language == ENGLISH else 0]).key if nouns else ""

    # -- phrases

    def _phrases(self, tokens: Sequence[Token], leading: bool) -> tuple[Phrase, ...]:
        """The content of some tokens; `leading`: they stand before the verb, where a pronoun says who."""
        found: list[Phrase] = []
        dates: list[Item] = []
        items: list[Item] = []
        marker = ""
        at = 0
        while at < len(tokens):
            token = tokens[at]
            number = None if token.date else self._number(tokens, at)
            following = self._marker(tokens, at, marker if not items else "", leading)
            if number is not None:
                items.append(number[0])
                at = number[1]
                continue
            if token.date:
                dates.append(Item(token.date, "date", token.date))
            elif following is not None:
                if items and not self._continues(tokens, at, items):
                    found.append(Phrase(marker, tuple(items)))
                    items = []
                marker = marker if items else following
            elif (item := self._content(token, leading)) is not None:
                items.append(item)
            at += 1
        if items:
            found.append(Phrase(marker, tuple(items)))
        if dates:
            found.append(Phrase("date", tuple(sorted(dates, key=_key))))
        return tuple(found)

    def _marker(self, tokens: Sequence[Token], at: int, pending: str, leading: bool) -> str | None:
        """The marker of the phrase that the token begins; None when it begins none."""
        token = tokens[at]
        word = token.folded
        if token.date or token.capital:
            return None
        if word in BREAKS:
            return ""
        if word == "que":
            return None if leading else "than"
        if word in PREPOSITIONS and (word != "a" or self.language != ENGLISH):
            # `next to`, `inside of`: the first of two says where.
            return pending or PREPOSITIONS[word]
        return None

    @staticmethod
    def _continues(tokens: Sequence[Token], at: int, items: Sequence[Item]) -> bool:
        """`Portland, Oregon` is one place."""
        following = at + 1 < len(tokens) and tokens[at + 1].capital
        return tokens[at].folded == "," and following and items[-1].kind == "name"

    def _content(self, token: Token, leading: bool) -> Item | None:
        word = token.folded
        if word in PERSONS and (leading or word in USERS):
            return Item(PERSONS[word], "word", word)
        if leading and word in DEMONSTRATIVES:
            return Item(word, "word", word)
        return self._item(token) if self._counts(token) else None

    def _counts(self, token: Token) -> bool:
        word = token.folded
        return token.capital or (word[:1].isalnum() and word not in _EMPTY[self.language])

    def _item(self, token: Token) -> Item:
        if token.capital and token.folded != "i":
            return Item(name_key(token.folded), "name", token.folded)
        return Item(noun_concept(token.folded, token.stem, self.language), "word", token.folded)

    def _number(self, tokens: Sequence[Token], at: int) -> tuple[Item, int] | None:
        """A number with its unit from `at` on, and the place after it."""
        word = tokens[at].folded
        if not word:
            return None
        end = at + 1
        if NUMBER.fullmatch(word):
            value = number_of(word.lstrip("+"))
        elif word[0].isdigit():
            glued = _GLUED.fullmatch(word)
            if glued is None or glued[2] not in UNITS:
                return None
            return Item(number_of(glued[1]), "number", word, UNITS[glued[2]]), end
        elif self._is_one(tokens, at):
            value = "1"
        else:
            spelled = spelled_at([each.folded for each in tokens[at : at + 6]], 0, self.language)
            if spelled is None:
                return None
            value, end = str(spelled[0]), at + spelled[1]
        unit, end = _unit(tokens, at, end)
        return Item(value, "number", word, unit), end

    def _is_one(self, tokens: Sequence[Token], at: int) -> bool:
        word = tokens[at].folded
        if self.language == ENGLISH:
            return word == "one"
        return word in ("un", "una") and any(token.folded in ONLY for token in self.tokens)


_USER = Item("USER", "word", "user")
_WE = Item("WE", "word", "we")
_EMPTY = {
    # `son` is a word in English, `has` in Spanish.
    ENGLISH: ENGLISH_STOP_WORDS | FILLERS | ALL | SOME | NOTHING,
    SPANISH: SPANISH_STOP_WORDS | FILLERS | ALL | SOME | NOTHING,
}
_GLUED = re.compile(r"(\d+(?:[.,]\d+)*)([a-z]+)")
_OPENINGS = listed("no yes si")


def _key(item: Item) -> str:
    return item.key


def _without_opening(tokens: Sequence[Token]) -> Sequence[Token]:
    """Without `and`, `but`, `No,` before the statement."""
    at = 0
    while at < len(tokens):
        word = tokens[at].folded
        answered = word in _OPENINGS and at + 1 < len(tokens) and tokens[at + 1].folded == ","
        if not (word in COORDINATE or word in BREAKS or answered):
            break
        at += 1
    return tokens[at:]


def _implied(group: VerbGroup, inherited: tuple[Item, ...]) -> tuple[Item, ...]:
    """Whom a Spanish verb means without naming them."""
    return {1: (_USER,), 4: (_WE,)}.get(group.person, inherited)


def _amount_of(subject: Sequence[Token]) -> Amount:
    for token in subject:
        for words, amount in _AMOUNTS:
            if token.folded in words:
                return amount
    return ""


_AMOUNTS: tuple[tuple[frozenset[str], Amount], ...] = ((ALL, "all"), (SOME, "some"), (NOTHING, "none"))


def _unit(tokens: Sequence[Token], at: int, end: int) -> tuple[str, int]:
    """The unit of the number at `at`, which ends at `end`, and the place after both (`$9`, `9 kg`)."""
    if at and tokens[at - 1].folded in ("$", "\u20ac", "\u00a3"):
        return UNITS[tokens[at - 1].folded], end
    if end < len(tokens) and tokens[end].folded in UNITS:
        return UNITS[tokens[end].folded], end + 1
    if end + 1 < len(tokens) and tokens[end].folded in JOINING and tokens[end + 1].folded in UNITS:
        return UNITS[tokens[end + 1].folded], end + 2
    return "", end
