"""What joins episodes, what copies became of, and the work that waits behind a save."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evoca.domain.clock import Instant
from evoca.domain.episodes import EpisodeLink, Merge, NewEpisodeLink
from evoca.storage.connection import Connection, Value
from evoca.storage.episode_contract import PendingEnrichment
from evoca.storage.ledger import Ledger

_LinkRow = tuple[int, int, int, str, float, int, int | None, str | None]
_MergeRow = tuple[int, int, int, int, int | None, str]


class EpisodeLinkRepository:
    def __init__(self, connection: Connection, ledger: Ledger) -> None:
        self._connection = connection
        self._ledger = ledger

    def insert(self, collection: int, row: NewEpisodeLink, at: Instant) -> int | None:
        known: dict[str, Value] = {"source": row.source_id, "target": row.target_id, "type": row.relation_type}
        if self._connection.select(_FIND, known, tuple[int]):
            return None
        number = self._ledger.take_ids(1)
        values: dict[str, Value] = known | {
            "id": number,
            "collection": collection,
            "weight": row.weight,
            "at": at,
            "details": row.details,
        }
        self._connection.run(_INSERT, values)
        return number

    def by_ids(self, collection: int, ids: Iterable[int]) -> dict[int, EpisodeLink]:
        values: dict[str, Value] = {"collection": collection, "ids": list(ids)}
        return {row[0]: EpisodeLink(*row) for row in self._connection.select(_BY_IDS, values, _LinkRow)}

    def between(self, source: int, target: int, relation_type: str | None = None) -> list[EpisodeLink]:
        values: dict[str, Value] = {"source": source, "target": target, "type": relation_type}
        return [EpisodeLink(*row) for row in self._connection.select(_BETWEEN, values, _LinkRow)]

    def touching(self, episodes: Iterable[int], relation_type: str | None = None) -> list[EpisodeLink]:
        values: dict[str, Value] = {"ids": list(episodes), "type": relation_type}
        return [EpisodeLink(*row) for row in self._connection.select(_TOUCHING, values, _LinkRow)]

    def all(self, collection: int) -> list[EpisodeLink]:
        return [EpisodeLink(*row) for row in self._connection.select(_ALL, {"collection": collection}, _LinkRow)]

    def linked(self, collection: int) -> set[int]:
        return {number for (number,) in self._connection.select(_LINKED, {"collection": collection}, tuple[int])}

    def use(self, ids: Iterable[int], at: Instant) -> None:
        self._connection.run(_USE, {"ids": list(ids), "at": at})

    def restore(self, collection: int, link: EpisodeLink) -> None:
        self._connection.run(
            _PUT_BACK,
            {
                "id": link.id,
                "collection": collection,
                "source": link.source_id,
                "target": link.target_id,
                "type": link.relation_type,
                "weight": link.weight,
                "at": link.created_at,
                "used": link.last_used_at,
                "details": link.details,
            },
        )

    def delete(self, ids: Sequence[int]) -> None:
        self._connection.run_many(_DELETE, ((number,) for number in ids))


class MergeRepository:
    def __init__(self, connection: Connection, ledger: Ledger) -> None:
        self._connection = connection
        self._ledger = ledger

    def insert(self, collection: int, survivor: int, merged: int, details: str, at: Instant) -> int:
        number = self._ledger.take_ids(1)
        values: dict[str, Value] = {
            "id": number,
            "collection": collection,
            "survivor": survivor,
            "merged": merged,
            "details": details,
            "at": at,
        }
        self._connection.run(_INSERT_MERGE, values)
        return number

    def by_ids(self, collection: int, ids: Iterable[int]) -> dict[int, Merge]:
        values: dict[str, Value] = {"collection": collection, "ids": list(ids)}
        return {row[0]: Merge(*row) for row in self._connection.select(_MERGES_BY_IDS, values, _MergeRow)}

    def of(self, episodes: Iterable[int]) -> list[Merge]:
        values = {"ids": list(episodes)}
        return [Merge(*row) for row in self._connection.select(_MERGES_OF, values, _MergeRow)]

    def all(self, collection: int) -> list[Merge]:
        return [Merge(*row) for row in self._connection.select(_ALL_MERGES, {"collection": collection}, _MergeRow)]

    def undo(self, merge: int, at: Instant) -> None:
        self._connection.run(_UNDO, {"id": merge, "at": at})


class EnrichmentRepository:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, collection: int, episode: int, auto_link: bool) -> None:
        self._connection.run(_ADD, {"id": episode, "collection": collection, "auto_link": int(auto_link)})

    def claim(self, model: str, limit: int, owner: str, now: Instant, until: Instant) -> list[PendingEnrichment]:
        values: dict[str, Value] = {"model": model, "now": now, "limit": limit}
        rows = self._connection.select(_READY, values, tuple[int, int, int])
        self._connection.run_many(_LEASE, ((owner, until, number) for number, _, _ in rows))
        return [PendingEnrichment(number, collection, bool(auto)) for number, collection, auto in rows]

    def ready(self, model: str, now: Instant) -> bool:
        values: dict[str, Value] = {"model": model, "now": now, "limit": 1}
        return bool(self._connection.select(_READY, values, tuple[int, int, int]))

    def finish(self, episode: int, owner: str) -> bool:
        return bool(self._connection.select(_FINISH, {"id": episode, "owner": owner}, tuple[int]))

    def release(self, owner: str) -> None:
        self._connection.run(_RELEASE, {"owner": owner})

    def pending(self, collection: int | None) -> int:
        return self._connection.select(_PENDING, {"collection": collection}, tuple[int])[0][0]


_LINK_COLUMNS = "id, source_id, target_id, relation_type, weight, created_at, last_used_at, details"
_FIND = """
SELECT id FROM episode_links WHERE source_id = :source AND target_id = :target AND relation_type = :type
"""
_INSERT = """
INSERT INTO episode_links (id, collection_id, source_id, target_id, relation_type, weight, created_at, details)
VALUES (:id, :collection, :source, :target, :type, :weight, :at, :details)
"""
_BY_IDS = f"""
SELECT {_LINK_COLUMNS} FROM episode_links
WHERE id IN INTS(:ids) AND collection_id = :collection
ORDER BY id
"""  # noqa: S608 -- put together from constants
_BETWEEN = f"""
SELECT {_LINK_COLUMNS} FROM episode_links
WHERE source_id = :source AND target_id = :target AND (:type IS NULL OR relation_type = :type)
ORDER BY id
"""  # noqa: S608 -- put together from constants
_TOUCHING = f"""
SELECT {_LINK_COLUMNS} FROM episode_links
WHERE (source_id IN INTS(:ids) OR target_id IN INTS(:ids))
  AND (:type IS NULL OR relation_type = :type)
ORDER BY id
"""  # noqa: S608 -- put together from constants
_ALL = f"SELECT {_LINK_COLUMNS} FROM episode_links WHERE collection_id = :collection ORDER BY id"  # noqa: S608 -- put together from constants
_LINKED = """
SELECT source_id FROM episode_links WHERE collection_id = :collection
UNION
SELECT target_id FROM episode_links WHERE collection_id = :collection
"""
_USE = """
UPDATE episode_links SET last_used_at = :at
WHERE id IN INTS(:ids) AND (last_used_at IS NULL OR last_used_at < :at)
"""
_PUT_BACK = """
INSERT INTO episode_links (id, collection_id, source_id, target_id, relation_type, weight, created_at, last_used_at,
                           details)
VALUES (:id, :collection, :source, :target, :type, :weight, :at, :used, :details)
ON CONFLICT DO NOTHING
"""
_DELETE = "DELETE FROM episode_links WHERE id = ?"

_MERGE_COLUMNS = "id, survivor_id, merged_id, merged_at, undone_at, details"
_INSERT_MERGE = """
INSERT INTO merges (id, collection_id, survivor_id, merged_id, merged_at, details)
VALUES (:id, :collection, :survivor, :merged, :at, :details)
"""
_MERGES_BY_IDS = f"""
SELECT {_MERGE_COLUMNS} FROM merges
WHERE id IN INTS(:ids) AND collection_id = :collection
ORDER BY id
"""  # noqa: S608 -- put together from constants
_MERGES_OF = f"""
SELECT {_MERGE_COLUMNS} FROM merges
WHERE survivor_id IN INTS(:ids) OR merged_id IN INTS(:ids)
ORDER BY id
"""  # noqa: S608 -- put together from constants
_ALL_MERGES = f"SELECT {_MERGE_COLUMNS} FROM merges WHERE collection_id = :collection ORDER BY id"  # noqa: S608 -- put together from constants
_UNDO = "UPDATE merges SET undone_at = :at WHERE id = :id"

_ADD = """
INSERT INTO enrichments (episode_id, collection_id, auto_link) VALUES (:id, :collection, :auto_link)
ON CONFLICT (episode_id) DO UPDATE
SET auto_link = CASE WHEN excluded.auto_link > enrichments.auto_link THEN 1 ELSE enrichments.auto_link END,
    lease_owner = NULL, leased_until = NULL
"""
_READY = """
SELECT e.episode_id, e.collection_id, e.auto_link FROM enrichments e
WHERE (e.leased_until IS NULL OR e.leased_until <= :now)
  AND EXISTS (
    SELECT 1 FROM vectors v JOIN models m ON m.id = v.model_id
    WHERE v.document_id = e.episode_id AND m.name = :model
  )
ORDER BY e.episode_id DESC LIMIT :limit
"""
_LEASE = "UPDATE enrichments SET lease_owner = ?, leased_until = ? WHERE episode_id = ?"
_FINISH = "DELETE FROM enrichments WHERE episode_id = :id AND lease_owner = :owner RETURNING episode_id"
_RELEASE = "UPDATE enrichments SET lease_owner = NULL, leased_until = NULL WHERE lease_owner = :owner"
_PENDING = """
SELECT count(*) FROM enrichments e JOIN episodes m ON m.id = e.episode_id
WHERE (:collection IS NULL OR e.collection_id = :collection) AND m.archived_at IS NULL AND m.merged_into IS NULL
"""
