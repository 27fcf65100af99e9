"""The library's face for asynchronous programs."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Self

from anyio import to_thread

from evoca.async_memory_collections import AsyncCollectionMethods
from evoca.async_memory_episodes import AsyncEpisodeMethods
from evoca.async_memory_facts import AsyncFactMethods
from evoca.memory import ContentsData, DeletionData, EntityData, Memory, RelationData, SplitData
from evoca.memory_collections import CollectionMethods
from evoca.memory_episodes import EpisodeMethods
from evoca.memory_facts import FactMethods

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


class AsyncMemory(AsyncEpisodeMethods, AsyncFactMethods, AsyncCollectionMethods):
    """`Memory` for asynchronous programs (asyncio or trio): each call runs in a worker thread."""

    def __init__(
        self,
        store: str | PathLike[str] | None = None,
        *,
        collection: str | None = None,
        embedder: str | None = None,
    ) -> None:
        self._memory = Memory(store, collection=collection, embedder=embedder)

    @property
    def _collections(self) -> CollectionMethods:
        return self._memory

    @property
    def _episodes(self) -> EpisodeMethods:
        return self._memory

    @property
    def _facts(self) -> FactMethods:
        return self._memory

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Finish what was taken, then close. Idempotent."""
        await to_thread.run_sync(self._memory.close)

    def in_collection(self, code: str) -> AsyncMemory:
        """This memory in another collection of its store: see `Memory.in_collection`."""
        other = copy(self)
        other._memory = self._memory.in_collection(code)
        return other

    async def create_entities(self, entities: Sequence[EntityData]) -> CreateEntitiesResult:
        """Create entities, or merge observations into those that exist."""
        return await to_thread.run_sync(partial(self._memory.create_entities, entities))

    async def create_relations(self, relations: Sequence[RelationData]) -> CreateRelationsResult:
        """Create relations between entities that exist."""
        return await to_thread.run_sync(partial(self._memory.create_relations, relations))

    async def add_observations(
        self,
        observations: Sequence[str] | Sequence[ContentsData],
        *,
        name: str | None = None,
        kind: str | None = None,
        supersedes: int | None = None,
    ) -> AddObservationsResult:
        """Add texts to the entity `name`, or to several entities."""
        return await to_thread.run_sync(
            partial(self._memory.add_observations, observations, name=name, kind=kind, supersedes=supersedes)
        )

    async def delete_entities(self, entityNames: Sequence[str]) -> DeleteEntitiesResult:  # noqa: N803 - the contract's name
        """Delete entities with their observations and relations."""
        return await to_thread.run_sync(partial(self._memory.delete_entities, entityNames))

    async def delete_observations(
        self,
        *,
        name: str | None = None,
        observations: Sequence[str] | None = None,
        deletions: Sequence[DeletionData] | None = None,
    ) -> DeleteObservationsResult:
        """Delete exact texts from the entity `name`, or from several entities."""
        return await to_thread.run_sync(
            partial(self._memory.delete_observations, name=name, observations=observations, deletions=deletions)
        )

    async def delete_relations(self, relations: Sequence[RelationData]) -> DeleteRelationsResult:
        """Delete relations."""
        return await to_thread.run_sync(partial(self._memory.delete_relations, relations))

    async def read_graph(self, *, limit: int | None = None, offset: int | None = None) -> GraphResult:
        """Every entity and relation, or a page of them."""
        return await to_thread.run_sync(partial(self._memory.read_graph, limit=limit, offset=offset))

    async def search_nodes(self, query: str, *, limit: int | None = None, offset: int | None = None) -> GraphResult:
        """Entities whose name, type or observations contain a text."""
        return await to_thread.run_sync(partial(self._memory.search_nodes, query, limit=limit, offset=offset))

    async def open_nodes(
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
        return await to_thread.run_sync(
            partial(
                self._memory.open_nodes,
                names,
                details=details,
                kinds=kinds,
                include_superseded=include_superseded,
                include_ended=include_ended,
                limit=limit,
                offset=offset,
            )
        )

    async def search_semantic(
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
        return await to_thread.run_sync(
            partial(
                self._memory.search_semantic,
                query,
                limit=limit,
                track=track,
                explain=explain,
                entity_types=entity_types,
                statuses=statuses,
            )
        )

    async def migrate(self, source_path: str | PathLike[str], *, dry_run: bool = False) -> MigrateResult:
        """Import a JSONL file of the official memory server."""
        return await to_thread.run_sync(partial(self._memory.migrate, source_path, dry_run=dry_run))

    async def analyze_entity_split(self, entity_name: str) -> AnalyzeSplitResult:
        """Whether an entity holds too much, and its topics."""
        return await to_thread.run_sync(partial(self._memory.analyze_entity_split, entity_name))

    async def propose_entity_split(self, entity_name: str) -> ProposeSplitResult:
        """The parts that an entity could be split into."""
        return await to_thread.run_sync(partial(self._memory.propose_entity_split, entity_name))

    async def execute_entity_split(
        self, entity_name: str, approved_splits: Sequence[SplitData], *, parent_entity_name: str | None = None
    ) -> ExecuteSplitResult:
        """Move observations of an entity to new ones that are parts of it, or of another parent."""
        return await to_thread.run_sync(
            partial(
                self._memory.execute_entity_split, entity_name, approved_splits, parent_entity_name=parent_entity_name
            )
        )

    async def find_split_candidates(self) -> SplitCandidatesResult:
        """Every entity that holds too much, with its topics."""
        return await to_thread.run_sync(self._memory.find_split_candidates)

    async def find_duplicate_observations(
        self, entity_name: str, *, threshold: float = 0.85, containment_threshold: float = 0.7
    ) -> DuplicatesResult:
        """Observations of one entity that say the same, and what they differ in."""
        return await to_thread.run_sync(
            partial(
                self._memory.find_duplicate_observations,
                entity_name,
                threshold=threshold,
                containment_threshold=containment_threshold,
            )
        )

    async def consolidation_report(self, *, stale_days: float = 90.0, limit: int | None = None) -> ConsolidationResult:
        """What needs care: entities to split, similar observations, unused and large entities."""
        return await to_thread.run_sync(partial(self._memory.consolidation_report, stale_days=stale_days, limit=limit))

    async def end_relation(
        self,
        relation_id: int | None = None,
        *,
        from_: str | None = None,
        to: str | None = None,
        relationType: str | None = None,  # noqa: N803 - the contract's name
    ) -> EndRelationResult:
        """End a relation, by its id or by names, and keep it as history."""
        return await to_thread.run_sync(
            partial(self._memory.end_relation, relation_id, from_=from_, to=to, relationType=relationType)
        )

    async def add_reflection(
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
        return await to_thread.run_sync(
            partial(
                self._memory.add_reflection,
                target_type,
                content,
                author=author,
                mood=mood,
                target_id=target_id,
                target_name=target_name,
                from_=from_,
                to=to,
                relationType=relationType,
            )
        )

    async def search_reflections(
        self,
        query: str,
        *,
        author: str | None = None,
        mood: str | None = None,
        target_type: str | None = None,
        limit: int = 10,
    ) -> SearchReflectionsResult:
        """Reflections that fit a query, by meaning, words and age."""
        return await to_thread.run_sync(
            partial(
                self._memory.search_reflections, query, author=author, mood=mood, target_type=target_type, limit=limit
            )
        )

    async def rename_entity(self, name: str, new_name: str, *, dry_run: bool = True) -> RenameEntityResult:
        """Give an entity another name; the old one goes on leading to it. Only tells, unless `dry_run` is False."""
        return await to_thread.run_sync(partial(self._memory.rename_entity, name, new_name, dry_run=dry_run))

    async def merge_entities(self, sources: Sequence[str], target: str, *, dry_run: bool = True) -> MergeEntitiesResult:
        """Make one entity of several. Only tells, unless `dry_run` is False."""
        return await to_thread.run_sync(partial(self._memory.merge_entities, sources, target, dry_run=dry_run))

    async def update_observation(
        self, observation_id: int, *, content: str | None = None, kind: str | None = None
    ) -> UpdateObservationResult:
        """Change an observation's text or kind; it keeps its id."""
        return await to_thread.run_sync(
            partial(self._memory.update_observation, observation_id, content=content, kind=kind)
        )

    async def memory_status(self) -> MemoryStatusResult:
        """Where the memory is, what it holds, and how many texts wait for their vector."""
        return await to_thread.run_sync(self._memory.memory_status)

    async def export_to(self, path: str | PathLike[str], *, overwrite: bool = False) -> ExportResult:
        """Write the whole collection to a file; see docs/moving.md."""
        return await to_thread.run_sync(partial(self._memory.export_to, path, overwrite=overwrite))

    async def import_from(self, path: str | PathLike[str], *, dry_run: bool = False) -> ImportResult:
        """Import an export, all of it or nothing, or a JSONL file of the official memory server."""
        return await to_thread.run_sync(partial(self._memory.import_from, path, dry_run=dry_run))
