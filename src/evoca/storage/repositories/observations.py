"""Observations: the texts of entities, live or superseded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from evoca.domain.clock import Instant
from evoca.domain.graph import DEFAULT_KIND, NewObservation, Observation
from evoca.domain.text import passages
from evoca.storage.connection import Connection, Value
from evoca.storage.ledger import Ledger
from evoca.storage.repositories.entities import signed_crc
from evoca.storage.repositories.passages import DocumentWriter, observation_documents

_Row = tuple[int, int, str, str | None, int | None, int | None, int, int]


class ObservationRepository:
    def __init__(self, connection: Connection, ledger: Ledger, documents: DocumentWriter) -> None:
        self._connection = connection
        self._ledger = ledger
        self._documents = documents

    def of(
        self, entities: Iterable[int], include_superseded: bool = False, kinds: Sequence[str] | None = None
    ) -> dict[int, list[Observation]]:
        wanted = list(entities)
        values = {
            "entities": list(wanted),
            "all": int(include_superseded),
            "kinds": None if kinds is None else list(kinds),
        }
        found: dict[int, list[Observation]] = {entity: [] for entity in wanted}
        for row in self._connection.select(_OF, values, _Row):
            found[row[1]].append(_observation(row))
        return found

    def texts_of(self, entities: Iterable[int]) -> dict[int, list[str]]:
        wanted = list(entities)
        found: dict[int, list[str]] = {entity: [] for entity in wanted}
        for entity, content in self._connection.select(_TEXTS_OF, {"entities": list(wanted)}, tuple[int, str]):
            found[entity].append(content)
        return found

    def mostly_metadata(self, entities: Iterable[int]) -> set[int]:
        rows = self._connection.select(_MOSTLY_METADATA, {"entities": list(entities)}, tuple[int])
        return {entity for (entity,) in rows}

    def find(self, entity: int, contents: Iterable[str]) -> dict[str, int]:
        wanted = set(contents)
        values = {"entity": entity, "keys": list({signed_crc(content) for content in wanted})}
        rows = self._connection.select(_FIND, values, tuple[str, int])
        return {content: number for content, number in rows if content in wanted}

    def by_ids(self, ids: Iterable[int]) -> dict[int, Observation]:
        return {row[0]: _observation(row) for row in self._connection.select(_BY_IDS, {"ids": list(ids)}, _Row)}

    def insert(self, collection: int, rows: Sequence[NewObservation], at: Instant) -> list[int]:
        if not rows:
            return []
        # An observation takes an id for each of its documents.
        pieces = [passages(row.content) for row in rows]
        needed = [len(each) or 1 for each in pieces]
        first = self._ledger.take_ids(sum(needed))
        ids = list(accumulate(needed[:-1], initial=first))
        self._connection.run_many(
            _INSERT,
            (
                (
                    number,
                    collection,
                    row.entity_id,
                    row.content,
                    signed_crc(row.content),
                    None if row.kind == DEFAULT_KIND else row.kind,
                    row.supersedes,
                    at,
                )
                for number, row in zip(ids, rows, strict=True)
            ),
        )
        documents = [
            document
            for number, row, cut in zip(ids, rows, pieces, strict=True)
            for document in observation_documents(number, row.entity_id, cut)
        ]
        self._documents.add(collection, documents)
        return ids

    def move(self, ids: Sequence[int], entity: int) -> None:
        self._connection.run(_MOVE, {"ids": list(ids), "entity": entity})
        self._documents.move(ids, entity)

    def rewrite(self, collection: int, observation: int, content: str, kind: str) -> None:
        values: dict[str, Value] = {
            "id": observation,
            "content": content,
            "key": signed_crc(content),
            "kind": None if kind == DEFAULT_KIND else kind,
        }
        for (entity,) in self._connection.select(_REWRITE, values, tuple[int]):
            documents = observation_documents(observation, entity, passages(content))
            if documents:
                self._documents.rewrite(collection, documents)
            else:
                self._documents.drop([observation])

    def supersede(self, observation: int, at: Instant) -> None:
        self._connection.run(_SUPERSEDE, {"id": observation, "at": at})
        self._documents.drop([observation])

    def delete(self, ids: Sequence[int]) -> None:
        self._documents.drop(ids)
        self._connection.run_many(_DELETE, ((observation,) for observation in ids))

    def flag(self, ids: Iterable[int]) -> None:
        self._connection.run(_FLAG, {"ids": list(ids)})

    def flagged(self, collection: int) -> list[Observation]:
        values = {"collection": collection}
        return [_observation(row) for row in self._connection.select(_FLAGGED, values, _Row)]

    def counts(self, collection: int) -> dict[int, int]:
        return dict(self._connection.select(_COUNTS, {"collection": collection}, tuple[int, int]))

    def count(self, collection: int) -> int:
        return self._connection.select(_COUNT, {"collection": collection}, tuple[int])[0][0]


def _observation(row: _Row) -> Observation:
    number, entity, content, kind, supersedes, superseded_at, flag, created_at = row
    return Observation(number, entity, content, kind or DEFAULT_KIND, supersedes, superseded_at, bool(flag), created_at)


_COLUMNS = "id, entity_id, content, kind, supersedes, superseded_at, similarity_flag, created_at"
_OF = f"""
SELECT {_COLUMNS} FROM observations
WHERE entity_id IN INTS(:entities)
  AND (:all = 1 OR superseded_at IS NULL)
  AND (:kinds IS NULL OR coalesce(kind, '{DEFAULT_KIND}') IN TEXTS(:kinds))
ORDER BY id
"""  # noqa: S608 -- put together from constants
_TEXTS_OF = """
SELECT entity_id, content FROM observations
WHERE entity_id IN INTS(:entities) AND superseded_at IS NULL
ORDER BY id
"""
_MOSTLY_METADATA = """
SELECT entity_id FROM observations
WHERE entity_id IN INTS(:entities) AND superseded_at IS NULL
GROUP BY entity_id
HAVING 2 * sum(CASE WHEN kind = 'metadata' THEN 1 ELSE 0 END) > count(*)
"""
_FIND = """
SELECT content, id FROM observations
WHERE entity_id = :entity AND content_key IN INTS(:keys) AND superseded_at IS NULL
ORDER BY id DESC
"""
_BY_IDS = f"SELECT {_COLUMNS} FROM observations WHERE id IN INTS(:ids)"  # noqa: S608 -- put together from constants
_INSERT = """
INSERT INTO observations (id, collection_id, entity_id, content, content_key, kind, supersedes, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_MOVE = "UPDATE observations SET entity_id = :entity WHERE id IN INTS(:ids)"
_REWRITE = """
UPDATE observations SET content = :content, content_key = :key, kind = :kind, similarity_flag = 0
WHERE id = :id AND superseded_at IS NULL
RETURNING entity_id
"""
_SUPERSEDE = "UPDATE observations SET superseded_at = :at WHERE id = :id"
_DELETE = "DELETE FROM observations WHERE id = ?"
_FLAG = """
UPDATE observations SET similarity_flag = 1
WHERE id IN INTS(:ids) AND similarity_flag = 0
"""
_FLAGGED = f"""
SELECT {_COLUMNS} FROM observations
WHERE collection_id = :collection AND similarity_flag = 1 AND superseded_at IS NULL
ORDER BY id
"""  # noqa: S608 -- put together from constants
_COUNTS = """
SELECT entity_id, count(*) FROM observations
WHERE collection_id = :collection AND superseded_at IS NULL
GROUP BY entity_id
"""
_COUNT = "SELECT count(*) FROM observations WHERE collection_id = :collection AND superseded_at IS NULL"
