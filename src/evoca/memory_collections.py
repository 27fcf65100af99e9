"""The library's face on collections: the methods that `Memory` has for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from evoca.operations.collections import (
        CollectionResult,
        DeleteCollectionResult,
        DescribeCollectionResult,
        ListCollectionsResult,
    )


class CollectionMethods(ABC):
    """Each method is the operation of that name in the catalogue."""

    @abstractmethod
    def _call(self, name: str, given: Mapping[str, object]) -> Mapping[str, object]: ...

    def create_collection(self, code: str, *, name: str | None = None, description: str = "") -> CollectionResult:
        """Make a collection: a memory of its own inside the store."""
        given = {"code": code, "name": name, "description": description}
        return cast("CollectionResult", self._call("create_collection", given))

    def list_collections(self) -> ListCollectionsResult:
        """The collections of the store, oldest first."""
        return cast("ListCollectionsResult", self._call("list_collections", {}))

    def describe_collection(self, code: str) -> DescribeCollectionResult:
        """What a collection is for, and how much it holds."""
        return cast("DescribeCollectionResult", self._call("describe_collection", {"code": code}))

    def delete_collection(self, code: str, *, confirm: bool = False) -> DeleteCollectionResult:
        """Delete a collection with everything in it, for good. Only tells, unless `confirm` is True."""
        return cast("DeleteCollectionResult", self._call("delete_collection", {"code": code, "confirm": confirm}))
