"""What the graph operations answer, as JSON: one TypedDict a shape, and how service outcomes become them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NotRequired, TypedDict, TypeVar

from evoca.domain.clock import to_iso

if TYPE_CHECKING:
    from evoca.domain.graph import Edge, Observation
    from evoca.domain.reflections import Reflection
    from evoca.services.graph import DeletedEntities, RelationOutcome
    from evoca.services.searching import SemanticHit, SemanticResults
    from evoca.services.transfer import ImportReport
    from evoca.services.views import EntityView, GraphView


class ObservationDetail(TypedDict):
    id: int
    content: str
    kind: str
    similarity_flag: int
    supersedes: int | None
    superseded_at: str | None
    created_at: str


class ReflectionDetail(TypedDict):
    id: int
    author: str
    content: str
    mood: str | None
    created_at: str


class EntityJson(TypedDict):
    """`observations`: the live texts, in order. The keys after it stand with `details=true`."""

    name: str
    entityType: str
    observations: list[str]
    id: NotRequired[int]
    status: NotRequired[str]
    created_at: NotRequired[str]
    updated_at: NotRequired[str]
    observation_details: NotRequired[list[ObservationDetail]]
    reflections: NotRequired[list[ReflectionDetail]]


RelationJson = TypedDict(
    "RelationJson",
    {
        "from": str,
        "to": str,
        "relationType": str,
        "context": NotRequired[str | None],
        "error": NotRequired[str],
        "id": NotRequired[int],
        "active": NotRequired[bool],
        "created_at": NotRequired[str],
        "ended_at": NotRequired[str | None],
    },
)


class RelationError(TypedDict):
    error: str


class CreateEntitiesResult(TypedDict):
    entities: list[EntityJson]
    created: list[str]
    updated: list[str]
    warnings: NotRequired[list[str]]


class CreateRelationsResult(TypedDict):
    relations: list[RelationJson | RelationError]
    errors: NotRequired[list[str]]


class AddedJson(TypedDict):
    entityName: str
    addedObservations: list[str]


class AddObservationsResult(TypedDict):
    results: list[AddedJson]
    entity: NotRequired[EntityJson]
    entities: NotRequired[list[EntityJson]]
    warnings: NotRequired[list[str]]


class DeleteEntitiesResult(TypedDict):
    success: bool
    message: str
    deleted: list[str]
    errors: NotRequired[list[str]]


class DeletedObservationsJson(TypedDict):
    entityName: str
    observations: list[str]


class DeleteObservationsResult(TypedDict):
    success: bool
    message: str
    deleted: list[DeletedObservationsJson]
    entity: NotRequired[EntityJson]
    errors: NotRequired[list[str]]


class DeleteRelationsResult(TypedDict):
    success: bool
    message: str
    deleted: list[RelationJson]
    errors: NotRequired[list[str]]


class GraphResult(TypedDict):
    """`total` and `has_more` stand when `limit` or `offset` was given."""

    entities: list[EntityJson]
    relations: list[RelationJson]
    total: NotRequired[int]
    has_more: NotRequired[bool]


class ScoringJson(TypedDict):
    importance: float
    temporal_factor: float
    cooc_boost: float
    relevance: float
    multiplier: float
    status_factor: float
    metadata_factor: float


class ExplainJson(TypedDict):
    """`words`: lexical score, `meaning`: similarity of the best text; None where a leg found nothing."""

    words: float
    meaning: float | None
    best_text: str


class SemanticHitJson(TypedDict):
    """`rrf_score` stands when words matched anything; `distance` is null for a hit that has no vector yet."""

    name: str
    entityType: str
    observations: list[str]
    limbic_score: float
    scoring: ScoringJson
    distance: float | None
    routing_strategy: str
    rrf_score: NotRequired[float]
    explain: NotRequired[ExplainJson]


class SearchSemanticResult(TypedDict):
    results: list[SemanticHitJson]
    warnings: NotRequired[list[str]]


class MigrateDetail(TypedDict):
    line: int
    reason: str


class MigrateResult(TypedDict):
    entities_imported: int
    relations_imported: int
    errors: int
    skipped: int
    unchanged: int
    details: list[MigrateDetail]
    dry_run: bool


def entity_json(view: EntityView) -> EntityJson:
    return {
        "name": view.entity.name,
        "entityType": view.entity.entity_type,
        "observations": list(view.observations),
    }


def relation_json(edge: Edge) -> RelationJson:
    return {"from": edge.subject, "to": edge.object or "", "relationType": edge.predicate}


def graph_json(graph: GraphView) -> GraphResult:
    """`{entities, relations}`, with the page's keys and the details where they were asked for."""
    relation = relation_json if graph.details is None else relation_details
    result: GraphResult = {
        "entities": [entity_json(view) for view in graph.entities],
        "relations": [relation(edge) for edge in graph.relations],
    }
    if graph.details is not None:
        for view, entity in zip(graph.entities, result["entities"], strict=True):
            entity["id"] = view.entity.id
            entity["status"] = view.entity.status
            entity["created_at"] = to_iso(view.entity.created_at)
            entity["updated_at"] = to_iso(view.entity.updated_at)
            entity["observation_details"] = [
                observation_detail(row) for row in graph.details[view.entity.id].observations
            ]
            entity["reflections"] = [_reflection_detail(row) for row in graph.details[view.entity.id].reflections]
    if graph.page is not None:
        result["total"] = graph.page.total
        result["has_more"] = graph.page.has_more
    return result


def observation_detail(row: Observation) -> ObservationDetail:
    return {
        "id": row.id,
        "content": row.content,
        "kind": row.kind,
        "similarity_flag": int(row.similarity_flag),
        "supersedes": row.supersedes,
        "superseded_at": None if row.superseded_at is None else to_iso(row.superseded_at),
        "created_at": to_iso(row.created_at),
    }


def _reflection_detail(row: Reflection) -> ReflectionDetail:
    return {
        "id": row.id,
        "author": row.author,
        "content": row.content,
        "mood": row.mood,
        "created_at": to_iso(row.created_at),
    }


def relation_details(edge: Edge) -> RelationJson:
    return {
        **relation_json(edge),
        "id": edge.id,
        "context": edge.context,
        "active": edge.active,
        "created_at": to_iso(edge.created_at),
        "ended_at": None if edge.ended_at is None else to_iso(edge.ended_at),
    }


def relation_outcome_json(outcome: RelationOutcome) -> RelationJson | RelationError:
    """One element of `create_relations`: the relation, or why it was not made (seed 000, tool 2)."""
    if outcome.missing is not None:
        return {"error": f"Entity not found: {outcome.missing}"}
    triple = outcome.draft.triple
    element: RelationJson = {"from": triple.subject, "to": triple.object, "relationType": triple.predicate}
    if outcome.draft.context is not None:
        element["context"] = outcome.draft.context
    if outcome.existed:
        element["error"] = "Relation already exists"
    return element


def deleted_entities_json(outcome: DeletedEntities) -> DeleteEntitiesResult:
    errors = [f"Entity not found: {name}" for name in outcome.missing]
    return with_errors(
        {
            "success": True,
            "message": deletion_message("Entities", "entities", len(outcome.deleted), outcome.missing),
            "deleted": list(outcome.deleted),
        },
        errors,
    )


R = TypeVar("R", DeleteEntitiesResult, DeleteObservationsResult, DeleteRelationsResult)


def with_errors(result: R, errors: list[str]) -> R:
    """Add `errors` when there are any."""
    if errors:
        result["errors"] = errors
    return result


def deletion_message(subject: str, noun: str, deleted: int, missing: Iterable[str]) -> str:
    """The official sentence when everything was found, else counts and what was not."""
    absent = list(missing)
    if not absent:
        return f"{subject} deleted successfully"
    return f"Deleted {deleted} of {deleted + len(absent)} {noun}. Not found: {', '.join(absent)}"


def semantic_json(found: SemanticResults, explain: bool) -> SearchSemanticResult:
    """The results with the contract's rounding: 4 decimals, 6 for `rrf_score`."""
    result: SearchSemanticResult = {"results": [_hit_json(hit, found, explain) for hit in found.hits]}
    if found.pending:
        result["warnings"] = [
            f"{found.pending} new texts have no vector yet: they are found by their words only for the moment."
        ]
    return result


def _hit_json(hit: SemanticHit, found: SemanticResults, explain: bool) -> SemanticHitJson:
    scoring, candidate = hit.scoring, hit.candidate
    element: SemanticHitJson = {
        **entity_json(hit.view),
        "limbic_score": round(scoring.score, 4),
        "scoring": {
            "importance": round(scoring.importance, 4),
            "temporal_factor": round(scoring.temporal_factor, 4),
            "cooc_boost": round(scoring.cooc_boost, 4),
            "relevance": round(scoring.relevance, 4),
            "multiplier": round(scoring.multiplier, 4),
            "status_factor": scoring.status_factor,
            "metadata_factor": scoring.metadata_factor,
        },
        "distance": None if candidate.distance is None else round(candidate.distance, 4),
        "routing_strategy": found.routing,
    }
    if found.hybrid:
        element["rrf_score"] = round(candidate.rrf_score or 0.0, 6)
    if explain:
        element["explain"] = {
            "words": round(candidate.words, 4),
            "meaning": None if candidate.meaning is None else round(candidate.meaning, 4),
            "best_text": hit.best_text,
        }
    return element


def report_json(report: ImportReport) -> MigrateResult:
    return {
        "entities_imported": report.entities,
        "relations_imported": report.relations,
        "errors": report.errors,
        "skipped": report.skipped,
        "unchanged": report.unchanged,
        "details": [{"line": remark.line, "reason": remark.reason} for remark in report.details],
        "dry_run": report.dry_run,
    }
