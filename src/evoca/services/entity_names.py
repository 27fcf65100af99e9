"""Finding the entity that a fact means by a name, making it where it is missing, and what is spelled like it."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from evoca.domain.clock import Instant
from evoca.domain.graph import Entity
from evoca.domain.text import fold_case, nfc
from evoca.errors import EntityNotFound, InvalidInput
from evoca.services.graph import EntityDraft, create
from evoca.storage.contract import Session

if TYPE_CHECKING:
    from evoca.retrieval.names import NameIndex, SimilarName

SUGGESTIONS = 5


def find_entities(session: Session, collection: int, names: Iterable[str]) -> dict[str, list[Entity]]:
    """Each name, in NFC, → the entity that has it or had it once, else those whose names differ from it in case alone,
    else those whose former names do.

    More than one: the name says too little. Names that nothing answers to are absent.
    """
    wanted = list(dict.fromkeys(nfc(name) for name in names))
    exact = session.entities.resolve(collection, wanted)
    found = {name: [entity] for name, entity in exact.items()}
    missing = [name for name in wanted if name not in exact]
    return found | (session.entities.alike(collection, missing) if missing else {})


def find_entity(session: Session, collection: int, name: str) -> Entity | None:
    """The one entity that a name means, or None."""
    found = find_entities(session, collection, [name]).get(nfc(name), [])
    return found[0] if len(found) == 1 else None


def the_entity(session: Session, collection: int, name: str, field: str) -> Entity:
    """As `find_entity`. Raises EntityNotFound, InvalidInput naming the field when several differ in case alone."""
    found = find_entities(session, collection, [name]).get(nfc(name), [])
    if not found:
        raise EntityNotFound(name)
    if len(found) > 1:
        raise ambiguous(field, name, found)
    return found[0]


def ensure_entities(
    session: Session, collection: int, named: Iterable[tuple[str, str]], now: Instant
) -> dict[str, Entity]:
    """The entities of these (field, name), by NFC name; missing ones are made, of the type that `type:id` says.

    Raises InvalidInput naming every field whose name says too little; nothing is made then.
    """
    fields = [(field, nfc(name)) for field, name in named]
    found = find_entities(session, collection, (name for _, name in fields))
    faults = [ambiguous(field, name, found[name]) for field, name in fields if len(found.get(name, ())) > 1]
    if faults:
        raise all_of(faults)
    known = {name: entities[0] for name, entities in found.items()}
    # Of new names that differ in case alone the first is made, and the others mean it.
    firsts: dict[str, str] = {}
    for _, name in fields:
        if name not in known:
            firsts.setdefault(fold_case(name), name)
    made = create(session, collection, [EntityDraft(name) for name in firsts.values()], now) if firsts else None
    new = {} if made is None else {fold_case(view.entity.name): view.entity for view in made.entities}
    return known | {name: new[fold_case(name)] for _, name in fields if name not in known}


def ambiguous(field: str, name: str, entities: Iterable[Entity]) -> InvalidInput:
    names = ", ".join(entity.name for entity in entities)
    return InvalidInput(f"{field}: {name} may mean {names}", "Write the name exactly.", field)


def all_of(faults: list[InvalidInput]) -> InvalidInput:
    """Several refusals as one that names them all."""
    if len(faults) == 1:
        return faults[0]
    return InvalidInput("; ".join(fault.message for fault in faults), faults[0].hint, faults[0].field)


class SimilarNames:
    """The process's one index of names, made at first need. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._index: NameIndex | None = None

    def find(self, session: Session, collection: int, text: str, most: int = SUGGESTIONS) -> list[SimilarName]:
        """The entities whose names are spelled most like `text`, best first."""
        with self._lock:
            if self._index is None:
                from evoca.retrieval.names import NameIndex

                self._index = NameIndex()
        return self._index.similar(session, collection, text, most)
