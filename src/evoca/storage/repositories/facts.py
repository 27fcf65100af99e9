"""Facts: edges whose object is an entity or a literal, with their periods, filtered and sorted by the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evoca.domain.clock import Clock, Instant
from evoca.domain.facts import EntityObject, FactObject, LiteralObject
from evoca.domain.graph import Edge, NewEdge
from evoca.domain.validity import fold_predicate
from evoca.storage.connection import Connection, Value
from evoca.storage.fact_contract import After, EdgeChanges, EdgeRow, FactFilter, Sorting
from evoca.storage.repositories.edge_rows import SELECT_EDGES, EdgeColumns, EdgeWriter, edge_of, literal_columns
from evoca.storage.repositories.entities import types_like
from evoca.storage.repositories.feed import read_feed

_RowColumns = tuple[int, int, int, str, int, int, int | None]


class FactRepository:
    """See `storage.fact_contract.Facts`."""

    def __init__(self, connection: Connection, writer: EdgeWriter, clock: Clock) -> None:
        self._connection = connection
        self._writer = writer
        self._clock = clock

    def by_ids(self, ids: Iterable[int]) -> dict[int, Edge]:
        return {edge.id: edge for edge in self._read(_BY_IDS, {"ids": list(ids)})}

    def periods(self, collection: int, subject: int, predicate: str) -> list[Edge]:
        values: dict[str, Value] = {"collection": collection, "subject": subject}
        used = [each for (each,) in self._connection.select(_PREDICATES_OF, values, tuple[str])]
        spelled = _spelled_as([predicate], used)
        return self._read(_PERIODS, values | {"predicates": spelled}) if spelled else []

    def of_triple(self, collection: int, subject: int, predicate: str, target: FactObject) -> list[Edge]:
        values: dict[str, Value] = {"collection": collection, "subject": subject, "predicate": predicate}
        match target:
            case EntityObject(id=number):
                return self._read(_OF_ENTITIES, values | {"object": number})
            case LiteralObject(value=value):
                text, kind = literal_columns(value)
                return self._read(_OF_LITERAL, values | {"value": text, "kind": kind or ""})

    def insert(self, collection: int, rows: Sequence[NewEdge], at: Instant) -> list[int]:
        return self._writer.insert(collection, rows, at)

    def revise(self, edge: Edge) -> None:
        before = self.by_ids([edge.id]).get(edge.id)
        if before is None:
            return
        text, kind = literal_columns(edge.value)
        self._connection.run(
            _REVISE,
            {
                "id": edge.id,
                "subject": edge.subject_id,
                "predicate": edge.predicate,
                "object": edge.object_id,
                "value": text,
                "kind": kind,
                "context": edge.context,
                "source": edge.source,
                "confidence": edge.confidence,
                "active": int(edge.ended_at is None),
                "valid_from": edge.valid_from,
                "ended_at": edge.ended_at,
            },
        )
        if _said(before) == _said(edge):
            self._writer.changed([edge.id])
        else:
            self._writer.restated([edge.id])

    def delete(self, ids: Sequence[int]) -> None:
        self._writer.delete(ids)

    # -- lists -----------------------------------------------------------------------------------

    def matching(self, wanted: FactFilter) -> set[int]:
        conditions, values = self._conditions(wanted)
        sql = f"SELECT e.id {_tables(wanted)}WHERE {conditions}"
        return {edge for (edge,) in self._connection.select(sql, values, tuple[int])}

    def count(self, wanted: FactFilter) -> int:
        conditions, values = self._conditions(wanted)
        sql = f"SELECT count(*) {_tables(wanted)}WHERE {conditions}"
        return self._connection.select(sql, values, tuple[int])[0][0]

    def page(
        self, wanted: FactFilter, sorting: Sorting, limit: int, offset: int = 0, after: After | None = None
    ) -> list[Edge]:
        conditions, values = self._conditions(wanted)
        values |= {"limit": limit, "offset": 0 if after is not None else offset}
        key, direction = _SORT_KEYS[sorting.by], "DESC" if sorting.descending else "ASC"
        if after is not None:
            comparison = "<" if sorting.descending else ">"
            values |= {"after_id": after.id}
            if key == "e.id":
                conditions += f" AND e.id {comparison} :after_id"
            else:
                values |= {"after_key": after.key}
                conditions += f" AND ({key}, e.id) {comparison} (:after_key, :after_id)"
        ordering = ", ".join(f"{part} {direction}" for part in dict.fromkeys((key, "e.id")))
        return self._read(
            f"{SELECT_EDGES}\nWHERE {conditions}\nORDER BY {ordering} LIMIT :limit OFFSET :offset",
            values,
        )

    def predicates(self, collection: int) -> list[tuple[str, int]]:
        return self._connection.select(_PREDICATES, {"collection": collection}, tuple[str, int])

    def spelled(self, collection: int, predicates: Sequence[str]) -> list[str]:
        rows = self._connection.select(_SPELLINGS, {"collection": collection}, tuple[str])
        return _spelled_as(predicates, [each for (each,) in rows])

    def _conditions(self, wanted: FactFilter) -> tuple[str, dict[str, Value]]:
        """The filter as SQL: only what is asked for, so that an index can serve it."""
        values: dict[str, Value] = {"collection": wanted.collection}
        parts = ["e.collection_id = :collection"]
        if wanted.predicates is not None:
            parts.append("e.predicate IN TEXTS(:predicates)")
            values["predicates"] = list(wanted.predicates)
        if wanted.at is not None:
            parts.append(_HOLDS)
            values["at"] = wanted.at
        for name, entities in (("touching", wanted.touching), ("also_touching", wanted.also_touching)):
            if entities is not None:
                parts.append(_TOUCHES.replace(":entities", f":{name}"))
                values[name] = list(entities)
        if wanted.entity_type is not None:
            parts.append("(s.entity_type IN TEXTS(:types) OR o.entity_type IN TEXTS(:types))")
            values["types"] = types_like(self._connection, wanted.collection, [wanted.entity_type])
        if wanted.among is not None:
            parts.append("e.id IN INTS(:among)")
            values["among"] = list(wanted.among)
        return " AND ".join(parts), values

    def _read(self, sql: str, values: dict[str, Value]) -> list[Edge]:
        now = self._clock.now()
        return [edge_of(row, now) for row in self._connection.select(sql, values, EdgeColumns)]

    # -- the in-process table and the indexes ----------------------------------------------------

    def changes(self, since: int) -> EdgeChanges:
        feed = read_feed(self._connection, since)
        rows = [
            EdgeRow._make(row)
            for first, last in feed.spans
            for row in self._connection.select(_ROWS, {"first": first, "last": last}, _RowColumns)
        ]
        return EdgeChanges(feed.counter, rows, feed.gone, feed.complete)

    def waiting(self) -> int:
        return self._connection.select(_WAITING_COUNT, {}, tuple[int])[0][0]

    def index_waiting(self, limit: int) -> int:
        ids = [edge for (edge,) in self._connection.select(_WAITING, {"limit": limit}, tuple[int])]
        if ids:
            self._writer.index(ids)
        return len(ids)


def _tables(wanted: FactFilter) -> str:
    return _EDGES if wanted.entity_type is None else _EDGES_AND_ENDS


def _spelled_as(predicates: Iterable[str], used: Iterable[str]) -> list[str]:
    """The used ones that are equal to one of `predicates` but for case."""
    wanted = set(map(fold_predicate, predicates))
    return [each for each in used if fold_predicate(each) in wanted]


def _said(edge: Edge) -> tuple[object, ...]:
    """What an edge's document is made of."""
    return edge.subject_id, edge.predicate, edge.object_id, literal_columns(edge.value), edge.context


_SORT_KEYS = {
    "created_at": "e.created_at",
    "predicate": "e.predicate",
    "subject": "s.name",
    "object": "coalesce(o.name, e.value)",
    "confidence": "e.confidence",
    "id": "e.id",
}
_EDGES = "FROM edges e "
_EDGES_AND_ENDS = """
FROM edges e
JOIN entities s ON s.id = e.subject_id
LEFT JOIN entities o ON o.id = e.object_id
"""
_HOLDS = "coalesce(e.valid_from, e.created_at) <= :at AND (e.ended_at IS NULL OR e.ended_at > :at)"
_TOUCHES = """e.id IN (
    SELECT id FROM edges WHERE subject_id IN INTS(:entities)
    UNION
    SELECT id FROM edges WHERE object_id IN INTS(:entities)
)"""
_BY_IDS = f"""{SELECT_EDGES}
WHERE e.id IN INTS(:ids)
"""
_IN_ORDER = "ORDER BY coalesce(e.valid_from, e.created_at), e.id"
_PERIODS = f"""{SELECT_EDGES}
WHERE s.collection_id = :collection AND e.subject_id = :subject AND e.predicate IN TEXTS(:predicates)
{_IN_ORDER}
"""
_PREDICATES_OF = """
SELECT DISTINCT e.predicate FROM entities s JOIN edges e ON e.subject_id = s.id
WHERE s.collection_id = :collection AND s.id = :subject
"""
_OF_ENTITIES = f"""{SELECT_EDGES}
WHERE e.collection_id = :collection AND e.subject_id = :subject AND e.predicate = :predicate AND e.object_id = :object
{_IN_ORDER}
"""
_OF_LITERAL = f"""{SELECT_EDGES}
WHERE e.collection_id = :collection AND e.subject_id = :subject AND e.predicate = :predicate AND e.object_id IS NULL
  AND e.value = :value AND coalesce(e.value_kind, '') = :kind
{_IN_ORDER}
"""
_REVISE = """
UPDATE edges SET subject_id = :subject, predicate = :predicate, object_id = :object, value = :value, value_kind = :kind,
    context = :context, source = :source, confidence = :confidence, active = :active, valid_from = :valid_from,
    ended_at = :ended_at
WHERE id = :id
"""
_PREDICATES = """
SELECT predicate, count(*) FROM edges WHERE collection_id = :collection GROUP BY predicate ORDER BY predicate
"""
# From one predicate to the next in the index, so that a great graph with few of them is not read through.
_SPELLINGS = """
WITH RECURSIVE used (predicate) AS (
    SELECT min(predicate) FROM edges WHERE collection_id = :collection
    UNION ALL
    SELECT (SELECT min(e.predicate) FROM edges e WHERE e.collection_id = :collection AND e.predicate > u.predicate)
    FROM used u WHERE u.predicate IS NOT NULL
)
SELECT predicate FROM used WHERE predicate IS NOT NULL
"""
_ROWS = """
SELECT id, collection_id, subject_id, predicate, coalesce(object_id, 0), coalesce(valid_from, created_at), ended_at
FROM edges WHERE id BETWEEN :first AND :last
ORDER BY id
"""
_WAITING_COUNT = "SELECT count(*) FROM unindexed_edges"
_WAITING = "SELECT edge_id FROM unindexed_edges ORDER BY edge_id LIMIT :limit"
