"""Episodes: free-text memories, their categories, their history and their place in the index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import cast

from evoca.domain.clock import Instant
from evoca.domain.episodes import Episode, EpisodeTraits, EpisodeVersion, NewEpisode, fold_label
from evoca.domain.text import passages
from evoca.storage.connection import Connection, Value
from evoca.storage.contract import NewDocument, OwnerKind
from evoca.storage.episode_contract import EpisodeTally, TraitChanges
from evoca.storage.ledger import Ledger
from evoca.storage.repositories.feed import read_feed
from evoca.storage.repositories.passages import DocumentWriter

_Row = tuple[
    int,
    str,
    str,
    str,
    str,
    str,
    int,
    int,
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
_TraitsRow = tuple[int, int, str, bytes, str, str, str, int, int, int | None, int, int, int]
_VersionRow = tuple[int, int, str, str, str, str, str, str, int, int | None, int]
_TallyRow = tuple[str, int, int, int, int, int, int, int]


class EpisodeRepository:
    def __init__(self, connection: Connection, ledger: Ledger, documents: DocumentWriter) -> None:
        self._connection = connection
        self._ledger = ledger
        self._documents = documents

    # -- reading ---------------------------------------------------------------------------------

    def by_ids(self, collection: int, ids: Iterable[int]) -> dict[int, Episode]:
        values: dict[str, Value] = {"collection": collection, "ids": list(ids)}
        return {episode.id: episode for episode in self._episodes(_BY_IDS, values)}

    def alike(self, collection: int, session_id: str, signature: bytes, now: Instant) -> list[Episode]:
        values: dict[str, Value] = {
            "collection": collection,
            "session": session_id,
            "signature": signature,
            "now": now,
        }
        return self._episodes(_ALIKE, values)

    def live(self, collection: int, nivel: str | None = None, before: Instant | None = None) -> list[Episode]:
        values: dict[str, Value] = {"collection": collection, "nivel": nivel, "before": before}
        return self._episodes(_LIVE, values)

    def expired(self, now: Instant, limit: int) -> list[int]:
        return [number for (number,) in self._connection.select(_EXPIRED, {"now": now, "limit": limit}, tuple[int])]

    def repeated(self, collection: int, now: Instant) -> list[list[Episode]]:
        rows = self._connection.select(_REPEATED, {"collection": collection, "now": now}, tuple[str, bytes, int])
        found = self.by_ids(collection, [number for _, _, number in rows])
        groups: dict[tuple[str, bytes], list[Episode]] = {}
        for session_id, signature, number in rows:
            groups.setdefault((session_id, signature), []).append(found[number])
        return list(groups.values())

    def flagged(self, collection: int) -> list[Episode]:
        return self._episodes(_FLAGGED, {"collection": collection})

    def tally(self, collection: int, now: Instant) -> list[EpisodeTally]:
        rows = self._connection.select(_TALLY, {"collection": collection, "now": now}, _TallyRow)
        return [
            EpisodeTally(
                row[0], bool(row[1]), bool(row[2]), bool(row[3]), bool(row[4]), bool(row[5]), bool(row[6]), row[7]
            )
            for row in rows
        ]

    def changes(self, since: int) -> TraitChanges:
        feed = read_feed(self._connection, since)
        rows = [traits for first, last in feed.spans for traits in self._traits(first, last)]
        return TraitChanges(feed.counter, rows, feed.gone, feed.complete)

    def _traits(self, first: int, last: int) -> list[EpisodeTraits]:
        span: dict[str, Value] = {"first": first, "last": last}
        labels: dict[int, tuple[str, ...]] = {}
        for number, label in self._connection.select(_FOLDED, span, tuple[int, str]):
            labels[number] = (*labels.get(number, ()), label)
        rows = self._connection.select(_TRAITS, span, _TraitsRow)
        return [_traits(row, labels.get(row[0], ())) for row in rows]

    def versions(self, episode: int) -> list[EpisodeVersion]:
        rows = self._connection.select(_VERSIONS, {"id": episode}, _VersionRow)
        return [
            EpisodeVersion(
                row[0],
                row[1],
                row[2],
                row[3],
                row[4],
                row[5],
                tuple(cast(list[str], json.loads(row[6]))),
                row[7],
                bool(row[8]),
                row[9],
                row[10],
            )
            for row in rows
        ]

    def count(self, collection: int) -> int:
        return self._connection.select(_COUNT, {"collection": collection}, tuple[int])[0][0]

    def _episodes(self, sql: str, values: dict[str, Value]) -> list[Episode]:
        rows = self._connection.select(sql, values, _Row)
        categories = self._categories([row[0] for row in rows])
        return [_episode(row, categories.get(row[0], ())) for row in rows]

    def _categories(self, ids: Sequence[int]) -> dict[int, tuple[str, ...]]:
        found: dict[int, tuple[str, ...]] = {}
        for number, category in self._connection.select(_CATEGORIES, {"ids": list(ids)}, tuple[int, str]):
            found[number] = (*found.get(number, ()), category)
        return found

    # -- writing ---------------------------------------------------------------------------------

    def insert(self, collection: int, row: NewEpisode, at: Instant) -> int:
        # An episode takes an id for each of its documents.
        documents = _documents(0, row.content)
        number = self._ledger.take_ids(max(1, len(documents)))
        values: dict[str, Value] = {
            "id": number,
            "collection": collection,
            "session": row.session_id,
            "content": row.content,
            "signature": row.signature,
            "type": row.memory_type,
            "code": row.code,
            "nivel": row.nivel,
            "critico": int(row.critico),
            "at": at,
            "expires": row.expires_at,
        }
        self._connection.run(_INSERT, values)
        self._put_categories(collection, number, row.categories)
        self._documents.add(collection, _documents(number, row.content))
        return number

    def update(self, collection: int, before: Episode, after: Episode, signature: bytes, at: Instant) -> None:
        self._connection.run(
            _KEEP_VERSION,
            {
                "id": before.id,
                "collection": collection,
                "categories": json.dumps(list(before.categories), ensure_ascii=False),
                "at": at,
            },
        )
        values: dict[str, Value] = {
            "id": before.id,
            "session": after.session_id,
            "content": after.content,
            "signature": signature,
            "type": after.memory_type,
            "code": after.code,
            "nivel": after.nivel,
            "critico": int(after.critico),
            "expires": after.expires_at,
            "at": at,
        }
        self._connection.run(_UPDATE, values)
        if after.categories != before.categories:
            self._connection.run(_DROP_CATEGORIES, {"id": before.id})
            self._put_categories(collection, before.id, after.categories)
        if after.content != before.content and before.merged_into is None:
            self._documents.rewrite(collection, _documents(before.id, after.content))
            if before.archived_at is not None:
                self._documents.forget_vectors([before.id])
        self._documents.traits_changed([before.id])

    def set_categories(self, collection: int, episode: int, categories: Sequence[str]) -> None:
        self._connection.run(_DROP_CATEGORIES, {"id": episode})
        self._put_categories(collection, episode, categories)
        self._documents.traits_changed([episode])

    def _put_categories(self, collection: int, episode: int, categories: Sequence[str]) -> None:
        self._connection.run_many(
            _PUT_CATEGORY,
            ((episode, place, collection, label, fold_label(label)) for place, label in enumerate(categories)),
        )

    def consolidate(self, ids: Sequence[int], nivel: str, at: Instant) -> None:
        self._connection.run(_CONSOLIDATE, {"ids": list(ids), "nivel": nivel, "at": at})
        self._documents.traits_changed(ids)

    def degrade(self, ids: Sequence[int], nivel: str, reason: str, at: Instant) -> None:
        self._connection.run(_DEGRADE, {"ids": list(ids), "nivel": nivel, "reason": reason, "at": at})
        self._documents.traits_changed(ids)

    def archive(self, ids: Sequence[int], reason: str, at: Instant) -> None:
        self._connection.run(_ARCHIVE, {"ids": list(ids), "reason": reason, "at": at})
        self._documents.forget_vectors(ids)

    def restore(self, collection: int, ids: Sequence[int]) -> None:
        self._connection.run(_RESTORE, {"ids": list(ids)})
        self._documents.await_vectors(collection, ids)

    def mark_duplicate(self, episode: int, of: int | None) -> None:
        self._connection.run(_MARK_DUPLICATE, {"id": episode, "of": of})

    def supersede(self, episode: int, by: int | None) -> None:
        self._connection.run(_SUPERSEDE, {"id": episode, "by": by})
        self._documents.traits_changed([episode])

    def hide(self, ids: Sequence[int], into: int) -> None:
        self._connection.run(_HIDE, {"ids": list(ids), "into": into})
        self._documents.drop(ids)

    def unhide(self, collection: int, ids: Sequence[int]) -> None:
        for number, content, archived in self._connection.select(_UNHIDE, {"ids": list(ids)}, tuple[int, str, int]):
            self._documents.rewrite(collection, _documents(number, content))
            if archived:
                self._documents.forget_vectors([number])

    def use(self, ids: Iterable[int], at: Instant) -> None:
        self._connection.run_many(_USE, ((at, at, number) for number in ids))

    def delete(self, ids: Sequence[int]) -> None:
        listed = {"ids": list(ids)}
        freed = [number for (number,) in self._connection.select(_SUPERSEDED_BY, listed, tuple[int])]
        self._documents.drop(ids)
        self._connection.run_many(_DELETE, ((number,) for number in ids))
        self._documents.traits_changed([number for number in freed if number not in set(ids)])


def _episode(row: _Row, categories: tuple[str, ...]) -> Episode:
    return Episode(*row[:6], bool(row[6]), *row[7:], categories)


def _traits(row: _TraitsRow, categories: tuple[str, ...]) -> EpisodeTraits:
    memory_type, code, nivel, critico, created, expires, archived, superseded, hidden = row[4:]
    return EpisodeTraits(
        *row[:4],
        fold_label(memory_type),
        fold_label(code),
        nivel,
        bool(critico),
        created,
        expires,
        bool(archived),
        bool(superseded),
        bool(hidden),
        categories,
    )


def _documents(episode: int, content: str) -> list[NewDocument]:
    pieces = passages(content)
    last = len(pieces) - 1
    return [
        NewDocument(OwnerKind.EPISODE, episode, episode, piece.text, part, piece.begin, last - part)
        for part, piece in enumerate(pieces)
    ]


_COLUMNS = """
id, session_id, content, memory_type, code, nivel, critico, created_at, updated_at, expires_at, used_count,
last_used_at, consolidated_at, degraded_at, degraded_reason, archived_at, archived_reason, possible_duplicate_of,
superseded_by, merged_into
"""
_BY_IDS = f"""
SELECT {_COLUMNS} FROM episodes
WHERE id IN INTS(:ids) AND collection_id = :collection
ORDER BY id
"""  # noqa: S608 -- put together from constants
_ALIKE = f"""
SELECT {_COLUMNS} FROM episodes
WHERE collection_id = :collection AND session_id = :session AND signature = :signature
  AND archived_at IS NULL AND merged_into IS NULL AND superseded_by IS NULL
  AND (critico = 1 OR expires_at IS NULL OR expires_at > :now)
ORDER BY id
"""  # noqa: S608 -- put together from constants
_LIVE = f"""
SELECT {_COLUMNS} FROM episodes
WHERE collection_id = :collection AND archived_at IS NULL AND merged_into IS NULL
  AND (:nivel IS NULL OR nivel = :nivel) AND (:before IS NULL OR created_at < :before)
ORDER BY id
"""  # noqa: S608 -- put together from constants
_EXPIRED = """
SELECT id FROM episodes
WHERE expires_at IS NOT NULL AND archived_at IS NULL AND expires_at <= :now AND critico = 0 AND merged_into IS NULL
ORDER BY id LIMIT :limit
"""
_REPEATABLE = """
collection_id = :collection AND archived_at IS NULL AND merged_into IS NULL AND superseded_by IS NULL AND critico = 0
AND (expires_at IS NULL OR expires_at > :now)
"""
_REPEATED = f"""
WITH alike AS (
    SELECT session_id, signature FROM episodes WHERE {_REPEATABLE}
    GROUP BY session_id, signature HAVING count(*) > 1
), usable AS (SELECT session_id, signature, id FROM episodes WHERE {_REPEATABLE})
SELECT usable.session_id, usable.signature, usable.id FROM usable
JOIN alike ON alike.session_id = usable.session_id AND alike.signature = usable.signature
ORDER BY usable.id
"""  # noqa: S608 -- put together from constants
_FLAGGED = f"""
SELECT {_COLUMNS} FROM episodes
WHERE collection_id = :collection AND possible_duplicate_of IS NOT NULL AND archived_at IS NULL AND merged_into IS NULL
ORDER BY id
"""  # noqa: S608 -- put together from constants
_TALLY = """
SELECT nivel, critico, archived_at IS NOT NULL AS archived, superseded_by IS NOT NULL AS superseded,
    merged_into IS NOT NULL AS merged, possible_duplicate_of IS NOT NULL AS flagged,
    expires_at IS NOT NULL AND expires_at <= :now AND critico = 0 AS expired, count(*)
FROM episodes WHERE collection_id = :collection
GROUP BY nivel, critico, archived, superseded, merged, flagged, expired
ORDER BY nivel, critico, archived, superseded, merged, flagged, expired
"""
_TRAITS = """
SELECT id, collection_id, session_id, signature, memory_type, code, nivel, critico, created_at, expires_at,
    archived_at IS NOT NULL, superseded_by IS NOT NULL, merged_into IS NOT NULL
FROM episodes WHERE id BETWEEN :first AND :last
ORDER BY id
"""
_FOLDED = "SELECT episode_id, folded FROM episode_categories WHERE episode_id BETWEEN :first AND :last"
_VERSIONS = """
SELECT episode_id, version, session_id, content, memory_type, code, categories, nivel, critico, expires_at, replaced_at
FROM episode_versions WHERE episode_id = :id
ORDER BY version
"""
_COUNT = "SELECT count(*) FROM episodes WHERE collection_id = :collection AND merged_into IS NULL"
_CATEGORIES = """
SELECT episode_id, category FROM episode_categories
WHERE episode_id IN INTS(:ids)
ORDER BY episode_id, place
"""
_INSERT = """
INSERT INTO episodes (id, collection_id, session_id, content, signature, memory_type, code, nivel, critico, created_at,
                      updated_at, expires_at)
VALUES (:id, :collection, :session, :content, :signature, :type, :code, :nivel, :critico, :at, :at, :expires)
"""
_KEEP_VERSION = """
INSERT INTO episode_versions (episode_id, version, collection_id, session_id, content, memory_type, code, categories,
                              nivel, critico, expires_at, replaced_at)
SELECT id, 1 + (SELECT count(*) FROM episode_versions WHERE episode_id = :id), :collection, session_id, content,
    memory_type, code, :categories, nivel, critico, expires_at, :at
FROM episodes WHERE id = :id
"""
_UPDATE = """
UPDATE episodes
SET session_id = :session, content = :content, signature = :signature, memory_type = :type, code = :code,
    nivel = :nivel, critico = :critico, expires_at = :expires, updated_at = :at
WHERE id = :id
"""
_DROP_CATEGORIES = "DELETE FROM episode_categories WHERE episode_id = :id"
_PUT_CATEGORY = """
INSERT INTO episode_categories (episode_id, place, collection_id, category, folded) VALUES (?, ?, ?, ?, ?)
"""
_CONSOLIDATE = """
UPDATE episodes SET nivel = :nivel, consolidated_at = :at, updated_at = :at
WHERE id IN INTS(:ids)
"""
_DEGRADE = """
UPDATE episodes SET nivel = :nivel, degraded_at = :at, degraded_reason = :reason, updated_at = :at
WHERE id IN INTS(:ids)
"""
_ARCHIVE = """
UPDATE episodes SET archived_at = :at, archived_reason = :reason
WHERE id IN INTS(:ids) AND archived_at IS NULL
"""
_RESTORE = """
UPDATE episodes SET archived_at = NULL, archived_reason = NULL WHERE id IN INTS(:ids)
"""
_MARK_DUPLICATE = "UPDATE episodes SET possible_duplicate_of = :of WHERE id = :id"
_SUPERSEDE = "UPDATE episodes SET superseded_by = :by WHERE id = :id"
_HIDE = "UPDATE episodes SET merged_into = :into WHERE id IN INTS(:ids)"
_UNHIDE = """
UPDATE episodes SET merged_into = NULL WHERE id IN INTS(:ids)
RETURNING id, content, archived_at IS NOT NULL
"""
_USE = """
UPDATE episodes SET used_count = used_count + 1, last_used_at = CASE WHEN last_used_at > ? THEN last_used_at ELSE ? END
WHERE id = ?
"""
_SUPERSEDED_BY = "SELECT id FROM episodes WHERE superseded_by IN INTS(:ids)"
_DELETE = "DELETE FROM episodes WHERE id = ?"
