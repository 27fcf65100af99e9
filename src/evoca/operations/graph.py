"""The graph tools: the official memory server's nine, `search_semantic` and `migrate` (seed 000, tools 1–10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AliasChoices, Field, model_validator

from evoca.domain.graph import DEFAULT_KIND, Triple
from evoca.errors import EntityNotFound, InvalidInput, NotFound
from evoca.operations.base import (
    AtMost,
    Hidden,
    Hints,
    Id,
    Input,
    Limit,
    Name,
    NotBlank,
    Offset,
    Operation,
    TextOr,
    TypeName,
    operation,
)
from evoca.operations.graph_results import (
    AddObservationsResult,
    CreateEntitiesResult,
    CreateRelationsResult,
    DeleteEntitiesResult,
    DeleteObservationsResult,
    DeleteRelationsResult,
    GraphResult,
    MigrateResult,
    SearchSemanticResult,
    deleted_entities_json,
    deletion_message,
    entity_json,
    graph_json,
    relation_outcome_json,
    report_json,
    semantic_json,
    with_errors,
)
from evoca.services.graph import Additions, EntityDraft, RelationDraft, Removals
from evoca.services.reading import OpenOptions, Window
from evoca.services.searching import SemanticQuery

if TYPE_CHECKING:
    from evoca.services import Services

# -- what goes in -----------------------------------------------------------------------------------

_TOO_LONG = "Observation {0} too long: {n} > {most} characters. Shorten or split the observation."
_TOO_MANY = "Too many observations: {n} > {most}. Split into smaller batches."

FreeType = Annotated[str, AtMost("type")]
"""A type of the client's own; the official server takes any text, the empty one too."""
KnownName = Annotated[str, AtMost("name")]
"""A name that is only looked up: an unknown or blank one is not found, a longer one than any is a mistake."""
RecordType = Annotated[str | None, Hidden()]
"""The `type` of a pasted JSONL record."""


class EntityInput(Input):
    type: RecordType = None
    name: Name
    entity_type: FreeType | None = Field(
        default=None, alias="entityType", description="Category, e.g. Project or Person. New entities: Generic."
    )
    observations: Annotated[
        list[
            Annotated[
                str,
                AtMost(
                    "text",
                    "Entity {0}, observation {1} too long: {n} > {most} characters. Shorten or split the observation.",
                ),
            ]
        ],
        AtMost("items", "Entity {0} has too many observations: {n} > {most}. Split into smaller batches."),
    ] = Field(default=[], description="One fact each.")
    status: FreeType | None = Field(default=None, description="activo, pausado, completado or archivado.")


class CreateEntitiesInput(Input):
    entities: Annotated[
        list[EntityInput], AtMost("items", "Too many entities: {n} > {most}. Create fewer entities at a time.")
    ]


class TripleInput(Input):
    type: RecordType = None
    from_: Name = Field(validation_alias=AliasChoices("from", "from_entity"), serialization_alias="from")
    to: Name = Field(validation_alias=AliasChoices("to", "to_entity"))
    relation_type: TypeName = Field(alias="relationType")

    def triple(self) -> Triple:
        return Triple(self.from_, self.relation_type, self.to)


class RelationInput(TripleInput):
    context: Annotated[str, AtMost("text")] | None = Field(default=None, description="Why or when.")


class CreateRelationsInput(Input):
    relations: Annotated[
        list[RelationInput], AtMost("items", "Too many relations: {n} > {most}. Create fewer relations at a time.")
    ]


class AddGroup(Input):
    entity_name: Name = Field(validation_alias=AliasChoices("entityName", "name"))
    contents: Annotated[list[Annotated[str, AtMost("text")]], AtMost("items", _TOO_MANY)] = Field(
        validation_alias=AliasChoices("contents", "observations")
    )


class AddObservationsInput(Input):
    name: Name | None = Field(
        default=None,
        validation_alias=AliasChoices("name", "entityName"),
        description="The entity, when observations are texts.",
    )
    observations: Annotated[
        list[Annotated[TextOr[AddGroup], AtMost("text", _TOO_LONG)]],
        AtMost("items", _TOO_MANY),
    ] = Field(
        validation_alias=AliasChoices("observations", "contents"),
        description="Texts for `name`, or objects.",
    )
    kind: FreeType | None = Field(
        default=None, description="hallazgo, decision, estado, spec, metrica, metadata or generic."
    )
    supersedes: Id | None = Field(default=None, description="Id of what the new text replaces.")

    @model_validator(mode="after")
    def _one_form(self) -> AddObservationsInput:
        groups = sum(isinstance(item, AddGroup) for item in self.observations)
        if groups not in (0, len(self.observations)):
            raise InvalidInput("observations mixes texts and objects", _ADD_FORMS, "observations")
        if groups and self.name is not None:
            raise InvalidInput("name does not go with observations that are objects", _ADD_FORMS, "name")
        if groups and (self.kind is not None or self.supersedes is not None):
            raise InvalidInput("kind and supersedes go with name and texts only", _ADD_FORMS, "kind")
        if self.supersedes is not None and not self.observations:
            raise InvalidInput(
                "observations is empty: supersedes needs the text that replaces it", field="observations"
            )
        if not groups and self.name is None and self.observations:
            raise InvalidInput("name is missing", _ADD_FORMS, "name")
        return self


_ADD_FORMS = (
    'Either {"name": "Ada", "observations": ["a text"]} '
    'or {"observations": [{"entityName": "Ada", "contents": ["a text"]}]}.'
)


class DeleteEntitiesInput(Input):
    entity_names: Annotated[
        list[KnownName], AtMost("items", "Too many entity names: {n} > {most}. Delete fewer entities at a time.")
    ] = Field(alias="entityNames")


class RemoveGroup(Input):
    entity_name: KnownName = Field(validation_alias=AliasChoices("entityName", "name"))
    observations: Annotated[list[str], AtMost("items", _TOO_MANY)] = Field(
        validation_alias=AliasChoices("observations", "contents")
    )


class DeleteObservationsInput(Input):
    name: KnownName | None = Field(
        default=None,
        validation_alias=AliasChoices("name", "entityName"),
        description="Goes with observations.",
    )
    observations: Annotated[list[str], AtMost("items", _TOO_MANY)] | None = Field(
        default=None, description="Exact texts."
    )
    deletions: Annotated[list[RemoveGroup], AtMost("items")] | None = Field(
        default=None, description="Or for several entities."
    )

    @model_validator(mode="after")
    def _one_form(self) -> DeleteObservationsInput:
        single = self.name is not None and self.observations is not None
        either = self.name is not None or self.observations is not None
        if (self.deletions is not None) == either or (either and not single):
            raise InvalidInput(
                "delete_observations takes exactly one of its two forms",
                'Either {"name": "Ada", "observations": ["a text"]} '
                'or {"deletions": [{"entityName": "Ada", "observations": ["a text"]}]}.',
                "deletions",
            )
        return self


class DeleteTriple(Input):
    type: RecordType = None
    from_: KnownName = Field(validation_alias=AliasChoices("from", "from_entity"), serialization_alias="from")
    to: KnownName = Field(validation_alias=AliasChoices("to", "to_entity"))
    relation_type: FreeType = Field(alias="relationType")
    context: Annotated[str | None, Hidden()] = None


class DeleteRelationsInput(Input):
    relations: Annotated[
        list[DeleteTriple], AtMost("items", "Too many relations: {n} > {most}. Delete fewer relations at a time.")
    ]


class ReadGraphInput(Input):
    limit: Limit | None = Field(default=None, description="Page size; adds total, has_more.")
    offset: Offset | None = None


class SearchNodesInput(ReadGraphInput):
    query: Annotated[
        str, AtMost("query", "Query too long: {n} > {most} characters. Use a more concise search query.")
    ] = Field(description="Empty: everything.")


class OpenNodesInput(ReadGraphInput):
    names: Annotated[
        list[KnownName], AtMost("items", "Too many entity names: {n} > {most}. Request fewer entities at a time.")
    ]
    details: bool = Field(default=False, description="Add ids, kinds, times, status, history, reflections.")
    kinds: list[str] | None = Field(default=None, description="Only observations of these kinds.")
    include_superseded: bool = Field(default=False, description="Show replaced observations too.")
    include_ended: bool = False


class SearchSemanticInput(Input):
    query: Annotated[
        str, NotBlank(), AtMost("query", "Query too long: {n} > {most} characters. Use a more concise search query.")
    ] = Field(description="Question or topic, in any words.")
    limit: Annotated[int, Field(ge=1), AtMost("limit", "Limit too high: {n} > {most}. Request fewer results.")] = 10
    track: bool | None = Field(default=None, description="false: read without learning from it.")
    explain: bool = Field(default=False, description="Add how each result was found.")
    entity_types: list[str] | None = None
    statuses: list[str] | None = None


class MigrateInput(Input):
    source_path: str = Field(default="", description="Path of the JSONL file on the server's machine.")
    dry_run: bool = Field(default=False, description="Only say what would happen.")


# -- what is done -----------------------------------------------------------------------------------


def _create_entities(services: Services, given: CreateEntitiesInput) -> CreateEntitiesResult:
    drafts = [EntityDraft(e.name, tuple(e.observations), e.entity_type, e.status) for e in given.entities]
    outcome = services.graph.create_entities(services.collection, drafts)
    result: CreateEntitiesResult = {
        "entities": [entity_json(view) for view in outcome.entities],
        "created": list(outcome.created),
        "updated": list(outcome.updated),
    }
    if outcome.warnings:
        result["warnings"] = list(outcome.warnings)
    return result


def _create_relations(services: Services, given: CreateRelationsInput) -> CreateRelationsResult:
    drafts = [RelationDraft(each.triple(), each.context) for each in given.relations]
    outcomes = services.graph.create_relations(services.collection, drafts)
    result: CreateRelationsResult = {"relations": [relation_outcome_json(outcome) for outcome in outcomes]}
    errors = [f"Entity not found: {outcome.missing}" for outcome in outcomes if outcome.missing is not None]
    if errors:
        result["errors"] = errors
        if len(errors) == len(outcomes):
            raise NotFound(errors[0], "Create both entities first with create_entities.", payload=result)
    return result


def _add_observations(services: Services, given: AddObservationsInput) -> AddObservationsResult:
    groups = [item for item in given.observations if isinstance(item, AddGroup)]
    official = given.name is None
    try:
        outcome = services.graph.add_observations(services.collection, _additions(given, groups))
    except EntityNotFound as error:
        if official:
            raise NotFound(f"Entity with name {error.name} not found", error.hint) from error
        raise
    if services.track:
        services.tracking.observed([view.entity.id for view in outcome.entities])
    entities = [entity_json(view) for view in outcome.entities]
    result: AddObservationsResult = {
        "results": [{"entityName": each.name, "addedObservations": list(each.contents)} for each in outcome.results]
    }
    if official:
        result["entities"] = entities
    else:
        result["entity"] = entities[0]
    if outcome.warnings:
        result["warnings"] = list(outcome.warnings)
    return result


def _additions(given: AddObservationsInput, groups: list[AddGroup]) -> list[Additions]:
    if given.name is None:
        return [Additions(group.entity_name, tuple(group.contents)) for group in groups]
    texts = tuple(item for item in given.observations if isinstance(item, str))
    return [Additions(given.name, texts, DEFAULT_KIND if given.kind is None else given.kind, given.supersedes)]


def _delete_entities(services: Services, given: DeleteEntitiesInput) -> DeleteEntitiesResult:
    return deleted_entities_json(services.graph.delete_entities(services.collection, given.entity_names))


def _delete_observations(services: Services, given: DeleteObservationsInput) -> DeleteObservationsResult:
    if given.deletions is None:
        items = [Removals(given.name or "", tuple(given.observations or ()))]
    else:
        items = [Removals(group.entity_name, tuple(group.observations)) for group in given.deletions]
    outcomes = services.graph.delete_observations(services.collection, items)
    if given.deletions is None and outcomes[0].entity is None:
        raise EntityNotFound(outcomes[0].name)
    known = [outcome for outcome in outcomes if outcome.entity is not None]
    unknown = dict.fromkeys(outcome.name for outcome in outcomes if outcome.entity is None)
    message = deletion_message(
        "Observations",
        "observations",
        sum(len(outcome.deleted) for outcome in outcomes),
        (*unknown, *(text for outcome in known for text in outcome.missing)),
    )
    result: DeleteObservationsResult = {
        "success": True,
        "message": message,
        "deleted": [{"entityName": each.name, "observations": list(each.deleted)} for each in known],
    }
    if given.deletions is None and outcomes[0].entity is not None:
        result["entity"] = entity_json(outcomes[0].entity)
    return with_errors(result, [f"Entity not found: {name}" for name in unknown])


def _delete_relations(services: Services, given: DeleteRelationsInput) -> DeleteRelationsResult:
    triples = [Triple(each.from_, each.relation_type, each.to) for each in given.relations]
    outcomes = services.graph.delete_relations(services.collection, triples)
    missing = [outcome for outcome in outcomes if not outcome.deleted]
    deleted = [outcome.triple for outcome in outcomes if outcome.deleted]
    errors = [
        f"Relation not found: {t.subject} -> {t.object} ({t.predicate})"
        if outcome.ends_known
        else f"Entity not found: {t.subject} or {t.object}"
        for outcome in missing
        for t in (outcome.triple,)
    ]
    names = [f"{t.subject} -> {t.object} ({t.predicate})" for t in (outcome.triple for outcome in missing)]
    return with_errors(
        {
            "success": True,
            "message": deletion_message("Relations", "relations", len(deleted), names),
            "deleted": [{"from": t.subject, "to": t.object, "relationType": t.predicate} for t in deleted],
        },
        errors,
    )


def _window(given: ReadGraphInput) -> Window:
    return Window(given.limit, given.offset)


def _read_graph(services: Services, given: ReadGraphInput) -> GraphResult:
    return graph_json(services.reading.read_graph(services.collection, _window(given)))


def _search_nodes(services: Services, given: SearchNodesInput) -> GraphResult:
    return graph_json(services.reading.search_nodes(services.collection, given.query, _window(given)))


def _open_nodes(services: Services, given: OpenNodesInput) -> GraphResult:
    options = OpenOptions(
        given.details,
        None if given.kinds is None else tuple(given.kinds),
        given.include_superseded,
        given.include_ended,
    )
    graph = services.reading.open_nodes(services.collection, given.names, options, _window(given))
    if services.track:
        services.tracking.opened([view.entity.id for view in graph.entities])
    return graph_json(graph)


def _search_semantic(services: Services, given: SearchSemanticInput) -> SearchSemanticResult:
    query = SemanticQuery(
        given.query,
        given.limit,
        services.track if given.track is None else given.track,
        None if given.entity_types is None else tuple(given.entity_types),
        None if given.statuses is None else tuple(given.statuses),
        given.explain,
    )
    return semantic_json(services.search.search(services.collection, query), given.explain)


def _migrate(services: Services, given: MigrateInput) -> MigrateResult:
    return report_json(services.transfer.migrate(services.collection, given.source_path, given.dry_run))


# -- the catalogue's rows -----------------------------------------------------------------------------

_WRITES = Hints(read_only=False, destructive=False, idempotent=False)
# It reads any file that the server can read.
_READS_A_FILE = Hints(read_only=False, destructive=False, idempotent=True, admin=True)
_DELETES = Hints(read_only=False, destructive=True, idempotent=True)
_READS = Hints(read_only=True, destructive=False, idempotent=True)

GRAPH_OPERATIONS: tuple[Operation, ...] = (
    operation(
        _create_entities,
        input=CreateEntitiesInput,
        result=CreateEntitiesResult,
        name="create_entities",
        title="Create Entities",
        doc=(
            "Create entities, or merge observations into existing ones (a type or status left out is kept). All or "
            "nothing. For facts on a known entity use add_observations; link with create_relations next."
        ),
        drop_in=True,
        toolset="graph",
        hints=_WRITES,
    ),
    operation(
        _create_relations,
        input=CreateRelationsInput,
        result=CreateRelationsResult,
        name="create_relations",
        title="Create Relations",
        doc=(
            "Create directed, typed relations in active voice (Ada works_at Lovelace Labs). Both entities must exist; "
            "a relation with a missing end is reported and the others are made. contiene and parte_de make their "
            "inverse too."
        ),
        drop_in=True,
        toolset="graph",
        hints=_WRITES,
    ),
    operation(
        _add_observations,
        input=AddObservationsInput,
        result=AddObservationsResult,
        name="add_observations",
        title="Add Observations",
        doc=(
            "Add facts to existing entities; exact duplicates are left out. An unknown entity fails the whole call and "
            "saves nothing: create it with create_entities. supersedes replaces an outdated observation and keeps "
            "it as history (ids: open_nodes with details)."
        ),
        drop_in=True,
        toolset="graph",
        hints=_WRITES,
    ),
    operation(
        _delete_entities,
        input=DeleteEntitiesInput,
        result=DeleteEntitiesResult,
        name="delete_entities",
        title="Delete Entities",
        doc=(
            "Delete entities with all their observations and relations, for good. Unknown names are listed in errors. "
            "To drop single facts use delete_observations."
        ),
        drop_in=True,
        toolset="graph",
        hints=_DELETES,
    ),
    operation(
        _delete_observations,
        input=DeleteObservationsInput,
        result=DeleteObservationsResult,
        name="delete_observations",
        title="Delete Observations",
        doc=(
            "Delete observations by their exact text, for good; the entity stays. To correct a fact and keep the "
            "old one as history use add_observations with supersedes."
        ),
        drop_in=True,
        toolset="graph",
        hints=_DELETES,
    ),
    operation(
        _delete_relations,
        input=DeleteRelationsInput,
        result=DeleteRelationsResult,
        name="delete_relations",
        title="Delete Relations",
        doc="Delete relations by from, to and relationType, for good; contiene and parte_de go with their inverse.",
        drop_in=True,
        toolset="graph",
        hints=_DELETES,
    ),
    operation(
        _read_graph,
        input=ReadGraphInput,
        result=GraphResult,
        name="read_graph",
        title="Read Graph",
        doc=(
            "Read the whole graph: every entity and relation. It can be large: page with limit and offset, or use "
            "search_semantic or search_nodes for what is needed."
        ),
        drop_in=True,
        toolset="graph",
        hints=_READS,
    ),
    operation(
        _search_nodes,
        input=SearchNodesInput,
        result=GraphResult,
        name="search_nodes",
        title="Search Nodes",
        doc=(
            "Find entities whose name, type or observations contain a text (any case, accents count, no wildcards), "
            "with their relations. For questions or other wordings use search_semantic."
        ),
        drop_in=True,
        toolset="graph",
        hints=_READS,
    ),
    operation(
        _open_nodes,
        input=OpenNodesInput,
        result=GraphResult,
        name="open_nodes",
        title="Open Nodes",
        doc=(
            "Read entities by exact name, in the order asked for, with their relations; unknown names are left out. "
            "Follow relations by opening the other end."
        ),
        drop_in=True,
        toolset="graph",
        hints=_READS,
    ),
    operation(
        _search_semantic,
        input=SearchSemanticInput,
        result=SearchSemanticResult,
        name="search_semantic",
        title="Search by Meaning",
        doc=(
            "Find the entities that best answer a question or fit a topic, by meaning and words, across Spanish and "
            "English; ranked by relevance, use, age and company. Use it first to recall; open_nodes shows more of "
            "a hit. What it returns counts as used unless track is false."
        ),
        toolset="graph",
        hints=_READS,
    ),
    operation(
        _migrate,
        input=MigrateInput,
        result=MigrateResult,
        name="migrate",
        title="Import a Memory File",
        doc=(
            "Import a JSONL file of the official memory server by its path; merging, repeatable, the file is only "
            "read. Lines that cannot be used are listed with their numbers."
        ),
        toolset="graph",
        hints=_READS_A_FILE,
    ),
)
