"""What an engine offers for moving a collection as a whole: everything that was told, and how it was used.

Rows keep their times, states and history; ids are the store's own. Documents, terms and vectors are not moved: they are
made anew from the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

Cell = int | float | str | bytes | None
Cells = tuple[Cell, ...]
"""A row of a table: its columns in the order of `Table.columns`."""

if TYPE_CHECKING:
    from evoca.domain.clock import Instant
    from evoca.domain.episodes import Episode, EpisodeLink, EpisodeVersion, Merge
    from evoca.domain.graph import CoOccurrence, Edge, Entity, Observation
    from evoca.domain.reflections import Reflection
    from evoca.storage.tables import Table


@dataclass(frozen=True, slots=True)
class FormerName:
    """A name that leads to an entity that has another one now."""

    name: str
    since: Instant


@dataclass(frozen=True, slots=True)
class Use:
    """How often an entity was used, and when last. `days`: (UTC day since 1970, uses on it)."""

    count: int
    last: Instant
    days: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class WholeEntity:
    """An entity with what belongs to nothing else. `use`: None when it was never used."""

    entity: Entity
    former_names: tuple[FormerName, ...] = ()
    use: Use | None = None


@dataclass(frozen=True, slots=True)
class WholeEpisode:
    """A memory with its history. `auto_link`: set while its surroundings wait to be looked at; whether links are to
    be made then.
    """

    episode: Episode
    versions: tuple[EpisodeVersion, ...] = ()
    auto_link: bool | None = None


class Outgoing(Protocol):
    """A collection, page by page: rows with an id above `after`, by id, at most `limit` of them."""

    def entities(self, collection: int, after: int, limit: int) -> list[WholeEntity]: ...
    def observations(self, collection: int, after: int, limit: int) -> list[Observation]:
        """Superseded ones too."""
        ...

    def edges(self, collection: int, after: int, limit: int) -> list[Edge]:
        """Relations and facts, ended ones too. `active`: it has no end."""
        ...

    def reflections(self, collection: int, after: int, limit: int) -> list[Reflection]: ...
    def episodes(self, collection: int, after: int, limit: int) -> list[WholeEpisode]:
        """Archived and merged ones too."""
        ...

    def links(self, collection: int, after: int, limit: int) -> list[EpisodeLink]: ...
    def merges(self, collection: int, after: int, limit: int) -> list[Merge]: ...
    def company(self, collection: int, after: tuple[int, int], limit: int) -> list[CoOccurrence]:
        """Co-occurrences, by (first, second)."""
        ...


class Incoming(Protocol):
    """Rows as they are, with new ids instead of theirs; what they refer to has its id in this store already.

    References to rows of the same kind are left out, and set by `refer` when all are there; a memory that was merged
    away enters no index. The text index is brought up to date; vectors become pending where a model is in use.
    """

    def take_ids(self, count: int) -> int:
        """The first of `count` ids in a row that nothing has or will have."""
        ...

    def entities(self, collection: int, rows: Sequence[WholeEntity]) -> list[int]: ...
    def former_names(self, collection: int, entity: int, names: Sequence[FormerName]) -> int:
        """Names that lead nowhere yet and that no entity has; how many of them."""
        ...

    def use(self, collection: int, entity: int, use: Use) -> None:
        """For an entity that was never used."""
        ...

    def observations(self, collection: int, rows: Sequence[Observation]) -> list[int]: ...
    def edges(self, collection: int, rows: Sequence[Edge]) -> list[int]: ...
    def reflections(self, collection: int, rows: Sequence[Reflection]) -> list[int]: ...
    def episodes(self, collection: int, rows: Sequence[WholeEpisode]) -> list[int]: ...
    def links(self, collection: int, rows: Sequence[EpisodeLink]) -> list[int]: ...
    def merges(self, collection: int, rows: Sequence[Merge]) -> list[int]: ...
    def company(self, collection: int, rows: Sequence[CoOccurrence]) -> int:
        """Pairs that are not known yet; how many of them."""
        ...

    def refer(self, observations: Sequence[Observation], episodes: Sequence[Episode]) -> None:
        """Set the references of rows to rows of their kind: `supersedes`; duplicates, successors, survivors."""
        ...

    def describe(self, collection: int, name: str, description: str) -> None:
        """Name a collection that has nothing but its code yet."""
        ...

    def edges_from(self, collection: int, subjects: Iterable[int]) -> list[Edge]:
        """All edges, of both kinds, that begin at one of these entities, by id."""
        ...

    def episodes_alike(self, collection: int, session_id: str, content: str) -> list[tuple[int, Instant]]:
        """(id, time) of the memories of a session scope with this very text, by id."""
        ...


@dataclass(frozen=True, slots=True)
class Counters:
    """`next_id`: the next free one. `documents`, `keys`: how often either has changed."""

    next_id: int
    documents: int
    keys: int


class Rows(Protocol):
    """A whole store as it is, table by table (`storage.tables`), for a copy of it."""

    def page(self, table: Table, after: Cells | None, limit: int) -> list[Cells]:
        """Rows behind the one with this key, or from the first, by key; without the note."""
        ...

    def put(self, table: Table, rows: Sequence[Cells]) -> None:
        """Insert rows, without the columns that are for later."""
        ...

    def complete(self, table: Table, rows: Sequence[Cells]) -> None:
        """Set the columns of these rows that were left for later."""
        ...

    def counters(self) -> Counters: ...
    def empty(self) -> bool:
        """Whether the store is as it was made: it holds nothing but the default collection, without anything in it."""
        ...

    def prepare(self, counters: Counters, collections: int, models: int, keys: int) -> None:
        """Make an empty store ready for another's rows: it goes on counting where that one is.

        Its own default collection goes; the ids up to `collections`, `models`, `keys` will not be given again.
        """
        ...

    def index_words(self, after: int, limit: int) -> int | None:
        """Put the next documents by id into the text index; the last one's id, None when there are no more."""
        ...

    def index_substrings(self, after: int, limit: int) -> int | None:
        """The same with entities and observations and the substring index."""
        ...

    def note(self) -> str | None:
        """What an unfinished copy has noted about itself in this store; None: it is none."""
        ...

    def write_note(self, note: str | None) -> None: ...
