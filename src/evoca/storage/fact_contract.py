"""What an engine offers for facts: edges whose object is an entity or a literal, and their periods of validity.

Relations are edges too; what stands here sees both. Times of validity: an edge is *current* at `t` when
`valid_from <= t < ended_at`, where a missing `valid_from` is the time it was recorded and a missing `ended_at` never
comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from evoca.domain.clock import Instant
    from evoca.domain.facts import FactObject
    from evoca.domain.graph import Edge, NewEdge

SortKey = Literal["created_at", "predicate", "subject", "object", "confidence", "id"]


class EdgeRow(NamedTuple):
    """An edge as the in-process table of edges keeps it. `object_id`: 0 for a literal; `ended_at`: None while open.

    `valid_from`: as told, else when it was recorded.
    """

    id: int
    collection_id: int
    subject_id: int
    predicate: str
    object_id: int
    valid_from: Instant
    ended_at: Instant | None


@dataclass(frozen=True, slots=True)
class EdgeChanges:
    """What changed between two values of the change counter: rows to put, ids to drop.

    `complete`: `rows` are all edges of the store, and what else is known must go.
    """

    counter: int
    rows: Sequence[EdgeRow]
    removed: Sequence[int]
    complete: bool = False


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts of a collection are meant; None: any.

    `at`: current at this instant; None with `include_ended` false is no filter either. `touching`: with one of these
    entities as subject or object. `also_touching`: and with one of these. `entity_type`: subject or object has it
    (casefolded). `among`: one of these.
    """

    collection: int
    predicates: Sequence[str] | None = None
    at: Instant | None = None
    touching: Sequence[int] | None = None
    also_touching: Sequence[int] | None = None
    entity_type: str | None = None
    among: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class After:
    """The place of a fact in a sorted list: go on behind it. `key`: its sort value, None sorts last."""

    key: str | float | int | None
    id: int


@dataclass(frozen=True, slots=True)
class Sorting:
    """`by` and direction; ties by id in the same direction, nulls last in both (seeds-spec 3.d, 13)."""

    by: SortKey = "id"
    descending: bool = False


class Facts(Protocol):
    """Edges of both kinds. Whatever changes an edge here, or in `Edges`, changes its documents and the change feed."""

    def by_ids(self, ids: Iterable[int]) -> dict[int, Edge]:
        """Edges of both kinds, ended ones too; unknown ids are absent."""
        ...

    def periods(self, collection: int, subject: int, predicate: str) -> list[Edge]:
        """All edges from this subject by this predicate in any case, ended ones too, by (valid from, id)."""
        ...

    def of_triple(self, collection: int, subject: int, predicate: str, target: FactObject) -> list[Edge]:
        """All periods of this triple, by (valid from, id)."""
        ...

    def insert(self, collection: int, rows: Sequence[NewEdge], at: Instant) -> list[int]:
        """New ids in order. Indexes each (a document of kind FACT). Rows may have an end (`NewEdge.ended_at`)."""
        ...

    def revise(self, edge: Edge) -> None:
        """Write an edge's subject, predicate, object, context, source, confidence and times as given; indexes follow.

        The names and `active` are not written: they follow from the ids and the times.
        """
        ...

    def delete(self, ids: Sequence[int]) -> None: ...
    def matching(self, wanted: FactFilter) -> set[int]:
        """Ids of the facts that are meant."""
        ...

    def count(self, wanted: FactFilter) -> int: ...
    def page(
        self, wanted: FactFilter, sorting: Sorting, limit: int, offset: int = 0, after: After | None = None
    ) -> list[Edge]:
        """A sorted page, cut by the database; behind `after` if given, else from `offset` on.

        `object` sorts by the entity's name or the literal's text.
        """
        ...

    def predicates(self, collection: int) -> list[tuple[str, int]]:
        """Each predicate in use and how many edges, ended ones too, have it; by predicate."""
        ...

    def spelled(self, collection: int, predicates: Sequence[str]) -> list[str]:
        """The predicates in use that are equal to one of these but for case."""
        ...

    def changes(self, since: int) -> EdgeChanges:
        """Edges changed after this value of the documents' change counter (0: all), by id."""
        ...

    def waiting(self) -> int:
        """How many edges of older stores have no documents yet."""
        ...

    def index_waiting(self, limit: int) -> int:
        """Index up to so many of these; returns how many there were."""
        ...
