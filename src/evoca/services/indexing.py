"""Giving documents their vectors, in the background: one quiet thread a process, work that survives a kill.

Pending work is rows in the store. Any number of processes may work them off: a row is claimed for a while, and is
free again when its process died. Nothing is embedded inside a transaction.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from evoca.domain.clock import Clock, Instant
from evoca.errors import EvocaError, ModelUnavailable, StoreReadOnly
from evoca.services.duplicates import flag_similar
from evoca.services.embedding import Embedding
from evoca.storage.contract import NewVector, PendingDocument, Session, Store

if TYPE_CHECKING:
    from evoca.retrieval.embedders import Embedder

_LEASE: Instant = 60_000_000
_EDGES = 500
"""Edges of an older store that are indexed in one transaction."""
_NICENESS = 10
_POLL = 2.0
"""Seconds between looks for work that other processes left."""
SERVING_MODEL = "serving_model"
SERVING_SPEC = "serving_spec"
"""Metadata keys: the last model that had a vector for every document, and the setting that it is loaded by."""
_MODEL_KEY = "model_of:"
"""Metadata key, followed by the embedder setting: the model that it meant last. Spares loading it to look for work."""

State = Literal["off", "idle", "working", "unavailable", "failing"]


@dataclass(frozen=True, slots=True)
class IndexingStatus:
    """`pending`: documents without a vector. `problem`: why nothing is embedded, or empty."""

    state: State
    model: str | None
    pending: int
    problem: str


@dataclass(frozen=True, slots=True)
class Pace:
    """`batch` documents at a time; after each the thread rests for `rest` × the time that it took."""

    batch: int = 8
    rest: float = 0.5


class FollowUp(Protocol):
    """What is done when no document waits for its vector any more."""

    def due(self, model: str) -> bool: ...
    def work(self, embedder: Embedder) -> None:
        """Do some of it. Raises EvocaError."""
        ...


class IndexingService:
    """The background indexer of one process. Its thread starts with `start` and ends with `close`."""

    def __init__(
        self,
        store: Store,
        embedding: Embedding,
        follow_up: FollowUp,
        clock: Clock,
        owner: str,
        pace: Pace,
        report: Callable[[str, EvocaError], None],
    ) -> None:
        """`owner` names this process in leases; `report` is told of failures (an event, its error)."""
        self._store = store
        self._embedding = embedding
        self._follow_up = follow_up
        self._clock = clock
        self._owner = owner
        self._pace = pace
        self._report = report
        self._state: State = "off"
        self._problem = ""
        self._closing = threading.Event()
        self._wake = threading.Event()
        self._progress = threading.Condition()
        self._waiting = 0
        self._thread: threading.Thread | None = None
        self._registered = False
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the thread, once. It loads the model only when there is work for it.

        Without a model it is started only for edges of an older store, which have to be indexed by their words.
        """
        wanted = self._embedding.wanted or self._store.read(lambda session: session.facts.waiting()) > 0
        with self._lock:
            if self._thread is None and not self._closing.is_set() and wanted:
                self._thread = threading.Thread(target=self._run, name="evoca-indexer", daemon=True)
                self._thread.start()

    def wake(self) -> None:
        """There may be new work."""
        self._wake.set()

    def catch_up(self, collection: int, timeout: float, facts: bool = False) -> int:
        """Wait up to `timeout` seconds for the collection's pending documents; returns how many still wait.

        `facts`: for those of facts too, which come last.
        """
        embedder = self._embedding.load()
        self._register(embedder)
        deadline = time.monotonic() + timeout
        self.start()
        with self._progress:
            self._waiting += 1
        try:
            while True:
                pending = self._store.read(
                    lambda session: session.documents.pending(collection, embedder.model_id, facts)
                )
                left = deadline - time.monotonic()
                if not pending or left <= 0 or self._thread is None or not self._thread.is_alive():
                    return pending
                self._wake.set()
                with self._progress:
                    # Another process may hold the rows: look again even when this one makes no progress.
                    self._progress.wait(min(left, 0.05))
        finally:
            with self._progress:
                self._waiting -= 1

    def status(self, collection: int | None = None) -> IndexingStatus:
        """`collection`: the one whose backlog is asked for; None: the whole store's."""

        def work(session: Session) -> tuple[str | None, int]:
            model = self._model(session)
            return model, 0 if model is None else session.documents.pending(collection, model)

        model, pending = self._store.read(work)
        return IndexingStatus(self._state, model, pending, self._problem or self._embedding.problem)

    def models(self, session: Session) -> list[str]:
        """The models whose vectors count: the one in use, and the one that answers until that has caught up."""
        known = (self._model(session), session.metadata.get(SERVING_MODEL) if self._embedding.wanted else None)
        return [model for model in known if model is not None]

    def close(self) -> None:
        """Stop after the batch at hand."""
        with self._lock:
            self._closing.set()
            self._wake.set()
            thread = self._thread
        if thread is not None:
            thread.join(timeout=5)

    # -- the thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        _be_nice()
        self._state = "idle"
        while not self._closing.is_set():
            try:
                worked = self._index_edges()
                if not worked and not self._embedding.wanted:
                    self._state, self._problem = "off", ""
                    return
                worked = worked or self._round()
            except ModelUnavailable as error:
                self._state, self._problem = "unavailable", error.message
                self._report("embedding model not available", error)
                return
            except EvocaError as error:
                # The rows stay pending; a busy or full store may have recovered by the next look.
                self._state, self._problem = "failing", error.message
                self._report("indexing failed", error)
                worked = 0.0
            self._rest(worked)

    def _round(self) -> float:
        """Do one batch; returns the seconds it took, 0.0 when there was nothing to do."""
        if not self._has_work(facts=False):
            facts_wait = self._has_work(facts=True)
            if not facts_wait:
                self._serve()
            worked = self._enrich()
            if worked or not facts_wait:
                self._state, self._problem = "idle", ""
                return worked
        embedder = self._embedding.load()
        self._register(embedder)
        now = self._clock.now()
        batch = self._store.write(
            lambda session: session.documents.claim(embedder.model_id, self._pace.batch, self._owner, now, now + _LEASE)
        )
        if not batch:
            return 0.0
        self._state, self._problem = "working", ""
        began = time.monotonic()
        self._embed(embedder, batch)
        with self._progress:
            self._progress.notify_all()
        return time.monotonic() - began

    def _enrich(self) -> float:
        """Every memory has its vector: look at what stands around new ones. Returns the seconds it took."""
        model = self._store.read(self._model)
        if model is None or not self._follow_up.due(model):
            return 0.0
        embedder = self._embedding.load()
        self._register(embedder)
        self._state = "working"
        began = time.monotonic()
        self._follow_up.work(embedder)
        return time.monotonic() - began

    def _index_edges(self) -> float:
        """Index some edges of an older store by their words; returns the seconds it took, 0.0 when there are none."""
        if not self._store.read(lambda session: session.facts.waiting()):
            return 0.0
        began = time.monotonic()
        try:
            self._store.write(lambda session: session.facts.index_waiting(_EDGES))
        except StoreReadOnly:
            # They are found by their entities.
            return 0.0
        return time.monotonic() - began

    def _has_work(self, facts: bool) -> bool:
        def work(session: Session) -> bool:
            model = self._model(session)
            # What has loaded the model without searching has not made anything wait for it.
            if model is None or (self._embedding.model_id is not None and not self._registered):
                return session.documents.counter() > 0
            return session.documents.pending(None, model, facts) > 0

        return self._store.read(work)

    def _serve(self) -> None:
        """Nothing waits any more: from now on this model may answer alone."""
        model = self._embedding.model_id
        if not self._registered or model is None:
            return
        if self._store.read(lambda session: session.metadata.get(SERVING_MODEL)) == model:
            return

        def work(session: Session) -> None:
            session.metadata.set(SERVING_MODEL, model)
            session.metadata.set(SERVING_SPEC, self._embedding.spec)

        self._store.write(work)

    def _model(self, session: Session) -> str | None:
        """The model that this process uses, or meant when it was last loaded; None before that."""
        return self._embedding.model_id or session.metadata.get(_MODEL_KEY + self._embedding.spec)

    def _register(self, embedder: Embedder) -> None:
        """Once a process: every document without a vector of this model starts to wait for it."""
        if self._registered:
            return
        now = self._clock.now()

        def work(session: Session) -> None:
            session.documents.register_model(embedder.model_id, now)
            session.metadata.set(_MODEL_KEY + self._embedding.spec, embedder.model_id)

        # What cannot be written can be searched as far as it has vectors.
        with suppress(StoreReadOnly):
            self._store.write(work)
        self._registered = True

    def _embed(self, embedder: Embedder, batch: list[PendingDocument]) -> None:
        from evoca.retrieval.index import pack_vectors

        packed = pack_vectors(embedder.embed_passages([document.text for document in batch]))
        rows = [
            NewVector(document.id, document.content_hash, vector)
            for document, vector in zip(batch, packed, strict=True)
        ]

        def work(session: Session) -> None:
            session.documents.store_vectors(embedder.model_id, rows)
            flag_similar(session, embedder, [row.document_id for row in rows])

        self._store.write(work)

    def _rest(self, worked: float) -> None:
        if worked:
            if not self._waiting:
                self._closing.wait(worked * self._pace.rest)
            return
        self._wake.wait(_POLL)
        self._wake.clear()


def _be_nice() -> None:
    """Lower this thread's priority where threads have one of their own."""
    if sys.platform == "linux":
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        except OSError:
            # Not allowed here: the thread then runs at the process's priority.
            return
