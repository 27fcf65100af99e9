"""The library's face. Each method is the operation of that name in the catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NotRequired, Self, TypedDict, cast

from evoca.memory_collections import CollectionMethods
from evoca.memory_episodes import EpisodeMethods
from evoca.memory_facts import FactMethods
from evoca.operations.catalogue import CATALOGUE
from evoca.operations.validation import named_collection
from evoca.runtime import Runtime
from evoca.settings import Settings, load_settings

if TYPE_CHECKING:
    from evoca.operations.editing import (
        EndRelationResult,
        MemoryStatusResult,
        MergeEntitiesResult,
        RenameEntityResult,
        UpdateObservationResult,
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
    )
    from evoca.operations.moving import ExportResult, ImportResult
    from evoca.operations.reflections import AddReflectionResult, SearchReflectionsResult
    from evoca.operations.upkeep_results import (
        AnalyzeSplitResult,
        ConsolidationResult,
        DuplicatesResult,
        ExecuteSplitResult,
        ProposeSplitResult,
        SplitCandidatesResult,
    )

_OPERATIONS = {operation.name: operation for operation in CATALOGUE}


class EntityData(TypedDict):
    """An entity to create or to merge into the one of that name."""

    name: str
    entityType: NotRequired[str]
    observations: NotRequired[Sequence[str]]
    status: NotRequired[str]


RelationData = TypedDict("RelationData", {"from": str, "to": str, "relationType": str, "context": NotRequired[str]})
"""A relation by the names of its ends."""


class ContentsData(TypedDict):
    """Texts to add to one entity."""

    entityName: str
    contents: Sequence[str]


class DeletionData(TypedDict):
    """Exact texts to delete from one entity."""

    entityName: str
    observations: Sequence[str]


class SplitData(TypedDict):
    """A part to make of an entity; its type is the original's unless given."""

    name: str
    entity_type: NotRequired[str]
    observations: Sequence[str]


def _settings(store: str | PathLike[str] | None, collection: str | None, embedder: str | None) -> Settings:
    return load_settings(store=None if store is None else fspath(store), collection=collection, embedder=embedder)


class Memory(EpisodeMethods, FactMethods, CollectionMethods):
    """A memory, opened in this process; thread-safe, and shared with every other process on the same store.

    `store`: a path, default the setting `EVOCA_STORE`, else a file in the user's data folder. `collection`,
    `embedder`: as the settings of these names. Close it, or use it as a context manager. Methods raise `EvocaError`:
    see `evoca.errors`.
    """

    def __init__(
        self,
        store: str | PathLike[str] | None = None,
        *,
        collection: str | None = None,
        embedder: str | None = None,
    ) -> None:
        self._runtime = Runtime(_settings(store, collection, embedder))
        self._collection: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish what was taken, then close. Idempotent."""
        self._runtime.close()

    def in_collection(self, code: str) -> Memory:
        """This memory in another collection of its store; it is the same one, and closed with it.

        Calls raise NotFound while there is no such collection: `create_collection` makes it. Raises InvalidInput for
        what is no code; an empty one means the collection that this memory was opened for.
        """
        other = copy(self)
        other._collection = named_collection(code, "code") if code.strip() else None
        return other

    def create_entities(self, entities: Sequence[EntityData]) -> CreateEntitiesResult:
        """Create entities, or merge observations into those that exist."""
        return cast("CreateEntitiesResult", self._call("create_entities", {"entities": entities}))

    def create_relations(self, relations: Sequence[RelationData]) -> CreateRelationsResult:
        """Create relations between entities that exist."""
        return cast("CreateRelationsResult", self._call("create_relations", {"relations": relations}))

    def add_observations(
        self,
        observations: Sequence[str] | Sequence[ContentsData],
        *,
        name: str | None = None,
        kind: str | None = None,
        supersedes: int | None = None,
    ) -> AddObservationsResult:
        """Add texts to the entity `name`, or to several entities."""
        given = {"observations": observations, "name": name, "kind": kind, "supersedes": supersedes}
        return cast("AddObservationsResult", self._call("add_observations", given))

    def delete_entities(self, entityNames: Sequence[str]) -> DeleteEntitiesResult:  # noqa: N803 - the contract's name
        """Delete entities with their observations and relations."""
        return cast("DeleteEntitiesResult", self._call("delete_entities", {"entityNames": entityNames}))

    def delete_observations(
        self,
        *,
        name: str | None = None,
        observations: Sequence[str] | None = None,
        deletions: Sequence[DeletionData] | None = None,
    ) -> DeleteObservationsResult:
        """Delete exact texts from the entity `name`, or from several entities."""
        given = {"name": name, "observations": observations, "deletions": deletions}
        return cast("DeleteObservationsResult", self._call("delete_observations", given))

    def delete_relations(self, relations: Sequence[RelationData]) -> DeleteRelationsResult:
        """Delete relations."""
        return cast("DeleteRelationsResult", self._call("delete_relations", {"relations": relations}))

    def read_graph(self, *, limit: int | None = None, offset: int | None = None) -> GraphResult:
        """Every entity and relation, or a page of them."""
        return cast("GraphResult", self._call("read_graph", {"limit": limit, "offset": offset}))

    def search_nodes(self, query: str, *, limit: int | None = None, offset: int | None = None) -> GraphResult:
        """Entities whose name, type or observations contain a text."""
        return cast("GraphResult", self._call("search_nodes", {"query": query, "limit": limit, "offset": offset}))

    def open_nodes(
        self,
        names: Sequence[str],
        *,
        details: bool = False,
        kinds: Sequence[str] | None = None,
        include_superseded: bool = False,
        include_ended: bool = False,
        limit: int | None = None,
        offset: int | None = None,
    ) -> GraphResult:
        """Entities by exact name, in the order asked for."""
        given = {
            "names": names,
            "details": details,
            "kinds": kinds,
            "include_superseded": include_superseded,
            "include_ended": include_ended,
            "limit": limit,
            "offset": offset,
        }
        return cast("GraphResult", self._call("open_nodes", given))

    def search_semantic(
        self,
        query: str,
        *,
        limit: int = 10,
        track: bool | None = None,
        explain: bool = False,
        entity_types: Sequence[str] | None = None,
        statuses: Sequence[str] | None = None,
    ) -> SearchSemanticResult:
        """Entities that best answer a question or fit a topic."""
        given = {
            "query": query,
            "limit": limit,
            "track": track,
            "explain": explain,
            "entity_types": entity_types,
            "statuses": statuses,
        }
        return cast("SearchSemanticResult", self._call("search_semantic", given))

    def migrate(self, source_path: str | PathLike[str], *, dry_run: bool = False) -> MigrateResult:
        """Import a JSONL file of the official memory server."""
        return cast("MigrateResult", self._call("migrate", {"source_path": fspath(source_path), "dry_run": dry_run}))

    def analyze_entity_split(self, entity_name: str) -> AnalyzeSplitResult:
        """Whether an entity holds too much, and its topics."""
        return cast("AnalyzeSplitResult", self._call("analyze_entity_split", {"entity_name": entity_name}))

    def propose_entity_split(self, entity_name: str) -> ProposeSplitResult:
        """The parts that an entity could be split into."""
        return cast("ProposeSplitResult", self._call("propose_entity_split", {"entity_name": entity_name}))

    def execute_entity_split(
        self, entity_name: str, approved_splits: Sequence[SplitData], *, parent_entity_name: str | None = None
    ) -> ExecuteSplitResult:
        """Move observations of an entity to new ones that are parts of it, or of another parent."""
        given = {
            "entity_name": entity_name,
            "approved_splits": approved_splits,
            "parent_entity_name": parent_entity_name,
        }
        return cast("ExecuteSplitResult", self._call("execute_entity_split", given))

    def find_split_candidates(self) -> SplitCandidatesResult:
        """Every entity that holds too much, with its topics."""
        return cast("SplitCandidatesResult", self._call("find_split_candidates", {}))

    def find_duplicate_observations(
        self, entity_name: str, *, threshold: float = 0.85, containment_threshold: float = 0.7
    ) -> DuplicatesResult:
        """Observations of one entity that say the same, and what they differ in."""
        given = {
            "entity_name": entity_name,
            "threshold": threshold,
            "containment_threshold": containment_threshold,
        }
        return cast("DuplicatesResult", self._call("find_duplicate_observations", given))

    def consolidation_report(self, *, stale_days: float = 90.0, limit: int | None = None) -> ConsolidationResult:
        """What needs care: entities to split, similar observations, unused and large entities."""
        return cast(
            "ConsolidationResult", self._call("consolidation_report", {"stale_days": stale_days, "limit": limit})
        )

    def end_relation(
        self,
        relation_id: int | None = None,
        *,
        from_: str | None = None,
        to: str | None = None,
        relationType: str | None = None,  # noqa: N803 - the contract's name
    ) -> EndRelationResult:
        """End a relation, by its id or by names, and keep it as history."""
        given = {"relation_id": relation_id, "from": from_, "to": to, "relationType": relationType}
        return cast("EndRelationResult", self._call("end_relation", given))

    def add_reflection(
        self,
        target_type: str,
        content: str,
        *,
        author: str | None = None,
        mood: str | None = None,
        target_id: int | None = None,
        target_name: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        relationType: str | None = None,  # noqa: N803 - the contract's name
    ) -> AddReflectionResult:
        """Write down what an entity, a relation, a session or everything means."""
        given = {
            "target_type": target_type,
            "content": content,
            "author": author,
            "mood": mood,
            "target_id": target_id,
            "target_name": target_name,
            "from": from_,
            "to": to,
            "relationType": relationType,
        }
        return cast("AddReflectionResult", self._call("add_reflection", given))

    def search_reflections(
        self,
        query: str,
        *,
        author: str | None = None,
        mood: str | None = None,
        target_type: str | None = None,
        limit: int = 10,
    ) -> SearchReflectionsResult:
        """Reflections that fit a query, by meaning, words and age."""
        given = {"query": query, "author": author, "mood": mood, "target_type": target_type, "limit": limit}
        return cast("SearchReflectionsResult", self._call("search_reflections", given))

    def rename_entity(self, name: str, new_name: str, *, dry_run: bool = True) -> RenameEntityResult:
        """Give an entity another name; the old one goes on leading to it. Only tells, unless `dry_run` is False."""
        given = {"name": name, "new_name": new_name, "dry_run": dry_run}
        return cast("RenameEntityResult", self._call("rename_entity", given))

    def merge_entities(self, sources: Sequence[str], target: str, *, dry_run: bool = True) -> MergeEntitiesResult:
        """Make one entity of several. Only tells, unless `dry_run` is False."""
        given = {"sources": sources, "target": target, "dry_run": dry_run}
        return cast("MergeEntitiesResult", self._call("merge_entities", given))

    def update_observation(
        self, observation_id: int, *, content: str | None = None, kind: str | None = None
    ) -> UpdateObservationResult:
        """Change an observation's text or kind; it keeps its id."""
        given = {"observation_id": observation_id, "content": content, "kind": kind}
        return cast("UpdateObservationResult", self._call("update_observation", given))

    def memory_status(self) -> MemoryStatusResult:
        """Where the memory is, what it holds, and how many texts wait for their vector."""
        return cast("MemoryStatusResult", self._call("memory_status", {}))

    def export_to(self, path: str | PathLike[str], *, overwrite: bool = False) -> ExportResult:
        """Write the whole collection to a file; see docs/moving.md."""
        from evoca.operations.moving import export_result

        services = self._runtime.services().within(self._collection)
        return export_result(services.exporting.export_to(services.collection, Path(path), overwrite))

    def import_from(self, path: str | PathLike[str], *, dry_run: bool = False) -> ImportResult:
        """Import an export, all of it or nothing, or a JSONL file of the official memory server."""
        from evoca.operations.moving import import_result

        services = self._runtime.services().within(self._collection)
        result = import_result(services.importing.import_from(services.collection, Path(path), dry_run))
        services.indexing.wake()
        return result

    def _call(self, name: str, given: Mapping[str, object]) -> Mapping[str, object]:
        operation = _OPERATIONS[name]
        if self._collection is not None and operation.in_collection:
            given = {**given, "collection": self._collection}
        return self._runtime.call(operation, _json_values(given))


def _json_values(value: Mapping[str, object]) -> dict[str, object]:
    """Sequences of any kind as lists, which is what the one validator takes."""
    return {key: _json_value(item) for key, item in value.items()}


def _json_value(value: object) -> object:
    if isinstance(value, Mapping):
        return _json_values(cast("Mapping[str, object]", value))
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_json_value(item) for item in cast("Sequence[object]", value)]
    return value
