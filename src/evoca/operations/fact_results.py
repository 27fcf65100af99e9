"""Answers of the facts tools. Keys without a value are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict

from evoca.domain.clock import Instant, to_iso
from evoca.domain.graph import Edge
from evoca.domain.validity import begin_of, is_current

if TYPE_CHECKING:
    from evoca.services.fact_recall import RecalledFacts
    from evoca.services.remembering import ForgottenEntity, PredicateUse, Remembered, RememberedFacts
    from evoca.services.walking import Connections, FactHit, FoundPath


class FactJson(TypedDict):
    """`object` is an entity's name, `value` a literal; a fact has one of them. `active`: current now.

    `score`: how well it fits a topic, in [0, 1]. `hop`: how many steps from what was asked for.
    """

    id: int
    subject: str
    predicate: str
    object: NotRequired[str]
    value: NotRequired[str | int | float | bool]
    context: NotRequired[str]
    source: NotRequired[str]
    confidence: float
    active: bool
    created_at: str
    valid_from: str
    ended_at: NotRequired[str]
    score: NotRequired[float]
    hop: NotRequired[int]


class UpdatedFactResult(FactJson):
    """`closed`: facts whose period this one ended."""

    closed: list[FactJson]


class RememberResult(UpdatedFactResult):
    """`created`: it was not known."""

    created: bool


class RememberManyResult(TypedDict):
    facts: list[RememberResult]
    count: int


class ForgetResult(TypedDict):
    status: str
    facts: list[FactJson]
    count: int


class ForgetEntityResult(TypedDict):
    status: str
    entity: str
    facts: int
    relations: int
    observations: int
    message: NotRequired[str]


class RecallResult(TypedDict):
    facts: list[FactJson]
    count: int
    total: int
    has_more: bool
    next_cursor: NotRequired[str]
    suggestions: NotRequired[list[str]]
    warnings: NotRequired[list[str]]


class ReachedJson(TypedDict):
    name: str
    hop: int


class ConnectionsResult(TypedDict):
    entity: str
    facts: list[FactJson]
    entities: list[ReachedJson]
    count: int
    total: int
    has_more: bool
    suggestions: NotRequired[list[str]]


class FindPathResult(TypedDict):
    found: bool
    path: list[str]
    facts: list[FactJson]


class PredicateJson(TypedDict):
    predicate: str
    facts: int
    single_valued: bool


class PredicatesResult(TypedDict):
    single_valued: list[str]
    predicates: list[PredicateJson]


def fact_json(fact: Edge, now: Instant) -> FactJson:
    shown: FactJson = {
        "id": fact.id,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "confidence": fact.confidence,
        "active": is_current(fact, now),
        "created_at": to_iso(fact.created_at),
        "valid_from": to_iso(begin_of(fact)),
    }
    if fact.object is not None:
        shown["object"] = fact.object
    elif fact.value is not None:
        shown["value"] = fact.value
    if fact.context is not None:
        shown["context"] = fact.context
    if fact.source is not None:
        shown["source"] = fact.source
    if fact.ended_at is not None:
        shown["ended_at"] = to_iso(fact.ended_at)
    return shown


def updated_json(told: Remembered, now: Instant) -> UpdatedFactResult:
    return {**fact_json(told.fact, now), "closed": [fact_json(each, now) for each in told.closed]}


def remembered_json(told: Remembered, now: Instant) -> RememberResult:
    return {**updated_json(told, now), "created": told.created}


def forgotten_json(forgotten: RememberedFacts) -> ForgetResult:
    facts = [fact_json(each.fact, forgotten.at) for each in forgotten.facts]
    return {"status": "deleted", "facts": facts, "count": len(facts)}


def forgotten_entity_json(outcome: ForgottenEntity) -> ForgetEntityResult:
    result: ForgetEntityResult = {
        "status": "deleted" if outcome.deleted else "unconfirmed",
        "entity": outcome.entity.name,
        "facts": outcome.facts,
        "relations": outcome.relations,
        "observations": outcome.observations,
    }
    if not outcome.deleted:
        result["message"] = "Nothing was removed. Call again with confirm=true to delete all of it for good."
    return result


def recalled_json(found: RecalledFacts) -> RecallResult:
    result: RecallResult = {
        "facts": [_hit_json(hit, found.at) for hit in found.hits],
        "count": len(found.hits),
        "total": found.total,
        "has_more": found.has_more,
    }
    if found.next_cursor is not None:
        result["next_cursor"] = found.next_cursor
    if found.suggestions:
        result["suggestions"] = list(found.suggestions)
    if found.warnings:
        result["warnings"] = list(found.warnings)
    return result


def _hit_json(hit: FactHit, now: Instant) -> FactJson:
    shown = fact_json(hit.fact, now)
    if hit.score is not None:
        shown["score"] = round(hit.score, 4)
    if hit.hop is not None:
        shown["hop"] = hit.hop
    return shown


def connections_json(found: Connections) -> ConnectionsResult:
    result: ConnectionsResult = {
        "entity": found.entity,
        "facts": [_hit_json(hit, found.at) for hit in found.hits],
        "entities": [{"name": each.name, "hop": each.hop} for each in found.entities],
        "count": len(found.hits),
        "total": found.total,
        "has_more": found.has_more,
    }
    if found.suggestions:
        result["suggestions"] = list(found.suggestions)
    return result


def path_json(found: FoundPath) -> FindPathResult:
    return {
        "found": found.found,
        "path": list(found.names),
        "facts": [fact_json(each, found.at) for each in found.facts],
    }


def predicates_json(single_valued: tuple[str, ...], used: tuple[PredicateUse, ...]) -> PredicatesResult:
    return {
        "single_valued": list(single_valued),
        "predicates": [
            {"predicate": each.predicate, "facts": each.facts, "single_valued": each.single} for each in used
        ],
    }
