"""Reflections: kept apart from observations, found by the same index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evoca.domain.clock import Instant
from evoca.domain.reflections import NewReflection, Reflection
from evoca.domain.text import passages
from evoca.storage.connection import Connection, Value
from evoca.storage.contract import NewDocument, OwnerKind
from evoca.storage.ledger import Ledger
from evoca.storage.repositories.passages import DocumentWriter

_Row = tuple[int, str, int | None, str, str, str | None, int, str | None]


class ReflectionRepository:
    def __init__(self, connection: Connection, ledger: Ledger, documents: DocumentWriter) -> None:
        self._connection = connection
        self._ledger = ledger
        self._documents = documents

    def insert(self, collection: int, row: NewReflection, at: Instant) -> int:
        # A reflection takes an id for each of its documents.
        pieces = passages(row.content)
        number = self._ledger.take_ids(max(1, len(pieces)))
        values: dict[str, Value] = {
            "id": number,
            "collection": collection,
            "target_type": row.target_type,
            "target_id": row.target_id,
            "author": row.author,
            "mood": row.mood,
            "content": row.content,
            "at": at,
        }
        self._connection.run(_INSERT, values)
        last = len(pieces) - 1
        self._documents.add(
            collection,
            [
                NewDocument(OwnerKind.REFLECTION, number, number, piece.text, part, piece.begin, last - part)
                for part, piece in enumerate(pieces)
            ],
        )
        return number

    def by_ids(self, ids: Iterable[int]) -> dict[int, Reflection]:
        rows = self._connection.select(_BY_IDS, {"ids": list(ids)}, _Row)
        return {row[0]: Reflection(*row) for row in rows}

    def about(self, target_type: str, targets: Iterable[int]) -> dict[int, list[Reflection]]:
        wanted = list(targets)
        found: dict[int, list[Reflection]] = {target: [] for target in wanted}
        values = {"type": target_type, "targets": list(wanted)}
        for row in self._connection.select(_ABOUT, values, _Row):
            found[row[2] or 0].append(Reflection(*row))
        return found

    def matching(self, collection: int, author: str | None, mood: str | None, target_type: str | None) -> set[int]:
        values: dict[str, Value] = {
            "collection": collection,
            "author": author,
            "mood": mood,
            "type": target_type,
        }
        return {number for (number,) in self._connection.select(_MATCHING, values, tuple[int])}

    def relations_at(self, entities: Iterable[int]) -> list[int]:
        return [number for (number,) in self._connection.select(_RELATIONS_AT, {"ids": list(entities)}, tuple[int])]

    def release(self, target_type: str, targets: Sequence[tuple[int, str]]) -> None:
        self._connection.run_many(_RELEASE, ((name, target_type, target) for target, name in targets))

    def move(self, old: int, new: int) -> None:
        self._connection.run(_MOVE, {"old": old, "new": new})

    def count(self, collection: int) -> int:
        return self._connection.select(_COUNT, {"collection": collection}, tuple[int])[0][0]


_COLUMNS = "id, target_type, target_id, author, content, mood, created_at, former_target"
_INSERT = """
INSERT INTO reflections (id, collection_id, target_type, target_id, author, mood, content, created_at)
VALUES (:id, :collection, :target_type, :target_id, :author, :mood, :content, :at)
"""
_BY_IDS = f"SELECT {_COLUMNS} FROM reflections WHERE id IN INTS(:ids)"  # noqa: S608 -- put together from constants
_ABOUT = f"""
SELECT {_COLUMNS} FROM reflections
WHERE target_type = :type AND target_id IN INTS(:targets)
ORDER BY id
"""  # noqa: S608 -- put together from constants
_MATCHING = """
SELECT id FROM reflections
WHERE collection_id = :collection AND (:author IS NULL OR author = :author) AND (:mood IS NULL OR mood = :mood)
  AND (:type IS NULL OR target_type = :type)
"""
_RELATIONS_AT = """
SELECT DISTINCT r.target_id FROM reflections r JOIN edges e ON e.id = r.target_id
WHERE r.target_type = 'relation'
  AND (e.subject_id IN INTS(:ids) OR e.object_id IN INTS(:ids))
"""
_RELEASE = """
UPDATE reflections SET target_type = 'global', target_id = NULL, former_target = ?
WHERE target_type = ? AND target_id = ?
"""
_MOVE = "UPDATE reflections SET target_id = :new WHERE target_type = 'entity' AND target_id = :old"
_COUNT = "SELECT count(*) FROM reflections WHERE collection_id = :collection"
