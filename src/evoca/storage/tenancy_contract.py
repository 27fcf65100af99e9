"""What an engine offers for tenants: collections as a whole, and API keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from evoca.domain.clock import Instant
    from evoca.domain.graph import Collection
    from evoca.domain.tenancy import Key, NewKey


@dataclass(frozen=True, slots=True)
class CollectionCounts:
    """What a collection holds: everything that its deletion would remove. `facts`: edges with a literal value."""

    entities: int
    observations: int
    relations: int
    facts: int
    episodes: int
    reflections: int


class Collections(Protocol):
    def find(self, code: str) -> Collection | None: ...
    def exists(self, collection: int) -> bool: ...
    def code(self, collection: int) -> str:
        """ "" when there is no such collection."""
        ...

    def all(self) -> list[Collection]:
        """By id."""
        ...

    def create(self, code: str, name: str, description: str, at: Instant) -> Collection:
        """Raises Conflict when the code is taken."""
        ...

    def counts(self, collection: int) -> CollectionCounts:
        """Superseded observations, ended edges and archived memories are counted too: they go as well."""
        ...

    def delete(self, collection: int) -> None:
        """Remove a collection with all that is in it, its documents, vectors and index rows too."""
        ...

    def graph_version(self, collection: int) -> int:
        """A number that grows with every committed change of the collection's graph."""
        ...

    def bump(self, collection: int) -> None:
        """Say that the collection's graph changes in this transaction."""
        ...


class Keys(Protocol):
    def insert(self, key: NewKey, at: Instant) -> int:
        """Raises Conflict when a key that is not revoked has the name."""
        ...

    def any(self) -> bool:
        """Whether there is a key, revoked or not."""
        ...

    def all(self) -> list[Key]:
        """Revoked ones too, by id."""
        ...

    def live(self) -> list[tuple[bytes, Key]]:
        """Each key that is not revoked, with its digest."""
        ...

    def version(self) -> int:
        """A number that grows with every committed change of the keys."""
        ...

    def revoke(self, key: int, at: Instant) -> None: ...
    def used(self, key: int, at: Instant) -> None: ...
