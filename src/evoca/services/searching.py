"""Search by meaning and words, ranked by use, age and company (seed 000, `search_semantic`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evoca.domain import limbic
from evoca.domain.clock import Clock, Instant
from evoca.domain.graph import Entity
from evoca.services.indexing import IndexingService
from evoca.services.serving import Serving
from evoca.services.tracking import TrackingService
from evoca.services.views import EntityView, views_of
from evoca.storage.contract import Session, Store

if TYPE_CHECKING:
    from evoca.retrieval.ranking import EntityCandidate, Ranking

POOL = 200
"""The most relevant candidates, of which the best are shown. Fixed, so that scores do not depend on `limit`."""
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
            hits = self._ranked(session, ranking, routing, now)[: query.limit]
            views = views_of(session, [entity for entity, _, _ in hits])
            texts = session.documents.texts([candidate.best_document for _, _, candidate in hits])
            return SemanticResults(
                tuple(
                    SemanticHit(view, scoring, candidate, texts.get(candidate.best_document, ""))
                    for view, (_, scoring, candidate) in zip(views, hits, strict=True)
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
        self, session: Session, ranking: Ranking, routing: limbic.Routing, now: Instant
    ) -> list[tuple[Entity, limbic.Scoring, EntityCandidate]]:
        pool = ranking.candidates[:POOL]
        ids = [candidate.entity_id for candidate in pool]
        entities = session.entities.by_ids(ids)
        accesses = session.accesses.of(ids)
        degrees = session.edges.degrees(ids)
        metadata = session.observations.mostly_metadata(ids)
        signals = {
            id_: limbic.Signals(
                limbic.use_of(entity.created_at, accesses.get(id_)), entity.created_at, degrees.get(id_, 0)
            )
            for id_, entity in entities.items()
        }
        scale = limbic.Scale.of(list(signals.values()))
        company = limbic.Company.of(session.accesses.together(ids, ids[:CONTEXT]), ids[:CONTEXT], now, self._constants)
        ranked: list[tuple[Entity, limbic.Scoring, EntityCandidate]] = []
        for candidate in pool:
            entity = entities[candidate.entity_id]
            known = signals[entity.id]
            scoring = limbic.combine(
                candidate.relevance,
                limbic.importance(known, scale, self._constants),
                limbic.temporal(known, now, self._constants),
                company.boost(entity.id),
                routing,
                limbic.STATUS_FACTORS.get(entity.status, 1.0),
                limbic.METADATA_FACTOR if entity.id in metadata else 1.0,
                self._constants,
            )
            ranked.append((entity, scoring, candidate))
        ranked.sort(key=lambda row: (-row[1].score, row[0].id))
        return ranked


def _allowed(session: Session, collection: int, query: SemanticQuery) -> set[int] | None:
    if query.entity_types is None and query.statuses is None:
        return None
    return session.entities.matching(collection, query.entity_types, query.statuses)
