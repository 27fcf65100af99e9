"""The part of the engine contract that episodes need; see `storage.contract`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from evoca.domain.clock import Instant
    from evoca.domain.episodes import (
        Episode,
        EpisodeLink,
        EpisodeTraits,
        EpisodeVersion,
        Merge,
        NewEpisode,
        NewEpisodeLink,
    )


@dataclass(frozen=True, slots=True)
class TraitChanges:
    """As `DocumentChanges`, of episodes: those that may have changed, and ids that are gone."""

    counter: int
    rows: Sequence[EpisodeTraits]
    removed: Sequence[int]
    complete: bool = False


@dataclass(frozen=True, slots=True)
class PendingEnrichment:
    """A memory whose surroundings are to be looked at."""

    episode_id: int
    collection_id: int
    auto_link: bool


@dataclass(frozen=True, slots=True)
class EpisodeTally:
    """How many memories of a collection have these traits in common. `merged`: hidden in a survivor."""

    nivel: str
    critico: bool
    archived: bool
    superseded: bool
    merged: bool
    flagged: bool
    expired: bool
    count: int


class Episodes(Protocol):
    """Memories. Those that were merged away are found by id only; `live` ones are not archived either."""

    def by_ids(self, collection: int, ids: Iterable[int]) -> dict[int, Episode]: ...
    def alike(self, collection: int, session_id: str, signature: bytes, now: Instant) -> list[Episode]:
        """Live memories of a session scope with this signature, neither superseded nor expired, by id."""
        ...

    def live(self, collection: int, nivel: str | None = None, before: Instant | None = None) -> list[Episode]:
        """By id; with this level, created before then; None: any."""
        ...

    def expired(self, now: Instant, limit: int) -> list[int]:
        """Live, uncritical memories of any collection whose time is over."""
        ...

    def repeated(self, collection: int, now: Instant) -> list[list[Episode]]:
        """Live, uncritical memories that share session scope and signature, neither superseded nor expired.

        Groups of two and more, each by id.
        """
        ...

    def flagged(self, collection: int) -> list[Episode]:
        """Live memories with a `possible_duplicate_of`, by id."""
        ...

    def tally(self, collection: int, now: Instant) -> list[EpisodeTally]:
        """Every memory counted once, merged ones too."""
        ...

    def changes(self, since: int) -> TraitChanges:
        """What changed after this value of the change counter (`Documents.counter`); 0: all there is."""
        ...

    def versions(self, episode: int) -> list[EpisodeVersion]:
        """What it was before its updates, oldest first."""
        ...

    def count(self, collection: int) -> int: ...
    def insert(self, collection: int, row: NewEpisode, at: Instant) -> int:
        """The new id. Indexes the content (documents per passage)."""
        ...

    def update(self, collection: int, before: Episode, after: Episode, signature: bytes, at: Instant) -> None:
        """Keep `before` as a version and write the fields of `after` that a client may set; the indexes follow."""
        ...

    def set_categories(self, collection: int, episode: int, categories: Sequence[str]) -> None: ...
    def consolidate(self, ids: Sequence[int], nivel: str, at: Instant) -> None:
        """Raise to a level, `consolidated_at` then."""
        ...

    def degrade(self, ids: Sequence[int], nivel: str, reason: str, at: Instant) -> None:
        """Lower to a level, `degraded_at` then."""
        ...

    def archive(self, ids: Sequence[int], reason: str, at: Instant) -> None:
        """Make COLD: the vectors go, searches pass them over unless asked to include them."""
        ...

    def restore(self, collection: int, ids: Sequence[int]) -> None:
        """Bring archived memories back; their vectors are made again."""
        ...

    def mark_duplicate(self, episode: int, of: int | None) -> None: ...
    def supersede(self, episode: int, by: int | None) -> None: ...
    def hide(self, ids: Sequence[int], into: int) -> None:
        """Merge away: they leave every index and point at their survivor."""
        ...

    def unhide(self, collection: int, ids: Sequence[int]) -> None: ...
    def use(self, ids: Iterable[int], at: Instant) -> None:
        """Count one recall of each."""
        ...

    def delete(self, ids: Sequence[int]) -> None:
        """With their links, versions, merges, and the copies that went into them."""
        ...


class EpisodeLinks(Protocol):
    def insert(self, collection: int, row: NewEpisodeLink, at: Instant) -> int | None:
        """The new id, or None when there is such a link already."""
        ...

    def by_ids(self, collection: int, ids: Iterable[int]) -> dict[int, EpisodeLink]: ...
    def between(self, source: int, target: int, relation_type: str | None = None) -> list[EpisodeLink]:
        """Links from one to the other, by id."""
        ...

    def touching(self, episodes: Iterable[int], relation_type: str | None = None) -> list[EpisodeLink]:
        """Links with at least one end among these, each once, by id."""
        ...

    def all(self, collection: int) -> list[EpisodeLink]: ...
    def linked(self, collection: int) -> set[int]:
        """Memories with a link in or out."""
        ...

    def use(self, ids: Iterable[int], at: Instant) -> None: ...
    def restore(self, collection: int, link: EpisodeLink) -> None:
        """Put a deleted link back as it was, unless there is such a one again."""
        ...

    def delete(self, ids: Sequence[int]) -> None: ...


class Merges(Protocol):
    def insert(self, collection: int, survivor: int, merged: int, details: str, at: Instant) -> int: ...
    def by_ids(self, collection: int, ids: Iterable[int]) -> dict[int, Merge]: ...
    def of(self, episodes: Iterable[int]) -> list[Merge]:
        """Merges that these took part in, by id."""
        ...

    def all(self, collection: int) -> list[Merge]: ...
    def undo(self, merge: int, at: Instant) -> None:
        """Record that it was taken back."""
        ...


class Enrichments(Protocol):
    def add(self, collection: int, episode: int, auto_link: bool) -> None:
        """Have the memory's surroundings looked at, (again) once it has its vector."""
        ...

    def ready(self, model: str, now: Instant) -> bool: ...
    def claim(self, model: str, limit: int, owner: str, now: Instant, until: Instant) -> list[PendingEnrichment]:
        """Take up to `limit` memories that have the model's vector, newest first, that nobody holds a live lease on."""
        ...

    def finish(self, episode: int, owner: str) -> bool:
        """The work is done. False when the lease was lost or the memory has changed: nothing may be written then."""
        ...

    def release(self, owner: str) -> None: ...
    def pending(self, collection: int | None) -> int:
        """How many wait; archived and merged ones wait for nothing until they are back."""
        ...
