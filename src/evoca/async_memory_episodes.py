"""The library's face on memories for asynchronous programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from evoca.memory_episodes import EpisodeMethods

if TYPE_CHECKING:
    from evoca.operations.episode_results import (
        CompressResult,
        GetMemoryResult,
        MemoryWriteResult,
        SearchMemoriesResult,
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
