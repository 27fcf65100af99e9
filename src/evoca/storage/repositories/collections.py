"""Collections: the tenants, and the version of each one's graph."""

from __future__ import annotations

from evoca.domain.clock import Instant
from evoca.domain.graph import Collection
from evoca.storage.connection import Connection
from evoca.storage.ledger import Ledger

_Row = tuple[int, str, str, str, int]


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
