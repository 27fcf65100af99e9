"""Which model answers searches, and its index."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from evoca.errors import ModelUnavailable
from evoca.services.embedding import Embedding
from evoca.services.indexing import SERVING_MODEL, SERVING_SPEC
from evoca.storage.contract import Session, Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoca.retrieval.ranking import Retriever


class Serving:
    """Which model answers: the one that is set, or the former one until every document but facts has its new vector."""

    def __init__(self, store: Store, embedding: Embedding) -> None:
        self._store = store
        self._wanted = _Leg(embedding)
        self._former: _Leg | None = None
        self._settled = False

    def choose(self, query: str) -> tuple[Retriever, NDArray[np.float32]]:
        """The retriever and the query's vector, of one and the same model. Raises ModelUnavailable."""
        leg = self._leg()
        return leg.retriever(), leg.embedding.query(query)

    def wanted(self) -> Retriever:
        """The retriever of the model that is set, as far as it has come. Raises ModelUnavailable."""
        return self._wanted.retriever()

    def _leg(self) -> _Leg:
        if self._settled:
            return self._wanted
        wanted = self._wanted.embedding.load().model_id

        def work(session: Session) -> tuple[int, str | None, str | None]:
            waiting = session.documents.pending(None, wanted, facts=False)
            return waiting, session.metadata.get(SERVING_MODEL), session.metadata.get(SERVING_SPEC)

        waiting, model, spec = self._store.read(work)
        if not waiting or model is None or spec is None or model == wanted:
            self._settled = not waiting
            return self._wanted
        return self._former_leg(model, spec) or self._wanted

    def _former_leg(self, model: str, spec: str) -> _Leg | None:
        if self._former is None:
            self._former = _Leg(self._wanted.embedding.another(spec))
        try:
            usable = self._former.embedding.load().model_id == model
        except ModelUnavailable:
            # Gone with its package: the new model serves as far as it has come, and words for the rest.
            return None
        return self._former if usable else None


class _Leg:
    """A model and its index."""

    def __init__(self, embedding: Embedding) -> None:
        self.embedding = embedding
        self._retriever: Retriever | None = None
        self._lock = threading.Lock()

    def retriever(self) -> Retriever:
        with self._lock:
            if self._retriever is None:
                from evoca.retrieval.ranking import Retriever

                self._retriever = Retriever(self.embedding.load())
            return self._retriever
