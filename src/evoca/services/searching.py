"""Search by meaning and words, ranked by use, age and company (seed 000, `search_semantic`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evoca.domain import limbic
from evoca.domain.clock import Clock, Instant
from evoca.domain.graph import Access, Entity
from evoca.domain.text import fold_case
from evoca.services.indexing import IndexingService
from evoca.services.serving import Serving
from evoca.services.tracking import TrackingService
from evoca.services.views import EntityView, views_of
from evoca.storage.contract import Session, Store

if TYPE_CHECKING:
    from evoca.retrieval.ranking import EntityCandidate, Ranking

POOL = 200
"""The most relevant candidates, of which the best are shown. Fixed, so that scores do not depend on `limit`."""
_BLOCK = 32
"""Candidates that are scored together."""
_ROUNDING = 1 + 1e-9
"""Slack of a bound that is multiplied in another order than the score."""
_YOUNG = 0.97
"""Where even the freshest of the first has faded below this, reading the ages of all spares scoring them."""
CONTEXT = 30
"""The most relevant candidates that company is counted with (R in the contract's formula)."""


@dataclass(frozen=True, slots=True)
class SemanticQuery:
    """`entity_types`, `statuses`: only entities with one of them (types without regard to case)."""

    text: str
    limit: int = 10
    track: bool = True
    entity_types: tuple[str, ...] | None = None
    statuses: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SemanticHit:
    """`best_text`: the passage of the entity that fits best."""

    view: EntityView
    scoring: limbic.Scoring
    candidate: EntityCandidate
    best_text: str


@dataclass(frozen=True, slots=True)
class SemanticResults:
    """`hybrid`: words matched something. `pending`: documents that can be found by words only as yet."""

    hits: tuple[SemanticHit, ...]
    routing: limbic.Routing
    hybrid: bool
    pending: int


class SearchService:
    """Semantic search over one store's graphs."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        serving: Serving,
        indexing: IndexingService,
        tracking: TrackingService,
        constants: limbic.LimbicConstants,
        catch_up: float,
    ) -> None:
        """`catch_up`: how many seconds a search waits for documents that have no vector yet."""
        self._store = store
        self._clock = clock
        self._indexing = indexing
        self._tracking = tracking
        self._constants = constants
        self._catch_up = catch_up
        self._serving = serving

    def search(self, collection: int, query: SemanticQuery) -> SemanticResults:
        """The entities most worth remembering for a query, best first; ties by id.

        Raises ModelUnavailable when there is no embedding model.
        """
        pending = self._indexing.catch_up(collection, self._catch_up)
        self._tracking.flush()
        retriever, vector = self._serving.choose(query.text)
        routing = limbic.route(query.text)
        now = self._clock.now()

        def work(session: Session) -> SemanticResults:
            allowed = _allowed(session, collection, query)
            ranking = retriever.entities(session, collection, query.text, vector, allowed)
            hits = self._ranked(session, ranking, routing, now, query.limit)
            views = views_of(session, [hit.entity for hit in hits])
            texts = session.documents.texts([hit.candidate.best_document for hit in hits])
            return SemanticResults(
                tuple(
                    SemanticHit(view, hit.scoring, hit.candidate, texts.get(hit.candidate.best_document, ""))
                    for view, hit in zip(views, hits, strict=True)
                ),
                routing,
                ranking.hybrid,
                pending,
            )

        results = self._store.read(work)
        if query.track:
            self._tracking.opened([hit.view.entity.id for hit in results.hits])
        return results

    def _ranked(
        self, session: Session, ranking: Ranking, routing: limbic.Routing, now: Instant, limit: int
    ) -> list[_Ranked]:
        """The best of the pool. Candidates that cannot come among them any more are not looked at."""
        pool = ranking.candidates[:POOL]
        ids = [candidate.entity_id for candidate in pool]
        accesses = session.accesses.of(ids)
        context = ids[:CONTEXT]
        company = limbic.Company.of(session.accesses.together(ids, context), context, now, self._constants)
        ranker = _Ranker(limbic.Scale.of(accesses.values()), company, accesses, routing, now, self._constants)
        rest = ranker.by_promise(pool)
        best: list[_Ranked] = []
        aged = False
        while rest and (len(best) < limit or rest[0].most >= best[-1].scoring.score):
            if best and not aged and _old(best):
                # In an old memory all fall short of what they could reach when new.
                rest, aged = ranker.with_ages(session, rest), True
                continue
            block, rest = rest[:_BLOCK], rest[_BLOCK:]
            best = sorted([*best, *ranker.score(session, [each.candidate for each in block])], key=_order)[:limit]
        return best


@dataclass(frozen=True, slots=True)
class _Ranked:
    entity: Entity
    scoring: limbic.Scoring
    candidate: EntityCandidate


@dataclass(frozen=True, slots=True)
class _Promise:
    """`most`: the highest score that the candidate can have, as far as that is known without reading it."""

    most: float
    candidate: EntityCandidate


def _old(rows: Sequence[_Ranked]) -> bool:
    return max(row.scoring.temporal_factor for row in rows) < _YOUNG


def _order(row: _Ranked) -> tuple[float, int]:
    return -row.scoring.score, row.entity.id


@dataclass(frozen=True, slots=True)
class _Ranker:
    """Scores candidates of one search."""

    scale: limbic.Scale
    company: limbic.Company
    accesses: Mapping[int, Access]
    routing: limbic.Routing
    now: Instant
    constants: limbic.LimbicConstants

    def by_promise(self, candidates: Sequence[EntityCandidate]) -> list[_Promise]:
        """The candidates by what they may reach at most, the most promising first."""
        unread = limbic.use_of(0, None)
        usual = limbic.ceiling(unread, 0.0, self.scale, self.routing, self.constants)
        promises: list[_Promise] = []
        for each in candidates:
            read, boost = self.accesses.get(each.entity_id), self.company.boost(each.entity_id)
            most = usual
            if read is not None or boost:
                most = limbic.ceiling(limbic.use_of(0, read), boost, self.scale, self.routing, self.constants)
            promises.append(_Promise(each.relevance * most, each))
        return sorted(promises, key=lambda promise: -promise.most)

    def with_ages(self, session: Session, promises: Sequence[_Promise]) -> list[_Promise]:
        """The same with the time since the last use taken into account."""
        entities = session.entities.by_ids([each.candidate.entity_id for each in promises])
        exponent = limbic.ROUTING_EXPONENTS[self.routing]
        aged: list[_Promise] = []
        for each in promises:
            created_at = entities[each.candidate.entity_id].created_at
            use = limbic.use_of(created_at, self.accesses.get(each.candidate.entity_id))
            factor = limbic.temporal(limbic.Signals(use, created_at, 0), self.now, self.constants) ** exponent
            aged.append(_Promise(each.most * factor * _ROUNDING, each.candidate))
        return sorted(aged, key=lambda promise: -promise.most)

    def score(self, session: Session, candidates: Sequence[EntityCandidate]) -> list[_Ranked]:
        ids = [candidate.entity_id for candidate in candidates]
        entities = session.entities.by_ids(ids)
        degrees = session.edges.degrees(ids)
        metadata = session.observations.mostly_metadata(ids)
        return [
            self._score(entities[each.entity_id], each, degrees[each.entity_id], each.entity_id in metadata)
            for each in candidates
        ]

    def _score(self, entity: Entity, candidate: EntityCandidate, degree: int, metadata: bool) -> _Ranked:
        use = limbic.use_of(entity.created_at, self.accesses.get(entity.id))
        signals = limbic.Signals(use, entity.created_at, degree)
        scoring = limbic.combine(
            candidate.relevance,
            limbic.importance(signals, self.scale, self.constants),
            limbic.temporal(signals, self.now, self.constants),
            self.company.boost(entity.id),
            self.routing,
            limbic.STATUS_FACTORS.get(entity.status, 1.0),
            limbic.METADATA_FACTOR if metadata else 1.0,
            self.constants,
        )
        return _Ranked(entity, scoring, candidate)


def _allowed(session: Session, collection: int, query: SemanticQuery) -> set[int] | None:
    if query.entity_types is None and query.statuses is None:
        return None
    types = None if query.entity_types is None else [fold_case(each) for each in query.entity_types]
    return session.entities.matching(collection, types, query.statuses)
