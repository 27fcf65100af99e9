"""Whether a new memory contradicts an older one, by evidence that needs no model (contract, Hipocampo 6).

Two short statements contradict each other when they say of the same thing, of the same time, with the same verb, what
cannot both be: one denies what the other says, or puts another number, date, opposite or name where only one can be.
Anything else is left alone: other subjects, additions, what can be many (`speaks`, `uses`, `visited`), questions,
conditions, reports, guesses. A missed contradiction costs little; one that is not there costs a person's trust.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evoca.domain.clauses import Clause, Item, Phrase, clauses
from evoca.domain.differences import Difference
from evoca.domain.languages import SPANISH
from evoca.domain.lexicon import are_antonyms
from evoca.domain.predicates import (
    ATTRIBUTES,
    CONSUMED,
    DATED,
    INITIALS,
    OPPOSED,
    SHARED,
    SINGLE,
    STATES,
    TIMES,
    UNIQUE,
    is_concept,
    same_class,
    sort_of,
)
from evoca.domain.wording import languages_of

ContradictionKind = Literal["negation", "antonym", "number", "date", "value", "order", "judged"]
"""`judged`: a model says so, not the rules here."""
LEAST_SIMILARITY = 0.15
"""Texts whose calibrated similarity is known to be less are about other things."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """`confidence`: in (0, 1]. `differs_in`: not empty. `older`, `newer`: words that exclude each other."""

    confidence: float
    kind: ContradictionKind
    differs_in: tuple[Difference, ...]
    older: str
    newer: str


def audit(older: str, newer: str, similarity: float | None = None) -> Contradiction | None:
    """The contradiction between two memories that is surest, or None when there is none or none is sure.

    `similarity`: their calibrated similarity in meaning, None when it is not known; it can only rule out. Texts of more
    than 600 characters are never judged. Finds the same pairs whichever of the two is the older. Never raises.
    """
    if (similarity is not None and similarity < LEAST_SIMILARITY) or older == newer:
        return None
    left, right = languages_of(older, newer)
    said, now = clauses(older, left), clauses(newer, right)
    best: Contradiction | None = None
    for one in said:
        for other in now:
            found = _compare(one, other)
            if found is None or (found.kind == "number" and _tell_apart(found, older, newer)):
                continue
            if best is None or found.confidence > best.confidence:
                best = found
    return best


_LABEL = re.compile(r"(?:\bn[úu]m(?:ero|\.)?|\bn\.?[º°o]\.?|\bnumber|\bno\.|\bnr\.?|#)\s*$", re.IGNORECASE)


def _tell_apart(found: Contradiction, older: str, newer: str) -> bool:
    """Whether the numbers are the names of two things: `el faro número 3`, `bus no. 7`."""
    return _is_label(found.older, older) and _is_label(found.newer, newer)


def _is_label(numeral: str, text: str) -> bool:
    places = re.finditer(rf"(?<!\w){re.escape(numeral)}(?!\w)", text)
    return any(_LABEL.search(text, 0, place.start()) for place in places)


# -- two clauses ---------------------------------------------------------------------------------


def _compare(one: Clause, other: Clause) -> Contradiction | None:
    if one.indefinite or other.indefinite or one.modal != other.modal or one.modal == "could":
        return None
    reversal = _reversal(one, other)
    if reversal is not None:
        return reversal
    if not _same_subject(one, other) or not _same_time(one, other):
        return None
    if one.verb != other.verb:
        return _opposed(one, other)
    if one.negative != other.negative:
        return _denial(one, other)
    return None if one.negative else _other_value(one, other)


def _same_subject(one: Clause, other: Clause) -> bool:
    """Whether both speak of the same, in whatever order (`Ana's dog`, `el perro de Ana`)."""
    if len(one.subject) != len(other.subject):
        return False
    rest = list(other.subject)
    for item in one.subject:
        match = next((at for at, each in enumerate(rest) if _same(item, each)), None)
        if match is None:
            return False
        del rest[match]
    return True


def _same(one: Item, other: Item) -> bool:
    """The same word in a form that says the same: not `hermano` and `hermana`."""
    if one.folded == other.folded:
        return one.unit == other.unit
    if one.kind == "number" or other.kind == "number":
        return one.kind == other.kind and _amount(one) == _amount(other)
    if one.key != other.key:
        return False
    if "name" in (one.kind, other.kind):
        return one.kind == other.kind
    return {one.folded[-1:], other.folded[-1:]} != {"o", "a"}


def _same_time(one: Clause, other: Clause) -> bool:
    # What has been done once is denied by `never done`; else tenses speak of other times.
    return one.tense == other.tense


def _holds_sure(clause: Clause) -> float:
    """Events of the past can be of other times; what is, is now."""
    return 1.0 if clause.tense == "present" else 0.9


# -- denial --------------------------------------------------------------------------------------


def _denial(one: Clause, other: Clause) -> Contradiction | None:
    """One says what the other denies: the denial may not be about less than what is said."""
    said, denied = (other, one) if one.negative else (one, other)
    if not _amounts_exclude(said, denied) or not (said.subject or said.phrases):
        return None
    alignment = _align(said.phrases, denied.phrases)
    if alignment.differing or alignment.second:
        return None
    if said.tense == "past" and (alignment.first or said.verb not in STATES | {"pass", "born"}) and _dated(said):
        return None
    confidence = (0.9 if not alignment.first else 0.75) * _holds_sure(said)
    return Contradiction(round(confidence, 2), "negation", ("negation",), "", "")


def _amounts_exclude(said: Clause, denied: Clause) -> bool:
    """Whether `all`, `some`, none of them exclude each other: some do and some do not."""
    if denied.amount == "some":
        return said.amount == "all"
    if denied.amount == "all":
        return said.amount == "all"
    if said.amount == "some":
        return denied.amount in ("none", "all")
    return True


def _dated(clause: Clause) -> bool:
    return any(phrase.marker == "date" for phrase in clause.phrases)


# -- other verbs ---------------------------------------------------------------------------------


def _opposed(one: Clause, other: Clause) -> Contradiction | None:
    alignment = _align(one.phrases, other.phrases)
    if alignment.differing:
        return None
    if frozenset((one.verb, other.verb)) in OPPOSED:
        if one.negative or other.negative or alignment.first or alignment.second:
            return None
        if one.amount != other.amount and "all" not in (one.amount, other.amount):
            return None
        if one.tense != "present" and not one.subject:
            return None
        return Contradiction(round(0.85 * _holds_sure(one), 2), "antonym", ("antonym",), "", "")
    return _gave_up(one, other, alignment)


def _gave_up(one: Clause, other: Clause, alignment: _Alignment) -> Contradiction | None:
    """Likes it, and takes it no more: `me encanta el café`, `ya no tomo café`."""
    likes, leaves = (one, other) if one.verb == "like" else (other, one)
    if likes.verb != "like" or likes.negative or not leaves.negative or leaves.verb not in CONSUMED | {"support"}:
        return None
    if (
        (leaves.verb == "support" and leaves.language != SPANISH)
        or alignment.first
        or alignment.second
        or not likes.phrases
    ):
        return None
    return Contradiction(0.6, "negation", ("negation",), "", "")


# -- other values --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Slot:
    """A phrase of each text in the same place, and the words that each has and the other lacks."""

    one: Phrase
    ours: tuple[Item, ...]
    other: Phrase
    theirs: tuple[Item, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        return self.ours + self.theirs

    def are(self, *kinds: str) -> bool:
        return all(item.kind in kinds for item in self.items)


@dataclass(frozen=True, slots=True)
class _Alignment:
    """Two lists of phrases side by side: slots that differ, and phrases or words that only one of them has."""

    differing: tuple[_Slot, ...]
    first: tuple[Phrase, ...]
    second: tuple[Phrase, ...]


_PLACES = frozenset({"in", "on", "at", "under", "over", "behind", "near", "into", "before"})


def _align(one: Sequence[Phrase], other: Sequence[Phrase]) -> _Alignment:
    left, rest = list(one), list(other)
    for phrase in one:
        match = next((each for each in rest if _place(each) == _place(phrase) and _equal(phrase, each)), None)
        if match is not None:
            left.remove(phrase)
            rest.remove(match)
    differing: list[_Slot] = []
    first: list[Phrase] = []
    for phrase in left:
        each = next((each for each in rest if _place(each) == _place(phrase)), None)
        if each is None:
            first.append(phrase)
            continue
        rest.remove(each)
        ours, theirs = _without(phrase.items, each.items), _without(each.items, phrase.items)
        if ours and theirs:
            differing.append(_Slot(phrase, ours, each, theirs))
        elif ours:
            first.append(Phrase(phrase.marker, ours))
        elif theirs:
            rest.append(Phrase(each.marker, theirs))
    return _Alignment(tuple(differing), tuple(first), tuple(rest))


def _place(phrase: Phrase) -> str:
    return "place" if phrase.marker in _PLACES else phrase.marker


def _equal(one: Phrase, other: Phrase) -> bool:
    return len(one.items) == len(other.items) and not _without(one.items, other.items)


def _without(items: Sequence[Item], others: Sequence[Item]) -> tuple[Item, ...]:
    return tuple(item for item in items if not any(_same(item, each) for each in others))


def _other_value(one: Clause, other: Clause) -> Contradiction | None:
    """Both say it, with another value where only one can be."""
    if one.more or other.more or one.amount != other.amount or one.plural != other.plural:
        return None
    alignment = _align(one.phrases, other.phrases)
    extras = alignment.first + alignment.second
    if len(alignment.differing) != 1 or (alignment.first and alignment.second) or any(map(_restricts, extras)):
        return None
    slot = alignment.differing[0]
    if len(slot.ours) > _LONGEST_VALUE or len(slot.theirs) > _LONGEST_VALUE:
        return None
    found = max(_rulings(one, other, slot, exact=not extras), key=_confidence, default=None)
    if found is None:
        return None
    kind, differs_in, confidence = found
    if extras:
        confidence -= 0.1
    return Contradiction(
        round(confidence * _holds_sure(one), 2), kind, (differs_in,), _said(slot.ours), _said(slot.theirs)
    )


_LONGEST_VALUE = 3
_Ruling = tuple[ContradictionKind, Difference, float]


def _confidence(ruling: _Ruling) -> float:
    return ruling[2]


def _said(items: Sequence[Item]) -> str:
    return " ".join(f"{item.folded} {item.unit}".strip() for item in items)


def _restricts(extra: Phrase) -> bool:
    """Whether an addition may say when or for what it holds, so that both can be true."""
    if extra.marker == "date":
        return True
    if extra.marker == "from":
        return False
    return any(item.folded in TIMES for item in extra.items) or extra.marker in ("during", "until", "after", "before")


def _rulings(one: Clause, other: Clause, slot: _Slot, exact: bool) -> Iterator[_Ruling]:
    if slot.are("number"):
        yield from _numbers(one, other, slot, exact)
        return
    if slot.are("date"):
        yield from _dates(one, slot, exact)
        return
    if any(item.kind in ("number", "date") for item in slot.items) and one.verb != "be":
        return
    if one.language != other.language and not _are_told_apart(slot):
        return
    if _takes_one(one, slot):
        yield "value", "name", 0.8
    if not exact:
        return
    if _exclude(one, slot):
        yield "antonym", "antonym", 0.85
    if one.verb == "be" and _is_class(slot):
        yield "value", "antonym", 0.8
    if one.verb == "be" and _is_attribute(one, slot):
        yield "value", "name", 0.75
    if one.verb == "prefer" and slot.are("word") and slot.one.marker != "than":
        yield "value", "name", 0.8
    if one.verb in ("use", "choose") and _has_purpose(one, slot):
        yield "value", "name", 0.7
    if (one.only or other.only) and slot.are("word", "name"):
        yield "value", "name", 0.7


def _numbers(one: Clause, other: Clause, slot: _Slot, exact: bool) -> Iterator[_Ruling]:
    if len(slot.ours) != 1 or len(slot.theirs) != 1 or not exact or one.rough or other.rough:
        return
    ours, theirs = _amount(slot.ours[0]), _amount(slot.theirs[0])
    if ours is None or theirs is None or ours[1] != theirs[1] or _about_equal(ours, theirs):
        return
    if not one.verb or one.tense != "present" or not one.subject + _rest(slot):
        return
    if one.verb.startswith("~") and not ours[1] and not _rest(slot):
        # `sala grande 12` may be read as if `grande` were a verb.
        return
    yield "number", "number", 0.85


def _about_equal(one: tuple[float, str], other: tuple[float, str]) -> bool:
    """Equal, or a kilobyte of 1000 against one of 1024 bytes."""
    tolerance = 0.08 if one[1] == "size" else 1e-9
    return abs(one[0] - other[0]) <= tolerance * max(abs(one[0]), abs(other[0]))


def _rest(slot: _Slot) -> tuple[Item, ...]:
    return tuple(item for item in slot.one.items if item not in slot.ours)


def _dates(one: Clause, slot: _Slot, exact: bool) -> Iterator[_Ruling]:
    if len(slot.ours) != 1 or len(slot.theirs) != 1 or not exact or one.verb not in DATED or not one.subject:
        return
    ours, theirs = _grain(slot.ours[0].key), _grain(slot.theirs[0].key)
    if ours != theirs or (one.verb in ("open", "close", "be", "meet") and ours == "weekday" and one.plural):
        return
    if one.verb in ("open", "close", "start", "take", "meet") and ours == "weekday":
        return
    if one.tense != "present" and one.verb not in UNIQUE | {"be", "publish", "build", "start"}:
        return
    yield "date", "date", 0.8


def _grain(date: str) -> str:
    """What a date's name says: a weekday, a time of day, or which of year, month and day."""
    if date.startswith("weekday"):
        return "weekday"
    if ":" in date:
        return "clock"
    if date.count("-") >= 2:
        return "".join("1" if part else "0" for part in date.split("-"))
    return "relative"


def _exclude(one: Clause, slot: _Slot) -> bool:
    """Whether the differing words are opposites, said of the thing itself or preferred."""
    if one.verb not in ("be", "prefer") or slot.are("name"):
        return False
    return len(slot.ours) == len(slot.theirs) == 1 and _opposites(slot.ours[0], slot.theirs[0])


def _is_class(slot: _Slot) -> bool:
    if len(slot.ours) != 1 or len(slot.theirs) != 1:
        return False
    (ours,), (theirs,) = slot.ours, slot.theirs
    return same_class(ours.folded, theirs.folded) and ours.key != theirs.key


def _opposites(one: Item, other: Item) -> bool:
    # Concepts are English words, so that texts of two languages can be compared.
    return are_antonyms([one.folded], [other.folded]) or are_antonyms([one.key], [other.key])


def _takes_one(one: Clause, slot: _Slot) -> bool:
    """Whether the verb takes one value after this preposition, and the two values are of one kind."""
    if one.tense == "perfect":
        return False
    if one.verb == "be":
        located = slot.one.marker in _PLACES and slot.other.marker in _PLACES
        fits = one.tense == "present" and _names_a_thing(one)
        return fits and (located or slot.one.marker == "from") and _alike(slot) and _are_places(slot)
    markers = SINGLE.get(one.verb)
    if markers is None or slot.one.marker not in (markers.split() or [""]) or not _alike(slot):
        return False
    if one.verb in ("work", "study") and (any(item.kind == "word" for item in _rest(slot)) or _mixed(slot)):
        return False
    return not slot.one.marker or _are_places(slot)


def _alike(slot: _Slot) -> bool:
    """Whether the values are of one kind: both names, or both not; not a country and a town."""
    if any(item.kind in ("number", "date") or item.folded in TIMES for item in slot.items):
        return False
    if any(_shortens(ours.folded, theirs.folded) for ours in slot.ours for theirs in slot.theirs):
        return False
    ours, theirs = ({item.kind for item in items} for items in (slot.ours, slot.theirs))
    if ("name" in ours) != ("name" in theirs):
        return False
    sorts = {sort for items in (slot.ours, slot.theirs) for sort in _sorts(items)}
    return _sorts(slot.ours) == _sorts(slot.theirs) or sorts <= {"", "city"}


def _shortens(one: str, other: str) -> bool:
    """Two spellings of one name: `Gall`, `Gallen`; `Sam`, `Samuel`."""
    short, long = sorted((one, other), key=len)
    return len(short) >= 3 and short.isalpha() and long.startswith(short)


def _sorts(items: Sequence[Item]) -> frozenset[str]:
    """What the words are known as; `Portland, Oregon` is a city."""
    found = frozenset(sort for item in items if (sort := sort_of(item.folded)))
    return found if len(items) == 1 or "region" not in found else frozenset({"city"})


def _mixed(slot: _Slot) -> bool:
    """A town and what is not known as one: who works in Seville works for someone."""
    return _sorts(slot.ours) != _sorts(slot.theirs)


def _are_places(slot: _Slot) -> bool:
    """Whether the values are proper names; of words in small letters one place may lie in the other."""
    return all(any(item.kind == "name" or sort_of(item.folded) for item in items) for items in (slot.ours, slot.theirs))


def _are_told_apart(slot: _Slot) -> bool:
    """Whether words of two languages cannot be translations of each other: names, and concepts of both."""
    if slot.are("name"):
        return True
    return slot.are("word") and all(is_concept(item.key) for item in slot.items)


def _has_purpose(one: Clause, slot: _Slot) -> bool:
    """`uses X for caching`: for one purpose there is one."""
    return not slot.one.marker and _alike(slot) and any(each.marker in ("as", "for") for each in one.phrases)


def _names_a_thing(one: Clause) -> bool:
    """Whether it speaks of one thing, not of one of many (`my colleague is …`)."""
    heads = {item.folded for item in one.subject if item.key == one.head}
    return bool(one.subject) and one.head not in SHARED and not heads & SHARED


def _is_attribute(one: Clause, slot: _Slot) -> bool:
    """`The X of Y is Z`, where Y has one X."""
    if slot.one.marker or slot.other.marker or one.plural or not _names_a_thing(one):
        return False
    if not any(_is_noun(item) for item in one.subject):
        return False
    if any(item.key in ATTRIBUTES or item.folded in ATTRIBUTES for item in one.subject):
        return True
    return slot.are("name", "number") and _alike(slot)


def _is_noun(item: Item) -> bool:
    return item.folded in INITIALS or (item.kind == "word" and item.key not in _PERSONS)


_PERSONS = frozenset({"USER", "WE", "YOU", "HE", "SHE", "THEY", "IT", "POSS"})


# -- order ---------------------------------------------------------------------------------------


def _reversal(one: Clause, other: Clause) -> Contradiction | None:
    """`Ana is taller than Eva`, `Eva is taller than Ana`; `prefers tea to coffee`, `prefers coffee to tea`."""
    if one.verb != other.verb or one.negative or other.negative or one.tense != other.tense:
        return None
    if one.verb == "prefer":
        reversed_ = _same_subject(one, other) and _is_exchanged(one.phrases, other.phrases)
    else:
        reversed_ = one.verb == "be" and one.compared and other.compared and _is_turned(one, other)
    return Contradiction(0.85, "order", ("order",), "", "") if reversed_ else None


def _is_exchanged(one: Sequence[Phrase], other: Sequence[Phrase]) -> bool:
    if len(one) != 2 or len(other) != 2 or [each.marker for each in one] != [each.marker for each in other]:
        return False
    return one[0].marker == "" and _matches(one[0], other[1]) and _matches(one[1], other[0])


def _matches(one: Phrase, other: Phrase) -> bool:
    return _equal(one, other) and _equal(other, one)


def _is_turned(one: Clause, other: Clause) -> bool:
    left, right = _compared_with(one), _compared_with(other)
    if left is None or right is None:
        return False
    (mine, than), (yours, then) = left, right
    return (
        [item.key for item in mine] == [item.key for item in yours]
        and [item.folded for item in one.subject] == [item.folded for item in then]
        and [item.folded for item in other.subject] == [item.folded for item in than]
    )


def _compared_with(clause: Clause) -> tuple[tuple[Item, ...], tuple[Item, ...]] | None:
    """(what is compared, with whom)."""
    if len(clause.phrases) != 2 or clause.phrases[0].marker or clause.phrases[1].marker != "than":
        return None
    return clause.phrases[0].items, clause.phrases[1].items


# -- amounts -------------------------------------------------------------------------------------

_SCALES = {
    "ms": ("time", 0.001),
    "s": ("time", 1.0),
    "min": ("time", 60.0),
    "h": ("time", 3_600.0),
    "day": ("time", 86_400.0),
    "week": ("time", 604_800.0),
    "month": ("months", 1.0),
    "year": ("months", 12.0),
    "mm": ("length", 0.001),
    "cm": ("length", 0.01),
    "m": ("length", 1.0),
    "km": ("length", 1_000.0),
    "g": ("mass", 1.0),
    "kg": ("mass", 1_000.0),
    "b": ("size", 1e-9),
    "kb": ("size", 1e-6),
    "mb": ("size", 1e-3),
    "gb": ("size", 1.0),
    "tb": ("size", 1e3),
}


def _amount(item: Item) -> tuple[float, str] | None:
    """(value on the unit's scale, what it measures); None for what is no plain number (`2.1.0`)."""
    try:
        value = float(item.key)
    except ValueError:
        return None
    measure, factor = _SCALES.get(item.unit, (item.unit, 1.0))
    return round(value * factor, 9), measure
