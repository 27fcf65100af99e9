"""Which entities hold a piece of text, letter for letter."""

from __future__ import annotations

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
        types = {each: _holds(each, folded) for each in {each for _number, _name, each in hits.entities}}
        found = {number for number, name, each in hits.entities if types[each] or _holds(name, folded)}
        for entity, content in hits.observations:
            if entity not in found and _holds(content, folded):
                found.add(entity)
        return sorted(found)


def _holds(text: str, folded: str) -> bool:
    return folded in (text.lower() if text.isascii() else fold_case(text))


_ALL = "SELECT id FROM entities WHERE collection_id = :collection ORDER BY id"
