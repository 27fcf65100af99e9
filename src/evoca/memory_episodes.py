"""The library's face on memories: the methods that `Memory` has for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

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


class EpisodeMethods(ABC):
    """Each method is the operation of that name in the catalogue."""

    @abstractmethod
    def _call(self, name: str, given: Mapping[str, object]) -> Mapping[str, object]: ...

    def save_hipocampo(
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
        given: dict[str, object] = {
            "content": content,
            "memory_type": memory_type,
            "code": code,
            "categories": categories,
            "session_id": session_id,
            "force": force,
            "auto_link": auto_link,
            "nivel": nivel,
            "critico": critico,
            "expires_at": expires_at,
        }
        return cast("MemoryWriteResult", self._call("save_hipocampo", given))

    def search_hipocampo(
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
        given: dict[str, object] = {
            "query": query,
            "session_id": session_id,
            "memory_type": memory_type,
            "code": code,
            "categories": categories,
            "categories_mode": categories_mode,
            "nivel": nivel,
            "critico": critico,
            "since": since,
            "until": until,
            "include_archived": include_archived,
            "limit": limit,
            "offset": offset,
            "budget_tokens": budget_tokens,
        }
        return cast("SearchMemoriesResult", self._call("search_hipocampo", given))

    def get_hipocampo(self, id: int) -> GetMemoryResult:
        """A memory with its links and its history."""
        given: dict[str, object] = {"id": id}
        return cast("GetMemoryResult", self._call("get_hipocampo", given))

    def update_hipocampo(
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
        given: dict[str, object] = {
            "id": id,
            "content": content,
            "memory_type": memory_type,
            "code": code,
            "categories": categories,
            "session_id": session_id,
            "nivel": nivel,
            "critico": critico,
            "expires_at": expires_at,
            "force": force,
        }
        return cast("MemoryWriteResult", self._call("update_hipocampo", given))

    def delete_hipocampo(self, id: int, *, force: bool = False) -> MemoryWriteResult:
        """Remove a memory for good; a critical one only by `force`."""
        given: dict[str, object] = {"id": id, "force": force}
        return cast("MemoryWriteResult", self._call("delete_hipocampo", given))

    def set_nivel_hipocampo(self, id: int, nivel: str) -> MemoryWriteResult:
        """Set a memory's level."""
        given: dict[str, object] = {"id": id, "nivel": nivel}
        return cast("MemoryWriteResult", self._call("set_nivel_hipocampo", given))

    def compress_hipocampo(
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
        given: dict[str, object] = {
            "query": query,
            "budget_tokens": budget_tokens,
            "session_id": session_id,
            "memory_type": memory_type,
            "code": code,
            "categories": categories,
            "categories_mode": categories_mode,
            "nivel": nivel,
            "critico": critico,
            "since": since,
            "until": until,
            "include_archived": include_archived,
        }
        return cast("CompressResult", self._call("compress_hipocampo", given))

    def link_hipocampo(
        self, source_id: int, target_id: int, *, relation_type: str = "related", weight: float = 1.0
    ) -> LinkResult:
        """Join two memories by a directed link."""
        given: dict[str, object] = {
            "source_id": source_id,
            "target_id": target_id,
            "relation_type": relation_type,
            "weight": weight,
        }
        return cast("LinkResult", self._call("link_hipocampo", given))

    def unlink_hipocampo(
        self,
        id: int | None = None,
        *,
        source_id: int | None = None,
        target_id: int | None = None,
        relation_type: str | None = None,
    ) -> UnlinkResult:
        """Remove a link by its id, or the links from one memory to another."""
        given: dict[str, object] = {
            "id": id,
            "source_id": source_id,
            "target_id": target_id,
            "relation_type": relation_type,
        }
        return cast("UnlinkResult", self._call("unlink_hipocampo", given))

    def graph_hipocampo(self, node_id: int | None = None, *, depth: int = 2, max_nodes: int = 50) -> MemoryGraphResult:
        """The memories around one, or an overview of the most linked ones."""
        given: dict[str, object] = {"node_id": node_id, "depth": depth, "max_nodes": max_nodes}
        return cast("MemoryGraphResult", self._call("graph_hipocampo", given))

    def path_hipocampo(self, from_id: int, to_id: int, *, max_depth: int = 5) -> PathResult:
        """A shortest path of links between two memories."""
        given: dict[str, object] = {"from_id": from_id, "to_id": to_id, "max_depth": max_depth}
        return cast("PathResult", self._call("path_hipocampo", given))

    def contradicciones_hipocampo(self, memory_id: int) -> ContradictionsResult:
        """What was found to contradict a memory."""
        given: dict[str, object] = {"memory_id": memory_id}
        return cast("ContradictionsResult", self._call("contradicciones_hipocampo", given))

    def consolidate_hipocampo(self, *, min_age_days: int = 7, dry_run: bool = True) -> UpkeepResult:
        """Raise old episodic memories to `semantica`. Only tells, unless `dry_run` is False."""
        given: dict[str, object] = {"min_age_days": min_age_days, "dry_run": dry_run}
        return cast("UpkeepResult", self._call("consolidate_hipocampo", given))

    def review_automatica(self, *, max_age_days: int = 30, dry_run: bool = True) -> UpkeepResult:
        """Lower rules that nobody used to `semantica`. Only tells, unless `dry_run` is False."""
        given: dict[str, object] = {"max_age_days": max_age_days, "dry_run": dry_run}
        return cast("UpkeepResult", self._call("review_automatica", given))

    def decay_hipocampo(self, *, dry_run: bool = True, min_age_days: int = 30) -> UpkeepResult:
        """Archive old episodic memories, and expired ones. Only tells, unless `dry_run` is False."""
        given: dict[str, object] = {"dry_run": dry_run, "min_age_days": min_age_days}
        return cast("UpkeepResult", self._call("decay_hipocampo", given))

    def restaurar_historica(self, id: int) -> RestoreResult:
        """Bring an archived memory back under its id."""
        given: dict[str, object] = {"id": id}
        return cast("RestoreResult", self._call("restaurar_historica", given))

    def hipocampo_dedup(self, *, dry_run: bool = True, threshold: float = 0.92) -> DedupResult:
        """Merge memories that say the same. Only tells, unless `dry_run` is False."""
        given: dict[str, object] = {"dry_run": dry_run, "threshold": threshold}
        return cast("DedupResult", self._call("hipocampo_dedup", given))

    def undo_hipocampo_dedup(self, id: int | None = None, *, dry_run: bool = False) -> UpkeepResult:
        """Take merges back: of one memory, or of the last run."""
        given: dict[str, object] = {"id": id, "dry_run": dry_run}
        return cast("UpkeepResult", self._call("undo_hipocampo_dedup", given))

    def hipocampo_stats(self) -> StatsResult:
        """How many memories there are, by level, tier and state."""
        return cast("StatsResult", self._call("hipocampo_stats", {}))

    def hipocampo_health(self) -> HealthResult:
        """Whether the store, the model and the background work are well."""
        return cast("HealthResult", self._call("hipocampo_health", {}))
