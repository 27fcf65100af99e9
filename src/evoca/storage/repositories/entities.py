"""Entities, found by name, id and place in the order of insertion."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

from evoca.domain.clock import Instant
from evoca.domain.graph import Entity, NewEntity
from evoca.domain.text import fold_case, nfc
from evoca.storage.connection import Connection, Value
from evoca.storage.ledger import Ledger
from evoca.storage.repositories.edge_rows import EdgeWriter
from evoca.storage.repositories.passages import DocumentWriter

_Row = tuple[int, str, str, str, int, int]
_AliasRow = tuple[str, int, str, str, str, int, int]


class EntityRepository:
    def __init__(self, connection: Connection, ledger: Ledger, documents: DocumentWriter, edges: EdgeWriter) -> None:
        self._connection = connection
        self._ledger = ledger
        self._documents = documents
        self._edges = edges

    def by_names(self, collection: int, names: Iterable[str]) -> dict[str, Entity]:
        values = {"collection": collection, "names": [nfc(name) for name in names]}
        return {row[1]: Entity(*row) for row in self._connection.select(_BY_NAMES, values, _Row)}

    def resolve(self, collection: int, names: Iterable[str]) -> dict[str, Entity]:
        wanted = [nfc(name) for name in names]
        found = self.by_names(collection, wanted)
        missing = [name for name in wanted if name not in found]
        if missing:
            values = {"collection": collection, "names": list(missing)}
            rows = self._connection.select(_BY_ALIASES, values, _AliasRow)
            found.update((row[0], Entity(*row[1:])) for row in rows)
        return found

    def alike(self, collection: int, names: Iterable[str]) -> dict[str, list[Entity]]:
        wanted = {name: fold_case(name) for name in names}
        keys = list({signed_crc(folded) for folded in wanted.values()})
        rows = self._connection.select(_BY_FOLDED, {"collection": collection, "keys": keys}, _Row)
        found: dict[str, list[Entity]] = {}
        # Sorted here: asked to, SQLite reads the whole collection in the order of ids.
        for row in sorted(rows):
            found.setdefault(fold_case(row[1]), []).append(Entity(*row))
        missing = set(wanted.values()) - found.keys()
        found |= self._formerly_alike(collection, missing) if missing else {}
        return {name: found[folded] for name, folded in wanted.items() if folded in found}

    def _formerly_alike(self, collection: int, folded: set[str]) -> dict[str, list[Entity]]:
        """Casefolded name → the entities that had it once. Former names are few and folded here."""
        owners: dict[str, set[int]] = {}
        for name, entity in self._connection.select(_FORMER_NAMES, {"collection": collection}, tuple[str, int]):
            if fold_case(name) in folded:
                owners.setdefault(fold_case(name), set()).add(entity)
        entities = self.by_ids({number for numbers in owners.values() for number in numbers}) if owners else {}
        return {name: [entities[number] for number in sorted(numbers)] for name, numbers in owners.items()}

    def names(self, collection: int) -> list[tuple[int, str]]:
        return self._connection.select(_NAMES, {"collection": collection}, tuple[int, str])

    def rename(self, entity: int, name: str, at: Instant) -> None:
        name = nfc(name)
        for collection, old, entity_type in self._connection.select(_TEXT_OF, {"id": entity}, tuple[int, str, str]):
            values: dict[str, Value] = {"id": entity, "name": name, "folded": folded_key(name), "at": at}
            self._connection.run(_RENAME, values)
            self._connection.run(_DROP_ALIAS, {"collection": collection, "name": name})
            self.add_aliases(collection, entity, [old], at)
            self._documents.replace_entity(collection, entity, name, entity_type)
            self._edges.renamed(entity)

    def aliases(self, entity: int) -> list[str]:
        return [name for (name,) in self._connection.select(_ALIASES, {"id": entity}, tuple[str])]

    def add_aliases(self, collection: int, entity: int, names: Sequence[str], at: Instant) -> None:
        self._connection.run_many(_ADD_ALIAS, ((collection, name, entity, at) for name in names))

    def by_ids(self, ids: Iterable[int]) -> dict[int, Entity]:
        return {row[0]: Entity(*row) for row in self._connection.select(_BY_IDS, {"ids": list(ids)}, _Row)}

    def page(self, collection: int, offset: int = 0, limit: int | None = None) -> list[Entity]:
        values = {"collection": collection, "offset": offset, "limit": _ALL if limit is None else limit}
        return [Entity(*row) for row in self._connection.select(_PAGE, values, _Row)]

    def count(self, collection: int) -> int:
        return self._connection.select(_COUNT, {"collection": collection}, tuple[int])[0][0]

    def matching(self, collection: int, types: Sequence[str] | None, statuses: Sequence[str] | None) -> set[int]:
        wanted = None if types is None else types_like(self._connection, collection, types)
        values = {
            "collection": collection,
            "types": None if wanted is None else list(wanted),
            "statuses": None if statuses is None else list(statuses),
        }
        return {entity for (entity,) in self._connection.select(_MATCHING, values, tuple[int])}

    def insert(self, collection: int, rows: Sequence[NewEntity], at: Instant) -> list[int]:
        if not rows:
            return []
        first = self._ledger.take_ids(len(rows))
        named = [(first + i, nfc(row.name), row) for i, row in enumerate(rows)]
        self._connection.run_many(
            _INSERT,
            (
                (number, collection, name, row.entity_type, row.status, folded_key(name), at, at)
                for number, name, row in named
            ),
        )
        self._documents.add_entities(collection, [(number, name, row.entity_type) for number, name, row in named])
        return [number for number, _name, _row in named]

    def update(self, entity: int, entity_type: str, status: str, at: Instant) -> None:
        found = self._connection.select(_TEXT_OF, {"id": entity}, tuple[int, str, str])
        values = {"id": entity, "type": entity_type, "status": status, "at": at}
        self._connection.run(_UPDATE, values)
        for collection, name, old_type in found:
            if old_type != entity_type:
                self._documents.replace_entity(collection, entity, name, entity_type)

    def touch(self, ids: Iterable[int], at: Instant) -> None:
        self._connection.run(_TOUCH, {"ids": list(ids), "at": at})

    def delete(self, ids: Sequence[int]) -> None:
        live = self._connection.select(_LIVE_OBSERVATIONS, {"ids": list(ids)}, tuple[int])
        self._documents.drop([*ids, *(observation for (observation,) in live)])
        self._edges.drop_touching(ids)
        self._connection.run_many(_DELETE, ((entity,) for entity in ids))


def types_like(connection: Connection, collection: int, folded: Sequence[str]) -> list[str]:
    """The entity types in use that are one of these when casefolded."""
    wanted = set(folded)
    rows = connection.select(_TYPES, {"collection": collection}, tuple[str])
    return [each for (each,) in rows if fold_case(each) in wanted]


def folded_key(name: str) -> int:
    """CRC-32 of the casefolded name, signed so that it takes four bytes."""
    return signed_crc(fold_case(name))


def signed_crc(text: str) -> int:
    return zlib.crc32(text.encode()) - 0x8000_0000


_ALL = 9_223_372_036_854_775_807
_COLUMNS = "id, name, entity_type, status, created_at, updated_at"
_BY_NAMES = f"""
SELECT {_COLUMNS} FROM entities
WHERE collection_id = :collection AND name IN TEXTS(:names)
"""  # noqa: S608 -- put together from constants
_BY_ALIASES = """
SELECT a.name, e.id, e.name, e.entity_type, e.status, e.created_at, e.updated_at
FROM aliases a JOIN entities e ON e.id = a.entity_id
WHERE a.collection_id = :collection AND a.name IN TEXTS(:names)
"""
_BY_FOLDED = f"""
SELECT {_COLUMNS} FROM entities
WHERE collection_id = :collection AND folded IN INTS(:keys)
"""  # noqa: S608 -- put together from constants
_NAMES = "SELECT id, name FROM entities WHERE collection_id = :collection ORDER BY id"
_RENAME = "UPDATE entities SET name = :name, folded = :folded, updated_at = :at WHERE id = :id"
_ALIASES = "SELECT name FROM aliases WHERE entity_id = :id ORDER BY created_at, name"
_FORMER_NAMES = "SELECT name, entity_id FROM aliases WHERE collection_id = :collection"
_ADD_ALIAS = """
INSERT INTO aliases (collection_id, name, entity_id, created_at) VALUES (?, ?, ?, ?)
ON CONFLICT (collection_id, name) DO UPDATE SET entity_id = excluded.entity_id
"""
_DROP_ALIAS = "DELETE FROM aliases WHERE collection_id = :collection AND name = :name"
_BY_IDS = f"SELECT {_COLUMNS} FROM entities WHERE id IN INTS(:ids)"  # noqa: S608 -- put together from constants
_PAGE = f"""
SELECT {_COLUMNS} FROM entities WHERE collection_id = :collection ORDER BY id LIMIT :limit OFFSET :offset
"""  # noqa: S608 -- put together from constants
_COUNT = "SELECT count(*) FROM entities WHERE collection_id = :collection"
_TYPES = "SELECT DISTINCT entity_type FROM entities WHERE collection_id = :collection"
_MATCHING = """
SELECT id FROM entities
WHERE collection_id = :collection
  AND (:types IS NULL OR entity_type IN TEXTS(:types))
  AND (:statuses IS NULL OR status IN TEXTS(:statuses))
"""
_INSERT = """
INSERT INTO entities (id, collection_id, name, entity_type, status, folded, created_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_TEXT_OF = "SELECT collection_id, name, entity_type FROM entities WHERE id = :id"
_UPDATE = "UPDATE entities SET entity_type = :type, status = :status, updated_at = :at WHERE id = :id"
_TOUCH = "UPDATE entities SET updated_at = :at WHERE id IN INTS(:ids)"
_LIVE_OBSERVATIONS = """
SELECT id FROM observations WHERE entity_id IN INTS(:ids) AND superseded_at IS NULL
"""
_DELETE = "DELETE FROM entities WHERE id = ?"
