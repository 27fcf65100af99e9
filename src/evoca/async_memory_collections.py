"""The library's face on collections for asynchronous programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from evoca.memory_collections import CollectionMethods

if TYPE_CHECKING:
    from evoca.operations.collections import (
        CollectionResult,
        DeleteCollectionResult,
        DescribeCollectionResult,
        ListCollectionsResult,
    )


class AsyncCollectionMethods(ABC):
    """`CollectionMethods`, each call in a worker thread."""

    @property
    @abstractmethod
    def _collections(self) -> CollectionMethods: ...

    async def create_collection(self, code: str, *, name: str | None = None, description: str = "") -> CollectionResult:
        """Make a collection: a memory of its own inside the store."""
        return await to_thread.run_sync(
            partial(self._collections.create_collection, code, name=name, description=description)
        )

    async def list_collections(self) -> ListCollectionsResult:
        """The collections of the store, oldest first."""
        return await to_thread.run_sync(self._collections.list_collections)

    async def describe_collection(self, code: str) -> DescribeCollectionResult:
        """What a collection is for, and how much it holds."""
        return await to_thread.run_sync(partial(self._collections.describe_collection, code))

    async def delete_collection(self, code: str, *, confirm: bool = False) -> DeleteCollectionResult:
        """Delete a collection with everything in it, for good. Only tells, unless `confirm` is True."""
        return await to_thread.run_sync(partial(self._collections.delete_collection, code, confirm=confirm))
