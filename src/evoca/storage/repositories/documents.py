"""Documents: the one search index, their vectors, and the work that waits to make them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from evoca.domain.clock import DAY, Instant
from evoca.storage.connection import Connection, Indexes, Value
from evoca.storage.contract import DocumentChanges, DocumentRow, NewVector, OwnerKind, PendingDocument
from evoca.storage.ledger import Ledger
from evoca.storage.repositories.feed import read_counter, read_feed
from evoca.storage.repositories.passages import content_hash

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

IDLE = 30 * DAY
"""A model that nobody has used for so long gets no more pending work until it is registered again."""
_Row = tuple[int, int, int, int, int, int, int, bytes | None]


class DocumentRepository:
    def __init__(self, connection: Connection, indexes: Indexes, ledger: Ledger) -> None:
        self._connection = connection
        self._indexes = indexes
        self._ledger = ledger

    # -- the in-process index --------------------------------------------------------------------

    def counter(self) -> int:
        return read_counter(self._connection)

    def changes(self, since: int, model: str | None) -> DocumentChanges:
        feed = read_feed(self._connection, since)
        number = self._model(model)
        rows = [row for first, last in feed.spans for row in self._rows(number, first, last)]
        return DocumentChanges(feed.counter, rows, feed.gone, feed.complete)

    def changed_ids(self, since: int) -> Sequence[tuple[int, int]] | None:
        feed = read_feed(self._connection, since)
        return None if feed.complete else feed.spans

    def _rows(self, model: int | None, first: int, last: int) -> list[DocumentRow]:
        values = {"model": model, "first": first, "last": last}
        return [DocumentRow(*row) for row in self._connection.select(_ROWS, values, _Row)]

    # -- searching -------------------------------------------------------------------------------

    def postings(
        self, collection: int, terms: Sequence[Sequence[str]], span: tuple[int, int] | None = None
    ) -> list[NDArray[np.int64]]:
        self._ledger.expose_terms()
        return self._indexes.postings(collection, terms, span)

    def texts(self, ids: Iterable[int]) -> dict[int, str]:
        return dict(self._connection.select(_TEXTS, {"ids": list(ids)}, tuple[int, str]))

    def vectors(self, ids: Sequence[int], model: str) -> dict[int, bytes]:
        values = {"ids": list(ids), "model": self._model(model)}
        return dict(self._connection.select(_VECTORS, values, tuple[int, bytes]))

    def of_owners(self, owners: Iterable[int], model: str | None) -> list[DocumentRow]:
        values = {"owners": list(owners), "model": self._model(model)}
        return [DocumentRow(*row) for row in self._connection.select(_OF_OWNERS, values, _Row)]

    def embedded(self, owners: Iterable[int], models: Iterable[str]) -> set[int]:
        values: dict[str, Value] = {"owners": list(owners), "models": list(models)}
        return {number for (number,) in self._connection.select(_EMBEDDED, values, tuple[int])}

    def owners(self, ids: Iterable[int], kind: OwnerKind) -> dict[int, int]:
        return dict(self._connection.select(_OWNERS, {"ids": list(ids), "kind": int(kind)}, tuple[int, int]))

    # -- pending work ----------------------------------------------------------------------------

    def pending(self, collection: int | None, model: str, facts: bool = True) -> int:
        values = {"model": self._model(model), "collection": collection, "late": int(facts)}
        return self._connection.select(_PENDING, values, tuple[int])[0][0]

    def register_model(self, model: str, at: Instant) -> int:
        self._connection.run(_REST, {"before": at - IDLE, "name": model})
        values: dict[str, Value] = {"name": model, "at": at}
        (number, active) = self._connection.select(_REGISTER, values, tuple[int, int])[0]
        if not active:
            self._connection.run(_AWAIT_ALL, {"model": number})
            self._connection.run(_ACTIVATE, {"model": number})
        return self.pending(None, model)

    def claim(self, model: str, limit: int, owner: str, now: Instant, until: Instant) -> list[PendingDocument]:
        number = self._model(model)
        self._connection.run(_SEEN, {"model": number, "now": now, "before": now - DAY})
        ids: list[int] = []
        for late in (0, 1):
            values: dict[str, Value] = {"model": number, "now": now, "late": late, "limit": limit - len(ids)}
            ids += [each for (each,) in self._connection.select(_FREE, values, tuple[int])]
        self._connection.run_many(_LEASE, ((owner, until, each, number) for each in ids))
        texts = self.texts(ids)
        return [PendingDocument(each, content_hash(texts[each]), texts[each]) for each in ids]

    def store_vectors(self, model: str, rows: Sequence[NewVector]) -> int:
        number = self._model(model)
        texts = self.texts(row.document_id for row in rows)
        fitting = [
            row for row in rows if row.document_id in texts and content_hash(texts[row.document_id]) == row.content_hash
        ]
        self._connection.run_many(_STORE, ((number, row.vector, row.document_id) for row in fitting))
        self._connection.run_many(_DONE, ((row.document_id, number) for row in fitting))
        self._ledger.documents_changed(row.document_id for row in fitting)
        return len(fitting)

    def release(self, owner: str) -> None:
        self._connection.run(_RELEASE, {"owner": owner})

    def _model(self, name: str | None) -> int | None:
        """The model's number; None when it is not known, which matches nothing."""
        if name is None:
            return None
        rows = self._connection.select(_MODEL, {"name": name}, tuple[int])
        return rows[0][0] if rows else None


_ROWS = """
SELECT d.id, d.collection_id, d.owner_kind, d.owner_id, d.entity_id, d.language, d.words, v.vector
FROM documents d LEFT JOIN vectors v ON v.document_id = d.id AND v.model_id = :model
WHERE d.id BETWEEN :first AND :last
ORDER BY d.id
"""
_OF_OWNERS = """
SELECT d.id, d.collection_id, d.owner_kind, d.owner_id, d.entity_id, d.language, d.words, v.vector
FROM (
    SELECT f.id FROM documents f WHERE f.id IN INTS(:owners)
    UNION ALL
    SELECT r.id FROM documents f
    JOIN documents r ON r.id BETWEEN coalesce(f.rest, f.id + 1) AND coalesce(f.rest, f.id + 1) + f.more - 1
    WHERE f.id IN INTS(:owners) AND f.owner_id = f.id AND f.more > 0
) i
JOIN documents d ON d.id = i.id
LEFT JOIN vectors v ON v.document_id = d.id AND v.model_id = :model
ORDER BY d.id
"""
_EMBEDDED = """
SELECT f.id FROM documents f JOIN models m ON m.name IN TEXTS(:models)
WHERE f.id IN INTS(:owners) AND f.owner_id = f.id
  AND EXISTS (SELECT 1 FROM vectors v WHERE v.document_id = f.id AND v.model_id = m.id)
  AND f.more = (
    SELECT count(*) FROM vectors r
    WHERE r.document_id BETWEEN coalesce(f.rest, f.id + 1) AND coalesce(f.rest, f.id + 1) + f.more - 1
      AND r.model_id = m.id
  )
"""
_OWNERS = """
SELECT owner_id, entity_id FROM documents
WHERE id IN INTS(:ids) AND owner_kind = :kind
"""
_TEXTS = """
SELECT d.id, substr(CASE d.owner_kind
    WHEN 1 THEN (
        SELECT CASE entity_type WHEN 'Generic' THEN name ELSE name || ' (' || entity_type || ')' END
        FROM entities WHERE id = d.owner_id
    )
    WHEN 2 THEN (SELECT content FROM observations WHERE id = d.owner_id)
    WHEN 3 THEN (SELECT content FROM reflections WHERE id = d.owner_id)
    WHEN 4 THEN (SELECT content FROM episodes WHERE id = d.owner_id)
    WHEN 5 THEN (
        SELECT s.name || ' ' || replace(e.predicate, '_', ' ') || ' ' || coalesce(o.name, e.value)
            || CASE WHEN e.context IS NULL THEN '' ELSE '. ' || e.context END
        FROM edges e JOIN entities s ON s.id = e.subject_id LEFT JOIN entities o ON o.id = e.object_id
        WHERE e.id = d.owner_id
    )
END, d.begin + 1, d.size)
FROM documents d WHERE d.id IN INTS(:ids)
"""
_VECTORS = """
SELECT document_id, vector FROM vectors
WHERE document_id IN INTS(:ids) AND model_id = :model
"""
_MODEL = "SELECT id FROM models WHERE name = :name"
_PENDING = """
SELECT count(*) FROM pending
WHERE model_id = :model AND late <= :late AND (:collection IS NULL OR collection_id = :collection)
"""
_REST = "UPDATE models SET active = 0 WHERE seen_at < :before AND name <> :name"
_REGISTER = """
INSERT INTO models (name, registered_at, seen_at, active) VALUES (:name, :at, :at, 0)
ON CONFLICT (name) DO UPDATE
SET seen_at = CASE WHEN excluded.seen_at > models.seen_at THEN excluded.seen_at ELSE models.seen_at END
RETURNING id, active
"""
_ACTIVATE = "UPDATE models SET active = 1 WHERE id = :model"
_AWAIT_ALL = """
INSERT INTO pending (document_id, model_id, collection_id, late)
SELECT d.id, :model, d.collection_id, CASE d.owner_kind WHEN 5 THEN 1 ELSE 0 END FROM documents d
WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.document_id = d.id AND v.model_id = :model)
  AND NOT EXISTS (
    SELECT 1 FROM episodes e WHERE d.owner_kind = 4 AND e.id = d.owner_id AND e.archived_at IS NOT NULL
  )
ON CONFLICT (document_id, model_id) DO NOTHING
"""
_SEEN = "UPDATE models SET seen_at = :now WHERE id = :model AND seen_at < :before"
_FREE = """
SELECT document_id FROM pending
WHERE model_id = :model AND late = :late AND (leased_until IS NULL OR leased_until <= :now)
ORDER BY document_id DESC LIMIT :limit
"""
_LEASE = "UPDATE pending SET lease_owner = ?, leased_until = ? WHERE document_id = ? AND model_id = ?"
_STORE = """
INSERT INTO vectors (document_id, model_id, collection_id, vector)
SELECT id, ?, collection_id, ? FROM documents WHERE id = ?
ON CONFLICT (document_id, model_id) DO UPDATE SET vector = excluded.vector
"""
_DONE = "DELETE FROM pending WHERE document_id = ? AND model_id = ?"
_RELEASE = "UPDATE pending SET lease_owner = NULL, leased_until = NULL WHERE lease_owner = :owner"
