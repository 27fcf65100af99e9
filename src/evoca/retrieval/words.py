"""The lexical side: which entities hold a query's words, and how much that says (BM25 over entities)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evoca.domain.text import ENGLISH, SPANISH, UNKNOWN, QueryTerm, Spelling
from evoca.retrieval.fusion import OTHER_LANGUAGE, inverse_document_frequency, saturation
from evoca.retrieval.index import ShardView
from evoca.retrieval.postings import Postings
from evoca.storage.contract import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNHELD = 100
"""Entities assumed beside those of a store, which hold none of a query's words: in a store of ten a word would else say
next to nothing. On the measured sets (200 to 1,700 entities) it makes no difference of more than .002.
"""
READ = 50
"""Texts that are read for one query, the most promising ones, to see how its words are spelled in them."""


@dataclass(frozen=True, slots=True)
class TermHits:
    """One term of the query: the document rows that hold it, ascending, and what it says in each (nats)."""

    term: QueryTerm
    rows: NDArray[np.int64]
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class WordHits:
    """`totals`: for every entity number of the shard the sum of each term's best weight."""

    terms: tuple[TermHits, ...]
    totals: NDArray[np.float32]

    @property
    def any(self) -> bool:
        return bool(self.terms)


def find_words(
    session: Session,
    postings: Postings,
    collection: int,
    shard: ShardView,
    terms: Sequence[QueryTerm],
    language: int,
    usable: NDArray[np.bool_] | None,
) -> WordHits:
    """Every entity's words. `usable`: entity numbers that count, None for all.

    N and n of BM25 are entities, not passages: an entity that says a word five times is one that holds it. A term
    counts once in a text: texts are passages of at most some 300 characters, and counting repetitions in them changed
    no measured figure by more than .001, at a third of a search's cost.
    In a text of another language than the query's a word counts `OTHER_LANGUAGE`: names, numbers and cognates are true
    matches there and the rest accidents (letting words with capitals or digits pass whole measured no better).
    """
    totals = np.zeros(len(shard.entity_ids), np.float32)
    found: list[TermHits] = []
    factors = _by_language(language)
    lists = postings.read(session, collection, [term.alternatives for term in terms])
    for term, ids in zip(terms, lists, strict=True):
        rows = shard.rows_of(ids)
        if not len(rows):
            continue
        entities = shard.entities[rows]
        holding = np.zeros(len(totals), np.bool_)
        holding[entities] = True
        idf = inverse_document_frequency(shard.entity_count + UNHELD, int(np.count_nonzero(holding)))
        weights = idf * saturation(shard.lengths[rows], shard.typical_length)
        if factors is not None:
            weights *= factors[shard.languages[rows]]
        best = np.zeros(len(totals), np.float32)
        np.maximum.at(best, entities, weights)
        totals += best
        found.append(TermHits(term, rows, weights))
    if usable is not None:
        totals[~usable] = 0
    return WordHits(tuple(found) if totals.any() else (), totals)


def _by_language(language: int) -> NDArray[np.float32] | None:
    """What a word counts in a text of each language; None: the same in all."""
    if language == UNKNOWN:
        return None
    factors = np.full(1 + max(UNKNOWN, SPANISH, ENGLISH), OTHER_LANGUAGE, np.float32)
    factors[[UNKNOWN, language]] = 1
    return factors


@dataclass(frozen=True, slots=True)
class WordEvidence:
    """The chosen entities' words, read closely. `by_term`: (terms, entities); `rows`: the row behind each weight.

    `spelling`: the share of the query's words that one text of the entity holds exactly as spelled, in [0, 1].
    """

    by_term: NDArray[np.float32]
    rows: NDArray[np.int64]
    spelling: NDArray[np.float32]

    @property
    def totals(self) -> NDArray[np.float32]:
        return self.by_term.sum(axis=0)


def read_closely(
    session: Session, shard: ShardView, query: str, hits: WordHits, entities: NDArray[np.int64]
) -> WordEvidence:
    """What each term says in the chosen entities (numbers), and how the query's words are spelled there."""
    position = np.full(len(shard.entity_ids), -1, np.int64)
    position[entities] = np.arange(len(entities))
    chosen = [_of_chosen(shard, hit, position) for hit in hits.terms]
    rows = _most_promising(len(shard.ids), chosen)
    documents = shard.ids[rows].tolist()
    texts = session.documents.texts(documents)
    spelling = Spelling(query)
    shares = np.array([spelling.share(texts.get(document, "")) for document in documents], np.float32)
    spelled = np.zeros(len(entities), np.float32)
    np.maximum.at(spelled, position[shard.entities[rows]], shares)
    by_term = np.zeros((len(hits.terms), len(entities)), np.float32)
    best_rows = np.full((len(hits.terms), len(entities)), -1, np.int64)
    for number, hit in enumerate(chosen):
        order = np.argsort(hit.weights, kind="stable")
        at = position[shard.entities[hit.rows[order]]]
        # Of several assignments to one place the last stands: the greatest weight.
        by_term[number, at] = hit.weights[order]
        best_rows[number, at] = hit.rows[order]
    return WordEvidence(by_term, best_rows, spelled)


def _of_chosen(shard: ShardView, hit: TermHits, position: NDArray[np.int64]) -> TermHits:
    inside = position[shard.entities[hit.rows]] >= 0
    return TermHits(hit.term, hit.rows[inside], hit.weights[inside])


def _most_promising(count: int, chosen: Sequence[TermHits]) -> NDArray[np.int64]:
    """The rows with the greatest sums of weights, at most `READ`, ascending."""
    sums = np.zeros(count, np.float32)
    for hit in chosen:
        sums[hit.rows] += hit.weights
    rows = np.flatnonzero(sums)
    if len(rows) > READ:
        rows = rows[np.lexsort((rows, -sums[rows]))[:READ]]
    return np.sort(rows)
