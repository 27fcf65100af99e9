"""Ranking entities for a query: by words, by meaning, by both."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evoca.domain.text import UNKNOWN, analyse, query_terms
from evoca.retrieval.calibration import Calibration
from evoca.retrieval.fact_terms import fact_terms
from evoca.retrieval.fusion import (
    CONTRAST,
    SPELLING_WEIGHT,
    UNSEEN,
    WORD_WEIGHT,
    even_out_languages,
    ranks_of,
    reciprocal_rank,
    relevance,
)
from evoca.retrieval.index import DocumentIndex, Family, Limits, ShardView
from evoca.retrieval.meaning import ENOUGH, Closeness, Meaning, find_meaning
from evoca.retrieval.mentions import pass_on
from evoca.retrieval.postings import Postings
from evoca.retrieval.sessions import Arrangement
from evoca.retrieval.words import WordEvidence, WordHits, find_words, read_closely
from evoca.storage.contract import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evoca.retrieval.embedders import Embedder

_DIGITS = 6
"""Of relevance and distance: what differs by rounding alone is equal, then ids decide, in every process alike."""
MOST = 2 * ENOUGH
"""Candidates of a ranking: the best by meaning and the best by words."""
LEADERS = 100
"""Memories whose neighbours are looked at too, though neither words nor meaning have found them."""


@dataclass(frozen=True, slots=True)
class EntityCandidate:
    """One entity found.

    `relevance`: in [0, 1]. `distance`: 1 - s on the model's calibrated scale, in [0, 2]; None while the entity has no
    vector. `rrf_score`: Σ 1/(60 + rank) over the lists by words and by meaning; None when no word matched anything.
    `words`: BM25 in nats, 0 without a match. `meaning`: the centred cosine, None without a vector.
    `best_document`: the document that it was found by.
    """

    entity_id: int
    relevance: float
    distance: float | None
    rrf_score: float | None
    words: float
    meaning: float | None
    best_document: int


@dataclass(frozen=True, slots=True)
class TermPart:
    """One word of the query: what it added to `words`, and the document that said it best."""

    word: str
    weight: float
    document: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where a candidate's relevance comes from. `spelling`: the share of words found exactly as spelled."""

    terms: tuple[TermPart, ...]
    spelling: float
    meaning: float | None
    evidence: float


@dataclass(frozen=True, slots=True)
class _Behind:
    """What the explanations are made from."""

    shard: ShardView
    hits: WordHits
    words: WordEvidence
    evidence: NDArray[np.float32]
    entity_ids: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Columns:
    """The candidates of a ranking, each array in its order; `cosines` are NaN without a vector."""

    ids: NDArray[np.int64]
    relevances: NDArray[np.float64]
    distances: NDArray[np.float64]
    rrf: NDArray[np.float64] | None
    words: NDArray[np.float32]
    cosines: NDArray[np.float32]
    documents: NDArray[np.int64]


@dataclass(frozen=True)
class Ranking:
    """Candidates by falling relevance, ties by id; they do not depend on how many are wanted.

    `hybrid`: some word matched. `pending`: documents of the collection that have no vector yet.
    """

    hybrid: bool
    pending: int
    _columns: _Columns | None = field(default=None, repr=False)
    _behind: _Behind | None = field(default=None, repr=False)

    def relevances(self, most: int) -> list[tuple[int, float]]:
        """(id, relevance) of the first so many."""
        columns = self._columns
        if columns is None:
            return []
        return list(zip(columns.ids[:most].tolist(), columns.relevances[:most].tolist(), strict=True))

    def candidate(self, place: int) -> EntityCandidate:
        """Everything of the one in this place, from 0."""
        columns = self._columns
        assert columns is not None  # noqa: S101 - a ranking without candidates has no places
        seen = not np.isnan(columns.cosines[place])
        return EntityCandidate(
            int(columns.ids[place]),
            float(columns.relevances[place]),
            float(columns.distances[place]) if seen else None,
            None if columns.rrf is None else float(columns.rrf[place]),
            float(columns.words[place]),
            float(columns.cosines[place]) if seen else None,
            int(columns.documents[place]),
        )

    @cached_property
    def candidates(self) -> tuple[EntityCandidate, ...]:
        """All, at most `MOST`."""
        count = 0 if self._columns is None else len(self._columns.ids)
        return tuple(self.candidate(place) for place in range(count))

    def explain(self, candidate: EntityCandidate) -> Explanation:
        """How one of this ranking's candidates came to its relevance."""
        behind = self._behind
        places = [] if behind is None else np.flatnonzero(behind.entity_ids == candidate.entity_id).tolist()
        if behind is None or not places:
            return Explanation((), 0.0, candidate.meaning, candidate.meaning or 0.0)
        at = places[0]
        parts = [
            TermPart(hit.term.word, float(weight), int(behind.shard.ids[row]))
            for hit, weight, row in zip(
                behind.hits.terms, behind.words.by_term[:, at], behind.words.rows[:, at], strict=True
            )
            if weight > 0
        ]
        return Explanation(
            tuple(sorted(parts, key=lambda part: -part.weight)),
            float(behind.words.spelling[at]),
            candidate.meaning,
            float(behind.evidence[at]),
        )


class Retriever:
    """Ranks the entities of one store with one model, or by words alone (`embedder` None). Safe for many threads."""

    def __init__(self, embedder: Embedder | None, limits: Limits | None = None) -> None:
        """`limits`: how many vectors are kept in which form."""
        self._model = None if embedder is None else embedder.model_id
        self._calibration = Calibration.none(1) if embedder is None else embedder.calibration
        dim = 1 if embedder is None else embedder.dim
        self._postings = Postings()
        self._index = DocumentIndex(self._model, dim, self._calibration, limits or Limits())

    def entities(
        self,
        session: Session,
        collection_id: int,
        query: str,
        query_vector: NDArray[np.float32] | None,
        allowed: set[int] | None = None,
    ) -> Ranking:
        """The collection's entities for a query, at most `MOST`; `allowed`: only these ids.

        `query_vector`: the model's unit vector (dim,), None to rank by words alone. Raises StoreError.
        """
        return self._rank(session, collection_id, query, query_vector, allowed, Family.GRAPH)

    def reflections(
        self,
        session: Session,
        collection_id: int,
        query: str,
        query_vector: NDArray[np.float32] | None,
        allowed: set[int] | None = None,
    ) -> Ranking:
        """As `entities`, of reflections: `entity_id` is a reflection's id."""
        return self._rank(session, collection_id, query, query_vector, allowed, Family.REFLECTIONS)

    def episodes(
        self,
        session: Session,
        collection_id: int,
        query: str,
        query_vector: NDArray[np.float32] | None,
        arrangement: Arrangement,
    ) -> Ranking:
        """As `entities`, of the memories that an arrangement lets through, and in the light of their places."""
        return self._rank(session, collection_id, query, query_vector, None, Family.EPISODES, arrangement)

    def facts(
        self,
        session: Session,
        collection_id: int,
        query: str,
        query_vector: NDArray[np.float32] | None,
        allowed: NDArray[np.int64] | None = None,
    ) -> Ranking:
        """As `entities`, of facts: `entity_id` is a fact's id. Words count in both languages. `allowed`: ascending."""
        return self._rank(session, collection_id, query, query_vector, allowed, Family.FACTS)

    def facts_holding(self, session: Session, collection_id: int, query: str) -> NDArray[np.int64]:
        """The ids of the facts that hold every word of a query, in either language; ascending."""
        shard, ahead = self._index.view(session, collection_id, Family.FACTS)
        terms = fact_terms(query, analyse(query).language)
        lists = self._postings.read(session, collection_id, [term.alternatives for term in terms])
        counts = np.zeros(len(shard.entity_ids), np.int64)
        for ids in lists:
            counts[np.unique(shard.entities[shard.rows_of(ids)])] += 1
        chosen = np.flatnonzero((counts == len(terms)) & (counts > 0))
        if ahead:
            chosen = _known(session, collection_id, shard, chosen, Family.FACTS)
        return np.sort(shard.entity_ids[chosen])

    def nearest(
        self,
        session: Session,
        collection_id: int,
        vector: NDArray[np.float32],
        arrangement: Arrangement,
        most: int,
    ) -> list[tuple[int, float]]:
        """The memories closest to a passage's centred vector (dim,), as (id, calibrated similarity), the closest first.

        Raises StoreError.
        """
        shard, _ahead = self._index.view(session, collection_id, Family.EPISODES)
        if self._model is None or not shard.vectors.size:
            return []
        usable = arrangement.usable(shard.entity_ids)
        meaning = find_meaning(session, shard, self._model, self._calibration, vector, usable)
        best, ids = meaning.best, meaning.found
        ids = ids[np.lexsort((shard.entity_ids[ids], -best[ids]))[:most]]
        similarities = self._calibration.similarity(best[ids])
        return list(zip(shard.entity_ids[ids].tolist(), similarities.tolist(), strict=True))

    def _rank(
        self,
        session: Session,
        collection_id: int,
        query: str,
        query_vector: NDArray[np.float32] | None,
        allowed: set[int] | NDArray[np.int64] | None,
        family: Family,
        arrangement: Arrangement | None = None,
    ) -> Ranking:
        shard, ahead = self._index.view(session, collection_id, family)
        usable = _usable(shard, allowed) if arrangement is None else arrangement.usable(shard.entity_ids)
        language = analyse(query).language
        if family is Family.FACTS:
            # Names are most of a fact, and what its verb means is sought in both languages.
            terms, spoken = fact_terms(query, language), UNKNOWN
        else:
            terms, spoken = query_terms(query), language
        hits = find_words(session, self._postings, collection_id, shard, terms, spoken, usable)
        meaning = self._meaning(session, shard, query_vector, language, usable)
        chosen = _choose(shard, hits, meaning)
        if arrangement is not None and len(chosen):
            chosen = _with_neighbours(shard, arrangement, chosen, hits, meaning)
        if ahead:
            chosen = _known(session, collection_id, shard, chosen, family)
        if not len(chosen):
            return Ranking(hits.any, shard.pending)
        words = read_closely(session, shard, query, hits, chosen)
        finds = _Finds(chosen, words, _unseen(len(chosen)) if meaning is None else meaning.of(chosen))
        evidence = np.nan_to_num(finds.meaning.cosines)
        if hits.any:
            evidence = _evidence(shard, finds, language)
            if family is Family.GRAPH:
                evidence = pass_on(session, shard, chosen, evidence, _best_documents(finds), remember=not ahead)
        if arrangement is not None:
            evidence = arrangement.rearrange(shard.entity_ids[chosen], evidence)
        return self._ranking(shard, hits, finds, evidence, family)

    def _meaning(
        self,
        session: Session,
        shard: ShardView,
        query_vector: NDArray[np.float32] | None,
        language: int,
        usable: NDArray[np.bool_] | None,
    ) -> Meaning | None:
        if query_vector is None or self._model is None or not shard.vectors.size:
            return None
        centred = self._calibration.centre_query(query_vector, language)
        return find_meaning(session, shard, self._model, self._calibration, centred, usable)

    def _ranking(
        self, shard: ShardView, hits: WordHits, finds: _Finds, evidence: NDArray[np.float32], family: Family
    ) -> Ranking:
        ids, words, cosines = shard.entity_ids[finds.entities], finds.words.totals, finds.meaning.cosines
        seen = ~np.isnan(cosines)
        distances = np.round(1.0 - self._calibration.similarity(np.nan_to_num(cosines)).astype(np.float64), _DIGITS)
        if hits.any or family is Family.EPISODES:
            power = CONTRAST if family in (Family.GRAPH, Family.REFLECTIONS) else 1
            relevances = np.round(relevance(evidence, self._calibration.exponent) ** power, _DIGITS)
        else:
            relevances = np.maximum(0.0, 1.0 - distances)
        rrf = None
        if hits.any:
            rrf = reciprocal_rank(ranks_of(words, ids, words > 0)) + reciprocal_rank(
                ranks_of(np.nan_to_num(cosines, nan=-2), ids, seen)
            )
        order = np.lexsort((ids, -relevances))[:MOST]
        columns = _Columns(
            ids[order],
            relevances[order],
            distances[order],
            None if rrf is None else rrf[order],
            words[order],
            cosines[order],
            shard.ids[_best_documents(finds)[order]],
        )
        return Ranking(hits.any, shard.pending, columns, _Behind(shard, hits, finds.words, evidence, ids))


@dataclass(frozen=True, slots=True)
class _Finds:
    """The chosen entities (numbers) and what each side knows of them."""

    entities: NDArray[np.int64]
    words: WordEvidence
    meaning: Closeness


def _unseen(count: int) -> Closeness:
    nothing = np.full(count, np.nan, np.float32)
    return Closeness(nothing, nothing, np.full(count, -1, np.int64))


def _evidence(shard: ShardView, finds: _Finds, language: int) -> NDArray[np.float32]:
    """Words and meaning on one scale, evened out between languages."""
    seen, words, rows = ~np.isnan(finds.meaning.cosines), finds.words, finds.meaning.rows
    most = max(float(words.by_term.max(axis=1).sum()), 1e-9)
    meaning = (UNSEEN / most * words.totals).astype(np.float32)
    meaning[seen] = finds.meaning.adapted[seen]
    fused = (meaning + WORD_WEIGHT * words.totals + SPELLING_WEIGHT * words.spelling).astype(np.float32)
    if language == UNKNOWN:
        return fused
    languages = np.where(rows >= 0, shard.languages[rows], UNKNOWN)
    return even_out_languages(meaning, fused, seen & (languages != language) & (languages != UNKNOWN))


def _usable(shard: ShardView, allowed: set[int] | NDArray[np.int64] | None) -> NDArray[np.bool_] | None:
    """`allowed`: ids; an array ascends."""
    if allowed is None:
        return None
    if isinstance(allowed, np.ndarray):
        if not len(allowed):
            return np.zeros(len(shard.entity_ids), np.bool_)
        places = np.searchsorted(allowed, shard.entity_ids).clip(max=len(allowed) - 1)
        return allowed[places] == shard.entity_ids
    return np.isin(shard.entity_ids, np.fromiter(allowed, np.int64, len(allowed)))


def _choose(shard: ShardView, hits: WordHits, meaning: Meaning | None) -> NDArray[np.int64]:
    """Entity numbers of the best by meaning and of the best by words, ascending."""
    lists: list[NDArray[np.int64]] = []
    if hits.any:
        lists.append(_top(hits.totals, np.flatnonzero(hits.totals > 0), shard))
    if meaning is not None:
        lists.append(_top(meaning.best, meaning.found, shard))
    return np.unique(np.concatenate(lists)) if lists else np.empty(0, np.int64)


def _with_neighbours(
    shard: ShardView,
    arrangement: Arrangement,
    chosen: NDArray[np.int64],
    hits: WordHits,
    meaning: Meaning | None,
) -> NDArray[np.int64]:
    """With what stands beside the most promising memories. They are their own entities: numbers are in order of ids."""
    leaders = chosen
    if len(chosen) > LEADERS:
        promise = WORD_WEIGHT * hits.totals[chosen]
        if meaning is not None:
            promise = promise + np.nan_to_num(meaning.of(chosen).cosines)
        leaders = chosen[np.argpartition(-promise, LEADERS)[:LEADERS]]
    beside = arrangement.neighbours(shard.entity_ids[leaders])
    known = np.searchsorted(shard.entity_ids, beside).clip(max=len(shard.entity_ids) - 1)
    return np.union1d(chosen, known[shard.entity_ids[known] == beside]).astype(np.int64)


def _top(scores: NDArray[np.float32], among: NDArray[np.int64], shard: ShardView) -> NDArray[np.int64]:
    if len(among) <= ENOUGH:
        return among
    values = scores[among]
    # All that tie with the last one, so that ids decide and not the partition.
    kept = among[values >= np.partition(values, len(among) - ENOUGH)[-ENOUGH]]
    return kept[np.lexsort((shard.entity_ids[kept], -scores[kept]))[:ENOUGH]]


def _known(
    session: Session, collection: int, shard: ShardView, chosen: NDArray[np.int64], family: Family
) -> NDArray[np.int64]:
    """Those that exist for the session: the index may have seen later changes."""
    ids = shard.entity_ids[chosen].tolist()
    known: Collection[int]
    match family:
        case Family.GRAPH:
            known = session.entities.by_ids(ids)
        case Family.REFLECTIONS:
            known = session.reflections.by_ids(ids)
        case Family.FACTS:
            known = session.facts.by_ids(ids)
        case Family.EPISODES:
            known = session.episodes.by_ids(collection, ids)
    return chosen[np.isin(shard.entity_ids[chosen], np.fromiter(known, np.int64, len(known)))]


def _best_documents(finds: _Finds) -> NDArray[np.int64]:
    """Rows: the document closest in meaning; without a vector the one of the weightiest word."""
    words = finds.words
    if not len(words.by_term):
        return finds.meaning.rows
    by_words = words.rows[words.by_term.argmax(axis=0), np.arange(len(finds.entities))]
    return np.where(finds.meaning.rows >= 0, finds.meaning.rows, by_words)
