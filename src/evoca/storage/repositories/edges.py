"""Edges: relations and facts. An ended edge stays as history and does not stand in the way of a new one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evoca.domain.clock import Instant
from evoca.domain.graph import Edge, NewEdge
from evoca.storage.connection import Connection, Value
from evoca.storage.ledger import Ledger

_Row = tuple[
    int,  # id
    int,  # subject id
    str,
    str,  # predicate
    int | None,  # object id
    str | None,
    str | None,  # value
    str | None,  # context
    str | None,  # source
    float,
    int,  # active
    int,  # created at
    int | None,  # valid from
    int | None,  # ended at
]


class EdgeRepository:
    def __init__(self, connection: Connection, ledger: Ledger) -> None:
        self._connection = connection
        self._ledger = ledger

    def active(self, collection: int, keys: Iterable[tuple[int, str, int]]) -> dict[tuple[int, str, int], Edge]:
        found: dict[tuple[int, str, int], Edge] = {}
        for key in keys:
            values: dict[str, Value] = {"subject": key[0], "predicate": key[1], "object": key[2]}
            for row in self._connection.select(_ACTIVE, values | {"collection": collection}, _Row):
                found[key] = _edge(row)
        return found

    def touching(self, entities: Iterable[int], include_ended: bool = False) -> list[Edge]:
        values = {"entities": list(entities), "ended": int(include_ended)}
        return [_edge(row) for row in self._connection.select(_TOUCHING, values, _Row)]

    def all(self, collection: int, include_ended: bool = False) -> list[Edge]:
        values = {"collection": collection, "ended": int(include_ended)}
        return [_edge(row) for row in self._connection.select(_ALL, values, _Row)]

    def insert(self, collection: int, rows: Sequence[NewEdge], at: Instant) -> list[int]:
        if not rows:
            return []
        first = self._ledger.take_ids(len(rows))
        self._connection.run_many(
            _INSERT,
            (
                (
                    first + i,
                    collection,
                    row.subject_id,
                    row.predicate,
                    row.object_id,
                    row.value,
                    row.context,
                    row.source,
                    row.confidence,
                    at,
                    row.valid_from,
                )
                for i, row in enumerate(rows)
            ),
        )
        return list(range(first, first + len(rows)))

    def by_ids(self, ids: Iterable[int]) -> dict[int, Edge]:
        return {row[0]: _edge(row) for row in self._connection.select(_BY_IDS, {"ids": list(ids)}, _Row)}

    def end(self, ids: Iterable[int], at: Instant) -> None:
        self._connection.run(_END, {"ids": list(ids), "at": at})

    def repoint(self, edge: int, subject: int, target: int) -> None:
        self._connection.run(_REPOINT, {"id": edge, "subject": subject, "object": target})

    def adopt_values(self, old: int, new: int) -> None:
        self._connection.run(_DROP_KNOWN_VALUES, {"old": old, "new": new})
        self._connection.run(_ADOPT_VALUES, {"old": old, "new": new})

    def delete(self, ids: Sequence[int]) -> None:
        self._connection.run_many(_DELETE, ((edge,) for edge in ids))

    def count(self, collection: int) -> int:
        return self._connection.select(_COUNT, {"collection": collection}, tuple[int])[0][0]

    def degrees(self, entities: Iterable[int]) -> dict[int, int]:
        return dict(self._connection.select(_DEGREES, {"entities": list(entities)}, tuple[int, int]))


def _edge(row: _Row) -> Edge:
    (
        number,
        subject_id,
        subject,
        predicate,
        object_id,
        object_name,
        value,
        context,
        source,
        confidence,
        active,
        created_at,
        valid_from,
        ended_at,
    ) = row
    return Edge(
        id=number,
        subject_id=subject_id,
        subject=subject,
        predicate=predicate,
        object_id=object_id,
        object=object_name,
        value=value,
        context=context,
        source=source,
        confidence=confidence,
        active=bool(active),
        created_at=created_at,
        valid_from=valid_from,
        ended_at=ended_at,
    )


_SELECT = """
SELECT e.id, e.subject_id, s.name, e.predicate, e.object_id, o.name, e.value, e.context, e.source, e.confidence,
       e.active, e.created_at, e.valid_from, e.ended_at
FROM edges e
JOIN entities s ON s.id = e.subject_id
JOIN entities o ON o.id = e.object_id
"""
_ACTIVE = f"""{_SELECT}
WHERE e.subject_id = :subject AND e.predicate = :predicate AND e.object_id = :object AND e.active = 1
  AND e.collection_id = :collection
"""
_TOUCHING = f"""{_SELECT}
WHERE e.id IN (
    SELECT id FROM edges WHERE subject_id IN INTS(:entities)
    UNION
    SELECT id FROM edges WHERE object_id IN INTS(:entities)
)
  AND (:ended = 1 OR e.active = 1)
ORDER BY e.id
"""  # noqa: S608 -- put together from constants
_ALL = f"""{_SELECT}
WHERE e.collection_id = :collection AND (:ended = 1 OR e.active = 1)
ORDER BY e.id
"""
_INSERT = """
INSERT INTO edges (id, collection_id, subject_id, predicate, object_id, value, context, source, confidence,
                   created_at, valid_from)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_BY_IDS = f"""{_SELECT}
WHERE e.id IN INTS(:ids)
"""
_END = """
UPDATE edges SET active = 0, ended_at = :at WHERE id IN INTS(:ids) AND active = 1
"""
_REPOINT = "UPDATE edges SET subject_id = :subject, object_id = :object WHERE id = :id"
_DROP_KNOWN_VALUES = """
DELETE FROM edges WHERE subject_id = :old AND value IS NOT NULL AND active = 1 AND EXISTS (
    SELECT 1 FROM edges k
    WHERE k.subject_id = :new AND k.predicate = edges.predicate AND k.value = edges.value AND k.active = 1
)
"""
_ADOPT_VALUES = "UPDATE edges SET subject_id = :new WHERE subject_id = :old AND value IS NOT NULL"
_DELETE = "DELETE FROM edges WHERE id = ?"
_COUNT = """
SELECT count(*) FROM edges WHERE collection_id = :collection AND active = 1 AND object_id IS NOT NULL
"""
# Of a pair of inverses the `contiene` half counts.
_COUNTED = """
      AND x.active = 1 AND x.object_id IS NOT NULL
      AND NOT (x.predicate = 'parte_de' AND EXISTS (
          SELECT 1 FROM edges i
          WHERE i.subject_id = x.object_id AND i.predicate = 'contiene' AND i.object_id = x.subject_id AND i.active = 1
      ))
"""
_DEGREES = f"""
SELECT e.value, (
    SELECT count(*) FROM edges x WHERE x.subject_id = e.value {_COUNTED}
) + (
    SELECT count(*) FROM edges x WHERE x.object_id = e.value AND x.subject_id <> e.value {_COUNTED}
)
FROM INTS(:entities) e
"""  # noqa: S608 -- put together from constants
