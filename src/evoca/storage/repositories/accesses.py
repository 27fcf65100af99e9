"""What use teaches: how often each entity was used, on which days, and which were used together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from evoca.domain.clock import Instant, day_of
from evoca.domain.graph import Access, CoOccurrence
from evoca.storage.connection import Connection


class AccessRepository:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, entities: Iterable[int]) -> dict[int, Access]:
        rows = self._connection.select(_OF, {"entities": list(entities)}, tuple[int, int, int, int])
        return {entity: Access(uses, last, days) for entity, uses, last, days in rows}

    def together(self, entities: Iterable[int], context: Iterable[int]) -> list[CoOccurrence]:
        values = {"entities": list(entities), "context": list(context)}
        return [CoOccurrence(*row) for row in self._connection.select(_TOGETHER, values, tuple[int, int, int, int])]

    def record(self, entities: Sequence[int], at: Instant, pairs: bool) -> None:
        values = {"entities": list(dict.fromkeys(entities))}
        known = self._connection.select(_KNOWN, values, tuple[int, int])
        day = day_of(at)
        self._connection.run_many(_USE, ((entity, collection, at) for entity, collection in known))
        self._connection.run_many(_USE_ON_DAY, ((entity, day, collection) for entity, collection in known))
        if pairs:
            self._connection.run_many(
                _USE_TOGETHER,
                ((first, second, collection, at) for (first, collection), (second, _) in combinations(known, 2)),
            )

    def merge(self, old: int, new: int) -> None:
        for statement in (_MERGE_USES, _MERGE_DAYS, _MERGE_COMPANY):
            self._connection.run(statement, {"old": old, "new": new})


_OF = """
SELECT a.entity_id, a.uses, a.last_access, (SELECT count(*) FROM access_log l WHERE l.entity_id = a.entity_id)
FROM access a WHERE a.entity_id IN INTS(:entities)
"""
# The unary plus keeps SQLite from trying each pair of the two lists: it walks the company of the context instead.
_TOGETHER = """
SELECT first_id, second_id, times, last_at FROM co_occurrences
WHERE second_id IN INTS(:context) AND +first_id IN INTS(:entities)
UNION
SELECT first_id, second_id, times, last_at FROM co_occurrences
WHERE first_id IN INTS(:context) AND +second_id IN INTS(:entities)
ORDER BY 1, 2
"""
_KNOWN = """
SELECT id, collection_id FROM entities WHERE id IN INTS(:entities) ORDER BY id
"""
_USE = """
INSERT INTO access (entity_id, collection_id, uses, last_access) VALUES (?, ?, 1, ?)
ON CONFLICT (entity_id) DO UPDATE
SET uses = access.uses + 1, last_access = CASE
    WHEN excluded.last_access > access.last_access THEN excluded.last_access ELSE access.last_access END
"""
_USE_ON_DAY = """
INSERT INTO access_log (entity_id, day, collection_id, uses) VALUES (?, ?, ?, 1)
ON CONFLICT (entity_id, day) DO UPDATE SET uses = access_log.uses + 1
"""
_USE_TOGETHER = """
INSERT INTO co_occurrences (first_id, second_id, collection_id, times, last_at) VALUES (?, ?, ?, 1, ?)
ON CONFLICT (first_id, second_id) DO UPDATE
SET times = co_occurrences.times + 1, last_at = CASE
    WHEN excluded.last_at > co_occurrences.last_at THEN excluded.last_at ELSE co_occurrences.last_at END
"""
_MERGE_USES = """
INSERT INTO access (entity_id, collection_id, uses, last_access)
SELECT :new, collection_id, uses, last_access FROM access WHERE entity_id = :old
ON CONFLICT (entity_id) DO UPDATE
SET uses = access.uses + excluded.uses, last_access = CASE
    WHEN excluded.last_access > access.last_access THEN excluded.last_access ELSE access.last_access END
"""
_MERGE_DAYS = """
INSERT INTO access_log (entity_id, day, collection_id, uses)
SELECT :new, day, collection_id, uses FROM access_log WHERE entity_id = :old
ON CONFLICT (entity_id, day) DO UPDATE SET uses = access_log.uses + excluded.uses
"""
_MERGE_COMPANY = """
INSERT INTO co_occurrences (first_id, second_id, collection_id, times, last_at)
SELECT CASE WHEN other < :new THEN other ELSE :new END, CASE WHEN other < :new THEN :new ELSE other END, collection_id,
    times, last_at
FROM (
    SELECT CASE WHEN first_id = :old THEN second_id ELSE first_id END AS other, collection_id, times, last_at
    FROM co_occurrences WHERE first_id = :old OR second_id = :old
) c WHERE other <> :new
ON CONFLICT (first_id, second_id) DO UPDATE
SET times = co_occurrences.times + excluded.times, last_at = CASE
    WHEN excluded.last_at > co_occurrences.last_at THEN excluded.last_at ELSE co_occurrences.last_at END
"""
