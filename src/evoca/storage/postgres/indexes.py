"""Full text by tsvector and GIN, substrings by pg_trgm: which rows hold a term, or a piece of text.

The terms are Evoca's own, and so is the folding of case; no dictionary and no locale of the database has a say.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from evoca.domain.text import fold_case
from evoca.storage.connection import Span, SubstringHits, Terms, Value
from evoca.storage.postgres.database import Database
from evoca.storage.postgres.statements import Untyped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LONGEST = 64
_BETWEEN = "\x1f"
"""Stands between an entity's name and type in the substring index; hits across it fail their verification."""


class PostgresIndexes:
    """See `storage.connection.Indexes`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write_terms(self, removed: Iterable[int], added: Iterable[tuple[int, Terms]]) -> None:
        gone = list(removed)
        if gone:
            self._database.run(_DELETE_TERMS, {"ids": gone})
        self._database.run_many(
            _INSERT_TERMS,
            ((row, each.collection, _indexed(each.collection, each.terms)) for row, each in added if each.terms),
        )

    def write_substrings(self, changed: Iterable[int], new: Sequence[Span]) -> None:
        known = list(changed)
        if known:
            self._database.run(_DELETE_SUBSTRINGS, {"ids": known})
            self._add(_ENTITIES_BY_ID, _OBSERVATIONS_BY_ID, {"ids": known})
        for first, last in new:
            # What the transaction has put there itself, because one of its units searched.
            self._database.run(_DELETE_SPAN, {"first": first, "last": last})
            self._add(_NEW_ENTITIES, _NEW_OBSERVATIONS, {"first": first, "last": last})

    def _add(self, entities: str, observations: str, values: dict[str, int] | dict[str, list[int]]) -> None:
        rows = [
            (row, collection, row, fold_case(name + _BETWEEN + entity_type))
            for row, collection, name, entity_type in self._database.select(entities, values, tuple[int, int, str, str])
        ]
        rows += [
            (row, collection, entity, fold_case(content))
            for row, collection, entity, content in self._database.select(
                observations, values, tuple[int, int, int, str]
            )
        ]
        self._database.run_many(_INSERT_SUBSTRINGS, rows)

    def postings(
        self, collection: int, terms: Sequence[Sequence[str]], span: tuple[int, int] | None
    ) -> list[NDArray[np.int64]]:
        """The ids come as one string of bytes: as rows they would cost thirty times as much."""
        import numpy as np

        queries = [" | ".join(f"'{token}'" for token in _tokens(collection, each)) for each in terms]
        values: dict[str, Value] = {"queries": queries, "collection": collection}
        sql = _POSTINGS
        if span is not None:
            sql, values["first"], values["last"] = _POSTINGS_WITHIN, *span
        rows = self._database.select(sql, values, tuple[int, bytes | None])
        found = {place: np.frombuffer(ids, dtype=">i8").astype(np.int64) for place, ids in rows if ids}
        return [found.get(place, np.empty(0, dtype=np.int64)) for place in range(1, len(queries) + 1)]

    def substring_hits(self, collection: int, folded: str) -> SubstringHits:
        values = {"collection": collection, "pattern": f"%{_escaped(folded)}%"}
        return SubstringHits(
            self._database.select(_ENTITIES, values, tuple[int, str, str]),
            self._database.select(_OBSERVATIONS, values, tuple[int, str]),
        )


def _tokens(collection: int, terms: Iterable[str]) -> list[str]:
    """One token of the index for each term: the collection and the term, long ones cut to their hash."""
    prefix = f"{collection:x}_"
    return [prefix + (term if len(term) <= _LONGEST else _shortened(term)) for term in terms]


def _shortened(term: str) -> str:
    return f"{term[: _LONGEST - 16]}_{zlib.crc32(term.encode()):x}"


def _indexed(collection: int, terms: Sequence[str]) -> Untyped:
    """A tsvector as PostgreSQL writes it. Terms are letters and digits, so nothing is to be escaped."""
    return Untyped(" ".join(f"'{token}'" for token in _tokens(collection, dict.fromkeys(terms))))


def _escaped(text: str) -> str:
    """`text` in a LIKE pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


_DELETE_TERMS = "DELETE FROM text_index WHERE document_id IN INTS(:ids)"
_INSERT_TERMS = "INSERT INTO text_index (document_id, collection_id, terms) VALUES (?, ?, ?)"
_POSTINGS_OF = """
SELECT q.place, (
    SELECT string_agg(int8send(t.document_id), '' ORDER BY t.document_id) FROM text_index t
    WHERE t.terms @@ q.query::tsquery AND t.collection_id = :collection{more}
)
FROM (SELECT value AS query, row_number() OVER () AS place FROM TEXTS(:queries) v) q
"""
_POSTINGS = _POSTINGS_OF.format(more="")
_POSTINGS_WITHIN = _POSTINGS_OF.format(more=" AND t.document_id BETWEEN :first AND :last")
_DELETE_SUBSTRINGS = "DELETE FROM substring_index WHERE owner_id IN INTS(:ids)"
_DELETE_SPAN = "DELETE FROM substring_index WHERE owner_id BETWEEN :first AND :last"
_INSERT_SUBSTRINGS = "INSERT INTO substring_index (owner_id, collection_id, entity_id, folded) VALUES (?, ?, ?, ?)"
_ENTITIES = """
SELECT e.id, e.name, e.entity_type FROM substring_index s JOIN entities e ON e.id = s.owner_id
WHERE s.collection_id = :collection AND s.owner_id = s.entity_id AND s.folded LIKE :pattern
"""
_OBSERVATIONS = """
SELECT o.entity_id, o.content FROM substring_index s JOIN observations o ON o.id = s.owner_id
WHERE s.collection_id = :collection AND s.owner_id <> s.entity_id AND s.folded LIKE :pattern
"""
_NEW_ENTITIES = """
SELECT id, collection_id, name, entity_type FROM entities WHERE id BETWEEN :first AND :last
"""
_NEW_OBSERVATIONS = """
SELECT id, collection_id, entity_id, content FROM observations
WHERE id BETWEEN :first AND :last AND superseded_at IS NULL
"""
_ENTITIES_BY_ID = "SELECT id, collection_id, name, entity_type FROM entities WHERE id IN INTS(:ids)"
_OBSERVATIONS_BY_ID = """
SELECT id, collection_id, entity_id, content FROM observations WHERE id IN INTS(:ids) AND superseded_at IS NULL
"""
