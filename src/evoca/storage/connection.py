"""What the repositories need of an engine: statements, and two indexes. The SQL above it is written once.

Statements use named parameters (`:name`); those that run for many rows use `?`. A list of integers or texts is one
parameter, marked by its kind: `id IN INTS(:ids)`, `name IN TEXTS(:names)`, `FROM INTS(:ids) e` (one column, `value`).
Each engine puts its own form in the place of the marks, once per statement. Otherwise only SQL that both speak is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Value = int | float | str | bytes | Sequence[int] | Sequence[str] | None
Span = tuple[int, int]
"""Ids from the first to the last, both included."""
Row = TypeVar("Row", bound=tuple[object, ...])


class Connection(Protocol):
    """One connection inside one transaction. Raises errors of `evoca.errors` only."""

    def select(self, sql: str, values: Mapping[str, Value], shape: type[Row]) -> list[Row]:
        """All rows, fetched. `shape` says what a row is, `tuple[int, str]`; it is not checked."""
        ...

    def run(self, sql: str, values: Mapping[str, Value]) -> None: ...
    def run_many(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run one statement with positional parameters for each row."""
        ...


@dataclass(frozen=True, slots=True)
class Terms:
    """What the text index keeps of a document."""

    collection: int
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubstringHits:
    """Candidates, to be verified: entities as (id, name, type), observations as (entity id, content)."""

    entities: Sequence[tuple[int, str, str]]
    observations: Sequence[tuple[int, str]]


class Indexes(Protocol):
    """The engine's full text and substring indexes."""

    def write_terms(self, removed: Iterable[int], added: Iterable[tuple[int, Terms]]) -> None:
        """Take documents out, then put documents in; a document in both is replaced."""
        ...

    def write_substrings(self, changed: Iterable[int], new: Sequence[Span]) -> None:
        """Bring the substring index in step with entities and observations that were changed or removed.

        Those with ids in the spans of `new` are new. They, and others that are in this transaction only, may stay out
        of the index for a while: the engine knows how far it goes and looks through the rest.
        """
        ...

    def postings(
        self, collection: int, terms: Sequence[Sequence[str]], span: tuple[int, int] | None
    ) -> list[NDArray[np.int64]]:
        """See `DocumentRepository.postings` in the contract."""
        ...

    def substring_hits(self, collection: int, folded: str) -> SubstringHits:
        """What may hold `folded` (not empty), at least all that does."""
        ...


class IdSource(Protocol):
    """Where the ids of one transaction come from."""

    def take(self, count: int) -> int:
        """The first of `count` ids in a row that nobody else has or will have."""
        ...

    def taken(self) -> list[Span]:
        """What this transaction has taken so far, rolled back units too."""
        ...

    def save(self) -> None:
        """Write down what was taken, before the commit."""
        ...

    def clear(self) -> None:
        """The transaction is over."""
        ...
