"""Reflections as tools (seed 000, tools 18 and 19)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

from pydantic import Field

from evoca.domain.clock import to_iso
from evoca.domain.graph import Triple
from evoca.domain.reflections import DEFAULT_AUTHOR, MOODS, TARGET_TYPES
from evoca.errors import InvalidInput
from evoca.operations.base import AtMost, Hints, Input, Name, NotBlank, Operation, Text, TypeName, operation
from evoca.services.reflections import ReflectionQuery, Target

if TYPE_CHECKING:
    from evoca.domain.reflections import Reflection
    from evoca.services import Services

_TARGETS = ", ".join(TARGET_TYPES)
_MOODS = ", ".join(MOODS)


class AddReflectionInput(Input):
    target_type: TypeName = Field(description=f"{_TARGETS}.")
    content: Text
    author: TypeName = DEFAULT_AUTHOR
    mood: TypeName | None = Field(default=None, description=f"{_MOODS}.")
    target_id: Annotated[int, Field(ge=-(2**63), le=2**63 - 1)] | None = Field(
        default=None, description="Id of the entity or relation (open_nodes with details)."
    )
    target_name: Name | None = Field(default=None, description="Or the entity's name.")
    from_: Name | None = Field(default=None, alias="from", description="Or the relation: from, to, relationType.")
    to: Name | None = None
    relation_type: TypeName | None = Field(default=None, alias="relationType")


class SearchReflectionsInput(Input):
    query: Annotated[
        str, NotBlank(), AtMost("query", "Query too long: {n} > {most} characters. Use a more concise search query.")
    ]
    author: TypeName | None = None
    mood: TypeName | None = None
    target_type: TypeName | None = None
    limit: Annotated[int, Field(ge=1), AtMost("limit", "Limit too high: {n} > {most}. Request fewer results.")] = 10


class ReflectionJson(TypedDict):
    id: int
    target_type: str
    target_id: int | None
    author: str
    content: str
    mood: str | None
    created_at: str
    former_target: NotRequired[str]
    score: NotRequired[float]


class AddReflectionResult(TypedDict):
    result: ReflectionJson


class SearchReflectionsResult(TypedDict):
    results: list[ReflectionJson]


def _json(row: Reflection) -> ReflectionJson:
    shown: ReflectionJson = {
        "id": row.id,
        "target_type": row.target_type,
        "target_id": row.target_id,
        "author": row.author,
        "content": row.content,
        "mood": row.mood,
        "created_at": to_iso(row.created_at),
    }
    if row.former_target is not None:
        shown["former_target"] = row.former_target
    return shown


def _add_reflection(services: Services, given: AddReflectionInput) -> AddReflectionResult:
    ends = (given.from_, given.relation_type, given.to)
    if any(end is not None for end in ends) and None in ends:
        raise InvalidInput("from, to and relationType go together", "Give all three, or target_id.", "relationType")
    if sum(each is not None for each in (given.target_id, given.target_name, given.from_)) > 1:
        raise InvalidInput(
            "target_id, target_name and from/to/relationType name one target", "Give one of them.", "target_name"
        )
    triple = None if given.from_ is None else Triple(given.from_, given.relation_type or "", given.to or "")
    target = Target(given.target_type, given.target_id, given.target_name, triple)
    row = services.reflections.add(services.collection, target, given.content, given.author, given.mood)
    return {"result": _json(row)}


def _search_reflections(services: Services, given: SearchReflectionsInput) -> SearchReflectionsResult:
    query = ReflectionQuery(given.query, given.author, given.mood, given.target_type, given.limit)
    hits = services.reflections.search(services.collection, query)
    return {"results": [{**_json(hit.reflection), "score": round(hit.score, 6)} for hit in hits]}


REFLECTION_OPERATIONS: tuple[Operation, ...] = (
    operation(
        _add_reflection,
        input=AddReflectionInput,
        result=AddReflectionResult,
        name="add_reflection",
        title="Add a Reflection",
        doc=(
            "Write down what something means: prose about an entity, a relation, a session or everything (global), "
            "with author and mood. Facts go to add_observations. Shown by open_nodes with details, found by "
            "search_reflections."
        ),
        toolset="graph",
        hints=Hints(read_only=False, destructive=False, idempotent=False),
    ),
    operation(
        _search_reflections,
        input=SearchReflectionsInput,
        result=SearchReflectionsResult,
        name="search_reflections",
        title="Search Reflections",
        doc=(
            "Find reflections by meaning and words, newer ones first among equals; author, mood and target_type "
            "narrow it. It does not look into observations: search_semantic does."
        ),
        toolset="graph",
        hints=Hints(read_only=True, destructive=False, idempotent=True),
    ),
)
