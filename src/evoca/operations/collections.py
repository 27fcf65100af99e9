"""Collections as tools: separate memories in one store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

from pydantic import Field

from evoca.domain.clock import to_iso
from evoca.errors import InvalidInput
from evoca.operations.base import AtMost, Hints, Input, NotBlank, Operation, Text, operation
from evoca.operations.validation import named_collection

if TYPE_CHECKING:
    from evoca.domain.graph import Collection
    from evoca.services import Services
    from evoca.storage.tenancy_contract import CollectionCounts

Code = Annotated[str, AtMost("name")]


class CreateCollectionInput(Input):
    code: Code = Field(description="Lower-case letters, digits, hyphens.")
    name: Annotated[str, NotBlank(), AtMost("name")] | None = None
    description: Text = ""


class ListCollectionsInput(Input):
    pass


class DescribeCollectionInput(Input):
    code: Code


class DeleteCollectionInput(Input):
    code: Code
    confirm: bool = False


class CollectionJson(TypedDict):
    """A collection. `created_at`: ISO 8601, UTC."""

    code: str
    name: str
    description: str
    created_at: str


class CollectionResult(TypedDict):
    """Reply of `create_collection`."""

    collection: CollectionJson


class ListCollectionsResult(TypedDict):
    """Reply of `list_collections`, oldest first."""

    collections: list[CollectionJson]
    count: int


class CollectionCountsJson(TypedDict):
    """What a collection holds, history too. `facts`: statements with a literal value, `relations`: the others."""

    entities: int
    observations: int
    relations: int
    facts: int
    episodes: int
    reflections: int


class DescribeCollectionResult(CollectionCountsJson):
    """Reply of `describe_collection`."""

    collection: CollectionJson


class DeleteCollectionResult(CollectionCountsJson):
    """Reply of `delete_collection`. `status`: `unconfirmed`, nothing was done, or `deleted`."""

    status: str
    code: str
    message: NotRequired[str]


def _create_collection(services: Services, given: CreateCollectionInput) -> CollectionResult:
    code = named_collection(given.code, "code")
    made = services.collections.create(services.caller, code, given.name or "", given.description)
    return {"collection": _collection_json(made)}


def _list_collections(services: Services, _given: ListCollectionsInput) -> ListCollectionsResult:
    found = [_collection_json(each) for each in services.collections.all(services.caller)]
    return {"collections": found, "count": len(found)}


def _describe_collection(services: Services, given: DescribeCollectionInput) -> DescribeCollectionResult:
    described = services.collections.describe(services.caller, named_collection(given.code, "code"))
    return {"collection": _collection_json(described.collection), **_counts_json(described.counts)}


def _delete_collection(services: Services, given: DeleteCollectionInput) -> DeleteCollectionResult:
    if not given.code.strip():
        raise InvalidInput("code: name the collection to delete", "list_collections shows them.", field="code")
    done = services.collections.delete(services.caller, named_collection(given.code, "code"), given.confirm)
    if not done.confirmed:
        return {
            "status": "unconfirmed",
            "code": done.collection.code,
            "message": "Nothing was deleted. This is what would go for good: call again with confirm=true.",
            **_counts_json(done.counts),
        }
    return {"status": "deleted", "code": done.collection.code, **_counts_json(done.counts)}


def _collection_json(collection: Collection) -> CollectionJson:
    return {
        "code": collection.code,
        "name": collection.name,
        "description": collection.description,
        "created_at": to_iso(collection.created_at),
    }


def _counts_json(counts: CollectionCounts) -> CollectionCountsJson:
    return {
        "entities": counts.entities,
        "observations": counts.observations,
        "relations": counts.relations,
        "facts": counts.facts,
        "episodes": counts.episodes,
        "reflections": counts.reflections,
    }


_READS = Hints(read_only=True, destructive=False, idempotent=True)

COLLECTION_OPERATIONS: tuple[Operation, ...] = (
    operation(
        _create_collection,
        input=CreateCollectionInput,
        result=CollectionResult,
        name="create_collection",
        title="Create Collection",
        doc=(
            "Make a collection: a memory of its own inside the store. Other tools work in it when they name its code "
            "in `collection`; nothing crosses from one to another."
        ),
        toolset="facts",
        in_collection=False,
        hints=Hints(read_only=False, destructive=False, idempotent=False, admin=True),
    ),
    operation(
        _list_collections,
        input=ListCollectionsInput,
        result=ListCollectionsResult,
        name="list_collections",
        title="List Collections",
        doc="List the collections that can be used here. describe_collection tells what one holds.",
        toolset="facts",
        in_collection=False,
        rest_method="GET",
        hints=_READS,
    ),
    operation(
        _describe_collection,
        input=DescribeCollectionInput,
        result=DescribeCollectionResult,
        name="describe_collection",
        title="Describe Collection",
        doc="Tell what a collection is for and how much it holds, history too.",
        toolset="facts",
        in_collection=False,
        hints=_READS,
    ),
    operation(
        _delete_collection,
        input=DeleteCollectionInput,
        result=DeleteCollectionResult,
        name="delete_collection",
        title="Delete Collection",
        doc=(
            "Delete a collection with everything in it, for good. Without confirm it only counts what would go: show "
            "that to a person first. The default collection cannot be deleted."
        ),
        toolset="facts",
        in_collection=False,
        hints=Hints(read_only=False, destructive=True, idempotent=False, admin=True),
    ),
)
