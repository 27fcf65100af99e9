"""What an engine offers: short reads, atomic writes, and one repository per aggregate.

A unit of work is a function of a session. `Store.write` runs it inside one transaction that also may
hold other callers' work (group commit): it is answered after the commit, and it may be run **again**
when the group has to be repeated, so it must not do anything but use its session. `Store.read` runs
it on a snapshot and never waits for a writer. Both block the calling thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoca.domain.clock import Instant
    from evoca.domain.graph import (
        Access,
        CoOccurrence,
        Edge,
        Entity,
        NewEdge,
        NewEntity,
        NewObservation,
        Observation,
    )
    from evoca.domain.reflections import NewReflection, Reflection
    from evoca.storage.episode_contract import Enrichments, EpisodeLinks, Episodes, Merges
    from evoca.storage.fact_contract import Facts
    from evoca.storage.tenancy_contract import Collections, Keys
    from evoca.storage.transfer_contract import Incoming, Outgoing, Rows

T = TypeVar("T")


class OwnerKind(IntEnum):
    """What a document belongs to. The numbers are stored."""

    ENTITY = 1
    OBSERVATION = 2
    REFLECTION = 3
    EPISODE = 4
    FACT = 5


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A passage to index: `text` stands in its owner's text from character `begin` on.

    `part` counts the owner's documents from 0, `more` those that follow this one.
    """

    owner_kind: OwnerKind
    owner_id: int
    entity_id: int
    text: str
    part: int = 0
    begin: int = 0
    more: int = 0


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as the in-process index keeps it. `language`: 0 unknown, 1 Spanish, 2 English.

    `length`: its lexical terms. `vector`: raw unit float16 bytes of the asked model, None while pending.
    """

    id: int
    collection_id: int
    owner_kind: int
    owner_id: int
    entity_id: int
    language: int
    length: int
    vector: bytes | None


@dataclass(frozen=True, slots=True)
class DocumentChanges:
    """What changed between two values of the change counter: rows to put, ids to drop.

    `complete`: `rows` are all documents, and what else is known must go. So it is when `since` is 0, older
    than the tombstones that are kept, or newer than the store (which was put back from a copy).
    """

    counter: int
    rows: Sequence[DocumentRow]
    removed: Sequence[int]
    complete: bool = False


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """A document that waits for its vector; `content_hash` must still match when it is written back."""

    id: int
    content_hash: bytes
    text: str


@dataclass(frozen=True, slots=True)
class NewVector:
    document_id: int
    content_hash: bytes
    vector: bytes


class Entities(Protocol):
    def by_names(self, collection: int, names: Iterable[str]) -> dict[str, Entity]:
        """Exact NFC names → entities; unknown names are absent."""
        ...

    def resolve(self, collection: int, names: Iterable[str]) -> dict[str, Entity]:
        """As `by_names`, and by former names too, where no entity has the name now. Keys are the asked names."""
        ...

    def alike(self, collection: int, names: Iterable[str]) -> dict[str, list[Entity]]:
        """Asked name → the entities whose names are equal to it but for case, by id; absent when there is none.

        Where no name is, former names count.
        """
        ...

    def names(self, collection: int) -> list[tuple[int, str]]:
        """Every entity's id and name, by id."""
        ...

    def rename(self, entity: int, name: str, at: Instant) -> None:
        """Give an entity another name, which no other has; the old one becomes an alias, the indexes follow."""
        ...

    def aliases(self, entity: int) -> list[str]:
        """An entity's former names, oldest first."""
        ...

    def add_aliases(self, collection: int, entity: int, names: Sequence[str], at: Instant) -> None:
        """Make names lead to an entity; they stop leading to another."""
        ...

    def by_ids(self, ids: Iterable[int]) -> dict[int, Entity]: ...
    def page(self, collection: int, offset: int = 0, limit: int | None = None) -> list[Entity]:
        """In order of insertion (id)."""
        ...

    def count(self, collection: int) -> int: ...
    def matching(self, collection: int, types: Sequence[str] | None, statuses: Sequence[str] | None) -> set[int]:
        """Ids of entities with one of the types (NFC and casefolded) and one of the statuses; None: any."""
        ...

    def insert(self, collection: int, rows: Sequence[NewEntity], at: Instant) -> list[int]:
        """New ids in order; the names must not exist. Indexes the name and type (document + substring)."""
        ...

    def update(self, entity: int, entity_type: str, status: str, at: Instant) -> None:
        """Set type and status; the indexes follow."""
        ...

    def touch(self, ids: Iterable[int], at: Instant) -> None: ...
    def delete(self, ids: Sequence[int]) -> None:
        """Remove entities with their observations, edges, access, co-occurrences, documents and index rows."""
        ...


class Observations(Protocol):
    def of(
        self, entities: Iterable[int], include_superseded: bool = False, kinds: Sequence[str] | None = None
    ) -> dict[int, list[Observation]]:
        """entity id → its observations in order of insertion; every asked id is a key."""
        ...

    def texts_of(self, entities: Iterable[int]) -> dict[int, list[str]]:
        """entity id → its live texts, in order; every asked id is a key. The fast path of plain reads."""
        ...

    def mostly_metadata(self, entities: Iterable[int]) -> set[int]:
        """Those whose live observations are by more than half of kind `metadata`."""
        ...

    def find(self, entity: int, contents: Iterable[str]) -> dict[str, int]:
        """Live observations with exactly these texts: text → id."""
        ...

    def by_ids(self, ids: Iterable[int]) -> dict[int, Observation]: ...
    def insert(self, collection: int, rows: Sequence[NewObservation], at: Instant) -> list[int]:
        """New ids in order. Indexes each text (documents per passage + substring)."""
        ...

    def move(self, ids: Sequence[int], entity: int) -> None:
        """Give observations, live or superseded, to another entity; ids, kinds, times stay, the indexes follow."""
        ...

    def rewrite(self, collection: int, observation: int, content: str, kind: str) -> None:
        """Change a live observation's text and kind; it keeps its id, the indexes follow."""
        ...

    def supersede(self, observation: int, at: Instant) -> None:
        """Mark as replaced and take it out of the indexes."""
        ...

    def delete(self, ids: Sequence[int]) -> None: ...
    def count(self, collection: int) -> int:
        """Live observations."""
        ...

    def counts(self, collection: int) -> dict[int, int]:
        """entity id → its live observations; entities without any are absent."""
        ...

    def flag(self, ids: Iterable[int]) -> None:
        """Mark as similar to another observation of the same entity."""
        ...

    def flagged(self, collection: int) -> list[Observation]:
        """Live observations that are marked as similar, by id."""
        ...


class Edges(Protocol):
    def active(
        self, collection: int, keys: Iterable[tuple[int, str, int]], upcoming: bool = False
    ) -> dict[tuple[int, str, int], Edge]:
        """(subject id, predicate, object id) → the edge that is current now; absent when there is none.

        `upcoming`: else the next that will be, which stands in the way of a new one.
        """
        ...

    def touching(self, entities: Iterable[int], include_ended: bool = False) -> list[Edge]:
        """Entity-to-entity edges with at least one end among the entities, each once, by id; those current now.

        `include_ended`: all, also those that begin in the future.
        """
        ...

    def all(self, collection: int, include_ended: bool = False) -> list[Edge]:
        """As `touching`, of the whole collection."""
        ...

    def insert(self, collection: int, rows: Sequence[NewEdge], at: Instant) -> list[int]:
        """New ids in order; of each triple at most one may be open (without an end). Indexes each (a document)."""
        ...

    def by_ids(self, ids: Iterable[int]) -> dict[int, Edge]:
        """Entity-to-entity edges, ended ones too; unknown ids are absent."""
        ...

    def repoint(self, edge: int, subject: int, target: int) -> None:
        """Let an entity-to-entity edge join other entities; no equal one may be open. The indexes follow."""
        ...

    def adopt_values(self, old: int, new: int) -> None:
        """Give the facts with literal values of one entity to another; those that it has already go."""
        ...

    def end(self, ids: Iterable[int], at: Instant) -> None:
        """End those that are not over at that time; they stay as history."""
        ...

    def delete(self, ids: Sequence[int]) -> None: ...
    def count(self, collection: int) -> int:
        """Entity-to-entity edges that are current now."""
        ...

    def degrees(self, entities: Iterable[int]) -> dict[int, int]:
        """Open edges at each entity; a `contiene`/`parte_de` pair counts once. Every asked id is a key."""
        ...


class Reflections(Protocol):
    def insert(self, collection: int, row: NewReflection, at: Instant) -> int:
        """The new id. Indexes the content (documents per passage)."""
        ...

    def by_ids(self, ids: Iterable[int]) -> dict[int, Reflection]: ...
    def about(self, target_type: str, targets: Iterable[int]) -> dict[int, list[Reflection]]:
        """target id → its reflections, in order; every asked id is a key."""
        ...

    def matching(self, collection: int, author: str | None, mood: str | None, target_type: str | None) -> set[int]:
        """Ids of those with this author, mood and target type; None: any."""
        ...

    def relations_at(self, entities: Iterable[int]) -> list[int]:
        """The edges at these entities that something is said of."""
        ...

    def release(self, target_type: str, targets: Sequence[tuple[int, str]]) -> None:
        """What was said of these targets (id, name) becomes global and remembers their names."""
        ...

    def move(self, old: int, new: int) -> None:
        """What was said of one entity is said of another."""
        ...

    def count(self, collection: int) -> int: ...


class Documents(Protocol):
    def counter(self) -> int:
        """The change counter: grows with every committed change of documents or vectors."""
        ...

    def changes(self, since: int, model: str | None) -> DocumentChanges:
        """Documents changed after `since` (0: all), with the model's vectors (None: without)."""
        ...

    def changed_ids(self, since: int) -> Sequence[tuple[int, int]] | None:
        """Spans of ids (first, last), ascending, in which documents have changed after `since`; None: not known."""
        ...

    def postings(
        self, collection: int, terms: Sequence[Sequence[str]], span: tuple[int, int] | None = None
    ) -> list[NDArray[np.int64]]:
        """For each term (a sequence of alternatives): the ids of the documents that hold it, ascending.

        `span`: only ids from the first to the last of these.
        """
        ...

    def texts(self, ids: Iterable[int]) -> dict[int, str]:
        """document id → its passage."""
        ...

    def vectors(self, ids: Sequence[int], model: str) -> dict[int, bytes]:
        """document id → raw unit float16 bytes; without one it is absent."""
        ...

    def of_owners(self, owners: Iterable[int], model: str | None) -> list[DocumentRow]:
        """The documents of these owners with the model's vectors, by id; an owner may have several, or none."""
        ...

    def embedded(self, owners: Iterable[int], models: Iterable[str]) -> set[int]:
        """The owners that have a vector of one of these models for each of their documents."""
        ...

    def owners(self, ids: Iterable[int], kind: OwnerKind) -> dict[int, int]:
        """owner id → entity id, for the owners of this kind that these documents belong to."""
        ...

    def pending(self, collection: int | None, model: str, facts: bool = True) -> int:
        """How many documents wait for the model's vector; with those of facts or without."""
        ...

    def register_model(self, model: str, at: Instant) -> int:
        """Make the model known; every document without its vector becomes pending. Returns how many wait."""
        ...

    def claim(self, model: str, limit: int, owner: str, now: Instant, until: Instant) -> list[PendingDocument]:
        """Take up to `limit` pending documents that nobody holds a live lease on, newest first, facts last."""
        ...

    def store_vectors(self, model: str, rows: Sequence[NewVector]) -> int:
        """Write vectors whose content hash still matches; returns how many. Their pending rows go."""
        ...

    def release(self, owner: str) -> None:
        """Give up this owner's leases."""
        ...


class Substrings(Protocol):
    def entities(self, collection: int, needle: str) -> list[int]:
        """Ids, ascending, of entities whose name, type or a live observation contains `needle`.

        Both sides are NFC and casefolded (`domain.text.fold_case`); accents count; no wildcards;
        an empty needle finds all.
        """
        ...


class Accesses(Protocol):
    def of(self, entities: Iterable[int]) -> dict[int, Access]:
        """entity id → its use; entities never used are absent."""
        ...

    def together(self, entities: Iterable[int], context: Iterable[int]) -> list[CoOccurrence]:
        """Co-occurrences between a member of `entities` and one of `context`."""
        ...

    def record(self, entities: Sequence[int], at: Instant, pairs: bool) -> None:
        """One use of each entity (existing ones only), and of each pair of them if `pairs`."""
        ...

    def merge(self, old: int, new: int) -> None:
        """Add one entity's use and company to another's."""
        ...


class Metadata(Protocol):
    def get(self, key: str) -> str | None: ...
    def set(self, key: str, value: str) -> None: ...


class Session(Protocol):
    """The repositories, bound to one transaction. Writing methods work in `Store.write` only."""

    @property
    def collections(self) -> Collections: ...
    @property
    def entities(self) -> Entities: ...
    @property
    def observations(self) -> Observations: ...
    @property
    def edges(self) -> Edges: ...
    @property
    def facts(self) -> Facts: ...
    @property
    def keys(self) -> Keys: ...
    @property
    def reflections(self) -> Reflections: ...
    @property
    def episodes(self) -> Episodes: ...
    @property
    def episode_links(self) -> EpisodeLinks: ...
    @property
    def merges(self) -> Merges: ...
    @property
    def enrichments(self) -> Enrichments: ...
    @property
    def documents(self) -> Documents: ...
    @property
    def substrings(self) -> Substrings: ...
    @property
    def accesses(self) -> Accesses: ...
    @property
    def metadata(self) -> Metadata: ...
    @property
    def outgoing(self) -> Outgoing: ...
    @property
    def incoming(self) -> Incoming: ...
    @property
    def rows(self) -> Rows: ...


class Cancellation:
    """One caller's wish to stop. Before the commit it undoes the work; afterwards it has no effect."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._committing = False

    def cancel(self) -> bool:
        """Ask to stop. True when the work will leave nothing; False when it is being committed."""
        with self._lock:
            if self._committing:
                return False
            self._cancelled = True
            return True

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def seal(self) -> bool:
        """Called by the engine before COMMIT: False when the caller has asked to stop."""
        with self._lock:
            self._committing = not self._cancelled
            return self._committing


class Cancelled(Exception):
    """The caller asked to stop before the commit: nothing was written. Not an error to show."""


cancellation: ContextVar[Cancellation | None] = ContextVar("evoca_cancellation", default=None)
"""The current call's cancellation; a surface sets it, `Store.write` reads it."""


class Store(Protocol):
    """An open store. Thread-safe. Errors: see `evoca.errors` (Unavailable and StoreError branches)."""

    @property
    def location(self) -> str:
        """The absolute path, or the URL without its password."""
        ...

    def read(self, work: Callable[[Session], T]) -> T: ...
    def write(self, work: Callable[[Session], T]) -> T: ...
    def check(self) -> Mapping[str, str]:
        """Health: `integrity`, `schema_version`, `journal_mode`, sizes."""
        ...

    def size(self) -> int:
        """Bytes on disk."""
        ...

    def compact(self) -> None:
        """Give disk space back and leave nothing of what was deleted in the store's files. Others may go on.

        Raises StoreReadOnly, StoreFull, or StoreBusy when others keep what is needed for the whole bounded wait.
        """
        ...

    def close(self) -> None:
        """Finish the writes already taken, then close. Idempotent."""
        ...
