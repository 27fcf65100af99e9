"""When a statement holds: its periods, and what a new one does to those that are known.

A period is *current* at `t` when `begin <= t < end`; an open one has no end. Of a single-valued predicate a subject has
at most one object at any instant, so telling one shortens the period that it falls into and stops where the next one
begins. Nothing is ever removed: what was shortened to nothing stays as history that never held.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evoca.domain.clock import Instant
from evoca.domain.facts import EntityObject, FactObject, LiteralObject, Scalar
from evoca.domain.graph import Edge
from evoca.domain.text import fold_case

Target = tuple[str, str]
"""What a statement says of its subject, as it is compared: 1, 1.5, "1" and true differ."""


@dataclass(frozen=True, slots=True)
class Period:
    """`id` 0: not stored yet. `end` None: open."""

    id: int
    target: Target
    begin: Instant
    end: Instant | None = None

    def covers(self, at: Instant) -> bool:
        return self.begin <= at and (self.end is None or at < self.end)

    @property
    def empty(self) -> bool:
        return self.end is not None and self.end <= self.begin

    def overlaps(self, other: Period) -> bool:
        if self.empty or other.empty:
            return False
        first, second = (self, other) if self.begin <= other.begin else (other, self)
        return first.end is None or second.begin < first.end


@dataclass(frozen=True, slots=True)
class Plan:
    """`period`: what was told, as it is to be; one with the id of a known period is that period. `closed`: others,
    as they are to be.
    """

    period: Period
    closed: tuple[Period, ...] = ()


@dataclass(frozen=True, slots=True)
class Twin:
    """A known period says the same at the same time."""

    period: Period


def tell(known: Sequence[Period], target: Target, at: Instant, single: bool) -> Plan:
    """What it means that `target` holds from `at` on. `known`: the periods of the subject and predicate.

    The same statement while it holds is the same period; told to hold from earlier on, that period begins earlier. It
    ends where the next period begins: of any target if `single`, else of the same one.
    """
    rivals = [each for each in known if single and each.target != target]
    own = [each for each in known if each.target == target]
    holding = next((each for each in own if each.covers(at)), None)
    closed = tuple(replace(each, end=at) for each in rivals if each.covers(at))
    if holding is not None:
        return Plan(holding, closed)
    following = _next([*own, *rivals], at)
    if following is None:
        return Plan(Period(0, target, at), closed)
    if following.target == target:
        return Plan(replace(following, begin=at), closed)
    return Plan(Period(0, target, at, following.begin), closed)


def place(others: Sequence[Period], period: Period, single: bool) -> Plan | Twin:
    """Put a corrected period among the other ones of its subject and predicate, by the rules of `tell`."""
    rivals = [each for each in others if single and each.target != period.target]
    following = _next(rivals, period.begin)
    if following is not None and (period.end is None or following.begin < period.end):
        period = replace(period, end=following.begin)
    twin = next((each for each in others if each.target == period.target and each.overlaps(period)), None)
    if twin is not None:
        return Twin(twin)
    if period.empty:
        return Plan(period)
    return Plan(period, tuple(replace(each, end=period.begin) for each in rivals if each.covers(period.begin)))


def _next(periods: Iterable[Period], at: Instant) -> Period | None:
    later = (each for each in periods if each.begin > at and not each.empty)
    return min(later, key=lambda each: (each.begin, each.id), default=None)


# -- edges -----------------------------------------------------------------------------------------


def target_of(told: FactObject) -> Target:
    match told:
        case EntityObject(id=number):
            return "entity", str(number)
        case LiteralObject(value=value):
            return _kind(value), repr(value) if not isinstance(value, str) else value


def _kind(value: Scalar) -> str:
    if isinstance(value, str):
        return "text"
    return "boolean" if isinstance(value, bool) else "number"


def object_of(edge: Edge) -> FactObject:
    if edge.object_id is not None:
        return EntityObject(edge.object_id)
    return LiteralObject("" if edge.value is None else edge.value)


def begin_of(edge: Edge) -> Instant:
    """Since when it holds: as told, else since it was recorded."""
    return edge.created_at if edge.valid_from is None else edge.valid_from


def period_of(edge: Edge) -> Period:
    return Period(edge.id, target_of(object_of(edge)), begin_of(edge), edge.ended_at)


def is_current(edge: Edge, at: Instant) -> bool:
    return period_of(edge).covers(at)


def fold_predicate(predicate: str) -> str:
    """A predicate as the list of single-valued ones compares it: composed, without regard to case."""
    return fold_case(predicate.strip())
