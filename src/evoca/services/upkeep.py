"""What needs care in a graph: duplicates inside an entity, and the report on everything (seed 000, tools 15 and 16)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from evoca.domain.clock import Clock, Instant
from evoca.domain.duplicates import Judged, clusters
from evoca.domain.graph import Access, Entity, Observation
from evoca.domain.limbic import use_of
from evoca.domain.splitting import is_diverse, split_score, threshold_for
from evoca.domain.text import nfc
from evoca.errors import EntityNotFound, StoreReadOnly
from evoca.services.duplicates import Thresholds, judge, match
from evoca.services.embedding import Embedding
from evoca.services.indexing import IndexingService
from evoca.services.tracking import TrackingService
from evoca.services.vectors import ObservationVectors, observation_vectors
from evoca.storage.contract import Session, Store

MOST_PAIRS = 1_000
"""So many pairs are shown, the strongest; all are counted, and all make clusters."""
FEW_USES = 2
"""An entity that was used more often is not stale, however long ago."""
ARCHIVED = "archivado"


@dataclass(frozen=True, slots=True)
class DuplicateReport:
    """`pairs`, `clusters`: by places in `observations`. `found`: how many pairs there are, shown or not.

    `waiting`: observations that have no vector yet and are compared by their words only.
    """

    entity: Entity
    observations: tuple[Observation, ...]
    pairs: tuple[Judged, ...]
    found: int
    clusters: tuple[tuple[int, ...], ...]
    waiting: int


@dataclass(frozen=True, slots=True)
class Crowded:
    """An entity above its threshold. `diverse`: it has at least two topics of at least two observations."""

    entity: Entity
    count: int
    threshold: int
    diverse: bool

    @property
    def score(self) -> float:
        return split_score(self.count, self.threshold)


@dataclass(frozen=True, slots=True)
class Stale:
    """An entity that nobody uses. `idle`: microseconds since it was last used, or made."""

    entity: Entity
    access: Access
    idle: Instant
    count: int


@dataclass(frozen=True, slots=True)
class ConsolidationReport:
    """`large`: every entity above its threshold, `splits` those of them that have topics to be split by.

    `stale`: those unused longest first. `flagged`: (entity name, observation).
    """

    entities: int
    observations: int
    large: tuple[Crowded, ...]
    flagged: tuple[tuple[str, Observation], ...]
    stale: tuple[Stale, ...]

    @property
    def splits(self) -> tuple[Crowded, ...]:
        return tuple(each for each in self.large if each.diverse)


class UpkeepService:
    """Looks after one store's graphs; changes nothing in them."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        embedding: Embedding,
        indexing: IndexingService,
        tracking: TrackingService,
        catch_up: float,
    ) -> None:
        """`catch_up`: how many seconds the search for duplicates waits for texts that have no vector yet."""
        self._store = store
        self._clock = clock
        self._embedding = embedding
        self._indexing = indexing
        self._tracking = tracking
        self._catch_up = catch_up

    def duplicates(self, collection: int, name: str, thresholds: Thresholds) -> DuplicateReport:
        """Pairs of observations of one entity that say the same, the strongest first, by their stored vectors.

        Raises EntityNotFound, ModelUnavailable.
        """
        self._store.read(lambda session: _known(session, collection, name))
        embedder = self._embedding.load()
        with suppress(StoreReadOnly):
            self._indexing.catch_up(collection, self._catch_up)

        def work(session: Session) -> tuple[Entity, list[Observation], ObservationVectors]:
            entity = _known(session, collection, name)
            rows = session.observations.of([entity.id])[entity.id]
            return entity, rows, observation_vectors(session, embedder, [row.id for row in rows])

        entity, rows, vectors = self._store.read(work)
        texts = [row.content for row in rows]
        found = match(texts, vectors, embedder.calibration, thresholds)
        groups = clusters(len(rows), zip(found.first.tolist(), found.second.tolist(), strict=True))
        return DuplicateReport(
            entity,
            tuple(rows),
            tuple(judge(texts, found.strongest(MOST_PAIRS))),
            len(found),
            tuple(tuple(group) for group in groups),
            int((~vectors.known).sum()),
        )

    def report(self, collection: int, stale_after: Instant) -> ConsolidationReport:
        """What there is to consolidate. `stale_after`: microseconds without use that make an entity stale."""
        self._tracking.flush()
        now = self._clock.now()

        def work(session: Session) -> _Everything:
            entities = session.entities.page(collection)
            counts = session.observations.counts(collection)
            uses = session.accesses.of([entity.id for entity in entities])
            flagged = session.observations.flagged(collection)
            large = [entity.id for entity in entities if counts.get(entity.id, 0) > threshold_for(entity.entity_type)]
            return _Everything(entities, counts, uses, flagged, session.observations.texts_of(large))

        # What takes long is done after the snapshot is given back.
        return self._store.read(work).report(now, stale_after)


def _known(session: Session, collection: int, name: str) -> Entity:
    entity = session.entities.resolve(collection, [name]).get(nfc(name))
    if entity is None:
        raise EntityNotFound(name)
    return entity


@dataclass(frozen=True, slots=True)
class _Everything:
    """A snapshot of what the report is made of. `texts`: of the entities above their thresholds."""

    entities: list[Entity]
    counts: dict[int, int]
    uses: dict[int, Access]
    flagged: list[Observation]
    texts: dict[int, list[str]]

    def report(self, now: Instant, stale_after: Instant) -> ConsolidationReport:
        large = [
            Crowded(
                entity,
                self.counts[entity.id],
                threshold_for(entity.entity_type),
                is_diverse(self.texts[entity.id], entity.name),
            )
            for entity in self.entities
            if entity.id in self.texts
        ]
        names = {entity.id: entity.name for entity in self.entities}
        return ConsolidationReport(
            len(self.entities),
            sum(self.counts.values()),
            tuple(large),
            tuple((names[row.entity_id], row) for row in self.flagged),
            tuple(self._stale(now, stale_after)),
        )

    def _stale(self, now: Instant, stale_after: Instant) -> list[Stale]:
        found: list[Stale] = []
        for entity in self.entities:
            count = self.counts.get(entity.id, 0)
            access = use_of(entity.created_at, self.uses.get(entity.id))
            used = entity.created_at if access.last_access is None else access.last_access
            # What was changed lately is not stale, though nobody has read it.
            untouched = now - max(used, entity.updated_at)
            if count and untouched > stale_after and access.count <= FEW_USES and entity.status != ARCHIVED:
                found.append(Stale(entity, access, now - used, count))
        found.sort(key=lambda each: (-each.idle, each.entity.id))
        return found
