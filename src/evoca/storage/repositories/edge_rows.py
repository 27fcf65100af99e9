"""Edges as rows: how they are read, and how relations and facts alike are written and indexed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from evoca.domain.clock import Instant
from evoca.domain.facts import Scalar
from evoca.domain.graph import Edge, NewEdge
from evoca.domain.text import UNKNOWN, WHOLE, Analysis, Passage, analyse, passages
from evoca.storage.connection import Connection
from evoca.storage.contract import NewDocument, OwnerKind
from evoca.storage.ledger import Ledger
from evoca.storage.repositories.passages import DocumentWriter

EdgeColumns = tuple[
    int,  # id
    int,  # subject id
    str,
    str,  # predicate
    int | None,  # object id
    str | None,
    str | None,  # value
    str | None,  # value kind
    str | None,  # context
    str | None,  # source
    float,
    int,  # created at
    int | None,  # valid from
    int | None,  # ended at
]
_LiteralColumns = tuple[str | None, str | None]
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
_SELDOM = 500
"""Longer texts are not worth remembering how they are analysed."""


def edge_of(row: EdgeColumns, now: Instant) -> Edge:
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
        active=(row[12] is None or row[12] <= now) and (row[13] is None or row[13] > now),
        created_at=row[11],
        valid_from=row[12],
        ended_at=row[13],
    )


def literal_columns(value: Scalar | None) -> _LiteralColumns:
    """Text and kind of a literal, as they are stored."""
    if value is None or isinstance(value, str):
        return value, None
    return json.dumps(value), "boolean" if isinstance(value, bool) else "number"


def literal_value(text: str | None, kind: str | None) -> Scalar | None:
    return text if text is None or kind is None else cast(Scalar, json.loads(text))


@dataclass(frozen=True, slots=True)
class _Statement:
    """What an edge says, in the parts that its document is made of."""

    id: int
    collection: int
    subject: str
    predicate: str
    object: str
    context: str | None

    @property
    def text(self) -> str:
        """Spelled as `documents.texts` does it in SQL."""
        said = f"{self.subject} {self.predicate.replace('_', ' ')} {self.object}"
        return said if self.context is None else f"{said}. {self.context}"

    def analysis(self) -> Analysis:
        """Of the whole text. Names come again and again: each part is analysed once."""
        context = _NOTHING if self.context is None else _analysed(self.context)
        predicate = _analysed_predicate(self.predicate)
        parts = (_analysed(self.subject), predicate, _analysed(self.object), context)
        return Analysis(
            context.language or predicate.language or parts[2].language,
            tuple(term for part in parts for term in part.terms),
            sum(part.length for part in parts),
        )


_NOTHING = Analysis(UNKNOWN, (), 0)


def _analysed(text: str) -> Analysis:
    return _analysed_once(text) if len(text) <= _SELDOM else analyse(text)


@lru_cache(16_384)
def _analysed_once(text: str) -> Analysis:
    return analyse(text)


@lru_cache(1_024)
def _analysed_predicate(predicate: str) -> Analysis:
    """`works_at` and `worksAt` are two words."""
    return analyse(_HUMP.sub(" ", predicate).replace("_", " "))


class EdgeWriter:
    """Writes edges with their documents, and tells the change feed of every one, also of those without any yet."""

    def __init__(self, connection: Connection, ledger: Ledger, documents: DocumentWriter) -> None:
        self._connection = connection
        self._ledger = ledger
        self._documents = documents

    def insert(self, collection: int, rows: Sequence[NewEdge], at: Instant) -> list[int]:
        """New ids in order."""
        if not rows:
            return []
        names = self._names(rows)
        literals = [literal_columns(row.value) for row in rows]
        said = [
            _Statement(
                0,
                collection,
                names.get(row.subject_id, ""),
                row.predicate,
                (text or "") if row.object_id is None else names.get(row.object_id, ""),
                row.context,
            )
            for row, (text, _kind) in zip(rows, literals, strict=True)
        ]
        pieces = [_cut(each.text) for each in said]
        first = self._ledger.take_ids(sum(map(len, pieces)))
        ids: list[int] = []
        for cut in pieces:
            ids.append(first)
            first += len(cut)
        self._connection.run_many(
            _INSERT,
            (
                (
                    number,
                    collection,
                    row.subject_id,
                    row.predicate,
                    row.object_id,
                    text,
                    kind,
                    row.context,
                    row.source,
                    row.confidence,
                    int(row.ended_at is None),
                    at,
                    row.valid_from,
                    row.ended_at,
                )
                for number, row, (text, kind) in zip(ids, rows, literals, strict=True)
            ),
        )
        self._documents.add_analysed(
            collection,
            (
                document
                for number, each, cut in zip(ids, said, pieces, strict=True)
                for document in _documents(number, each, cut)
            ),
        )
        return ids

    def changed(self, ids: Iterable[int]) -> None:
        """Something of these edges has changed that is not in their texts."""
        self._ledger.documents_changed(ids)

    def restated(self, ids: Sequence[int]) -> None:
        """What these edges say has changed: index them anew. Those that were never indexed go on waiting for it."""
        self._ledger.documents_changed(ids)
        self._put(_INDEXED, ids)

    def index(self, ids: Sequence[int]) -> None:
        """Index edges that have no documents yet."""
        self._connection.run_many(_INDEXING, ((edge,) for edge in ids))
        self._put(_STATEMENTS, ids)

    def renamed(self, entity: int) -> None:
        """The entity is called otherwise in what is said of it."""
        self.restated(self._touching([entity]))

    def drop_touching(self, entities: Sequence[int]) -> None:
        """Take the edges at these entities out of the indexes; their rows go with the entities."""
        self._drop(self._touching(entities))

    def delete(self, ids: Sequence[int]) -> None:
        self._drop(ids)
        self._connection.run_many(_DELETE, ((edge,) for edge in ids))

    def _drop(self, ids: Sequence[int]) -> None:
        self._documents.drop_documents(ids)
        self._ledger.documents_removed(ids)

    def _put(self, sql: str, ids: Sequence[int]) -> None:
        by_collection: dict[int, list[_Statement]] = {}
        for row in self._connection.select(sql, {"ids": list(ids)}, tuple[int, int, str, str, str, str | None]):
            by_collection.setdefault(row[1], []).append(_Statement(*row))
        for collection, said in by_collection.items():
            short = [each for each in said if len(each.text) <= WHOLE]
            self._documents.drop_documents([each.id for each in short])
            self._documents.add_analysed(
                collection, (document for each in short for document in _documents(each.id, each, _cut(each.text)))
            )
            for each in said:
                if len(each.text) > WHOLE:
                    self._documents.rewrite_analysed(collection, list(_documents(each.id, each, _cut(each.text))))

    def _touching(self, entities: Sequence[int]) -> list[int]:
        return [edge for (edge,) in self._connection.select(_TOUCHING, {"entities": list(entities)}, tuple[int])]

    def _names(self, rows: Sequence[NewEdge]) -> dict[int, str]:
        wanted = {row.subject_id for row in rows} | {row.object_id for row in rows if row.object_id is not None}
        return dict(self._connection.select(_NAMES, {"ids": list(wanted)}, tuple[int, str]))


def edge_terms(connection: Connection, edges: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """id → the terms of an edge as a whole, which are those of its document if it has one only."""
    rows = connection.select(_STATEMENTS, {"ids": list(edges)}, tuple[int, int, str, str, str, str | None])
    return {row[0]: _Statement(*row).analysis().terms for row in rows}


def _cut(text: str) -> list[Passage]:
    return [Passage(0, text)] if len(text) <= WHOLE else passages(text)


def _documents(number: int, said: _Statement, cut: Sequence[Passage]) -> Iterator[tuple[NewDocument, Analysis]]:
    last = len(cut) - 1
    for part, piece in enumerate(cut):
        analysis = said.analysis() if not last else analyse(piece.text)
        yield NewDocument(OwnerKind.FACT, number, number, piece.text, part, piece.begin, last - part), analysis


_SELECT = """
SELECT e.id, e.subject_id, s.name, e.predicate, e.object_id, o.name, e.value, e.value_kind, e.context, e.source,
       e.confidence, e.created_at, e.valid_from, e.ended_at
FROM edges e
JOIN entities s ON s.id = e.subject_id
"""
SELECT_RELATIONS = f"{_SELECT}JOIN entities o ON o.id = e.object_id"
"""Edges between entities."""
SELECT_EDGES = f"{_SELECT}LEFT JOIN entities o ON o.id = e.object_id"
"""And those whose object is a literal."""
BEGUN = "(e.valid_from IS NULL OR e.valid_from <= :now)"
NOT_OVER = "(e.ended_at IS NULL OR e.ended_at > :now)"
"""What is recorded without a beginning has begun, also where clocks differ."""
_INSERT = """
INSERT INTO edges (id, collection_id, subject_id, predicate, object_id, value, value_kind, context, source, confidence,
                   active, created_at, valid_from, ended_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_DELETE = "DELETE FROM edges WHERE id = ?"
_TOUCHING = """
SELECT id FROM edges WHERE subject_id IN INTS(:entities)
UNION
SELECT id FROM edges WHERE object_id IN INTS(:entities)
ORDER BY 1
"""
_NAMES = "SELECT id, name FROM entities WHERE id IN INTS(:ids)"
_STATEMENTS = """
SELECT e.id, e.collection_id, s.name, e.predicate, coalesce(o.name, e.value), e.context
FROM edges e JOIN entities s ON s.id = e.subject_id LEFT JOIN entities o ON o.id = e.object_id
WHERE e.id IN INTS(:ids)
ORDER BY e.id
"""
_INDEXED = """
SELECT e.id, e.collection_id, s.name, e.predicate, coalesce(o.name, e.value), e.context
FROM edges e JOIN entities s ON s.id = e.subject_id LEFT JOIN entities o ON o.id = e.object_id
WHERE e.id IN INTS(:ids) AND NOT EXISTS (SELECT 1 FROM unindexed_edges u WHERE u.edge_id = e.id)
ORDER BY e.id
"""
_INDEXING = "DELETE FROM unindexed_edges WHERE edge_id = ?"
