"""Opens the store, the clock, the model and the services at first need; closes them."""

from __future__ import annotations

import sys
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from evoca.domain.clock import Clock, ShiftedClock, SystemClock
from evoca.domain.tenancy import DEFAULT_COLLECTION_ID, LOCAL, Caller
from evoca.errors import EvocaError, InvalidInput, ShuttingDown, StoreReadOnly
from evoca.operations.base import Operation, select
from evoca.operations.catalogue import CATALOGUE
from evoca.settings import DEFAULT_COLLECTION, Settings

if TYPE_CHECKING:
    from evoca.domain.limbic import LimbicConstants
    from evoca.services import Services
    from evoca.storage.contract import Session, Store


def announce_on_stderr(message: str) -> None:
    """Tell the person who started the process."""
    sys.stderr.write(f"evoca: {message}\n")
    sys.stderr.flush()


class Runtime:
    """One process's memory. Making it costs nothing: the store is opened by the first call. Thread-safe."""

    def __init__(
        self, settings: Settings, clock: Clock | None = None, announce: Callable[[str], None] = announce_on_stderr
    ) -> None:
        self.settings = settings
        self.catalogue: tuple[Operation, ...] = select(CATALOGUE, settings.toolsets)
        self._clock = clock or (SystemClock() if settings.now is None else ShiftedClock(settings.now))
        self._announce = announce
        self._lock = threading.Lock()
        self._services: Services | None = None
        self._store: Store | None = None
        self._closed = False

    def call(self, operation: Operation, raw: Mapping[str, object], caller: Caller = LOCAL) -> Mapping[str, object]:
        """Do one operation; blocks. Raises EvocaError, or `Cancelled` when its caller gave up before the commit."""
        services = self.services().by(caller)
        try:
            result = operation.call(services, raw)
        except EvocaError as error:
            if not caller.owns_store:
                error.conceal(self.store.location)
            raise
        if not operation.hints.read_only:
            services.indexing.wake()
        return result

    def services(self) -> Services:
        """The open services. Raises StoreError or Unavailable when the store cannot be opened; may be tried again."""
        with self._lock:
            if self._closed:
                raise ShuttingDown("Evoca is ending", "Start it again.")
            if self._services is None:
                self._services = self._open()
            return self._services

    def graph_version(self, caller: Caller = LOCAL) -> int:
        """A number that grows with every committed change, by any process, of the graph that `read_graph` gives.

        Raises NotFound when the caller has no collection to read where none is named.
        """
        collection = self.services().by(caller).within(None).collection
        return self.store.read(lambda session: session.collections.graph_version(collection))

    def authenticate(self, secret: str) -> Caller | None:
        """Whose API key this is; None when it is no key in force."""
        return self.services().keys.authenticate(secret)

    def keys_in_place(self) -> bool:
        """Whether a key was ever made: then nobody may come in from outside without one."""
        return self.services().keys.in_place()

    @property
    def store(self) -> Store:
        """The open store."""
        self.services()
        assert self._store is not None  # noqa: S101 - services() has opened it
        return self._store

    def close(self) -> None:
        """Finish what was taken, then close. Idempotent; later calls raise ShuttingDown."""
        with self._lock:
            self._closed = True
            services, store = self._services, self._store
            self._services = self._store = None
        if services is not None:
            services.indexing.close()
            services.tracking.close()
        if store is not None:
            store.close()

    def _open(self) -> Services:
        from evoca.storage import open_store
        from evoca.storage.copying import refuse_unfinished

        if self._store is None:
            store = open_store(self.settings.store_location, clock=self._clock, busy_timeout=self.settings.busy_timeout)
            try:
                refuse_unfinished(store)
            except BaseException:
                store.close()
                raise
            self._store = store
        services = self._assemble(self._store, self._collection(self._store))
        self._import_memory_file(services)
        if self.settings.indexer:
            services.indexing.start()
        return services

    def _collection(self, store: Store) -> int:
        code = self.settings.collection
        if code == DEFAULT_COLLECTION:
            return DEFAULT_COLLECTION_ID
        found = store.read(lambda session: session.collections.find(code))
        if found is not None:
            return found.id
        now = self._clock.now()

        def make(session: Session) -> int:
            there = session.collections.find(code)
            return (there or session.collections.create(code, code, "", now)).id

        return store.write(make)

    def _assemble(self, store: Store, collection: int) -> Services:
        from evoca.services import Services
        from evoca.services.collections import CollectionService
        from evoca.services.editing import EditingService
        from evoca.services.embedding import Embedding
        from evoca.services.enriching import EnrichingService
        from evoca.services.entity_names import SimilarNames
        from evoca.services.episode_links import EpisodeLinkService
        from evoca.services.episode_upkeep import EpisodeUpkeepService
        from evoca.services.episodes import EpisodeService
        from evoca.services.exporting import ExportService
        from evoca.services.fact_recall import FactRecallService
        from evoca.services.forgetting import ForgettingService
        from evoca.services.graph import GraphService
        from evoca.services.importing import ImportService
        from evoca.services.indexing import IndexingService, Pace
        from evoca.services.judging import Judging
        from evoca.services.keys import KeyService
        from evoca.services.reading import ReadingService
        from evoca.services.recalling import RecallService
        from evoca.services.reflections import ReflectionService
        from evoca.services.remembering import RememberingService
        from evoca.services.searching import SearchService
        from evoca.services.serving import Serving
        from evoca.services.splitting import SplittingService
        from evoca.services.status import StatusService
        from evoca.services.tracking import TrackingService
        from evoca.services.traits import Traits
        from evoca.services.transfer import TransferService
        from evoca.services.upkeep import UpkeepService
        from evoca.services.walking import EdgeTables, WalkingService

        settings, clock = self.settings, self._clock
        transfer = TransferService(store, clock, settings.limits)
        embedding = Embedding(settings)
        tracking = TrackingService(store, clock, lambda error: self._report("use not recorded", error))
        serving, traits, owner = Serving(store, embedding), Traits(), uuid.uuid4().hex
        edges, names = EdgeTables(), SimilarNames()
        indexing = IndexingService(
            store,
            embedding,
            EnrichingService(store, clock, serving, traits, owner, Judging(settings.judge, self._report)),
            clock,
            owner=owner,
            pace=Pace(settings.indexer_batch, settings.indexer_rest),
            report=self._report,
        )
        return Services(
            collection=collection,
            caller=LOCAL,
            collections=CollectionService(store, clock),
            keys=KeyService(store, clock, tracking.presented),
            limits=settings.limits,
            track=settings.track,
            graph=GraphService(store, clock),
            reading=ReadingService(store),
            editing=EditingService(store, clock),
            reflections=ReflectionService(store, clock, serving, indexing, settings.catch_up),
            status=StatusService(store, indexing),
            splitting=SplittingService(store, clock, embedding, indexing, settings.catch_up),
            upkeep=UpkeepService(store, clock, embedding, indexing, tracking, settings.catch_up),
            search=SearchService(store, clock, serving, indexing, tracking, _limbic(settings), settings.catch_up),
            transfer=transfer,
            exporting=ExportService(store, clock),
            importing=ImportService(store, transfer),
            episodes=EpisodeService(store, clock, indexing),
            recall=RecallService(store, clock, serving, indexing, tracking, traits, settings.catch_up),
            episode_links=EpisodeLinkService(store, clock, tracking),
            forgetting=ForgettingService(store, clock, indexing, tracking),
            episode_upkeep=EpisodeUpkeepService(store, clock, embedding, indexing, tracking),
            facts=RememberingService(store, clock, settings.single_valued),
            fact_recall=FactRecallService(store, clock, serving, indexing, edges, names, settings.catch_up),
            walking=WalkingService(store, clock, edges, names),
            tracking=tracking,
            embedding=embedding,
            indexing=indexing,
        )

    def _import_memory_file(self, services: Services) -> None:
        path = self.settings.memory_path
        if path is None:
            return
        try:
            report = services.transfer.import_once(services.collection, path)
        except (InvalidInput, StoreReadOnly) as error:
            self._announce(f"MEMORY_FILE_PATH was not imported: {error.message}")
            return
        if report is None:
            self._announce(f"{path} was imported before and has not changed; it is never written")
            return
        self._announce(
            f"imported {path} (never written): {report.entities} entities and {report.relations} relations new or "
            f"changed, {report.unchanged} unchanged, {report.skipped} lines skipped, {report.errors} errors"
        )
        for remark in report.details[:20]:
            self._announce(f"  line {remark.line}: {remark.reason}")

    def _report(self, event: str, error: EvocaError) -> None:
        from evoca.logs import get_logger

        get_logger().warning(event, error=type(error).__name__, message=error.message)


def _limbic(settings: Settings) -> LimbicConstants:
    from evoca.domain.limbic import LimbicConstants

    return LimbicConstants(
        beta_salience=settings.limbic_beta_salience,
        beta_degree=settings.limbic_beta_degree,
        alpha_consolidation=settings.limbic_alpha_consolidation,
        max_degree=settings.limbic_max_degree,
        decay=settings.limbic_decay,
        floor=settings.limbic_floor,
        gamma=settings.limbic_gamma,
    )
