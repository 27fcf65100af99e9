"""What the memory holds and how it is."""

from __future__ import annotations

from dataclasses import dataclass

from evoca import __version__
from evoca.services.indexing import IndexingService, IndexingStatus
from evoca.storage.contract import Session, Store


@dataclass(frozen=True, slots=True)
class MemoryStatus:
    """Counts and backlog are the collection's, live things only; `size` is the whole store's, in bytes."""

    version: str
    store: str
    collection: str
    entities: int
    observations: int
    relations: int
    reflections: int
    indexing: IndexingStatus
    size: int


class StatusService:
    """Cheap enough to ask for at any time; `Store.check` looks deeper."""

    def __init__(self, store: Store, indexing: IndexingService) -> None:
        self._store = store
        self._indexing = indexing

    def status(self, collection: int) -> MemoryStatus:
        def work(session: Session) -> tuple[str, int, int, int, int]:
            return (
                session.collections.code(collection),
                session.entities.count(collection),
                session.observations.count(collection),
                session.edges.count(collection),
                session.reflections.count(collection),
            )

        code, entities, observations, relations, reflections = self._store.read(work)
        return MemoryStatus(
            version=__version__,
            store=self._store.location,
            collection=code,
            entities=entities,
            observations=observations,
            relations=relations,
            reflections=reflections,
            indexing=self._indexing.status(collection),
            size=self._store.size(),
        )
