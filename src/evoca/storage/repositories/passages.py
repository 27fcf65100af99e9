"""What is indexed of an owner, and the rows that its documents, terms and substrings are kept in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from evoca.domain.graph import DEFAULT_TYPE
from evoca.domain.text import Analysis, Passage, analyse
from evoca.storage.connection import Connection, Terms, Value
from evoca.storage.contract import NewDocument, OwnerKind
from evoca.storage.ledger import Ledger


def entity_text(name: str, entity_type: str) -> str:
    """The text of an entity's document: `Lucía (Persona)`; the default type says nothing and is left out."""
    return name if entity_type == DEFAULT_TYPE else f"{name} ({entity_type})"


def content_hash(text: str) -> bytes:
    """What must still be the same when a vector is written back (16 bytes)."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


class DocumentWriter:
    """Keeps documents, index rows and the change feed in step with their owners."""

    def __init__(self, connection: Connection, ledger: Ledger) -> None:
        self._connection = connection
        self._ledger = ledger

    def add_entities(self, collection: int, entities: Sequence[tuple[int, str, str]]) -> None:
        """Index new entities: (id, name, type)."""
        self.add(collection, [_entity_document(*entity) for entity in entities])

    def replace_entity(self, collection: int, entity: int, name: str, entity_type: str) -> None:
        """Index an entity anew; its vectors are of another text and go."""
        self._ledger.substrings_changed([entity])
        self._connection.run(_DELETE_DOCUMENT, {"id": entity})
        self.add(collection, [_entity_document(entity, name, entity_type)], replaces=True)

    def drop(self, owners: Sequence[int]) -> None:
        """Take owners out of the indexes, with their documents, vectors and pending work."""
        self._ledger.substrings_changed(owners)
        self.drop_documents(owners)

    def drop_documents(self, owners: Sequence[int]) -> None:
        """As `drop`, of owners that the substring index does not know."""
        ids = self._documents_of(owners)
        for document in ids:
            self._ledger.terms.drop(document)
        self._connection.run_many(_DELETE_DOCUMENTS, ((document,) for document in ids))
        self._ledger.documents_removed(ids)

    def move(self, owners: Sequence[int], entity: int) -> None:
        """Let the documents of these owners lead to another entity."""
        ids = self._documents_of(owners)
        self._connection.run(_MOVE_DOCUMENTS, {"ids": list(ids), "entity": entity})
        self._ledger.documents_changed(ids)

    def forget_vectors(self, owners: Sequence[int]) -> None:
        """Owners are found by their words only from now on: their vectors and pending work go."""
        ids = self._documents_of(owners)
        self._connection.run(_DELETE_VECTORS, {"ids": list(ids)})
        self._connection.run(_DELETE_PENDING, {"ids": list(ids)})
        self._ledger.documents_changed(ids)

    def await_vectors(self, collection: int, owners: Sequence[int]) -> None:
        """Owners whose vectors were forgotten are to have them again."""
        ids = self._documents_of(owners)
        self._await_vectors(collection, ids)
        self._ledger.documents_changed(ids)

    def traits_changed(self, owners: Sequence[int]) -> None:
        """Say in the change feed that something besides the text of these owners has changed."""
        self._ledger.documents_changed(owners)

    def rewrite(self, collection: int, documents: Sequence[NewDocument]) -> None:
        """Index an owner anew, whose text has changed; its vectors are of another text and go."""
        self._ledger.substrings_changed([documents[0].owner_id])
        self.rewrite_analysed(collection, [(each, analyse(each.text)) for each in documents])

    def rewrite_analysed(self, collection: int, documents: Sequence[tuple[NewDocument, Analysis]]) -> None:
        """As `rewrite`, of an owner that the substring index does not know."""
        self.drop_documents([documents[0][0].owner_id])
        # The ids behind the first document's were taken when the owner was new; there may be too few of them.
        rest = self._ledger.take_ids(len(documents) - 1) if len(documents) > 1 else None
        self.add_analysed(collection, documents, rest=rest)

    def add(
        self, collection: int, documents: Sequence[NewDocument], replaces: bool = False, rest: int | None = None
    ) -> None:
        """Index documents. `replaces`: the text index still knows older ones with these ids.

        `rest`: the id of the second document, for documents of one owner; None: the ids follow the owner's.
        """
        self.add_analysed(collection, ((each, analyse(each.text)) for each in documents), replaces, rest)

    def add_analysed(
        self,
        collection: int,
        documents: Iterable[tuple[NewDocument, Analysis]],
        replaces: bool = False,
        rest: int | None = None,
    ) -> None:
        """As `add`, of documents whose terms are known."""
        rows: list[tuple[Value, ...]] = []
        ids: list[int] = []
        late: list[int] = []
        put = self._ledger.terms.put
        for each, analysis in documents:
            number = _number(each, rest)
            put(number, Terms(collection, analysis.terms), replaces)
            (late if each.owner_kind is OwnerKind.FACT else ids).append(number)
            rows.append(
                (
                    number,
                    collection,
                    int(each.owner_kind),
                    each.owner_id,
                    each.entity_id,
                    each.begin,
                    len(each.text),
                    each.more,
                    analysis.language,
                    analysis.length,
                    rest if each.part == 0 else None,
                )
            )
        self._connection.run_many(_INSERT_DOCUMENT, rows)
        self._await_vectors(collection, ids)
        self._await_vectors(collection, late, late=True)
        self._ledger.documents_changed([*ids, *late])

    def _documents_of(self, owners: Sequence[int]) -> list[int]:
        rows = self._connection.select(_DOCUMENTS_OF, {"owners": list(owners)}, tuple[int, int, int])
        first = [owner for owner, _rest, _more in rows]
        return first + [rest + part for _owner, rest, more in rows for part in range(more)]

    def _await_vectors(self, collection: int, ids: Sequence[int], late: bool = False) -> None:
        if not ids:
            return
        for (model,) in self._connection.select(_ACTIVE_MODELS, {}, tuple[int]):
            self._connection.run_many(_INSERT_PENDING, ((document, model, collection, int(late)) for document in ids))


def _number(document: NewDocument, rest: int | None) -> int:
    if rest is None or document.part == 0:
        return document.owner_id + document.part
    return rest + document.part - 1


def _entity_document(entity: int, name: str, entity_type: str) -> NewDocument:
    return NewDocument(OwnerKind.ENTITY, entity, entity, entity_text(name, entity_type))


def observation_documents(observation: int, entity: int, pieces: Sequence[Passage]) -> list[NewDocument]:
    """The documents of an observation, none for a blank one. They take ids from `observation` on."""
    last = len(pieces) - 1
    return [
        NewDocument(OwnerKind.OBSERVATION, observation, entity, piece.text, part, piece.begin, last - part)
        for part, piece in enumerate(pieces)
    ]


_DOCUMENTS_OF = """
SELECT id, coalesce(rest, id + 1), more FROM documents
WHERE id IN INTS(:owners) AND owner_id = id
"""
_MOVE_DOCUMENTS = "UPDATE documents SET entity_id = :entity WHERE id IN INTS(:ids)"
_DELETE_VECTORS = "DELETE FROM vectors WHERE document_id IN INTS(:ids)"
_DELETE_PENDING = "DELETE FROM pending WHERE document_id IN INTS(:ids)"
_DELETE_DOCUMENT = "DELETE FROM documents WHERE id = :id"
_DELETE_DOCUMENTS = "DELETE FROM documents WHERE id = ?"
_INSERT_DOCUMENT = """
INSERT INTO documents (id, collection_id, owner_kind, owner_id, entity_id, begin, size, more, language, words,
                       rest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_ACTIVE_MODELS = "SELECT id FROM models WHERE active = 1"
_INSERT_PENDING = "INSERT INTO pending (document_id, model_id, collection_id, late) VALUES (?, ?, ?, ?)"
