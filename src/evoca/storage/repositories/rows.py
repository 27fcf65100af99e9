"""Rows of every table as they are, for copies of whole stores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from evoca.domain.text import analyse
from evoca.storage.connection import Connection, Indexes, Terms, Value
from evoca.storage.contract import OwnerKind
from evoca.storage.ledger import Ledger
from evoca.storage.repositories.documents import DocumentRepository
from evoca.storage.repositories.edge_rows import edge_terms
from evoca.storage.tables import TABLES, Table
from evoca.storage.transfer_contract import Cells, Counters

_FILLER = "copying-{}"
_COPYING = "copying"
"""The key of the note."""


class RowRepository:
    """See `storage.transfer_contract.Rows`."""

    def __init__(self, connection: Connection, indexes: Indexes, ledger: Ledger, documents: DocumentRepository) -> None:
        self._connection = connection
        self._indexes = indexes
        self._ledger = ledger
        self._documents = documents

    def page(self, table: Table, after: Cells | None, limit: int) -> list[Cells]:
        values: dict[str, Value] = {"limit": limit}
        values.update({f"key{place}": cell for place, cell in enumerate(after or ())})
        rows = self._connection.select(_page(table, after is None), values, Cells)
        return [row for row in rows if row[0] != _COPYING] if table.name == "metadata" else rows

    def put(self, table: Table, rows: Sequence[Cells]) -> None:
        count = len(table.key) + len(table.others)
        self._connection.run_many(_insert(table), [row[:count] for row in rows])

    def complete(self, table: Table, rows: Sequence[Cells]) -> None:
        key, first = len(table.key), len(table.key) + len(table.others)
        set_ones = [row for row in rows if any(cell is not None for cell in row[first:])]
        self._connection.run_many(_update(table), [(*row[first:], *row[:key]) for row in set_ones])

    def counters(self) -> Counters:
        known = dict(self._connection.select(_COUNTERS, {}, tuple[str, int]))
        # SQLite counts ids in a row, PostgreSQL by a sequence.
        next_id = known.get("items") or self._connection.select(_SEQUENCE, {}, tuple[int])[0][0] + 1
        return Counters(next_id, known["documents"], known["keys"])

    def empty(self) -> bool:
        collections = self._connection.select(_COLLECTIONS, {}, tuple[str])
        return collections in ([], [("default",)]) and not any(
            self.page(table, None, 1) for table in TABLES if table.name not in ("collections", "metadata")
        )

    def prepare(self, counters: Counters, collections: int, models: int, keys: int) -> None:
        self._connection.run(_FORGET_COLLECTIONS, {})
        self._connection.run_many(_FILL_COLLECTIONS, ((_FILLER.format(n), "", "", 0) for n in range(collections)))
        self._connection.run_many(_FILL_MODELS, ((_FILLER.format(n), 0, 0) for n in range(models)))
        self._connection.run_many(_FILL_KEYS, ((_FILLER.format(n), b"%d" % n, 0, 0, 0) for n in range(keys)))
        for forget in (_FORGET_COLLECTIONS, _FORGET_MODELS, _FORGET_KEYS):
            self._connection.run(forget, {})
        lacking = counters.next_id - self._ledger.take_ids(1) - 1
        if lacking > 0:
            self._ledger.take_ids(lacking)
        for name, value in (
            ("documents", counters.documents),
            ("documents_kept", counters.documents),
            ("keys", counters.keys),
        ):
            self._connection.run(_SET_COUNTER, {"name": name, "value": value})

    def index_words(self, after: int, limit: int) -> int | None:
        rows = self._connection.select(_DOCUMENTS, {"after": after, "limit": limit}, tuple[int, int, int])
        facts = edge_terms(self._connection, [number for number, _collection, is_fact in rows if is_fact])
        texts = self._documents.texts(number for number, _collection, _is_fact in rows)
        self._indexes.write_terms(
            [number for number, _collection, _is_fact in rows],
            (
                (number, Terms(collection, facts.get(number) or analyse(texts[number]).terms))
                for number, collection, _is_fact in rows
            ),
        )
        return rows[-1][0] if rows else None

    def index_substrings(self, after: int, limit: int) -> int | None:
        rows = self._connection.select(_OWNERS, {"after": after, "limit": limit}, tuple[int])
        self._indexes.write_substrings([number for (number,) in rows], ())
        return rows[-1][0] if rows else None

    def note(self) -> str | None:
        rows = self._connection.select(_NOTE, {"key": _COPYING}, tuple[str])
        return rows[0][0] if rows else None

    def write_note(self, note: str | None) -> None:
        if note is None:
            self._connection.run(_FORGET_NOTE, {"key": _COPYING})
        else:
            self._connection.run(_WRITE_NOTE, {"key": _COPYING, "value": note})


@cache
def _page(table: Table, first: bool) -> str:
    key = ", ".join(table.key)
    places = ", ".join(f":key{place}" for place in range(len(table.key)))
    behind = "" if first else f"WHERE ({key}) > ({places}) "
    return f"SELECT {', '.join(table.columns)} FROM {table.name} {behind}ORDER BY {key} LIMIT :limit"  # noqa: S608 -- put together from constants


@cache
def _insert(table: Table) -> str:
    columns = (*table.key, *table.others)
    return f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({', '.join('?' for _ in columns)})"  # noqa: S608 -- put together from constants


@cache
def _update(table: Table) -> str:
    changes = ", ".join(f"{column} = ?" for column in table.later)
    return f"UPDATE {table.name} SET {changes} WHERE {' AND '.join(f'{column} = ?' for column in table.key)}"  # noqa: S608 -- put together from constants


_COUNTERS = "SELECT name, value FROM counters"
_SEQUENCE = "SELECT last_value FROM items"
_SET_COUNTER = "UPDATE counters SET value = :value WHERE name = :name"
_COLLECTIONS = "SELECT code FROM collections ORDER BY id LIMIT 2"
_FILL_COLLECTIONS = "INSERT INTO collections (code, name, description, created_at) VALUES (?, ?, ?, ?)"
_FILL_MODELS = "INSERT INTO models (name, registered_at, seen_at) VALUES (?, ?, ?)"
_FILL_KEYS = "INSERT INTO keys (name, digest, scope, everywhere, created_at) VALUES (?, ?, ?, ?, ?)"
_FORGET_COLLECTIONS = "DELETE FROM collections"
_FORGET_MODELS = "DELETE FROM models"
_FORGET_KEYS = "DELETE FROM keys"
_DOCUMENTS = f"""
SELECT id, collection_id, CASE WHEN owner_kind = {OwnerKind.FACT} AND owner_id = id AND more = 0 THEN 1 ELSE 0 END
FROM documents WHERE id > :after ORDER BY id LIMIT :limit
"""  # noqa: S608 -- put together from constants
_OWNERS = """
SELECT id FROM (
    SELECT id FROM entities WHERE id > :after
    UNION ALL
    SELECT id FROM observations WHERE id > :after AND superseded_at IS NULL
) o
ORDER BY id LIMIT :limit
"""
_NOTE = "SELECT value FROM metadata WHERE key = :key"
_WRITE_NOTE = """
INSERT INTO metadata (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""
_FORGET_NOTE = "DELETE FROM metadata WHERE key = :key"
