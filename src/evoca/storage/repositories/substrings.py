"""Which entities hold a piece of text, letter for letter."""

from __future__ import annotations

from unicodedata import combining, is_normalized

from evoca.domain.text import fold_case
from evoca.storage.connection import Connection, Indexes
from evoca.storage.ledger import Ledger


class SubstringRepository:
    def __init__(self, connection: Connection, indexes: Indexes, ledger: Ledger) -> None:
        self._connection = connection
        self._indexes = indexes
        self._ledger = ledger

    def entities(self, collection: int, needle: str) -> list[int]:
        folded = fold_case(needle)
        if not folded:
            return [entity for (entity,) in self._connection.select(_ALL, {"collection": collection}, tuple[int])]
        self._ledger.expose_substrings()
        hits = self._indexes.substring_hits(collection, folded)
        holds = _Needle(folded).stands_in
        types = {each: holds(each) for each in {each for _number, _name, each in hits.entities}}
        found = {number for number, name, each in hits.entities if types[each] or holds(name)}
        found.update(entity for entity, content in hits.observations if holds(content))
        return sorted(found)


class _Needle:
    """What is looked for, folded."""

    def __init__(self, folded: str) -> None:
        self._folded = folded
        self._plain = not any(map(combining, folded))

    def stands_in(self, text: str) -> bool:
        """Whether the text holds it when folded; folding, which is dear, only where a look does not tell.

        A composed text that holds it as it is, or in lower case, holds it folded too: only marks may change places.
        """
        folded = self._folded
        if text.isascii():
            return folded in text or folded in text.lower()
        if self._plain and (folded in text or folded in text.lower()) and is_normalized("NFC", text):
            return True
        return folded in fold_case(text)


_ALL = "SELECT id FROM entities WHERE collection_id = :collection ORDER BY id"
