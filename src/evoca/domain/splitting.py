"""When an entity holds too much, and the topics that it could be split into (seed 000, tools 11 to 14).

Observations are grouped by average linkage: each is a row of TF-IDF weights of the terms that it shares with others,
beside its vector where there are vectors, and the nearness of two groups is the mean product of their rows. What is
left alone joins the nearest topic. The grouping depends on the texts only, not on their order.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from evoca.domain.languages import ENGLISH, ENGLISH_STOP_WORDS, SPANISH_STOP_WORDS, guess_language
from evoca.domain.text import folded_words, stems

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

THRESHOLDS = {"sesion": 15, "proyecto": 25}
"""Folded type → how many observations an entity of it may hold."""
OTHER_THRESHOLD = 20
LEAST_THRESHOLD = min(OTHER_THRESHOLD, *THRESHOLDS.values())

_CUT = 0.15
"""Groups that are less near than this are different topics."""
_MOST_TOPICS = 12
_MEANING = 0.7
"""The weight of meaning beside words."""
_LANGUAGE_WORDS = 400
_LINKED = 400
"""So many observations are grouped with each other; further ones join the topics that were found."""
_TERMS = 2_000
"""So many terms, those in most observations, are looked at."""


@lru_cache(maxsize=1_024)
def threshold_for(entity_type: str) -> int:
    """How many observations an entity of this type may hold; accents and case do not count."""
    return THRESHOLDS.get(" ".join(folded_words(entity_type)), OTHER_THRESHOLD)


def split_score(count: int, threshold: int) -> float:
    """count / threshold, 2 decimals. An entity needs a split when it holds more than its threshold."""
    return round(count / threshold, 2)


@dataclass(frozen=True, slots=True)
class Topic:
    """Observations that belong together: their places in the entity, ascending."""

    name: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """What topics, parts and the rest are called in the language of an entity."""

    rest: str
    topic: str
    part: str


_SPANISH_WORDS = Words("Otros", "Tema", "Parte")
_ENGLISH_WORDS = Words("Other", "Topic", "Part")


def topics_of(texts: Sequence[str], about: str = "", vectors: NDArray[np.float32] | None = None) -> tuple[Topic, ...]:
    """Group an entity's observations; every one is in exactly one topic. In order of their first members.

    `about`: the entity's name, whose words say nothing of its parts. `vectors`: a unit row a text, shape (n, dim);
    without them words alone decide. Names are unique. Texts that have nothing in common are one topic.
    """
    if not texts:
        return ()
    grouping = _Grouping(texts, about, vectors)
    named = zip(_names(grouping.groups, grouping.rest, grouping.bags), grouping.all, strict=True)
    found = [Topic(name, tuple(sorted(grouping.order[at] for at in group))) for name, group in named]
    return tuple(sorted(found, key=lambda topic: topic.members))


def is_diverse(texts: Sequence[str], about: str = "", vectors: NDArray[np.float32] | None = None) -> bool:
    """Whether a split is worth proposing: at least two topics of at least two observations.

    Of very many texts a part is looked at.
    """
    if len(texts) < 4:
        return False
    if len(texts) > _LINKED:
        places = sorted(range(len(texts)), key=texts.__getitem__)[:: _stride(len(texts))]
        texts = [texts[at] for at in places]
        vectors = None if vectors is None else vectors[places]
    return len(_Grouping(texts, about, vectors).all) >= 2


def children_of(topics: Sequence[Topic], texts: Sequence[str], threshold: int) -> tuple[Topic, ...]:
    """The parts to propose: the topics, or where there is only one, equal parts in order of insertion."""
    if len(topics) >= 2:
        return tuple(topics)
    word = _words_for(guess_language([word for text in texts for word in folded_words(text)])).part
    parts = max(2, math.ceil(len(texts) / threshold))
    bounds = [len(texts) * part // parts for part in range(parts + 1)]
    return tuple(
        Topic(f"{word} {number + 1}", tuple(range(bounds[number], bounds[number + 1])))
        for number in range(parts)
        if bounds[number] < bounds[number + 1]
    )


def child_names(original: str, topics: Sequence[Topic], taken: Iterable[str]) -> tuple[str, ...]:
    """`"{original} - {topic}"` for each topic, numbered where the name is taken."""
    used = set(taken)
    names: list[str] = []
    for topic in topics:
        name = unused(f"{original} - {topic.name}", used)
        used.add(name)
        names.append(name)
    return tuple(names)


def unused(name: str, used: set[str]) -> str:
    """`name`, or with the first number from 2 on that makes it new."""
    number, found = 1, name
    while found in used:
        number += 1
        found = f"{name} {number}"
    return found


# -- what is compared ----------------------------------------------------------------------------------


class _Bags:
    """The terms of each text: stems of content words, numbers left out."""

    def __init__(self, texts: Sequence[str], about: str) -> None:
        words = [folded_words(text) for text in texts]
        flat = [word for each in words for word in each]
        self.texts = texts
        self.language = guess_language(flat[:_LANGUAGE_WORDS])
        self._about = set(stems(folded_words(about), self.language))
        # Each different word is looked at and stemmed once: of thousands of texts most words are the same.
        telling = [word for word in set(flat) if word not in _STOP_WORDS and len(word) >= 2 and not word.isdecimal()]
        stem_of = dict(zip(telling, stems(telling, self.language), strict=True))
        self.words = [[word for word in each if word in stem_of] for each in words]
        self.terms = [[stem_of[word] for word in each] for each in self.words]
        self.distinct = [set(each) for each in self.terms]
        self.frequency = Counter(term for each in self.distinct for term in each)

    def linking(self) -> dict[str, int]:
        """Terms that stand in several texts, and not in nearly all: term → its number."""
        most = max(2, math.ceil(0.8 * len(self.texts)))
        shared = [
            (term, count) for term, count in self.frequency.items() if 2 <= count <= most and term not in self._about
        ]
        shared.sort(key=lambda each: (-each[1], each[0]))
        return {term: number for number, (term, _count) in enumerate(shared[:_TERMS])}

    def naming(self, term: str) -> bool:
        """Whether a part of the entity can be called so."""
        return term not in self._about


_STOP_WORDS = SPANISH_STOP_WORDS | ENGLISH_STOP_WORDS


def _rows(bags: _Bags, vectors: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """A unit row a text, or zeros for one that has nothing in common with any other. Shape (n, terms [+ dim])."""
    import numpy as np

    number_of = bags.linking()
    words = np.zeros((len(bags.terms), len(number_of)), np.float32)
    at = [(row, number_of[term]) for row, each in enumerate(bags.terms) for term in each if term in number_of]
    if at:
        places = np.array(at, np.intp)
        frequency = np.array([bags.frequency[term] for term in number_of], np.float32)
        words[places[:, 0], places[:, 1]] = np.log(len(bags.terms) / frequency + 1.0)[places[:, 1]]
    words = _unit(words)
    if vectors is None:
        return words
    # What all of an entity's texts share says nothing of its parts.
    meaning = _unit(vectors - vectors.mean(axis=0))
    return np.hstack([words * np.float32(math.sqrt(1 - _MEANING)), meaning * np.float32(math.sqrt(_MEANING))])


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return rows / np.maximum(norms, np.float32(1e-9))


# -- grouping ------------------------------------------------------------------------------------------


class _Grouping:
    """The groups, as places in `order`. `rest`: texts that have nothing in common with any group; may be empty."""

    def __init__(self, texts: Sequence[str], about: str, vectors: NDArray[np.float32] | None) -> None:
        # A canonical order: equal sums are equal to the last bit, and ties fall alike, however the texts come.
        self.order = sorted(range(len(texts)), key=texts.__getitem__)
        self.bags = _Bags([texts[at] for at in self.order], about)
        rows = _rows(self.bags, None if vectors is None else vectors[self.order])
        stride = _stride(len(texts))
        self.groups, self.rest = _joined(_groups(rows[::stride], stride), rows)

    @property
    def all(self) -> list[list[int]]:
        """All groups, the rest last."""
        return [*self.groups, self.rest] if self.rest else self.groups


def _stride(count: int) -> int:
    return -(-count // _LINKED)


def _groups(rows: NDArray[np.float32], stride: int) -> list[list[int]]:
    """Average linkage of every `stride`-th text: groups of at least two, as places among all texts."""
    linkage = _Linkage(rows)
    while linkage.join_mutual(_CUT):
        pass
    most = min(_MOST_TOPICS, max(2, math.ceil(math.sqrt(len(rows) * stride))))
    linkage.forget_single()
    while len(linkage.members) > most:
        linkage.join_nearest()
    return [[at * stride for at in sorted(group)] for group in linkage.members]


class _Linkage:
    """Groups and their nearness, the mean product of their rows. Ties fall on the first groups."""

    def __init__(self, rows: NDArray[np.float32]) -> None:
        import numpy as np

        # Equal rows are nearer to each other than to anything: joined at once, they cost nothing.
        equal: dict[bytes | int, list[int]] = {}
        for at, row in enumerate(rows):
            equal.setdefault(row.tobytes() if row.any() else at, []).append(at)
        self.members = list(equal.values())
        first = rows[[group[0] for group in self.members]]
        self._near = first @ first.T
        np.fill_diagonal(self._near, -np.inf)
        self._size = np.array([len(group) for group in self.members], np.float32)

    def join_mutual(self, least: float) -> bool:
        """Join every two groups that are each other's nearest and at least so near. False when there are none.

        In average linkage a join brings no other group nearer than its halves were, so that these joins would be
        made one after the other as well.
        """
        import numpy as np

        if len(self.members) < 2:
            return False
        neighbour = self._near.argmax(axis=1)
        here = np.arange(len(neighbour))
        best = self._near[here, neighbour]
        keep = here[(neighbour[neighbour] == here) & (here < neighbour) & (best >= least)]
        if len(keep):
            self._join(keep, neighbour[keep])
            return True
        # Equal values may lead round in a circle: then the first of them are joined.
        nearest = int(best.argmax())
        if not best[nearest] >= least:
            return False
        self.join_nearest()
        return True

    def join_nearest(self) -> None:
        import numpy as np

        pair = sorted(divmod(int(self._near.argmax()), len(self._near)))
        self._join(np.array(pair[:1]), np.array(pair[1:]))

    def _join(self, keep: NDArray[np.intp], gone: NDArray[np.intp]) -> None:
        near, size = self._near, self._size
        together = size[keep] + size[gone]
        ours, theirs = size[keep] / together, size[gone] / together
        near[keep] = ours[:, None] * near[keep] + theirs[:, None] * near[gone]
        near[:, keep] = ours * near[:, keep] + theirs * near[:, gone]
        size[keep] = together
        for one, other in zip(keep, gone, strict=True):
            self.members[one] += self.members[other]
        lost = set(gone.tolist())
        self._retain([at for at in range(len(size)) if at not in lost])

    def forget_single(self) -> None:
        """Leave the groups of one out of what comes."""
        self._retain([at for at, group in enumerate(self.members) if len(group) > 1])

    def _retain(self, kept: list[int]) -> None:
        self._near = self._near[kept][:, kept]
        self._size = self._size[kept]
        self.members = [self.members[at] for at in kept]


def _joined(groups: list[list[int]], rows: NDArray[np.float32]) -> tuple[list[list[int]], list[int]]:
    """Each text that stands alone joins the topic it is nearest to. Returns the groups, and those near to none.

    A single one of those joins the largest topic: a topic of one is of no use.
    """
    import numpy as np

    grouped = {at for group in groups for at in group}
    alone = [at for at in range(len(rows)) if at not in grouped]
    if not groups or not alone:
        return groups, alone
    centres = np.stack([rows[group].mean(axis=0) for group in groups])
    near = rows[alone] @ centres.T
    joined = [list(group) for group in groups]
    rest: list[int] = []
    for at, best, nearness in zip(alone, near.argmax(axis=1), near.max(axis=1), strict=True):
        (joined[int(best)] if nearness > 0 else rest).append(at)
    if len(rest) == 1:
        max(joined, key=len).append(rest.pop())
    return joined, rest


# -- names ---------------------------------------------------------------------------------------------

_WRITTEN = re.compile(r"[^\W_]+")


def _words_for(language: int) -> Words:
    return _ENGLISH_WORDS if language == ENGLISH else _SPANISH_WORDS


def _names(groups: Sequence[Sequence[int]], rest: Sequence[int], bags: _Bags) -> list[str]:
    """A word of its own for each group, as it is written there; the rest, where there is one, has the last name."""
    words = _words_for(bags.language)
    used: set[str] = set()
    names: list[str] = []
    for group in groups:
        names.append(unused(_name(group, bags, used) or words.topic, used))
        used.add(names[-1])
    if rest:
        names.append(unused(words.rest if groups else _name(rest, bags, used) or words.topic, used))
    return names


def _name(group: Sequence[int], bags: _Bags, used: set[str]) -> str:
    """The word that marks a group best, and a second one where the first covers less than half of it."""
    inside = Counter(term for at in group for term in bags.distinct[at])
    inside = {term: count for term, count in inside.items() if bags.naming(term)}
    shared = [term for term, count in inside.items() if count >= 2]
    # F1 of the word as a mark: in as many of the group's texts, and in as few others, as can be.
    ranked = sorted(
        shared or inside, key=lambda term: (-2 * inside[term] / (len(group) + bags.frequency[term]), -len(term), term)
    )
    if not ranked:
        return ""
    first = _as_written(ranked[0], group, bags)
    first = first[:1].upper() + first[1:]
    if shared and len(ranked) > 1 and (2 * inside[ranked[0]] < len(group) or first in used):
        return f"{first} {_as_written(ranked[1], group, bags)}"
    return first


def _as_written(term: str, group: Sequence[int], bags: _Bags) -> str:
    """The most frequent form of a term in a group, with its accents and capitals."""
    holders = [at for at in group if term in bags.distinct[at]]
    forms = Counter(bags.words[at][bags.terms[at].index(term)] for at in holders)
    form = min(forms, key=lambda word: (-forms[word], word))
    for at in holders:
        for written in _WRITTEN.findall(bags.texts[at]):
            if len(written) == len(form) and folded_words(written) == [form]:
                return written
    return form
