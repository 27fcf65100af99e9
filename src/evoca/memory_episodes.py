"""The library's face on memories: the methods that `Memory` has for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from evoca.operations.episode_results import (
        CompressResult,
        GetMemoryResult,
        MemoryWriteResult,
        SearchMemoriesResult,
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
