"""Rows of another store, put into a collection as they were, and indexed anew."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from evoca.domain.clock import Instant
from evoca.domain.episodes import Episode, EpisodeLink, Merge, fold_label
from evoca.domain.graph import DEFAULT_KIND, CoOccurrence, Edge, Observation
from evoca.domain.identity import signature
from evoca.domain.reflections import Reflection
from evoca.domain.text import Passage, nfc, passages
from evoca.storage.connection import Connection, Value
from evoca.storage.contract import NewDocument, OwnerKind
from evoca.storage.ledger import Ledger
from evoca.storage.repositories.edge_rows import EdgeWriter, literal_columns
from evoca.storage.repositories.entities import folded_key, signed_crc
from evoca.storage.repositories.outgoing import OutgoingRepository
from evoca.storage.repositories.passages import DocumentWriter
from evoca.storage.transfer_contract import FormerName, Use, WholeEntity, WholeEpisode

_OWED = 20_000
"""So many documents may wait for their index rows before these are written: they are kept in memory until then."""


class IncomingRepository:
    """See `storage.transfer_contract.Incoming`."""

    def __init__(self, connection: Connection, ledger: Ledger, documents: DocumentWriter, edges: EdgeWriter) -> None:
        self._connection = connection
        self._ledger = ledger
        self._documents = documents
        self._edges = edges
        self._outgoing = OutgoingRepository(connection)
        self._owed = 0

    def take_ids(self, count: int) -> int:
        return self._ledger.take_ids(count)

    # -- the graph -------------------------------------------------------------------------------

    def entities(self, collection: int, rows: Sequence[WholeEntity]) -> list[int]:
        ids = self._ids(len(rows))
        each = [(number, row, row.entity) for number, row in zip(ids, rows, strict=True)]
        self._connection.run_many(
            _INSERT_ENTITY,
            (
                (
                    number,
                    collection,
                    entity.name,
                    entity.entity_type,
                    entity.status,
                    folded_key(entity.name),
                    entity.created_at,
                    entity.updated_at,
                )
                for number, _row, entity in each
            ),
        )
        self._documents.add_entities(
            collection, [(number, entity.name, entity.entity_type) for number, _, entity in each]
        )
        self._index(len(rows))
        for number, row, _entity in each:
            if row.use is not None:
                self.use(collection, number, row.use)
        return ids

    def former_names(self, collection: int, entity: int, names: Sequence[FormerName]) -> int:
        added = 0
        for each in names:
            values: dict[str, Value] = {
                "collection": collection,
                "name": nfc(each.name),
                "entity": entity,
                "at": each.since,
            }
            added += len(self._connection.select(_INSERT_ALIAS, values, tuple[int]))
        return added

    def use(self, collection: int, entity: int, use: Use) -> None:
        values: dict[str, Value] = {"id": entity, "collection": collection, "uses": use.count, "last": use.last}
        self._connection.run(_INSERT_USE, values)
        self._connection.run_many(_INSERT_DAY, ((entity, day, collection, uses) for day, uses in use.days))

    def observations(self, collection: int, rows: Sequence[Observation]) -> list[int]:
        pieces = [passages(row.content) if row.superseded_at is None else [] for row in rows]
        ids = self._spread(len(each) for each in pieces)
        self._connection.run_many(
            _INSERT_OBSERVATION,
            (
                (
                    number,
                    collection,
                    row.entity_id,
                    row.content,
                    signed_crc(row.content),
                    None if row.kind == DEFAULT_KIND else row.kind,
                    row.superseded_at,
                    int(row.similarity_flag),
                    row.created_at,
                )
                for number, row in zip(ids, rows, strict=True)
            ),
        )
        self._add(
            collection,
            (
                document
                for number, row, cut in zip(ids, rows, pieces, strict=True)
                for document in _documents(OwnerKind.OBSERVATION, number, row.entity_id, cut)
            ),
        )
        return ids

    def edges(self, collection: int, rows: Sequence[Edge]) -> list[int]:
        ids = self._ids(len(rows))
        self._connection.run_many(
            _INSERT_EDGE,
            (
                (
                    number,
                    collection,
                    row.subject_id,
                    row.predicate,
                    row.object_id,
                    *literal_columns(row.value),
                    row.context,
                    row.source,
                    row.confidence,
                    int(row.ended_at is None),
                    row.created_at,
                    row.valid_from,
                    row.ended_at,
                )
                for number, row in zip(ids, rows, strict=True)
            ),
        )
        self._edges.index(ids)
        self._index(len(ids))
        return ids

    def edges_from(self, collection: int, subjects: Iterable[int]) -> list[Edge]:
        return self._outgoing.edges_from(collection, subjects)

    def company(self, collection: int, rows: Sequence[CoOccurrence]) -> int:
        added = 0
        for row in rows:
            values: dict[str, Value] = {
                "first": min(row.first, row.second),
                "second": max(row.first, row.second),
                "collection": collection,
                "times": row.count,
                "last": row.last,
            }
            added += len(self._connection.select(_INSERT_COMPANY, values, tuple[int]))
        return added

    # -- prose -----------------------------------------------------------------------------------

    def reflections(self, collection: int, rows: Sequence[Reflection]) -> list[int]:
        pieces = [passages(row.content) for row in rows]
        ids = self._spread(len(each) for each in pieces)
        self._connection.run_many(
            _INSERT_REFLECTION,
            (
                (
                    number,
                    collection,
                    row.target_type,
                    row.target_id,
                    row.former_target,
                    row.author,
                    row.mood,
                    row.content,
                    row.created_at,
                )
                for number, row in zip(ids, rows, strict=True)
            ),
        )
        self._add(
            collection,
            (
                document
                for number, cut in zip(ids, pieces, strict=True)
                for document in _documents(OwnerKind.REFLECTION, number, number, cut)
            ),
        )
        return ids

    def episodes(self, collection: int, rows: Sequence[WholeEpisode]) -> list[int]:
        pieces = [passages(row.episode.content) if row.episode.merged_into is None else [] for row in rows]
        ids = self._spread(len(each) for each in pieces)
        each = list(zip(ids, rows, strict=True))
        self._connection.run_many(_INSERT_EPISODE, (_columns(number, collection, row.episode) for number, row in each))
        self._connection.run_many(
            _INSERT_CATEGORY,
            (
                (number, place, collection, label, fold_label(label))
                for number, row in each
                for place, label in enumerate(row.episode.categories)
            ),
        )
        self._connection.run_many(
            _INSERT_VERSION,
            (
                (
                    number,
                    version.version,
                    collection,
                    version.session_id,
                    version.content,
                    version.memory_type,
                    version.code,
                    json.dumps(list(version.categories), ensure_ascii=False),
                    version.nivel,
                    int(version.critico),
                    version.expires_at,
                    version.replaced_at,
                )
                for number, row in each
                for version in row.versions
            ),
        )
        self._connection.run_many(
            _INSERT_ENRICHMENT,
            ((number, collection, int(row.auto_link)) for number, row in each if row.auto_link is not None),
        )
        self._add(
            collection,
            (
                document
                for number, cut in zip(ids, pieces, strict=True)
                for document in _documents(OwnerKind.EPISODE, number, number, cut)
            ),
        )
        archived = [number for number, row in each if row.episode.archived_at is not None]
        if archived:
            self._documents.forget_vectors(archived)
        self._documents.traits_changed(ids)
        return ids

    def episodes_alike(self, collection: int, session_id: str, content: str) -> list[tuple[int, Instant]]:
        values: dict[str, Value] = {"collection": collection, "session": session_id, "signature": signature(content)}
        rows = self._connection.select(_ALIKE, values, tuple[int, int, str])
        return [(number, at) for number, at, text in rows if text == content]

    def links(self, collection: int, rows: Sequence[EpisodeLink]) -> list[int]:
        ids = self._ids(len(rows))
        self._connection.run_many(
            _INSERT_LINK,
            (
                (
                    number,
                    collection,
                    row.source_id,
                    row.target_id,
                    row.relation_type,
                    row.weight,
                    row.created_at,
                    row.last_used_at,
                    row.details,
                )
                for number, row in zip(ids, rows, strict=True)
            ),
        )
        return ids

    def merges(self, collection: int, rows: Sequence[Merge]) -> list[int]:
        ids = self._ids(len(rows))
        self._connection.run_many(
            _INSERT_MERGE,
            (
                (number, collection, row.survivor_id, row.merged_id, row.merged_at, row.undone_at, row.details)
                for number, row in zip(ids, rows, strict=True)
            ),
        )
        return ids

    # -- afterwards ------------------------------------------------------------------------------

    def refer(self, observations: Sequence[Observation], episodes: Sequence[Episode]) -> None:
        self._connection.run_many(_SET_SUPERSEDES, ((row.supersedes, row.id) for row in observations))
        self._connection.run_many(
            _SET_EPISODES,
            ((row.possible_duplicate_of, row.superseded_by, row.merged_into, row.id) for row in episodes),
        )

    def describe(self, collection: int, name: str, description: str) -> None:
        self._connection.run(_DESCRIBE, {"id": collection, "name": name, "description": description})

    # -- ids and documents -----------------------------------------------------------------------

    def _ids(self, count: int) -> list[int]:
        if not count:
            return []
        first = self._ledger.take_ids(count)
        return list(range(first, first + count))

    def _spread(self, documents: Iterable[int]) -> list[int]:
        """Ids for owners with so many documents each; an owner takes an id for each of them, and at least one."""
        needed = [count or 1 for count in documents]
        if not needed:
            return []
        first = self._ledger.take_ids(sum(needed))
        return list(accumulate(needed[:-1], initial=first))

    def _add(self, collection: int, documents: Iterator[NewDocument]) -> None:
        rows = list(documents)
        self._documents.add(collection, rows)
        self._index(len(rows))

    def _index(self, documents: int) -> None:
        self._owed += documents
        if self._owed >= _OWED:
            self._ledger.expose_terms()
            self._owed = 0


def _documents(kind: OwnerKind, owner: int, entity: int, pieces: Sequence[Passage]) -> list[NewDocument]:
    last = len(pieces) - 1
    return [
        NewDocument(kind, owner, entity, piece.text, part, piece.begin, last - part)
        for part, piece in enumerate(pieces)
    ]


def _columns(number: int, collection: int, episode: Episode) -> tuple[Value, ...]:
    return (
        number,
        collection,
        episode.session_id,
        episode.content,
        signature(episode.content),
        episode.memory_type,
        episode.code,
        episode.nivel,
        int(episode.critico),
        episode.created_at,
        episode.updated_at,
        episode.expires_at,
        episode.used_count,
        episode.last_used_at,
        episode.consolidated_at,
        episode.degraded_at,
        episode.degraded_reason,
        episode.archived_at,
        episode.archived_reason,
    )


_INSERT_ENTITY = """
INSERT INTO entities (id, collection_id, name, entity_type, status, folded, created_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_ALIAS = """
INSERT INTO aliases (collection_id, name, entity_id, created_at)
SELECT :collection, :name, :entity, :at
WHERE NOT EXISTS (SELECT 1 FROM entities WHERE collection_id = :collection AND name = :name)
ON CONFLICT (collection_id, name) DO NOTHING
RETURNING entity_id
"""
_INSERT_USE = """
INSERT INTO access (entity_id, collection_id, uses, last_access) VALUES (:id, :collection, :uses, :last)
"""
_INSERT_DAY = "INSERT INTO access_log (entity_id, day, collection_id, uses) VALUES (?, ?, ?, ?)"
_INSERT_OBSERVATION = """
INSERT INTO observations (id, collection_id, entity_id, content, content_key, kind, superseded_at, similarity_flag,
                          created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_EDGE = """
INSERT INTO edges (id, collection_id, subject_id, predicate, object_id, value, value_kind, context, source, confidence,
                   active, created_at, valid_from, ended_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_COMPANY = """
INSERT INTO co_occurrences (first_id, second_id, collection_id, times, last_at)
VALUES (:first, :second, :collection, :times, :last)
ON CONFLICT (first_id, second_id) DO NOTHING
RETURNING first_id
"""
_INSERT_REFLECTION = """
INSERT INTO reflections (id, collection_id, target_type, target_id, former_target, author, mood, content, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_EPISODE = """
INSERT INTO episodes (id, collection_id, session_id, content, signature, memory_type, code, nivel, critico, created_at,
                      updated_at, expires_at, used_count, last_used_at, consolidated_at, degraded_at, degraded_reason,
                      archived_at, archived_reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_CATEGORY = """
INSERT INTO episode_categories (episode_id, place, collection_id, category, folded) VALUES (?, ?, ?, ?, ?)
"""
_INSERT_VERSION = """
INSERT INTO episode_versions (episode_id, version, collection_id, session_id, content, memory_type, code, categories,
                              nivel, critico, expires_at, replaced_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_ENRICHMENT = "INSERT INTO enrichments (episode_id, collection_id, auto_link) VALUES (?, ?, ?)"
_ALIKE = """
SELECT id, created_at, content FROM episodes
WHERE collection_id = :collection AND session_id = :session AND signature = :signature
ORDER BY id
"""
_INSERT_LINK = """
INSERT INTO episode_links (id, collection_id, source_id, target_id, relation_type, weight, created_at, last_used_at,
                           details)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_MERGE = """
INSERT INTO merges (id, collection_id, survivor_id, merged_id, merged_at, undone_at, details)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_SET_SUPERSEDES = "UPDATE observations SET supersedes = ? WHERE id = ?"
_SET_EPISODES = "UPDATE episodes SET possible_duplicate_of = ?, superseded_by = ?, merged_into = ? WHERE id = ?"
_DESCRIBE = """
UPDATE collections SET name = :name, description = :description
WHERE id = :id AND name = code AND description = ''
"""
