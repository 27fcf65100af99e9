"""Search by meaning and words, ranked by use, age and company (seed 000, `search_semantic`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

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
_BLOCK = 16
"""Candidates that are scored together."""
_ROUNDING = 1 + 1e-9
"""Slack of a bound that is multiplied in another order than the score."""
_YOUNG = 0.97
"""Where even the freshest of the first has faded below this, reading the ages of all spares scoring them."""
CONTEXT = 30
"""The most relevant candidates that company is counted with (R in the contract's formula)."""


@dataclass(frozen=True, slots=True)
class SemanticQuery:
    """`entity_types`, `statuses`: only entities with one of them (types without regard to case).

    `texts`: whether the passage that fits best is wanted of each.
    """

    text: str
    limit: int = 10
    track: bool = True
    entity_types: tuple[str, ...] | None = None
    statuses: tuple[str, ...] | None = None
    texts: bool = False


@dataclass(frozen=True, slots=True)
class SemanticHit:
    """`best_text`: the passage of the entity that fits best; empty when texts were not wanted."""

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
            texts: dict[int, str] = {}
            if query.texts:
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
        """The best of the pool. What cannot come among them any more is not read."""
        pool = ranking.relevances(POOL)
        ids = [entity for entity, _relevance in pool]
        accesses = session.accesses.of(ids)
        context = ids[:CONTEXT]
        company = limbic.Company.of(session.accesses.together(ids, context), context, now, self._constants)
        scale = limbic.Scale.of(accesses.values())
        scorer = _Scorer(session, scale, company, accesses, routing, now, self._constants)
        best = scorer.best(scorer.by_promise(pool), limit)
        return [_Ranked(each.entity, each.scoring, ranking.candidate(each.place)) for each in best]


@dataclass(frozen=True, slots=True)
class _Ranked:
    entity: Entity
    scoring: limbic.Scoring
    candidate: EntityCandidate


class _Promise(NamedTuple):
    """`most`: the highest score that the candidate in this place can have, as far as is known without reading it."""

    most: float
    entity_id: int
    relevance: float
    place: int


@dataclass(frozen=True, slots=True)
class _Scored:
    """`sure`: its observations have been looked at; until then they count as knowledge, not as metadata."""

    entity: Entity
    degree: int
    relevance: float
    place: int
    scoring: limbic.Scoring
    sure: bool = False


def _by_score(each: _Scored) -> tuple[float, int]:
    return -each.scoring.score, each.entity.id


@dataclass(frozen=True, slots=True)
class _Scorer:
    """Scores the candidates of one search."""

    session: Session
    scale: limbic.Scale
    company: limbic.Company
    accesses: Mapping[int, Access]
    routing: limbic.Routing
    now: Instant
    constants: limbic.LimbicConstants

    def by_promise(self, pool: Sequence[tuple[int, float]]) -> list[_Promise]:
        """Candidates, (id, relevance), by what they may reach at most, the most promising first."""
        usual = self._ceiling(0, None)
        promises: list[_Promise] = []
        for place, (entity_id, relevance) in enumerate(pool):
            read = self.accesses.get(entity_id)
            plain = read is None and entity_id not in self.company.boosts
            most = usual if plain else self._ceiling(entity_id, read)
            promises.append(_Promise(relevance * most, entity_id, relevance, place))
        return sorted(promises, reverse=True)

    def best(self, rest: list[_Promise], limit: int) -> list[_Scored]:
        """The `limit` greatest scores, ties by id."""
        scored: list[_Scored] = []
        while True:
            scored, rest = self._fill(scored, rest, limit)
            unsure = [each for each in scored[:limit] if not each.sure]
            if not unsure:
                return scored[:limit]
            ids = [each.entity.id for each in unsure]
            metadata = self.session.observations.mostly_metadata(ids)
            sure = {
                each.entity.id: self._scored(each.entity, each, each.degree, metadata=each.entity.id in metadata)
                for each in unsure
            }
            scored = sorted((sure.get(each.entity.id, each) for each in scored), key=_by_score)

    def _fill(self, scored: list[_Scored], rest: list[_Promise], limit: int) -> tuple[list[_Scored], list[_Promise]]:
        """Score from `rest` what can still come among the first `limit` of `scored`."""
        aged = False
        while rest and (len(scored) < limit or rest[0].most >= scored[limit - 1].scoring.score):
            if scored and not aged and max(each.scoring.temporal_factor for each in scored) < _YOUNG:
                # In an old memory all fall short of what they could reach when new.
                rest, aged = self._with_ages(rest), True
                continue
            block, rest = rest[:_BLOCK], rest[_BLOCK:]
            ids = [each.entity_id for each in block]
            entities, degrees = self.session.entities.by_ids(ids), self.session.edges.degrees(ids)
            scored += [self._scored(entities[each.entity_id], each, degrees[each.entity_id], None) for each in block]
            scored.sort(key=_by_score)
        return scored, rest

    def _with_ages(self, promises: Sequence[_Promise]) -> list[_Promise]:
        """The same with the time since the last use taken into account."""
        entities = self.session.entities.by_ids([each.entity_id for each in promises])
        exponent = limbic.ROUTING_EXPONENTS[self.routing]
        aged: list[_Promise] = []
        for each in promises:
            created_at = entities[each.entity_id].created_at
            use = limbic.use_of(created_at, self.accesses.get(each.entity_id))
            factor = limbic.temporal(limbic.Signals(use, created_at, 0), self.now, self.constants) ** exponent
            aged.append(_Promise(each.most * factor * _ROUNDING, each.entity_id, each.relevance, each.place))
        return sorted(aged, reverse=True)

    def _ceiling(self, entity_id: int, read: Access | None) -> float:
        boost = self.company.boost(entity_id)
        return limbic.ceiling(limbic.use_of(0, read), boost, self.scale, self.routing, self.constants) * _ROUNDING

    def _scored(self, entity: Entity, found: _Promise | _Scored, degree: int, metadata: bool | None) -> _Scored:
        """`metadata` None: not known yet."""
        use = limbic.use_of(entity.created_at, self.accesses.get(entity.id))
        signals = limbic.Signals(use, entity.created_at, degree)
        scoring = limbic.combine(
            found.relevance,
            limbic.importance(signals, self.scale, self.constants),
            limbic.temporal(signals, self.now, self.constants),
            self.company.boost(entity.id),
            self.routing,
            limbic.STATUS_FACTORS.get(entity.status, 1.0),
            limbic.METADATA_FACTOR if metadata else 1.0,
            self.constants,
        )
        return _Scored(entity, degree, found.relevance, found.place, scoring, metadata is not None)


def _allowed(session: Session, collection: int, query: SemanticQuery) -> set[int] | None:
    if query.entity_types is None and query.statuses is None:
        return None
    types = None if query.entity_types is None else [fold_case(each) for each in query.entity_types]
    return session.entities.matching(collection, types, query.statuses)
