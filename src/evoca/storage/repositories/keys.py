"""API keys: digests of their secrets, scopes, and the collections that they see."""

from __future__ import annotations

from evoca.domain.clock import Instant
from evoca.domain.tenancy import Key, NewKey, Scope
from evoca.errors import Conflict
from evoca.storage.connection import Connection

_Row = tuple[int, str, int, int, int, int | None, int | None]
_LiveRow = tuple[int, str, int, int, int, int | None, int | None, bytes]


class KeyRepository:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def insert(self, key: NewKey, at: Instant) -> int:
        """Raises Conflict when a key that is not revoked has the name."""
        if self._connection.select(_NAMED, {"name": key.name}, tuple[int]):
            raise Conflict(f"Key already exists: {key.name}", "Choose another name, or revoke that key first.")
        values = {
            "name": key.name,
            "digest": key.digest,
            "scope": int(key.scope),
            "everywhere": int(key.collections is None),
            "at": at,
        }
        ((made,),) = self._connection.select(_INSERT, values, tuple[int])
        self._connection.run_many(_INSERT_COLLECTION, [(made, each) for each in sorted(key.collections or ())])
        self._connection.run(_BUMP, {})
        return made

    def any(self) -> bool:
        return bool(self._connection.select(_ANY, {}, tuple[int]))

    def all(self) -> list[Key]:
        collections = self._collections()
        return [_key(row, collections) for row in self._connection.select(_ALL, {}, _Row)]

    def live(self) -> list[tuple[bytes, Key]]:
        collections = self._collections()
        rows = self._connection.select(_LIVE, {}, _LiveRow)
        return [(row[7], _key(row[:7], collections)) for row in rows]

    def version(self) -> int:
        return self._connection.select(_VERSION, {}, tuple[int])[0][0]

    def revoke(self, key: int, at: Instant) -> None:
        self._connection.run(_REVOKE, {"id": key, "at": at})
        self._connection.run(_BUMP, {})

    def used(self, key: int, at: Instant) -> None:
        self._connection.run(_USED, {"id": key, "at": at})

    def _collections(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for key, collection in self._connection.select(_COLLECTIONS, {}, tuple[int, int]):
            found.setdefault(key, set()).add(collection)
        return found


def _key(row: _Row, collections: dict[int, set[int]]) -> Key:
    key, name, scope, everywhere, created_at, revoked_at, last_used_at = row
    # A key whose collections are all gone sees none, not all.
    seen = None if everywhere else frozenset(collections.get(key, ()))
    return Key(key, name, Scope(scope), seen, created_at, revoked_at, last_used_at)


_NAMED = "SELECT id FROM keys WHERE name = :name AND revoked_at IS NULL"
_INSERT = """
INSERT INTO keys (name, digest, scope, everywhere, created_at) VALUES (:name, :digest, :scope, :everywhere, :at)
RETURNING id
"""
_INSERT_COLLECTION = "INSERT INTO key_collections (key_id, collection_id) VALUES (?, ?)"
_ANY = "SELECT 1 FROM keys LIMIT 1"
_ALL = """
SELECT id, name, scope, everywhere, created_at, revoked_at, last_used_at FROM keys ORDER BY id
"""
_LIVE = """
SELECT id, name, scope, everywhere, created_at, revoked_at, last_used_at, digest
FROM keys WHERE revoked_at IS NULL ORDER BY id
"""
_COLLECTIONS = "SELECT key_id, collection_id FROM key_collections"
_VERSION = "SELECT value FROM counters WHERE name = 'keys'"
_BUMP = "UPDATE counters SET value = value + 1 WHERE name = 'keys'"
_REVOKE = "UPDATE keys SET revoked_at = :at WHERE id = :id AND revoked_at IS NULL"
_USED = "UPDATE keys SET last_used_at = :at WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :at)"
