"""Telling facts, correcting and forgetting them (contract, Facts 1 to 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evoca.domain.clock import Clock, Instant
from evoca.domain.facts import EntityObject, FactObject, LiteralObject, Scalar
from evoca.domain.graph import Edge, Entity
from evoca.domain.text import nfc
from evoca.domain.validity import begin_of, fold_predicate, is_current
from evoca.errors import EntityNotFound, InvalidInput, NotFound
from evoca.services.entity_names import ensure_entities, the_entity
from evoca.services.graph import release_reflections
from evoca.services.timelines import Telling, Timelines
from evoca.storage.contract import Session, Store
from evoca.storage.fact_contract import FactFilter


@dataclass(frozen=True, slots=True)
class FactDraft:
    """A fact to remember: `object` names an entity, `value` is a literal; one of them is given.

    What is None is kept of a fact that is known. `valid_from`: None for now. `path`: where it stands in the call,
    `facts[3].`.
    """

    subject: str
    predicate: str
    object: str | None = None
    value: Scalar | None = None
    context: str | None = None
    source: str | None = None
    confidence: float | None = None
    valid_from: Instant | None = None
    path: str = ""


@dataclass(frozen=True, slots=True)
class FactReference:
    """A fact that is meant: by its id, or by what it says."""

    id: int | None = None
    subject: str = ""
    predicate: str = ""
    object: str | None = None
    value: Scalar | None = None


@dataclass(frozen=True, slots=True)
class FactChanges:
    """What is None stays. `object` names an entity, `value` is a literal; not both."""

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    value: Scalar | None = None
    context: str | None = None
    confidence: float | None = None
    valid_from: Instant | None = None
    ended_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """`created`: it was not known. `closed`: facts whose period it shortened."""

    fact: Edge
    created: bool
    closed: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class RememberedFacts:
    """`at`: when they were told; what is current then is active."""

    facts: tuple[Remembered, ...]
    at: Instant


@dataclass(frozen=True, slots=True)
class ForgottenEntity:
    """What goes, or went, with an entity; ended facts and superseded observations too. `facts`: with literal values."""

    entity: Entity
    facts: int
    relations: int
    observations: int
    deleted: bool


@dataclass(frozen=True, slots=True)
class PredicateUse:
    """`facts`: how many there are with it, ended ones too."""

    predicate: str
    facts: int
    single: bool


class RememberingService:
    """Writes to one store's facts. Each method is one transaction: all of it, or an error and nothing."""

    def __init__(self, store: Store, clock: Clock, single_valued: Iterable[str]) -> None:
        """`single_valued`: the predicates that have one object at a time."""
        self._store = store
        self._clock = clock
        self.single_valued = tuple(single_valued)
        self._single = frozenset(map(fold_predicate, self.single_valued))

    def remember(self, collection: int, drafts: Sequence[FactDraft]) -> RememberedFacts:
        """Tell facts, one after another; entities that they name are made where they are missing.

        Raises InvalidInput naming each field whose name says too little.
        """

        def work(session: Session) -> RememberedFacts:
            # Read here, so that of several callers at once the one that is written later is the later one.
            now = self._clock.now()
            named = [(f"{each.path}subject", each.subject) for each in drafts]
            named += [(f"{each.path}object", each.object) for each in drafts if each.object is not None]
            entities = ensure_entities(session, collection, named, now)
            timelines = self._timelines(session, collection, now)
            told = tuple(_remember(timelines, each, entities) for each in drafts)
            return RememberedFacts(tuple(_as_they_are(session, told)), now)

        return self._store.write(work)

    def update(self, collection: int, which: FactReference, changes: FactChanges) -> RememberedFacts:
        """Correct a fact; it keeps its id. A new object obeys the rules of telling one.

        Raises NotFound, InvalidInput, Conflict when what it would say is known as another fact.
        """
        if changes == FactChanges():
            raise InvalidInput("Nothing to change", "Give a new_ field, context, confidence or a time.", "context")

        def work(session: Session) -> RememberedFacts:
            now = self._clock.now()
            found = _facts_meant(session, collection, which)
            # Of several periods of one statement the present one is meant, else the last.
            fact = next((each for each in found if is_current(each, now)), found[-1])
            revised = _revised(session, collection, fact, changes, now)
            timelines = self._timelines(session, collection, now)
            closed = timelines.correct(fact, revised)
            told = Remembered(revised, created=False, closed=closed)
            return RememberedFacts(tuple(_as_they_are(session, (told,))), now)

        return self._store.write(work)

    def forget(self, collection: int, which: FactReference) -> RememberedFacts:
        """Delete a fact for good: by its id one period, by what it says all of them. Raises NotFound."""
        now = self._clock.now()

        def work(session: Session) -> RememberedFacts:
            facts = _facts_meant(session, collection, which)
            self._timelines(session, collection, now).delete(facts)
            return RememberedFacts(tuple(Remembered(each, created=False, closed=()) for each in facts), now)

        return self._store.write(work)

    def forget_entity(self, collection: int, name: str, confirm: bool) -> ForgottenEntity:
        """Delete an entity with all that is known of it; without `confirm` only tell what would go.

        What was said about it in reflections stays. Raises EntityNotFound, InvalidInput.
        """

        def work(session: Session) -> ForgottenEntity:
            entity = the_entity(session, collection, name, "entity")
            all_edges = session.facts.count(FactFilter(collection, touching=[entity.id]))
            relations = len(session.edges.touching([entity.id], include_ended=True))
            observations = len(session.observations.of([entity.id], include_superseded=True)[entity.id])
            if confirm:
                release_reflections(session, [entity])
                session.entities.delete([entity.id])
                session.collections.bump(collection)
            return ForgottenEntity(entity, all_edges - relations, relations, observations, confirm)

        return self._store.write(work) if confirm else self._store.read(work)

    def predicates(self, collection: int) -> tuple[PredicateUse, ...]:
        """The predicates in use."""
        rows = self._store.read(lambda session: session.facts.predicates(collection))
        return tuple(PredicateUse(name, count, self._is_single(name)) for name, count in rows)

    def _is_single(self, predicate: str) -> bool:
        return fold_predicate(predicate) in self._single

    def _timelines(self, session: Session, collection: int, now: Instant) -> Timelines:
        return Timelines(session, collection, self._is_single, now)


def _remember(timelines: Timelines, draft: FactDraft, entities: dict[str, Entity]) -> Remembered:
    told: FactObject
    if draft.object is not None:
        told = EntityObject(entities[nfc(draft.object)].id)
    else:
        told = LiteralObject("" if draft.value is None else draft.value)
    telling = Telling(draft.context, draft.source, draft.confidence, draft.valid_from)
    fact, created, closed = timelines.tell(entities[nfc(draft.subject)].id, nfc(draft.predicate), told, telling)
    return Remembered(fact, created, closed)


def _as_they_are(session: Session, told: Iterable[Remembered]) -> list[Remembered]:
    """The same with names and times as they stand after all of the call."""
    kept = list(told)
    present = session.facts.by_ids({each.id for one in kept for each in (one.fact, *one.closed)})
    return [
        replace(one, fact=present[one.fact.id], closed=tuple(present[each.id] for each in one.closed)) for one in kept
    ]


def _facts_meant(session: Session, collection: int, which: FactReference) -> list[Edge]:
    """Every period of the statement that is meant, by (valid from, id); by an id the one. Raises NotFound."""
    if which.id is not None:
        fact = session.facts.by_ids([which.id]).get(which.id)
        if fact is None or not _is_in(session, collection, fact):
            raise NotFound(f"Fact not found: {which.id}", "recall shows the ids of facts.")
        return [fact]
    subject = _meant(session, collection, which.subject, "subject")
    found: list[Edge] = []
    for told in _objects_meant(session, collection, which):
        if subject is not None and not found:
            found = session.facts.of_triple(collection, subject.id, nfc(which.predicate), told)
    if not found:
        said = which.object if which.object is not None else which.value
        raise NotFound(f"Fact not found: {which.subject} -> {said} ({which.predicate})", "recall shows what is known.")
    return found


def _objects_meant(session: Session, collection: int, which: FactReference) -> list[FactObject]:
    """What an object may be: the entity of that name, else the literal; clients of one kind of object know no other."""
    if which.object is None:
        return [LiteralObject("" if which.value is None else which.value)]
    entity = _meant(session, collection, which.object, "object")
    literal: list[FactObject] = [LiteralObject(which.object)]
    return literal if entity is None else [EntityObject(entity.id), *literal]


def _meant(session: Session, collection: int, name: str, field: str) -> Entity | None:
    """The entity of a name, None for an unknown one. Raises InvalidInput when several differ in case alone."""
    try:
        return the_entity(session, collection, name, field)
    except EntityNotFound:
        return None


def _is_in(session: Session, collection: int, fact: Edge) -> bool:
    known = session.entities.by_names(collection, [fact.subject]).get(fact.subject)
    return known is not None and known.id == fact.subject_id


def _revised(session: Session, collection: int, fact: Edge, changes: FactChanges, now: Instant) -> Edge:
    """The fact with the changes made; entities that they name are made where they are missing."""
    named = [
        (field, name)
        for field, name in (("new_subject", changes.subject), ("new_object", changes.object))
        if name is not None
    ]
    entities = ensure_entities(session, collection, named, now)
    begin = begin_of(fact) if changes.valid_from is None else changes.valid_from
    end = fact.ended_at if changes.ended_at is None else changes.ended_at
    if end is not None and end < begin and (changes.valid_from, changes.ended_at) != (None, None):
        raise InvalidInput("ended_at: lies before valid_from", "A fact ends after it begins.", "ended_at")
    revised = replace(
        fact,
        context=_kept(changes.context, fact.context),
        confidence=fact.confidence if changes.confidence is None else changes.confidence,
        valid_from=fact.valid_from if changes.valid_from is None else changes.valid_from,
        ended_at=end,
    )
    if changes.subject is not None:
        subject = entities[nfc(changes.subject)]
        revised = replace(revised, subject_id=subject.id, subject=subject.name)
    if changes.predicate is not None:
        revised = replace(revised, predicate=nfc(changes.predicate))
    if changes.object is not None:
        other = entities[nfc(changes.object)]
        return replace(revised, object_id=other.id, object=other.name, value=None)
    if changes.value is not None:
        return replace(revised, object_id=None, object=None, value=changes.value)
    return revised


def _kept(new: str | None, old: str | None) -> str | None:
    """A text that was given wins, an empty one removes the old."""
    return old if new is None else new or None
