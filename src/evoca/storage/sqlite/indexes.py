"""Full text and substrings on FTS5: which rows hold a term, or three characters in a row, and nothing else."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from evoca.domain.text import fold_case
from evoca.storage.connection import Span, SubstringHits, Terms
from evoca.storage.sqlite.database import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LONGEST = 64
_GRAM = 3
_GRAMS_ASKED = 5
"""A needle is cut into so many stretches, and of each the rarest trigram is asked for: words apart tell more than
neighbouring letters. Each trigram costs its list of hits; verification does the rest."""
_LAG = 256
"""So many new ids may be missing from the substring index before they are added all at once.

Added one by one they would cost five times as much; looking through them costs a search 0.1 ms.
"""
_LAST = 9_223_372_036_854_775_807
_BETWEEN = "\x1f"
"""Stands between an entity's name and type in the substring index; hits across it fail their verification."""
_FREQUENT_FIRST = " eaosnrildtcupmbghyqvfzjñxkw"
_RARITY = {letter: rank for rank, letter in enumerate(_FREQUENT_FIRST)}


class SqliteIndexes:
    """The two FTS5 tables (see the first migration). Both are contentless: they can be asked, not read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write_terms(self, removed: Iterable[int], added: Iterable[tuple[int, Terms]]) -> None:
        self._database.run_many(_DELETE_TERMS, ((row,) for row in removed))
        self._database.run_many(
            _INSERT_TERMS, ((row, _indexed(each.collection, each.terms)) for row, each in added if each.terms)
        )

    def write_substrings(self, changed: Iterable[int], new: Sequence[Span]) -> None:
        reach = self._database.number(_REACH)
        known = [row for row in changed if row <= reach]
        if known:
            self._database.run_many(_DELETE_SUBSTRINGS, ((row,) for row in known))
            values = {"ids": known}
            self._add_substrings(
                self._database.select(_ENTITIES_BY_ID, values, tuple[int, str, str]),
                self._database.select(_OBSERVATIONS_BY_ID, values, tuple[int, str]),
            )
        last_id = new[-1][1] if new else 0
        if last_id - reach >= _LAG:
            values = {"reach": reach}
            self._add_substrings(
                self._database.select(_NEW_ENTITIES, values, tuple[int, str, str]),
                self._database.select(_NEW_OBSERVATIONS, values, tuple[int, str]),
            )
            self._database.run(_SET_REACH, {"reach": last_id})

    def _add_substrings(self, entities: list[tuple[int, str, str]], observations: list[tuple[int, str]]) -> None:
        rows = [(row, fold_case(name + _BETWEEN + entity_type)) for row, name, entity_type in entities]
        rows += [(row, fold_case(content)) for row, content in observations]
        self._database.run_many(_INSERT_SUBSTRINGS, sorted(rows))

    def postings(
        self, collection: int, terms: Sequence[Sequence[str]], span: tuple[int, int] | None
    ) -> list[NDArray[np.int64]]:
        """FTS5 gives rowids in ascending order; as one text they reach numpy twice as fast as row by row."""
        import numpy as np

        found: list[NDArray[np.int64]] = []
        first, last = span or (0, _LAST)
        for alternatives in terms:
            query = " OR ".join(f'"{token}"' for token in _tokens(collection, alternatives))
            values = {"query": query, "first": first, "last": last}
            rows = self._database.select(_POSTINGS, values, tuple[str | None]) if query else []
            ids = rows[0][0] if rows else None
            found.append(np.fromstring(ids, dtype=np.int64, sep=",") if ids else np.empty(0, dtype=np.int64))
        return found

    def substring_hits(self, collection: int, folded: str) -> SubstringHits:
        if len(folded) < _GRAM:
            return self._rows_beyond(collection, 0)
        values = {"collection": collection, "query": _trigram_query(folded)}
        beyond = self._rows_beyond(collection, self._database.number(_REACH))
        hits = self._database.select(_HITS, values, tuple[int, str, str | None])
        return SubstringHits(
            [(entity, name, kind) for entity, name, kind in hits if kind is not None] + list(beyond.entities),
            [(entity, content) for entity, content, kind in hits if kind is None] + list(beyond.observations),
        )

    def _rows_beyond(self, collection: int, reach: int) -> SubstringHits:
        values = {"collection": collection, "reach": reach}
        return SubstringHits(
            self._database.select(_ENTITIES_BEYOND, values, tuple[int, str, str]),
            self._database.select(_OBSERVATIONS_BEYOND, values, tuple[int, str]),
        )


def _tokens(collection: int, terms: Iterable[str]) -> list[str]:
    """One token of the index for each term: the collection and the term, long ones cut to their hash."""
    prefix = f"{collection:x}_"
    return [prefix + (term if len(term) <= _LONGEST else _shortened(term)) for term in terms]


def _shortened(term: str) -> str:
    return f"{term[: _LONGEST - 16]}_{zlib.crc32(term.encode()):x}"


def _indexed(collection: int, terms: Sequence[str]) -> str:
    return " ".join(_tokens(collection, dict.fromkeys(terms)))


def _trigram_query(folded: str) -> str:
    grams = [folded[i : i + _GRAM] for i in range(len(folded) - _GRAM + 1)]
    stretch = max(1, math.ceil(len(grams) / _GRAMS_ASKED))
    asked = dict.fromkeys(max(grams[i : i + stretch], key=_rarity) for i in range(0, len(grams), stretch))
    return " AND ".join('"' + gram.replace('"', '""') + '"' for gram in asked)


def _rarity(gram: str) -> int:
    return sum(_RARITY.get(letter, len(_RARITY)) for letter in gram)


_DELETE_TERMS = "DELETE FROM text_index WHERE rowid = ?"
_INSERT_TERMS = "INSERT INTO text_index (rowid, terms) VALUES (?, ?)"
_DELETE_SUBSTRINGS = "DELETE FROM substring_index WHERE rowid = ?"
_INSERT_SUBSTRINGS = "INSERT INTO substring_index (rowid, folded) VALUES (?, ?)"
_POSTINGS = """
SELECT group_concat(rowid) FROM text_index WHERE text_index MATCH :query AND rowid BETWEEN :first AND :last
"""
# Entities with their type, observations without one; the index is asked once for both.
_HITS = """
WITH hits AS MATERIALIZED (SELECT rowid AS id FROM substring_index WHERE substring_index MATCH :query)
SELECT e.id, e.name, e.entity_type FROM hits h CROSS JOIN entities e ON e.id = h.id
WHERE e.collection_id = :collection
UNION ALL
SELECT o.entity_id, o.content, NULL FROM hits h CROSS JOIN observations o ON o.id = h.id
WHERE o.collection_id = :collection AND o.superseded_at IS NULL
"""
# The unary plus keeps the planner from the collection's index: few rows lie beyond the reach.
_ENTITIES_BEYOND = """
SELECT id, name, entity_type FROM entities WHERE id > :reach AND +collection_id = :collection
"""
_OBSERVATIONS_BEYOND = """
SELECT entity_id, content FROM observations
WHERE id > :reach AND collection_id = :collection AND superseded_at IS NULL
"""
_REACH = "SELECT value FROM counters WHERE name = 'substrings'"
_SET_REACH = "UPDATE counters SET value = :reach WHERE name = 'substrings'"
_NEW_ENTITIES = "SELECT id, name, entity_type FROM entities WHERE id > :reach"
_NEW_OBSERVATIONS = "SELECT id, content FROM observations WHERE id > :reach AND superseded_at IS NULL"
_ENTITIES_BY_ID = "SELECT id, name, entity_type FROM entities WHERE id IN INTS(:ids)"
_OBSERVATIONS_BY_ID = """
SELECT id, content FROM observations
WHERE id IN INTS(:ids) AND superseded_at IS NULL
"""
