"""Full text and substrings on FTS5: which rows hold a term, or three characters in a row, and nothing else."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from evoca.storage.connection import SubstringHits, Terms
from evoca.storage.sqlite.database import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LONGEST = 64
_GRAM = 3
_MOST_GRAMS = 24
"""So many of a long needle's trigrams are asked for; verification does the rest."""


class SqliteIndexes:
    """The two FTS5 tables (see the first migration). Both are contentless: they can be asked, not read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write_terms(self, removed: Iterable[int], added: Iterable[tuple[int, Terms]]) -> None:
        self._database.run_many(_DELETE_TERMS, ((row,) for row in removed))
        self._database.run_many(
            _INSERT_TERMS, ((row, _indexed(each.collection, each.terms)) for row, each in added if each.terms)
        )

    def write_substrings(self, removed: Iterable[int], added: Iterable[tuple[int, str]]) -> None:
        self._database.run_many(_DELETE_SUBSTRINGS, ((row,) for row in removed))
        self._database.run_many(_INSERT_SUBSTRINGS, added)

    def postings(self, collection: int, terms: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """FTS5 gives rowids in ascending order; as one text they reach numpy twice as fast as row by row."""
        import numpy as np

        found: list[NDArray[np.int64]] = []
        for alternatives in terms:
            query = " OR ".join(f'"{token}"' for token in _tokens(collection, alternatives))
            rows = self._database.select(_POSTINGS, {"query": query}, tuple[str | None]) if query else []
            ids = rows[0][0] if rows else None
            found.append(np.fromstring(ids, dtype=np.int64, sep=",") if ids else np.empty(0, dtype=np.int64))
        return found

    def substring_hits(self, collection: int, folded: str) -> SubstringHits:
        if len(folded) < _GRAM:
            values = {"collection": collection}
            return SubstringHits(
                self._database.select(_ALL_ENTITIES, values, tuple[int, str, str]),
                self._database.select(_ALL_OBSERVATIONS, values, tuple[int, str]),
            )
        values = {"collection": collection, "query": _trigram_query(folded)}
        return SubstringHits(
            self._database.select(_ENTITIES, values, tuple[int, str, str]),
            self._database.select(_OBSERVATIONS, values, tuple[int, str]),
        )


def _tokens(collection: int, terms: Iterable[str]) -> Iterable[str]:
    """One token of the index for each term: the collection and the term, long ones cut to their hash."""
    for term in terms:
        if len(term) <= _LONGEST:
            yield f"{collection:x}_{term}"
        else:
            yield f"{collection:x}_{term[: _LONGEST - 16]}_{zlib.crc32(term.encode()):x}"


def _indexed(collection: int, terms: Sequence[str]) -> str:
    return " ".join(_tokens(collection, dict.fromkeys(terms)))


def _trigram_query(folded: str) -> str:
    grams = list(dict.fromkeys(folded[i : i + _GRAM] for i in range(len(folded) - _GRAM + 1)))
    step = max(1, len(grams) // _MOST_GRAMS)
    return " AND ".join('"' + gram.replace('"', '""') + '"' for gram in grams[::step])


_DELETE_TERMS = "DELETE FROM text_index WHERE rowid = ?"
_INSERT_TERMS = "INSERT INTO text_index (rowid, terms) VALUES (?, ?)"
_DELETE_SUBSTRINGS = "DELETE FROM substring_index WHERE rowid = ?"
_INSERT_SUBSTRINGS = "INSERT INTO substring_index (rowid, folded) VALUES (?, ?)"
_POSTINGS = "SELECT group_concat(rowid) FROM text_index WHERE text_index MATCH :query"
_ENTITIES = """
SELECT e.id, e.name, e.entity_type FROM substring_index s JOIN entities e ON e.id = s.rowid
WHERE s.substring_index MATCH :query AND e.collection_id = :collection
"""
_OBSERVATIONS = """
SELECT o.entity_id, o.content FROM substring_index s JOIN observations o ON o.id = s.rowid
WHERE s.substring_index MATCH :query AND o.collection_id = :collection AND o.superseded_at IS NULL
"""
_ALL_ENTITIES = "SELECT id, name, entity_type FROM entities WHERE collection_id = :collection"
_ALL_OBSERVATIONS = """
SELECT entity_id, content FROM observations WHERE collection_id = :collection AND superseded_at IS NULL
"""
