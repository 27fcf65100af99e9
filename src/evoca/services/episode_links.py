"""Links between memories, the graph they make, and contradictions (seed 002; contract, Hipocampo 5)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from evoca.domain.clock import Clock, Instant
from evoca.domain.episodes import (
    CONTRADICTS,
    Episode,
    EpisodeLink,
    NewEpisodeLink,
    effective_weight,
)
from evoca.domain.text import analyse, nfc
from evoca.errors import InvalidInput, NotFound
from evoca.services.enriching import compare, stated_at
from evoca.services.episodes import find, settle_superseded
from evoca.services.tracking import TrackingService
from evoca.storage.contract import OwnerKind, Session, Store

_TERMS = 64
_CANDIDATES = 2_000
_LOOKED_AT = 200
"""Words of a memory that others are sought by, documents that hold them, memories that are compared with it."""

__all__ = ["Contradicted", "EpisodeGraph", "EpisodeLinkService", "Linked", "Node", "WeighedLink"]


@dataclass(frozen=True, slots=True)
class Linked:
    """`made`: False when there was such a link already."""

    link: EpisodeLink
    made: bool


@dataclass(frozen=True, slots=True)
class Node:
    """`depth`: steps from where the walk began; 0 for all of an overview."""

    episode: Episode
    depth: int


@dataclass(frozen=True, slots=True)
class WeighedLink:
    """`effective`: what its weight is worth now."""

    link: EpisodeLink
    effective: float


@dataclass(frozen=True, slots=True)
class EpisodeGraph:
    """Memories, and every link between two of them. `cut`: there were more than asked for.

    `memories`, `links`: how many linked memories and links the collection has; of an overview only.
    """

    nodes: tuple[Node, ...]
    edges: tuple[WeighedLink, ...]
    cut: bool
    memories: int | None = None
    links: int | None = None


@dataclass(frozen=True, slots=True)
class Contradicted:
    """A memory that says otherwise. `newer`: it is the newer one of the two."""

    episode: Episode
    confidence: float
    kind: str
    differs_in: tuple[str, ...]
    newer: bool


class EpisodeLinkService:
    """What joins the memories of one store. Links lead from source to target; walks follow them both ways."""

    def __init__(self, store: Store, clock: Clock, tracking: TrackingService) -> None:
        self._store = store
        self._clock = clock
        self._tracking = tracking

    def link(self, collection: int, source: int, target: int, relation_type: str, weight: float) -> Linked:
        """Join two memories; a link that exists stays as it is. Raises NotFound, InvalidInput."""
        if source == target:
            raise InvalidInput("❌ No se puede enlazar un recuerdo consigo mismo.", field="target_id")
        now = self._clock.now()
        row = NewEpisodeLink(source, target, nfc(relation_type).strip(), weight)

        def work(session: Session) -> Linked:
            for number in (source, target):
                _known(session, collection, number)
            made = session.episode_links.insert(collection, row, now)
            (link,) = session.episode_links.between(source, target, row.relation_type)
            return Linked(link, made is not None)

        return self._store.write(work)

    def unlink(self, collection: int, number: int) -> tuple[EpisodeLink, ...]:
        """Remove a link by its id. Raises NotFound."""

        def work(session: Session) -> tuple[EpisodeLink, ...]:
            link = session.episode_links.by_ids(collection, [number]).get(number)
            if link is None:
                raise NotFound(f"❌ No existe enlace con id={number}.", "get_hipocampo muestra los enlaces.")
            return _remove(session, collection, [link])

        return self._store.write(work)

    def unlink_ends(
        self, collection: int, source: int, target: int, relation_type: str | None
    ) -> tuple[EpisodeLink, ...]:
        """Remove the links from one memory to another; of one type, or all. Raises NotFound."""
        wanted = None if relation_type is None else nfc(relation_type).strip()

        def work(session: Session) -> tuple[EpisodeLink, ...]:
            for number in (source, target):
                _known(session, collection, number)
            links = session.episode_links.between(source, target, wanted)
            if not links:
                raise NotFound(f"❌ No se encontró enlace entre {source} y {target}.")
            return _remove(session, collection, links)

        return self._store.write(work)

    def graph(self, collection: int, number: int, depth: int, most: int) -> EpisodeGraph:
        """The memories within `depth` steps of one, nearest first, then by the strength of the link that led there.

        Raises NotFound.
        """
        now = self._clock.now()

        def work(session: Session) -> EpisodeGraph:
            _known(session, collection, number)
            depths = {number: 0}
            frontier = [number]
            cut = False
            for step in range(1, depth + 1):
                reached = _beyond(session.episode_links.touching(frontier), depths, now)
                frontier = reached[: most - len(depths)]
                depths |= dict.fromkeys(frontier, step)
                if len(frontier) < len(reached):
                    cut = True
                    break
                if not frontier:
                    break
            return _graph(session, collection, depths, now, cut)

        return self._store.read(work)

    def overview(self, collection: int, most: int) -> EpisodeGraph:
        """The memories with the most links, and the links between them."""
        now = self._clock.now()

        def work(session: Session) -> EpisodeGraph:
            links = session.episode_links.all(collection)
            degrees: dict[int, int] = {}
            for link in links:
                for end in (link.source_id, link.target_id):
                    degrees[end] = degrees.get(end, 0) + 1
            chosen = sorted(degrees, key=lambda each: (-degrees[each], each))[:most]
            found = _graph(session, collection, dict.fromkeys(chosen, 0), now, len(chosen) < len(degrees))
            return EpisodeGraph(found.nodes, found.edges, found.cut, memories=len(degrees), links=len(links))

        return self._store.read(work)

    def path(self, collection: int, start: int, goal: int, depth: int, track: bool) -> tuple[Episode, ...]:
        """A shortest path of at most `depth` links between two memories, both ends included; empty without one.

        Of several the one over the lower ids. `track`: its links count as used. Raises NotFound.
        """

        def work(session: Session) -> tuple[tuple[Episode, ...], tuple[int, ...]]:
            for number in (start, goal):
                _known(session, collection, number)
            came = _walk(session, start, goal, depth)
            if goal not in came:
                return (), ()
            ids, links = [goal], list[int]()
            while ids[-1] != start:
                before, link = came[ids[-1]]
                ids.append(before)
                links.append(link)
            found = session.episodes.by_ids(collection, ids)
            return tuple(found[number] for number in reversed(ids)), tuple(links)

        memories, links = self._store.read(work)
        if track:
            self._tracking.followed(links)
        return memories

    def contradictions(self, collection: int, number: int) -> tuple[Contradicted, ...]:
        """What contradicts a memory, the surest first: links, and what is seen now among memories with its words.

        So it tells before the background has looked, and without a model. Sought in the memory's session scope and the
        session-less one. Raises NotFound.
        """
        now = self._clock.now()

        def work(session: Session) -> tuple[Contradicted, ...]:
            asked = _known(session, collection, number)
            links = session.episode_links.touching([number], CONTRADICTS)
            others = session.episodes.by_ids(collection, {_other(link, number) for link in links})
            found = {
                other.id: _contradicted(other, link)
                for link in links
                if (other := others.get(_other(link, number))) is not None
            }
            for other in _sharing_words(session, collection, asked, now):
                if other.id not in found and (seen := _seen(session, asked, other)) is not None:
                    found[other.id] = seen
            return tuple(sorted(found.values(), key=lambda each: (-each.confidence, each.episode.id)))

        return self._store.read(work)


def _known(session: Session, collection: int, number: int) -> Episode:
    return find(session, collection, number, alive=True)


def _remove(session: Session, collection: int, links: Sequence[EpisodeLink]) -> tuple[EpisodeLink, ...]:
    session.episode_links.delete([link.id for link in links])
    settle_superseded(session, collection, {link.target_id for link in links if link.relation_type == CONTRADICTS})
    return tuple(links)


def _other(link: EpisodeLink, number: int) -> int:
    return link.target_id if link.source_id == number else link.source_id


def _beyond(links: Iterable[EpisodeLink], known: dict[int, int], now: Instant) -> list[int]:
    """The unknown ends of links, those behind the strongest ones first, then by id."""
    strength: dict[int, float] = {}
    for link in links:
        weight = effective_weight(link, now)
        for end in (link.source_id, link.target_id):
            if end not in known:
                strength[end] = max(weight, strength.get(end, 0.0))
    return sorted(strength, key=lambda each: (-strength[each], each))


def _graph(session: Session, collection: int, depths: dict[int, int], now: Instant, cut: bool) -> EpisodeGraph:
    memories = session.episodes.by_ids(collection, depths)
    edges = [
        WeighedLink(link, effective_weight(link, now))
        for link in session.episode_links.touching(depths)
        if link.source_id in depths and link.target_id in depths
    ]
    return EpisodeGraph(
        tuple(Node(memories[each], step) for each, step in depths.items() if each in memories), tuple(edges), cut
    )


def _walk(session: Session, start: int, goal: int, depth: int) -> dict[int, tuple[int, int]]:
    """Breadth first from `start`: memory → (the memory before it, the link between). Stops at `goal`."""
    came: dict[int, tuple[int, int]] = {}
    frontier = {start}
    for _ in range(depth):
        if not frontier or goal in came or goal == start:
            break
        reached: dict[int, tuple[int, int]] = {}
        for link in session.episode_links.touching(frontier):
            for here, there in ((link.source_id, link.target_id), (link.target_id, link.source_id)):
                if here in frontier and there != start and there not in came:
                    reached[there] = min(reached.get(there, (here, link.id)), (here, link.id))
        came |= reached
        frontier = set(reached)
    if goal == start:
        came[start] = (start, 0)
    return came


def _contradicted(other: Episode, link: EpisodeLink) -> Contradicted:
    details = cast("dict[str, object]", json.loads(link.details)) if link.details else {}
    confidence, differs = details.get("confidence"), details.get("differs_in")
    return Contradicted(
        other,
        float(confidence) if isinstance(confidence, int | float) else link.weight,
        str(details.get("kind", "link")),
        tuple(str(each) for each in cast("list[object]", differs)) if isinstance(differs, list) else (),
        newer=other.id == link.source_id,
    )


def _seen(session: Session, asked: Episode, other: Episode) -> Contradicted | None:
    older, newer = sorted((asked, other), key=lambda each: (stated_at(session, each), each.id))
    found = compare(older, newer, None)
    if found is None:
        return None
    return Contradicted(other, found.confidence, found.kind, tuple(found.differs_in), newer=newer is other)


def _sharing_words(session: Session, collection: int, asked: Episode, now: Instant) -> list[Episode]:
    """Live memories of the scope that hold the same words, those with the rarest first."""
    import numpy as np

    terms = sorted(set(analyse(asked.content).terms))[:_TERMS]
    postings = [ids for ids in session.documents.postings(collection, [[term] for term in terms]) if len(ids)]
    if not postings:
        return []
    ids, places = np.unique(np.concatenate(postings), return_inverse=True)
    rarity = np.concatenate([np.full(len(each), 1 / len(each)) for each in postings])
    best = ids[np.lexsort((ids, -np.bincount(places, rarity)))][:_CANDIDATES].tolist()
    owners = session.documents.owners(best, OwnerKind.EPISODE)
    scope = {"", asked.session_id}
    rank = {number: at for at, number in enumerate(best)}
    usable = [
        each
        for each in session.episodes.by_ids(collection, owners).values()
        if each.id != asked.id and each.session_id in scope and each.archived_at is None and not each.expired(now)
    ]
    usable.sort(key=lambda each: rank.get(each.id, _CANDIDATES))
    return usable[:_LOOKED_AT]
