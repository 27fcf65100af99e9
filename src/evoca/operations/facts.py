"""The facts tools: telling, recalling, walking (seed 004; contract, Facts 1 to 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AliasChoices, Field, model_validator

from evoca.domain.clock import Instant, from_iso
from evoca.errors import InvalidInput
from evoca.operations.base import (
    AtMost,
    Hints,
    Id,
    Input,
    Name,
    NotBlank,
    Offset,
    Operation,
    TypeName,
    operation,
)
from evoca.operations.fact_results import (
    ConnectionsResult,
    FindPathResult,
    ForgetEntityResult,
    ForgetResult,
    PredicatesResult,
    RecallResult,
    RememberManyResult,
    RememberResult,
    UpdatedFactResult,
    connections_json,
    forgotten_entity_json,
    forgotten_json,
    path_json,
    predicates_json,
    recalled_json,
    remembered_json,
    updated_json,
)
from evoca.operations.inputs import AsText, EveryItem, Longest

if TYPE_CHECKING:
    from evoca.services import Services
    from evoca.services.fact_recall import FactQuery
    from evoca.services.remembering import FactDraft, FactReference
    from evoca.services.walking import Route

# -- what goes in -----------------------------------------------------------------------------------

Object = Annotated[str | int | float | bool, NotBlank(), AtMost("name"), AsText()]
"""An entity's name; a number or a boolean is a literal, as if it stood in `value`."""
Literal_ = Annotated[str | int | float | bool, NotBlank(), Longest(2_000)]
Context = Annotated[str, Longest(2_000)]
Source = Annotated[str, Longest(500)]
Confidence = Annotated[float, Field(ge=0, le=1)]
Time = Annotated[str, AtMost("type")]
Predicates = Annotated[list[TypeName], Longest(20)]
Direction = Literal["both", "out", "in"]
_SECOND = 999_999


class FactRow(Input):
    subject: Name
    predicate: TypeName
    object: Object | None = None
    value: Literal_ | None = None
    context: Context | None = None
    source: Source | None = None
    confidence: Confidence | None = None
    valid_from: Time | None = None

    @model_validator(mode="after")
    def _one_object(self) -> FactRow:
        if (self.object is None) == (self.value is None):
            raise InvalidInput("object: give exactly one of object (an entity) and value (a literal)", field="object")
        instant(self.valid_from, "valid_from")
        return self


class RememberInput(FactRow):
    subject: Name = Field(description="An entity: a name or type:id (user:maya); made if missing.")
    predicate: TypeName = Field(description="E.g. works_at, vive_en.")
    object: Object | None = Field(default=None, description="An entity, made if missing.")
    value: Literal_ | None = Field(default=None, description="Or a literal: date, number, text.")
    valid_from: Time | None = Field(default=None, description="ISO 8601; default now.")


class RememberManyInput(Input):
    facts: Annotated[list[FactRow], Longest(100), EveryItem()]
    source: Source | None = Field(default=None, description="Of those that have none.")


class FactReferenceInput(Input):
    id: Id | None = Field(default=None, description="Or subject, predicate, object.")
    subject: Name | None = None
    predicate: TypeName | None = None
    object: Object | None = None
    value: Annotated[Literal_, AsText()] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> FactReferenceInput:
        objects = (self.object is not None) + (self.value is not None)
        named = (self.subject is not None, self.predicate is not None, objects == 1)
        if self.id is not None and (any(named) or objects):
            raise InvalidInput("id does not go with subject, predicate, object or value", field="id")
        if self.id is None and not all(named):
            raise InvalidInput(
                "A fact is named by id, or by subject, predicate and one of object and value", field="id"
            )
        return self


class UpdateFactInput(FactReferenceInput):
    new_subject: Name | None = None
    new_predicate: TypeName | None = None
    new_object: Object | None = None
    new_value: Literal_ | None = None
    context: Context | None = None
    confidence: Confidence | None = None
    valid_from: Time | None = None
    ended_at: Time | None = Field(default=None, description="It held until then.")

    @model_validator(mode="after")
    def _one_new_object(self) -> UpdateFactInput:
        if self.new_object is not None and self.new_value is not None:
            raise InvalidInput("new_object: give one of new_object and new_value", field="new_object")
        return self


class ForgetEntityInput(Input):
    entity: Name
    confirm: bool = Field(default=False, description="false only counts what would go.")


class RecallInput(Input):
    query: Annotated[str, Longest(2_000)] | None = Field(
        default=None, description="An entity (name or type:id), or a topic."
    )
    predicate: TypeName | None = None
    predicates: Predicates | None = Field(default=None, description="Any of these.")
    entity_type: TypeName | None = Field(default=None, description="Of subject or object.")
    related_to: Name | None = Field(default=None, description="Only around this entity.")
    depth: Annotated[int, Field(ge=0, le=5)] = Field(default=2, description="Neighbours fill the page; 0: none.")
    fuzzy_match: bool = Field(default=False, description="Similar names will do.")
    limit: Annotated[int, Field(ge=1, le=200)] = 20
    offset: Offset = 0
    sort_by: Literal["created_at", "predicate", "subject", "object", "confidence", "id"] | None = Field(
        default=None, description="A plain sorted page, unranked."
    )
    sort_order: Literal["asc", "desc"] = "asc"
    cursor: Annotated[str, Longest(4_000)] | None = Field(default=None, description="A sorted page's next_cursor.")
    as_of: Time | None = Field(default=None, description="What held then (ISO 8601).")
    include_ended: bool = Field(default=False, description="History too.")

    @model_validator(mode="after")
    def _something(self) -> RecallInput:
        if not ((self.query or "").strip() or self.predicate or self.predicates or self.related_to):
            raise InvalidInput(
                "At least one of query, predicate or related_to is required",
                'Example: {"query": "user:maya"}',
                "query",
            )
        when(self.as_of, self.include_ended)
        return self


class RecallConnectionsInput(Input):
    entity: Name = Field(description="A name or type:id.")
    depth: Annotated[int, Field(ge=1, le=5)] = Field(default=2, description="1: its own facts.")
    limit: Annotated[int, Field(ge=1, le=500)] = 20
    offset: Offset = 0
    predicates: Predicates | None = Field(default=None, description="Walk only these.")
    direction: Direction = "both"
    as_of: Time | None = None
    include_ended: bool = False

    @model_validator(mode="after")
    def _one_time(self) -> RecallConnectionsInput:
        when(self.as_of, self.include_ended)
        return self


class FindPathInput(Input):
    from_: Name = Field(validation_alias=AliasChoices("from", "from_entity"), serialization_alias="from")
    to: Name = Field(validation_alias=AliasChoices("to", "to_entity"))
    max_depth: Annotated[int, Field(ge=1, le=20)] = 5
    predicates: Predicates | None = None
    direction: Direction = "both"
    as_of: Time | None = None
    include_ended: bool = False

    @model_validator(mode="after")
    def _one_time(self) -> FindPathInput:
        when(self.as_of, self.include_ended)
        return self


class PredicatesInput(Input):
    pass


def instant(text: str | None, field: str) -> Instant | None:
    """The time that an argument tells. Raises InvalidInput naming it."""
    if text is None:
        return None
    try:
        return from_iso(text)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{field}: {text!r} is not an ISO 8601 time such as 2026-04-14T22:47:23Z", field=field
        ) from None


def when(as_of: str | None, include_ended: bool) -> tuple[Instant | None, bool]:
    """At what time facts must hold, and whether any will do. Raises InvalidInput when both are asked for.

    Times are shown without fractions; a whole second means its end, so that what began in it holds.
    """
    if as_of is not None and include_ended:
        raise InvalidInput("as_of and include_ended exclude each other", field="as_of")
    at = instant(as_of, "as_of")
    return (at + _SECOND if at is not None and at % (_SECOND + 1) == 0 else at), include_ended


# -- what is done -----------------------------------------------------------------------------------


def _draft(given: FactRow, path: str = "", source: str | None = None) -> FactDraft:
    from evoca.services.remembering import FactDraft

    name = given.object if isinstance(given.object, str) else None
    return FactDraft(
        subject=given.subject,
        predicate=given.predicate,
        object=name,
        value=given.value if given.object is None or name is not None else given.object,
        context=given.context,
        source=source if given.source is None else given.source,
        confidence=given.confidence,
        valid_from=instant(given.valid_from, "valid_from"),
        path=path,
    )


def _reference(given: FactReferenceInput) -> FactReference:
    from evoca.services.remembering import FactReference

    if given.id is not None:
        return FactReference(id=given.id)
    name = given.object if isinstance(given.object, str) else None
    value = given.value if given.object is None or name is not None else given.object
    return FactReference(None, given.subject or "", given.predicate or "", name, value)


def _remember(services: Services, given: RememberInput) -> RememberResult:
    told = services.facts.remember(services.collection, [_draft(given)])
    return remembered_json(told.facts[0], told.at)


def _remember_many(services: Services, given: RememberManyInput) -> RememberManyResult:
    drafts = [_draft(each, f"facts[{place}].", given.source) for place, each in enumerate(given.facts)]
    told = services.facts.remember(services.collection, drafts)
    return {"facts": [remembered_json(each, told.at) for each in told.facts], "count": len(told.facts)}


def _update_fact(services: Services, given: UpdateFactInput) -> UpdatedFactResult:
    from evoca.services.remembering import FactChanges

    name = given.new_object if isinstance(given.new_object, str) else None
    changes = FactChanges(
        subject=given.new_subject,
        predicate=given.new_predicate,
        object=name,
        value=given.new_value if given.new_object is None or name is not None else given.new_object,
        context=given.context,
        confidence=given.confidence,
        valid_from=instant(given.valid_from, "valid_from"),
        ended_at=instant(given.ended_at, "ended_at"),
    )
    told = services.facts.update(services.collection, _reference(given), changes)
    return updated_json(told.facts[0], told.at)


def _forget(services: Services, given: FactReferenceInput) -> ForgetResult:
    return forgotten_json(services.facts.forget(services.collection, _reference(given)))


def _forget_entity(services: Services, given: ForgetEntityInput) -> ForgetEntityResult:
    return forgotten_entity_json(services.facts.forget_entity(services.collection, given.entity, given.confirm))


def _query(given: RecallInput) -> FactQuery:
    from evoca.services.fact_recall import FactQuery
    from evoca.services.walking import When
    from evoca.storage.fact_contract import Sorting

    return FactQuery(
        text=(given.query or "").strip(),
        predicates=tuple(dict.fromkeys([*([given.predicate] if given.predicate else []), *(given.predicates or [])])),
        entity_type=given.entity_type,
        related_to=given.related_to,
        depth=given.depth,
        fuzzy=given.fuzzy_match,
        limit=given.limit,
        offset=given.offset,
        sorting=None if given.sort_by is None else Sorting(given.sort_by, given.sort_order == "desc"),
        when=When(*when(given.as_of, given.include_ended)),
        cursor=given.cursor,
    )


def _recall(services: Services, given: RecallInput) -> RecallResult:
    return recalled_json(services.fact_recall.recall(services.collection, _query(given)))


def _recall_connections(services: Services, given: RecallConnectionsInput) -> ConnectionsResult:
    found = services.walking.connections(
        services.collection, given.entity, _route(given, given.depth), given.limit, given.offset
    )
    return connections_json(found)


def _find_path(services: Services, given: FindPathInput) -> FindPathResult:
    route = _route(given, given.max_depth)
    return path_json(services.walking.path(services.collection, given.from_, given.to, route))


def _route(given: RecallConnectionsInput | FindPathInput, depth: int) -> Route:
    from evoca.services.walking import Route, When

    return Route(depth, given.direction, tuple(given.predicates or ()), When(*when(given.as_of, given.include_ended)))


def _predicates(services: Services, _given: PredicatesInput) -> PredicatesResult:
    return predicates_json(services.facts.single_valued, services.facts.predicates(services.collection))


_READS = Hints(read_only=True, destructive=False, idempotent=True)
_TELLS = Hints(read_only=False, destructive=False, idempotent=True)
_REWRITES = Hints(read_only=False, destructive=True, idempotent=True)

FACT_OPERATIONS: tuple[Operation, ...] = (
    operation(
        _remember,
        input=RememberInput,
        result=RememberResult,
        name="remember",
        title="Remember a Fact",
        doc=(
            "Save one fact; told again it is the same one. A new object of a single-valued predicate (lives_in, "
            "status …) ends the old fact, which stays as history. recall finds it."
        ),
        toolset="facts",
        hints=_TELLS,
    ),
    operation(
        _remember_many,
        input=RememberManyInput,
        result=RememberManyResult,
        name="remember_many",
        title="Remember Several Facts",
        doc="Save up to 100 facts at once, each as remember does: all of them, or none and every bad one is named.",
        toolset="facts",
        hints=_TELLS,
    ),
    operation(
        _recall,
        input=RecallInput,
        result=RecallResult,
        name="recall",
        title="Recall Facts",
        doc=(
            "Find facts before answering: about an entity, or on a topic; filters narrow it. Shows what holds now "
            "unless asked. To walk from an entity use recall_connections."
        ),
        toolset="facts",
        hints=_READS,
    ),
    operation(
        _recall_connections,
        input=RecallConnectionsInput,
        result=ConnectionsResult,
        name="recall_connections",
        title="Recall Connections",
        doc="Walk from an entity along facts and relations: each fact once, with its hop, the nearest first.",
        toolset="facts",
        hints=_READS,
    ),
    operation(
        _find_path,
        input=FindPathInput,
        result=FindPathResult,
        name="find_path",
        title="Find a Path",
        doc="How two entities are connected: a shortest chain of facts and relations, or found=false.",
        toolset="facts",
        hints=_READS,
    ),
    operation(
        _predicates,
        input=PredicatesInput,
        result=PredicatesResult,
        name="predicates",
        title="List Predicates",
        doc="The predicates in use with their counts, and those that are single-valued. Reuse them in remember.",
        toolset="facts",
        hints=_READS,
        rest_method="GET",
    ),
    operation(
        _update_fact,
        input=UpdateFactInput,
        result=UpdatedFactResult,
        name="update_fact",
        title="Correct a Fact",
        doc=(
            "Correct a fact that was wrong, or end it; it keeps its id. What has changed in the world is told with "
            "remember."
        ),
        toolset="facts",
        hints=_REWRITES,
    ),
    operation(
        _forget,
        input=FactReferenceInput,
        result=ForgetResult,
        name="forget",
        title="Forget a Fact",
        doc="Delete a fact for good: by id, or by what it says with all its history. To only end it use update_fact.",
        toolset="facts",
        hints=_REWRITES,
    ),
    operation(
        _forget_entity,
        input=ForgetEntityInput,
        result=ForgetEntityResult,
        name="forget_entity",
        title="Forget an Entity",
        doc="Delete an entity with all its facts, relations and observations; without confirm only count them.",
        toolset="facts",
        hints=_REWRITES,
    ),
)
