"""Corrections that keep history, and the state of the memory (seed 000, tool 17; contract, Graph 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

from pydantic import Field

from evoca.domain.graph import Triple
from evoca.errors import InvalidInput
from evoca.operations.base import AtMost, Hints, Id, Input, Name, Operation, TypeName, operation
from evoca.operations.fact_results import FactJson, fact_json
from evoca.operations.graph_results import ObservationDetail, RelationJson, observation_detail, relation_details

if TYPE_CHECKING:
    from evoca.services import Services


class EndRelationInput(Input):
    relation_id: Id | None = Field(default=None, description="From open_nodes with details.")
    from_: Name | None = Field(default=None, alias="from", description="Or by names: from, to, relationType.")
    to: Name | None = None
    relation_type: TypeName | None = Field(default=None, alias="relationType")


class RenameEntityInput(Input):
    name: Name
    new_name: Name
    dry_run: bool = True


class MergeEntitiesInput(Input):
    sources: Annotated[list[Name], AtMost("items")] = Field(description="They become part of target.")
    target: Name
    dry_run: bool = True


class UpdateObservationInput(Input):
    observation_id: Id = Field(description="From open_nodes with details.")
    content: Annotated[str, AtMost("text")] | None = None
    kind: TypeName | None = None


class MemoryStatusInput(Input):
    pass


class EndRelationResult(TypedDict):
    result: str
    relation: RelationJson
    inverse_expired_id: int | None


class RenameEntityResult(TypedDict):
    result: str
    name: str
    former_name: str
    observations: int
    relations: int
    reflections: int
    aliases: list[str]
    dry_run: bool


class MergeEntitiesResult(TypedDict):
    """`moved_*`: what comes to the target; `dropped_*`: what it had already, or what would relate it to itself.

    `*_facts`: those with literal values.
    """

    result: str
    target: str
    merged: list[str]
    moved_observations: int
    dropped_observations: list[str]
    moved_relations: int
    dropped_relations: list[RelationJson]
    moved_facts: int
    dropped_facts: list[FactJson]
    reflections: int
    aliases: list[str]
    dry_run: bool


class UpdateObservationResult(TypedDict):
    result: str
    entity: str
    observation: ObservationDetail
    previous: str
    warnings: NotRequired[list[str]]


class CountsJson(TypedDict):
    entities: int
    observations: int
    relations: int
    reflections: int


class IndexJson(TypedDict):
    """`pending`: texts that wait for their vector."""

    model: str | None
    state: str
    pending: int
    problem: str


class MemoryStatusResult(TypedDict):
    """Reply of `memory_status`. `store` and `bytes` are the whole store's, and not for keys of single collections."""

    version: str
    store: NotRequired[str]
    collection: str
    counts: CountsJson
    index: IndexJson
    bytes: NotRequired[int]


def _end_relation(services: Services, given: EndRelationInput) -> EndRelationResult:
    names = (given.from_, given.relation_type, given.to)
    triple = None
    if given.from_ is not None and given.relation_type is not None and given.to is not None:
        triple = Triple(given.from_, given.relation_type, given.to)
    given_names = any(name is not None for name in names)
    if (given.relation_id is None) == (triple is None) or (given_names and triple is None):
        raise InvalidInput(
            "end_relation takes relation_id, or from, to and relationType",
            "open_nodes with details=true shows the ids of relations.",
            "relation_id",
        )
    ended = services.editing.end_relation(services.collection, given.relation_id, triple)
    what = "is already expired" if ended.already else "expired successfully"
    return {
        "result": f"Relation {ended.edge.id} {what}",
        "relation": relation_details(ended.edge),
        "inverse_expired_id": ended.inverse,
    }


def _rename_entity(services: Services, given: RenameEntityInput) -> RenameEntityResult:
    renamed = services.editing.rename_entity(services.collection, given.name, given.new_name, given.dry_run)
    done = "would be renamed" if given.dry_run else "renamed"
    return {
        "result": f"{renamed.old_name} {done} to {renamed.entity.name}",
        "name": renamed.entity.name,
        "former_name": renamed.old_name,
        "observations": renamed.observations,
        "relations": renamed.relations,
        "reflections": renamed.reflections,
        "aliases": list(renamed.aliases),
        "dry_run": renamed.dry_run,
    }


def _merge_entities(services: Services, given: MergeEntitiesInput) -> MergeEntitiesResult:
    merged = services.editing.merge_entities(services.collection, given.sources, given.target, given.dry_run)
    done = "would be merged" if given.dry_run else "merged"
    return {
        "result": f"{', '.join(merged.sources)} {done} into {merged.target}",
        "target": merged.target,
        "merged": list(merged.sources),
        "moved_observations": merged.moved_observations,
        "dropped_observations": list(merged.dropped_observations),
        "moved_relations": merged.moved_relations,
        "dropped_relations": [relation_details(edge) for edge in merged.dropped_relations],
        "moved_facts": merged.moved_facts,
        "dropped_facts": [fact_json(fact, merged.at) for fact in merged.dropped_facts],
        "reflections": merged.reflections,
        "aliases": list(merged.aliases),
        "dry_run": merged.dry_run,
    }


def _update_observation(services: Services, given: UpdateObservationInput) -> UpdateObservationResult:
    updated = services.editing.update_observation(services.collection, given.observation_id, given.content, given.kind)
    result: UpdateObservationResult = {
        "result": f"Observation {given.observation_id} updated",
        "entity": updated.entity.name,
        "observation": observation_detail(updated.after),
        "previous": updated.before.content,
    }
    if updated.warnings:
        result["warnings"] = list(updated.warnings)
    return result


def _memory_status(services: Services, _: MemoryStatusInput) -> MemoryStatusResult:
    status = services.status.status(services.collection)
    result: MemoryStatusResult = {
        "version": status.version,
        "collection": status.collection,
        "counts": {
            "entities": status.entities,
            "observations": status.observations,
            "relations": status.relations,
            "reflections": status.reflections,
        },
        "index": {
            "model": status.indexing.model,
            "state": status.indexing.state,
            "pending": status.indexing.pending,
            "problem": status.indexing.problem,
        },
    }
    if services.caller.owns_store:
        result["store"], result["bytes"] = status.store, status.size
    return result


_CHANGES = Hints(read_only=False, destructive=False, idempotent=True)

END_RELATION: Operation = operation(
    _end_relation,
    input=EndRelationInput,
    result=EndRelationResult,
    name="end_relation",
    title="End a Relation",
    doc=(
        "End a relation that no longer holds and keep it as history; contiene and parte_de end together. Prefer it to "
        "delete_relations for what was true. It can be created anew later."
    ),
    toolset="graph",
    hints=_CHANGES,
)

EDITING_OPERATIONS: tuple[Operation, ...] = (
    operation(
        _rename_entity,
        input=RenameEntityInput,
        result=RenameEntityResult,
        name="rename_entity",
        title="Rename an Entity",
        doc=(
            "Give an entity another name; observations, relations, history and reflections follow, and the old name "
            "goes on leading to it. Shows what would happen unless dry_run is false."
        ),
        toolset="graph-upkeep",
        hints=_CHANGES,
    ),
    operation(
        _merge_entities,
        input=MergeEntitiesInput,
        result=MergeEntitiesResult,
        name="merge_entities",
        title="Merge Entities",
        doc=(
            "Make one entity of several that are the same thing: everything moves to target, equal texts and relations "
            "become one, the old names lead to it. Cannot be undone: shows what would happen unless dry_run is false."
        ),
        toolset="graph-upkeep",
        hints=Hints(read_only=False, destructive=True, idempotent=False),
    ),
    operation(
        _update_observation,
        input=UpdateObservationInput,
        result=UpdateObservationResult,
        name="update_observation",
        title="Update an Observation",
        doc=(
            "Correct an observation's text or kind in place: id and time stay, the old text is gone. To keep an "
            "outdated fact as history use add_observations with supersedes."
        ),
        toolset="graph-upkeep",
        hints=Hints(read_only=False, destructive=True, idempotent=True),
    ),
    operation(
        _memory_status,
        input=MemoryStatusInput,
        result=MemoryStatusResult,
        name="memory_status",
        title="Memory Status",
        doc="Where the memory is, what it holds, its size, its model, and how many texts wait for their vector.",
        toolset="graph-upkeep",
        hints=Hints(read_only=True, destructive=False, idempotent=True),
    ),
)
