"""The periods of facts in a transaction: the rules of `domain.validity` applied to stored edges and their inverses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from evoca.domain.clock import Instant
from evoca.domain.facts import EntityObject, FactObject
from evoca.domain.graph import INVERSES, Edge, NewEdge
from evoca.domain.validity import Period, Target, Twin, begin_of, object_of, period_of, place, target_of, tell
from evoca.errors import Conflict
from evoca.services.graph import INVERSE_CONTEXT
from evoca.storage.contract import Session


@dataclass(frozen=True, slots=True)
class Telling:
    """What comes with a statement; None is kept of a known fact. `valid_from`: None for now."""

    context: str | None = None
    source: str | None = None
    confidence: float | None = None
    valid_from: Instant | None = None


class Timelines:
    """Changes of facts' periods in one transaction.

    An edge by `contiene` or `parte_de` has its inverse told, ended, moved and deleted with it.
    """

    def __init__(self, session: Session, collection: int, single: Callable[[str], bool], now: Instant) -> None:
        """`single`: whether a predicate has one object at a time."""
        self._session = session
        self._facts = session.facts
        self._collection = collection
        self._single = single
        self._now = now

    def tell(
        self, subject: int, predicate: str, told: FactObject, telling: Telling
    ) -> tuple[Edge, bool, tuple[Edge, ...]]:
        """The fact as it stands, whether it is new, and the facts that it closed."""
        at = self._now if telling.valid_from is None else telling.valid_from
        known = {each.id: each for each in self._rivals(subject, predicate, told)}
        plan = tell([period_of(each) for each in known.values()], target_of(told), at, self._single(predicate))
        closed = tuple(self._retime(known[each.id], each) for each in plan.closed)
        if plan.period.id:
            return self._retell(known[plan.period.id], plan.period, telling), False, closed
        fact = self._insert(subject, predicate, told, telling, plan.period.end)
        self._tell_inverse(fact)
        return fact, True, closed

    def correct(self, fact: Edge, revised: Edge) -> tuple[Edge, ...]:
        """Write a fact as it is to be; the facts that it closed. Raises Conflict when another one says the same.

        That it was made as the inverse of another one is not kept of a fact with another predicate.
        """
        if revised.predicate != fact.predicate and revised.context == _context_as_inverse(fact.predicate):
            revised = replace(revised, context=None)
        told = object_of(revised)
        others = {each.id: each for each in self._rivals(revised.subject_id, revised.predicate, told)}
        others.pop(fact.id, None)
        single = self._single(revised.predicate)
        plan = place([period_of(each) for each in others.values()], period_of(revised), single)
        if isinstance(plan, Twin):
            raise Conflict(
                f"{fact_name(revised)} is known for that time already, as fact {plan.period.id}",
                "Update that one, or forget one of the two.",
            )
        closed = tuple(self._retime(others[each.id], each) for each in plan.closed)
        after = _timed(revised, plan.period, self._now)
        if _statement(after) == _statement(fact):
            self._write(fact, after)
        else:
            self._facts.delete([each.id for each in self._inverses(fact)])
            self._facts.revise(after)
            self._tell_inverse(after)
            self._session.collections.bump(self._collection)
        return closed

    def delete(self, facts: Sequence[Edge]) -> None:
        """Remove facts; what was said of them in reflections becomes global."""
        gone = {each.id: each for fact in facts for each in (fact, *self._inverses(fact))}
        self._session.reflections.release("relation", [(each.id, fact_name(each)) for each in gone.values()])
        self._facts.delete(list(gone))
        self._session.collections.bump(self._collection)

    def _rivals(self, subject: int, predicate: str, told: FactObject) -> list[Edge]:
        """What may bear upon a statement: of many-valued predicates only the same statement."""
        if self._single(predicate):
            return self._facts.periods(self._collection, subject, predicate)
        return self._facts.of_triple(self._collection, subject, predicate, told)

    def _insert(self, subject: int, predicate: str, told: FactObject, telling: Telling, end: Instant | None) -> Edge:
        row = NewEdge(
            subject,
            predicate,
            object_id=told.id if isinstance(told, EntityObject) else None,
            value=None if isinstance(told, EntityObject) else told.value,
            context=telling.context or None,
            source=telling.source or None,
            confidence=1.0 if telling.confidence is None else telling.confidence,
            valid_from=telling.valid_from,
            ended_at=end,
        )
        (number,) = self._facts.insert(self._collection, [row], self._now)
        self._session.collections.bump(self._collection)
        return self._facts.by_ids([number])[number]

    def _retell(self, fact: Edge, period: Period, telling: Telling) -> Edge:
        """A known fact told again: what is newer wins."""
        after = _timed(fact, period, self._now)
        if telling.context is not None:
            after = replace(after, context=telling.context or None)
        if telling.source is not None:
            after = replace(after, source=telling.source or None)
        if telling.confidence is not None:
            after = replace(after, confidence=telling.confidence)
        if after != fact:
            self._write(fact, after)
        return after

    def _retime(self, fact: Edge, period: Period) -> Edge:
        after = _timed(fact, period, self._now)
        self._write(fact, after)
        return after

    def _write(self, before: Edge, after: Edge) -> None:
        inverses = self._inverses(before) if period_of(before) != period_of(after) else []
        for edge, new in ((before, after), *((each, _timed(each, period_of(after), self._now)) for each in inverses)):
            if new != edge:
                self._facts.revise(new)
        self._session.collections.bump(self._collection)

    # -- inverses ----------------------------------------------------------------------------------

    def _inverses(self, fact: Edge) -> list[Edge]:
        """The inverse of this fact at its time: one or none, as far as it was made with it."""
        inverse = INVERSES.get(fact.predicate)
        if inverse is None or fact.object_id is None:
            return []
        mirrored = self._facts.of_triple(self._collection, fact.object_id, inverse, EntityObject(fact.subject_id))
        period = period_of(fact)
        return [each for each in mirrored if each.id != fact.id and _same_time(period_of(each), period)][:1]

    def _tell_inverse(self, fact: Edge) -> None:
        inverse = INVERSES.get(fact.predicate)
        if inverse is None or fact.object_id is None or self._inverses(fact):
            return
        told = EntityObject(fact.subject_id)
        known = {each.id: each for each in self._rivals(fact.object_id, inverse, told)}
        single = self._single(inverse)
        plan = tell([period_of(each) for each in known.values()], target_of(told), begin_of(fact), single)
        for each in plan.closed:
            self._retime(known[each.id], each)
        if plan.period.id:
            self._facts.revise(_timed(known[plan.period.id], plan.period, self._now))
            return
        begin = None if begin_of(fact) == self._now else begin_of(fact)
        telling = Telling(INVERSE_CONTEXT.format(fact.predicate), fact.source, fact.confidence, begin)
        ends = [end for end in (plan.period.end, fact.ended_at) if end is not None]
        self._insert(fact.object_id, inverse, told, telling, min(ends, default=None))


def fact_name(fact: Edge) -> str:
    """How a fact is named in messages: `Ada -> Lab (works_at)`."""
    return f"{fact.subject} -> {fact.value if fact.object is None else fact.object} ({fact.predicate})"


def _context_as_inverse(predicate: str) -> str | None:
    """What `_tell_inverse` says of a fact by this predicate."""
    other = INVERSES.get(predicate)
    return None if other is None else INVERSE_CONTEXT.format(other)


def _same_time(one: Period, other: Period) -> bool:
    return one.overlaps(other) or (one.begin, one.end) == (other.begin, other.end)


def _statement(fact: Edge) -> tuple[int, str, Target]:
    return fact.subject_id, fact.predicate, target_of(object_of(fact))


def _timed(fact: Edge, period: Period, now: Instant) -> Edge:
    """The fact in that period."""
    begins = fact.valid_from if begin_of(fact) == period.begin else period.begin
    return replace(fact, valid_from=begins, ended_at=period.end, active=period.covers(now))
