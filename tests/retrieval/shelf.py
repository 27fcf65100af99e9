"""A store with entities by name, embedded when told, and asked by names."""

from __future__ import annotations

from collections.abc import Sequence

from evoca.domain.graph import NewEntity, NewObservation
from evoca.retrieval.embedders import Embedder
from evoca.retrieval.index import Limits, pack_vectors
from evoca.retrieval.ranking import EntityCandidate, Ranking, Retriever
from evoca.storage.contract import NewVector, Session, Store

NOW = 1_000_000


class Shelf:
    def __init__(self, store: Store, embedder: Embedder) -> None:
        self.store = store
        self.embedder = embedder
        self.retriever = Retriever(embedder)
        home = store.read(lambda session: session.collections.find("default"))
        assert home is not None
        self.home = home.id
        self.names: dict[int, str] = {}
        store.write(lambda session: session.documents.register_model(embedder.model_id, NOW))

    def put(self, name: str, *texts: str, entity_type: str = "Generic", collection: int | None = None) -> int:
        where = self.home if collection is None else collection

        def work(session: Session) -> int:
            (made,) = session.entities.insert(where, [NewEntity(name, entity_type)], NOW)
            session.observations.insert(where, [NewObservation(made, text) for text in texts], NOW)
            return made

        made = self.store.write(work)
        self.names[made] = name
        return made

    def add(self, entity: int, text: str) -> int:
        return self.store.write(lambda s: s.observations.insert(self.home, [NewObservation(entity, text)], NOW)[0])

    def embed(self, most: int = 1_000) -> int:
        """Give up to `most` pending documents their vectors; returns how many got one."""
        model = self.embedder.model_id
        batch = self.store.write(lambda s: s.documents.claim(model, most, "shelf", NOW, NOW + 1))
        packed = pack_vectors(self.embedder.embed_passages([document.text for document in batch]))
        rows = [NewVector(each.id, each.content_hash, vector) for each, vector in zip(batch, packed, strict=True)]
        return self.store.write(lambda s: s.documents.store_vectors(model, rows))

    def rank(
        self,
        query: str,
        *,
        by_meaning: bool = True,
        allowed: set[int] | None = None,
        retriever: Retriever | None = None,
        collection: int | None = None,
    ) -> Ranking:
        vector = self.embedder.embed_queries([query])[0] if by_meaning else None
        where = self.home if collection is None else collection
        ranker = retriever or self.retriever
        return self.store.read(lambda session: ranker.entities(session, where, query, vector, allowed))

    def found(self, query: str, *, by_meaning: bool = True) -> list[str]:
        return self.named(self.rank(query, by_meaning=by_meaning).candidates)

    def named(self, candidates: Sequence[EntityCandidate]) -> list[str]:
        return [self.names[candidate.entity_id] for candidate in candidates]

    def afresh(self, limits: Limits | None = None) -> Retriever:
        """A retriever that has read everything anew."""
        return Retriever(self.embedder, limits)
