"""Small facts about the store itself, by key."""

from __future__ import annotations

from evoca.storage.connection import Connection


class MetadataRepository:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, key: str) -> str | None:
        rows = self._connection.select(_GET, {"key": key}, tuple[str])
        return rows[0][0] if rows else None

    def set(self, key: str, value: str) -> None:
        self._connection.run(_SET, {"key": key, "value": value})


_GET = "SELECT value FROM metadata WHERE key = :key"
_SET = """
INSERT INTO metadata (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""
