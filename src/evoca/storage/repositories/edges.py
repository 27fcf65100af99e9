"""Relations: edges between entities. An ended one stays as history and does not stand in the way of a new one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evoca.domain.clock import Clock, Instant
from evoca.domain.graph import Edge, NewEdge
from evoca.storage.connection import Connection, Value
from evoca.storage.repositories.edge_rows import (
    BEGUN,
    NOT_OVER,
    SELECT_RELATIONS,
    EdgeColumns,
    EdgeWriter,
    edge_of,
)


class EdgeRepository:
    def __init__(self, connection: Connection, writer: EdgeWriter, clock: Clock) -> None:
        self._connection = connection
        self._writer = writer
        self._clock = clock

    def active(
        self, collection: int, keys: Iterable[tuple[int, str, int]], upcoming: bool = False
    ) -> dict[tuple[int, str, int], Edge]:
        found: dict[tuple[int, str, int], Edge] = {}
        for key in keys:
            values: dict[str, Value] = {"subject": key[0], "predicate": key[1], "object": key[2]}
            edges = self._read(_ACTIVE, values | {"collection": collection, "upcoming": int(upcoming)})
            if edges:
                found[key] = min(edges, key=lambda edge: (not edge.active, edge.valid_from or 0, edge.id))
        return found

    def touching(self, entities: Iterable[int], include_ended: bool = False) -> list[Edge]:
        return self._read(_TOUCHING, {"entities": list(entities), "ended": int(include_ended)})

    def all(self, collection: int, include_ended: bool = False) -> list[Edge]:
        return self._read(_ALL, {"collection": collection, "ended": int(include_ended)})

    def by_ids(self, ids: Iterable[int]) -> dict[int, Edge]:
        return {edge.id: edge for edge in self._read(_BY_IDS, {"ids": list(ids)}, timed=False)}

    def insert(self, collection: int, rows: Sequence[NewEdge], at: Instant) -> list[int]:
        return self._writer.insert(collection, rows, at)

    def end(self, ids: Iterable[int], at: Instant) -> None:
        ended = list(ids)
        self._connection.run(_END, {"ids": ended, "at": at})
        self._writer.changed(ended)

    def repoint(self, edge: int, subject: int, target: int) -> None:
        self._connection.run(_REPOINT, {"id": edge, "subject": subject, "object": target})
        self._writer.restated([edge])

    def adopt_values(self, old: int, new: int) -> None:
        values: dict[str, Value] = {"old": old, "new": new, "now": self._clock.now()}
        self._writer.delete([edge for (edge,) in self._connection.select(_KNOWN_VALUES, values, tuple[int])])
        adopted = self._connection.select(_ADOPT_VALUES, {"old": old, "new": new}, tuple[int])
        self._writer.restated(sorted(edge for (edge,) in adopted))

    def delete(self, ids: Sequence[int]) -> None:
        self._writer.delete(ids)

    def count(self, collection: int) -> int:
        values: dict[str, Value] = {"collection": collection, "now": self._clock.now()}
        return self._connection.select(_COUNT, values, tuple[int])[0][0]

    def degrees(self, entities: Iterable[int]) -> dict[int, int]:
        return dict(self._connection.select(_DEGREES, {"entities": list(entities)}, tuple[int, int]))

    def _read(self, sql: str, values: dict[str, Value], timed: bool = True) -> list[Edge]:
        """`timed`: the statement asks for `:now`."""
        now = self._clock.now()
        given = values | {"now": now} if timed else values
        return [edge_of(row, now) for row in self._connection.select(sql, given, EdgeColumns)]


_ACTIVE = f"""{SELECT_RELATIONS}
WHERE e.subject_id = :subject AND e.predicate = :predicate AND e.object_id = :object AND e.collection_id = :collection
  AND {NOT_OVER} AND (:upcoming = 1 OR {BEGUN})
"""
_TOUCHING = f"""{SELECT_RELATIONS}
WHERE e.id IN (
    SELECT id FROM edges WHERE subject_id IN INTS(:entities)
    UNION
    SELECT id FROM edges WHERE object_id IN INTS(:entities)
)
  AND (:ended = 1 OR {BEGUN} AND {NOT_OVER})
ORDER BY e.id
"""  # noqa: S608 -- put together from constants
_ALL = f"""{SELECT_RELATIONS}
WHERE e.collection_id = :collection AND (:ended = 1 OR {BEGUN} AND {NOT_OVER})
ORDER BY e.id
"""
_BY_IDS = f"""{SELECT_RELATIONS}
WHERE e.id IN INTS(:ids)
"""
_END = """
UPDATE edges SET active = 0, ended_at = :at WHERE id IN INTS(:ids) AND (ended_at IS NULL OR ended_at > :at)
"""
_REPOINT = "UPDATE edges SET subject_id = :subject, object_id = :object WHERE id = :id"
_KNOWN_VALUES = """
SELECT e.id FROM edges e
WHERE e.subject_id = :old AND e.value IS NOT NULL AND (e.ended_at IS NULL OR e.ended_at > :now) AND EXISTS (
    SELECT 1 FROM edges k
    WHERE k.subject_id = :new AND k.predicate = e.predicate AND k.object_id IS NULL AND k.value = e.value
      AND coalesce(k.value_kind, '') = coalesce(e.value_kind, '') AND (k.ended_at IS NULL OR k.ended_at > :now)
)
ORDER BY e.id
"""
_ADOPT_VALUES = "UPDATE edges SET subject_id = :new WHERE subject_id = :old AND value IS NOT NULL RETURNING id"
_COUNT = f"""
SELECT count(*) FROM edges e
WHERE e.collection_id = :collection AND e.object_id IS NOT NULL AND {BEGUN} AND {NOT_OVER}
"""  # noqa: S608 -- put together from constants
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
