"""Who calls, and what they may do: scopes, keys, and the collections they see."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from evoca.domain.clock import Instant

DEFAULT_COLLECTION_ID = 1
"""The default collection is made with the store, before any other."""


class Scope(IntEnum):
    """What a key may do; each includes those before it. The numbers are stored."""

    READ = 1
    WRITE = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class Key:
    """An API key, without the secret. `collections`: the ids that it sees; None: all."""

    id: int
    name: str
    scope: Scope
    collections: frozenset[int] | None
    created_at: Instant
    revoked_at: Instant | None = None
    last_used_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class NewKey:
    """`digest`: SHA-256 of the secret, which is random enough to need no salt and no slow hash."""

    name: str
    digest: bytes
    scope: Scope
    collections: frozenset[int] | None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who an operation works for. `key_id` 0: the process's own user, without a key."""

    key_id: int = 0
    scope: Scope = Scope.ADMIN
    collections: frozenset[int] | None = None

    @property
    def owns_store(self) -> bool:
        """Whether what is no collection's own, the store's place and size, is theirs to know."""
        return self.scope is Scope.ADMIN and self.collections is None

    def sees(self, collection: int) -> bool:
        return self.collections is None or collection in self.collections


LOCAL = Caller()
"""The person who runs the process: stdio, the command line, the library, and HTTP without keys."""
