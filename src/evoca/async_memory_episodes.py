"""The library's face on memories for asynchronous programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from evoca.memory_episodes import EpisodeMethods

if TYPE_CHECKING:
    from evoca.operations.episode_links import (
        ContradictionsResult,
        LinkResult,
        MemoryGraphResult,
        PathResult,
        UnlinkResult,
    )
    from evoca.operations.episode_results import (
        CompressResult,
        GetMemoryResult,
        MemoryWriteResult,
        SearchMemoriesResult,
    )
    from evoca.operations.episode_upkeep import (
        DedupResult,
        HealthResult,
        RestoreResult,
        StatsResult,
        UpkeepResult,
    )


class AsyncEpisodeMethods(ABC):
    """`EpisodeMethods`, each call in a worker thread."""

    @property
    @abstractmethod
    def _episodes(self) -> EpisodeMethods: ...

    async def save_hipocampo(
        self,
        content: str,
        *,
        memory_type: str = "event",
        code: str = "",
        categories: Sequence[str] | None = None,
        session_id: str = "",
        force: bool = False,
        auto_link: bool = False,
        nivel: str = "episodica",
        critico: bool = False,
        expires_at: str | None = None,
    ) -> MemoryWriteResult:
        """Save a memory, unless a near-identical one stands in its session scope."""
        return await to_thread.run_sync(
            partial(
                self._episodes.save_hipocampo,
                content,
                memory_type=memory_type,
                code=code,
                categories=categories,
                session_id=session_id,
                force=force,
                auto_link=auto_link,
                nivel=nivel,
                critico=critico,
                expires_at=expires_at,
            )
        )

    async def search_hipocampo(
        self,
        query: str = "",
        *,
        session_id: str | None = None,
        memory_type: str | None = None,
        code: str | None = None,
        categories: Sequence[str] | None = None,
        categories_mode: str = "any",
        nivel: str | None = None,
        critico: bool | None = None,
        since: str | None = None,
        until: str | None = None,
        include_archived: bool = False,
        limit: int = 10,
        offset: int = 0,
        budget_tokens: int | None = None,
    ) -> SearchMemoriesResult:
        """Memories that fit a query, by words and meaning; of a blank one the newest first."""
        return await to_thread.run_sync(
            partial(
                self._episodes.search_hipocampo,
                query,
                session_id=session_id,
                memory_type=memory_type,
                code=code,
                categories=categories,
                categories_mode=categories_mode,
                nivel=nivel,
                critico=critico,
                since=since,
                until=until,
                include_archived=include_archived,
                limit=limit,
                offset=offset,
                budget_tokens=budget_tokens,
            )
        )

    async def get_hipocampo(self, id: int) -> GetMemoryResult:
        """A memory with its links and its history."""
        return await to_thread.run_sync(partial(self._episodes.get_hipocampo, id))

    async def update_hipocampo(
        self,
        id: int,
        *,
        content: str | None = None,
        memory_type: str | None = None,
        code: str | None = None,
        categories: Sequence[str] | None = None,
        session_id: str | None = None,
        nivel: str | None = None,
        critico: bool | None = None,
        expires_at: str | None = None,
        force: bool = False,
    ) -> MemoryWriteResult:
        """Change fields of a memory; what it was is kept."""
        return await to_thread.run_sync(
            partial(
                self._episodes.update_hipocampo,
                id,
                content=content,
                memory_type=memory_type,
                code=code,
                categories=categories,
                session_id=session_id,
                nivel=nivel,
                critico=critico,
                expires_at=expires_at,
                force=force,
            )
        )

    async def delete_hipocampo(self, id: int, *, force: bool = False) -> MemoryWriteResult:
        """Remove a memory for good; a critical one only by `force`."""
        return await to_thread.run_sync(partial(self._episodes.delete_hipocampo, id, force=force))

    async def set_nivel_hipocampo(self, id: int, nivel: str) -> MemoryWriteResult:
        """Set a memory's level."""
        return await to_thread.run_sync(partial(self._episodes.set_nivel_hipocampo, id, nivel))

    async def compress_hipocampo(
        self,
        query: str,
        *,
        budget_tokens: int = 1000,
        session_id: str | None = None,
        memory_type: str | None = None,
        code: str | None = None,
        categories: Sequence[str] | None = None,
        categories_mode: str = "any",
        nivel: str | None = None,
        critico: bool | None = None,
        since: str | None = None,
        until: str | None = None,
        include_archived: bool = False,
    ) -> CompressResult:
        """The evidence for a query as one text of at most `budget_tokens`."""
        return await to_thread.run_sync(
            partial(
                self._episodes.compress_hipocampo,
                query,
                budget_tokens=budget_tokens,
                session_id=session_id,
                memory_type=memory_type,
                code=code,
                categories=categories,
                categories_mode=categories_mode,
                nivel=nivel,
                critico=critico,
                since=since,
                until=until,
                include_archived=include_archived,
            )
        )

    async def link_hipocampo(
        self, source_id: int, target_id: int, *, relation_type: str = "related", weight: float = 1.0
    ) -> LinkResult:
        """Join two memories by a directed link."""
        return await to_thread.run_sync(
            partial(self._episodes.link_hipocampo, source_id, target_id, relation_type=relation_type, weight=weight)
        )

    async def unlink_hipocampo(
        self,
        id: int | None = None,
        *,
        source_id: int | None = None,
        target_id: int | None = None,
        relation_type: str | None = None,
    ) -> UnlinkResult:
        """Remove a link by its id, or the links from one memory to another."""
        return await to_thread.run_sync(
            partial(
                self._episodes.unlink_hipocampo,
                id,
                source_id=source_id,
                target_id=target_id,
                relation_type=relation_type,
            )
        )

    async def graph_hipocampo(
        self, node_id: int | None = None, *, depth: int = 2, max_nodes: int = 50
    ) -> MemoryGraphResult:
        """The memories around one, or an overview of the most linked ones."""
        return await to_thread.run_sync(
            partial(self._episodes.graph_hipocampo, node_id, depth=depth, max_nodes=max_nodes)
        )

    async def path_hipocampo(self, from_id: int, to_id: int, *, max_depth: int = 5) -> PathResult:
        """A shortest path of links between two memories."""
        return await to_thread.run_sync(partial(self._episodes.path_hipocampo, from_id, to_id, max_depth=max_depth))

    async def contradicciones_hipocampo(self, memory_id: int) -> ContradictionsResult:
        """What was found to contradict a memory."""
        return await to_thread.run_sync(partial(self._episodes.contradicciones_hipocampo, memory_id))

    async def consolidate_hipocampo(self, *, min_age_days: int = 7, dry_run: bool = True) -> UpkeepResult:
        """Raise old episodic memories to `semantica`. Only tells, unless `dry_run` is False."""
        return await to_thread.run_sync(
            partial(self._episodes.consolidate_hipocampo, min_age_days=min_age_days, dry_run=dry_run)
        )

    async def review_automatica(self, *, max_age_days: int = 30, dry_run: bool = True) -> UpkeepResult:
        """Lower rules that nobody used to `semantica`. Only tells, unless `dry_run` is False."""
        return await to_thread.run_sync(
            partial(self._episodes.review_automatica, max_age_days=max_age_days, dry_run=dry_run)
        )

    async def decay_hipocampo(self, *, dry_run: bool = True, min_age_days: int = 30) -> UpkeepResult:
        """Archive old episodic memories, and expired ones. Only tells, unless `dry_run` is False."""
        return await to_thread.run_sync(
            partial(self._episodes.decay_hipocampo, dry_run=dry_run, min_age_days=min_age_days)
        )

    async def restaurar_historica(self, id: int) -> RestoreResult:
        """Bring an archived memory back under its id."""
        return await to_thread.run_sync(partial(self._episodes.restaurar_historica, id))

    async def hipocampo_dedup(self, *, dry_run: bool = True, threshold: float = 0.92) -> DedupResult:
        """Merge memories that say the same. Only tells, unless `dry_run` is False."""
        return await to_thread.run_sync(partial(self._episodes.hipocampo_dedup, dry_run=dry_run, threshold=threshold))

    async def undo_hipocampo_dedup(self, id: int | None = None, *, dry_run: bool = False) -> UpkeepResult:
        """Take merges back: of one memory, or of the last run."""
        return await to_thread.run_sync(partial(self._episodes.undo_hipocampo_dedup, id, dry_run=dry_run))

    async def hipocampo_stats(self) -> StatsResult:
        """How many memories there are, by level, tier and state."""
        return await to_thread.run_sync(self._episodes.hipocampo_stats)

    async def hipocampo_health(self) -> HealthResult:
        """Whether the store, the model and the background work are well."""
        return await to_thread.run_sync(self._episodes.hipocampo_health)
