"""The repositories over one connection."""

from __future__ import annotations

from evoca.domain.clock import Clock
from evoca.storage.connection import Connection, IdSource, Indexes
from evoca.storage.ledger import CounterIds, Ledger
from evoca.storage.repositories.accesses import AccessRepository
from evoca.storage.repositories.collections import CollectionRepository
from evoca.storage.repositories.documents import DocumentRepository
from evoca.storage.repositories.edge_rows import EdgeWriter
from evoca.storage.repositories.edges import EdgeRepository
from evoca.storage.repositories.entities import EntityRepository
from evoca.storage.repositories.episode_links import EnrichmentRepository, EpisodeLinkRepository, MergeRepository
from evoca.storage.repositories.episodes import EpisodeRepository
from evoca.storage.repositories.facts import FactRepository
from evoca.storage.repositories.incoming import IncomingRepository
from evoca.storage.repositories.keys import KeyRepository
from evoca.storage.repositories.metadata import MetadataRepository
from evoca.storage.repositories.observations import ObservationRepository
from evoca.storage.repositories.outgoing import OutgoingRepository
from evoca.storage.repositories.passages import DocumentWriter
from evoca.storage.repositories.reflections import ReflectionRepository
from evoca.storage.repositories.rows import RowRepository
from evoca.storage.repositories.substrings import SubstringRepository


class RepositorySession:
    """A session (see `storage.contract.Session`) that serves one transaction after another."""

    def __init__(self, connection: Connection, indexes: Indexes, clock: Clock, ids: IdSource | None = None) -> None:
        """`clock`: tells which edges are current."""
        self.ledger = Ledger(connection, indexes, ids or CounterIds(connection))
        writer = DocumentWriter(connection, self.ledger)
        self.collections = CollectionRepository(connection, self.ledger)
        edges = EdgeWriter(connection, self.ledger, writer)
        self.entities = EntityRepository(connection, self.ledger, writer, edges)
        self.observations = ObservationRepository(connection, self.ledger, writer)
        self.edges = EdgeRepository(connection, edges, clock)
        self.facts = FactRepository(connection, edges, clock)
        self.reflections = ReflectionRepository(connection, self.ledger, writer)
        self.episodes = EpisodeRepository(connection, self.ledger, writer)
        self.episode_links = EpisodeLinkRepository(connection, self.ledger)
        self.merges = MergeRepository(connection, self.ledger)
        self.enrichments = EnrichmentRepository(connection)
        self.documents = DocumentRepository(connection, indexes, self.ledger)
        self.substrings = SubstringRepository(connection, indexes, self.ledger)
        self.accesses = AccessRepository(connection)
        self.metadata = MetadataRepository(connection)
        self.keys = KeyRepository(connection)
        self.outgoing = OutgoingRepository(connection)
        self.incoming = IncomingRepository(connection, self.ledger, writer, edges)
        self.rows = RowRepository(connection, indexes, self.ledger, self.documents)
