"""Collections: the tenants, and the version of each one's graph."""

from __future__ import annotations

from evoca.domain.clock import Instant
from evoca.domain.graph import Collection
from evoca.storage.connection import Connection
from evoca.storage.ledger import Ledger
from evoca.storage.tenancy_contract import CollectionCounts

_Row = tuple[int, str, str, str, int]
_CountsRow = tuple[int, int, int, int, int, int]


class CollectionRepository:
    def __init__(self, connection: Connection, ledger: Ledger) -> None:
        self._connection = connection
        self._ledger = ledger

    def find(self, code: str) -> Collection | None:
        rows = self._connection.select(_FIND, {"code": code}, _Row)
        return Collection(*rows[0]) if rows else None

    def exists(self, collection: int) -> bool:
        return bool(self._connection.select(_EXISTS, {"id": collection}, tuple[int]))

    def code(self, collection: int) -> str:
        rows = self._connection.select(_CODE, {"id": collection}, tuple[str])
        return rows[0][0] if rows else ""

    def all(self) -> list[Collection]:
        return [Collection(*row) for row in self._connection.select(_ALL, {}, _Row)]

    def create(self, code: str, name: str, description: str, at: Instant) -> Collection:
        """Raises Conflict when the code is taken."""
        values = {"code": code, "name": name, "description": description, "at": at}
        return Collection(*self._connection.select(_CREATE, values, _Row)[0])

    def counts(self, collection: int) -> CollectionCounts:
        return CollectionCounts(*self._connection.select(_COUNTS, {"id": collection}, _CountsRow)[0])

    def delete(self, collection: int) -> None:
        values = {"id": collection}
        self._connection.run(_CLOSE, values)
        documents = self._ids(_DOCUMENTS, collection)
        for document in documents:
            self._ledger.terms.drop(document)
        self._ledger.substrings_changed(self._ids(_SUBSTRING_OWNERS, collection))
        # Edges and episodes are heard of in the same feed, whether they have documents or not.
        self._ledger.documents_removed({*documents, *self._ids(_FEED_OWNERS, collection)})
        if self._connection.select(_KEYS, values, tuple[int]):
            self._connection.run(_BUMP_KEYS, {})
        for table in _EMPTIED:
            self._connection.run(_DELETE_ROWS[table], values)
        self._connection.run(_DELETE, values)

    def _ids(self, sql: str, collection: int) -> list[int]:
        return [each for (each,) in self._connection.select(sql, {"id": collection}, tuple[int])]

    def graph_version(self, collection: int) -> int:
        rows = self._connection.select(_VERSION, {"id": collection}, tuple[int])
        return rows[0][0] if rows else 0

    def bump(self, collection: int) -> None:
        if self._ledger.first_bump(collection):
            self._connection.run(_BUMP, {"id": collection})


_FIND = "SELECT id, code, name, description, created_at FROM collections WHERE code = :code"
_ALL = "SELECT id, code, name, description, created_at FROM collections ORDER BY id"
_EXISTS = "SELECT 1 FROM collections WHERE id = :id"
_CODE = "SELECT code FROM collections WHERE id = :id"
_CREATE = """
INSERT INTO collections (code, name, description, created_at) VALUES (:code, :name, :description, :at)
RETURNING id, code, name, description, created_at
"""
_VERSION = "SELECT graph_version FROM collections WHERE id = :id"
_BUMP = "UPDATE collections SET graph_version = graph_version + 1 WHERE id = :id"
_COUNTS = """
SELECT
    (SELECT count(*) FROM entities WHERE collection_id = :id),
    (SELECT count(*) FROM observations WHERE collection_id = :id),
    (SELECT count(*) FROM edges WHERE collection_id = :id AND object_id IS NOT NULL),
    (SELECT count(*) FROM edges WHERE collection_id = :id AND object_id IS NULL),
    (SELECT count(*) FROM episodes WHERE collection_id = :id),
    (SELECT count(*) FROM reflections WHERE collection_id = :id)
"""
# Where several processes write at once, a change of the code keeps others from putting rows that refer to the
# collection while it is emptied; they fail when it is gone.
_CLOSE = "UPDATE collections SET code = code || ' (deleted)' WHERE id = :id"
_DOCUMENTS = "SELECT id FROM documents WHERE collection_id = :id"
_SUBSTRING_OWNERS = """
SELECT id FROM entities WHERE collection_id = :id
UNION ALL
SELECT id FROM observations WHERE collection_id = :id AND superseded_at IS NULL
"""
_FEED_OWNERS = """
SELECT id FROM edges WHERE collection_id = :id
UNION ALL
SELECT id FROM episodes WHERE collection_id = :id
"""
_KEYS = "SELECT key_id FROM key_collections WHERE collection_id = :id LIMIT 1"
_BUMP_KEYS = "UPDATE counters SET value = value + 1 WHERE name = 'keys'"
# What refers to other rows goes before them: each row is removed once, not looked for by cascades.
_EMPTIED = (
    "pending",
    "vectors",
    "documents",
    "reflections",
    "enrichments",
    "merges",
    "episode_versions",
    "episode_links",
    "episode_categories",
    "episodes",
    "access",
    "access_log",
    "co_occurrences",
    "unindexed_edges",
    "edges",
    "observations",
    "aliases",
    "entities",
    "key_collections",
)
_DELETE_ROWS = {table: f"DELETE FROM {table} WHERE collection_id = :id" for table in _EMPTIED}  # noqa: S608 -- constants
_DELETE = "DELETE FROM collections WHERE id = :id"
