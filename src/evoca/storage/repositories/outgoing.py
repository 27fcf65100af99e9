"""A collection as it is, page by page, for an export."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TypeVar, cast

from evoca.domain.episodes import Episode, EpisodeLink, EpisodeVersion, Merge
from evoca.domain.graph import DEFAULT_KIND, CoOccurrence, Edge, Entity, Observation
from evoca.domain.reflections import Reflection
from evoca.storage.connection import Connection, Row, Value
from evoca.storage.repositories.edge_rows import literal_value
from evoca.storage.transfer_contract import FormerName, Use, WholeEntity, WholeEpisode

T = TypeVar("T")

_EntityRow = tuple[int, str, str, str, int, int]
_ObservationRow = tuple[int, int, str, str | None, int | None, int | None, int, int]
_EdgeRow = tuple[
    int,  # id
    int,  # subject
    str,
    str,  # predicate
    int | None,  # object
    str | None,
    str | None,  # value
    str | None,  # its kind
    str | None,  # context
    str | None,  # source
    float,
    int,  # created at
    int | None,  # valid from
    int | None,  # ended at
]
_ReflectionRow = tuple[int, str, int | None, str, str, str | None, int, str | None]
_EpisodeRow = tuple[
    int,
    str,  # session
    str,  # content
    str,
    str,
    str,
    int,  # critico
    int,  # created at
    int,
    int | None,
    int,
    int | None,
    int | None,
    int | None,
    str | None,
    int | None,
    str | None,
    int | None,
    int | None,
    int | None,
]
_VersionRow = tuple[int, int, str, str, str, str, str, str, int, int | None, int]
_LinkRow = tuple[int, int, int, str, float, int, int | None, str | None]
_MergeRow = tuple[int, int, int, int, int | None, str]


class OutgoingRepository:
    """See `storage.transfer_contract.Outgoing`.

    What belongs to the rows of a page is found by their range of ids; rows of other collections in it are passed over.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def entities(self, collection: int, after: int, limit: int) -> list[WholeEntity]:
        rows = self._page(_ENTITIES, collection, after, limit, _EntityRow)
        span = _span(rows)
        names: dict[int, list[FormerName]] = {}
        for entity, name, since in self._connection.select(_FORMER_NAMES, span, tuple[int, str, int]):
            names.setdefault(entity, []).append(FormerName(name, since))
        days: dict[int, list[tuple[int, int]]] = {}
        for entity, day, uses in self._connection.select(_DAYS, span, tuple[int, int, int]):
            days.setdefault(entity, []).append((day, uses))
        uses = {
            entity: Use(count, last, tuple(days.get(entity, ())))
            for entity, count, last in self._connection.select(_USES, span, tuple[int, int, int])
        }
        return [WholeEntity(Entity(*row), tuple(names.get(row[0], ())), uses.get(row[0])) for row in rows]

    def observations(self, collection: int, after: int, limit: int) -> list[Observation]:
        rows = self._page(_OBSERVATIONS, collection, after, limit, _ObservationRow)
        return [Observation(*row[:3], row[3] or DEFAULT_KIND, *row[4:6], bool(row[6]), row[7]) for row in rows]

    def edges(self, collection: int, after: int, limit: int) -> list[Edge]:
        return [whole_edge(row) for row in self._page(_EDGES, collection, after, limit, _EdgeRow)]

    def edges_from(self, collection: int, subjects: Iterable[int]) -> list[Edge]:
        """All edges that begin at one of these entities, by id."""
        values: dict[str, Value] = {"collection": collection, "subjects": list(subjects)}
        return [whole_edge(row) for row in self._connection.select(_EDGES_FROM, values, _EdgeRow)]

    def reflections(self, collection: int, after: int, limit: int) -> list[Reflection]:
        return [Reflection(*row) for row in self._page(_REFLECTIONS, collection, after, limit, _ReflectionRow)]

    def episodes(self, collection: int, after: int, limit: int) -> list[WholeEpisode]:
        rows = self._page(_EPISODES, collection, after, limit, _EpisodeRow)
        span = _span(rows)
        categories: dict[int, tuple[str, ...]] = {}
        for number, label in self._connection.select(_CATEGORIES, span, tuple[int, str]):
            categories[number] = (*categories.get(number, ()), label)
        versions: dict[int, list[EpisodeVersion]] = {}
        for row in self._connection.select(_VERSIONS, span, _VersionRow):
            versions.setdefault(row[0], []).append(_version(row))
        waiting = dict(self._connection.select(_ENRICHMENTS, span, tuple[int, int]))
        return [
            WholeEpisode(
                Episode(*row[:6], bool(row[6]), *row[7:], categories.get(row[0], ())),
                tuple(versions.get(row[0], ())),
                bool(waiting[row[0]]) if row[0] in waiting else None,
            )
            for row in rows
        ]

    def links(self, collection: int, after: int, limit: int) -> list[EpisodeLink]:
        return [EpisodeLink(*row) for row in self._page(_LINKS, collection, after, limit, _LinkRow)]

    def merges(self, collection: int, after: int, limit: int) -> list[Merge]:
        return [Merge(*row) for row in self._page(_MERGES, collection, after, limit, _MergeRow)]

    def company(self, collection: int, after: tuple[int, int], limit: int) -> list[CoOccurrence]:
        values = {"collection": collection, "first": after[0], "second": after[1], "limit": limit}
        return [CoOccurrence(*row) for row in self._connection.select(_COMPANY, values, tuple[int, int, int, int])]

    def _page(self, sql: str, collection: int, after: int, limit: int, shape: type[Row]) -> list[Row]:
        return self._connection.select(sql, {"collection": collection, "after": after, "limit": limit}, shape)


def whole_edge(row: _EdgeRow) -> Edge:
    return Edge(
        id=row[0],
        subject_id=row[1],
        subject=row[2],
        predicate=row[3],
        object_id=row[4],
        object=row[5],
        value=literal_value(row[6], row[7]),
        context=row[8],
        source=row[9],
        confidence=row[10],
        active=row[13] is None,
        created_at=row[11],
        valid_from=row[12],
        ended_at=row[13],
    )


def _version(row: _VersionRow) -> EpisodeVersion:
    categories = tuple(cast("list[str]", json.loads(row[6])))
    return EpisodeVersion(*row[:6], categories, row[7], bool(row[8]), *row[9:])


def _span(rows: Sequence[tuple[int, *tuple[object, ...]]]) -> dict[str, Value]:
    """The range of ids that a page covers; of an empty one, none."""
    return {"first": rows[0][0], "last": rows[-1][0]} if rows else {"first": 0, "last": -1}


_PAGE = "collection_id = :collection AND id > :after ORDER BY id LIMIT :limit"
_ENTITIES = f"SELECT id, name, entity_type, status, created_at, updated_at FROM entities WHERE {_PAGE}"  # noqa: S608 -- put together from constants
_FORMER_NAMES = """
SELECT entity_id, name, created_at FROM aliases WHERE entity_id BETWEEN :first AND :last
ORDER BY entity_id, created_at, name
"""
_USES = "SELECT entity_id, uses, last_access FROM access WHERE entity_id BETWEEN :first AND :last"
_DAYS = "SELECT entity_id, day, uses FROM access_log WHERE entity_id BETWEEN :first AND :last ORDER BY entity_id, day"
_OBSERVATIONS = f"""
SELECT id, entity_id, content, kind, supersedes, superseded_at, similarity_flag, created_at FROM observations
WHERE {_PAGE}
"""  # noqa: S608 -- put together from constants
_EDGE = """
SELECT e.id, e.subject_id, s.name, e.predicate, e.object_id, o.name, e.value, e.value_kind, e.context, e.source,
       e.confidence, e.created_at, e.valid_from, e.ended_at
FROM edges e
JOIN entities s ON s.id = e.subject_id
LEFT JOIN entities o ON o.id = e.object_id
"""
_EDGES = f"{_EDGE} WHERE e.collection_id = :collection AND e.id > :after ORDER BY e.id LIMIT :limit"
_EDGES_FROM = f"{_EDGE} WHERE e.subject_id IN INTS(:subjects) AND e.collection_id = :collection ORDER BY e.id"
_REFLECTIONS = f"""
SELECT id, target_type, target_id, author, content, mood, created_at, former_target FROM reflections WHERE {_PAGE}
"""  # noqa: S608 -- put together from constants
_EPISODES = f"""
SELECT id, session_id, content, memory_type, code, nivel, critico, created_at, updated_at, expires_at, used_count,
    last_used_at, consolidated_at, degraded_at, degraded_reason, archived_at, archived_reason, possible_duplicate_of,
    superseded_by, merged_into
FROM episodes WHERE {_PAGE}
"""  # noqa: S608 -- put together from constants
_CATEGORIES = """
SELECT episode_id, category FROM episode_categories WHERE episode_id BETWEEN :first AND :last
ORDER BY episode_id, place
"""
_VERSIONS = """
SELECT episode_id, version, session_id, content, memory_type, code, categories, nivel, critico, expires_at, replaced_at
FROM episode_versions WHERE episode_id BETWEEN :first AND :last
ORDER BY episode_id, version
"""
_ENRICHMENTS = "SELECT episode_id, auto_link FROM enrichments WHERE episode_id BETWEEN :first AND :last"
_LINKS = f"""
SELECT id, source_id, target_id, relation_type, weight, created_at, last_used_at, details FROM episode_links
WHERE {_PAGE}
"""  # noqa: S608 -- put together from constants
_MERGES = f"SELECT id, survivor_id, merged_id, merged_at, undone_at, details FROM merges WHERE {_PAGE}"  # noqa: S608 -- put together from constants
_COMPANY = """
SELECT first_id, second_id, times, last_at FROM co_occurrences
WHERE collection_id = :collection AND (first_id, second_id) > (:first, :second)
ORDER BY first_id, second_id LIMIT :limit
"""
