"""Walking from entity to entity along facts and relations (contract, Facts 4)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evoca.domain.clock import Clock, Instant
from evoca.domain.graph import Edge, Entity
from evoca.domain.text import nfc
from evoca.errors import NotFound, StoreBusy
from evoca.services.entity_names import SimilarNames, find_entities, find_entity
from evoca.storage.contract import Session, Store

if TYPE_CHECKING:
    from evoca.retrieval.edge_table import EdgeTable, EdgeView, Walk

Direction = Literal["both", "out", "in"]


@dataclass(frozen=True, slots=True)
class When:
    """Which facts count: those that hold at `as_of` (None: now), or with `include_ended` all that are known."""

    as_of: Instant | None = None
    include_ended: bool = False

    def at(self, now: Instant) -> Instant | None:
        """The instant at which facts must hold; None for any."""
        return None if self.include_ended else now if self.as_of is None else self.as_of


NOW = When()
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Route:
    """How far to walk, and along what. `predicates`: empty for any. `direction`: `out` is from subject to object."""

    depth: int
    direction: Direction = "both"
    predicates: tuple[str, ...] = ()
    when: When = NOW


@dataclass(frozen=True, slots=True)
class FactHit:
    """`score`: how well it fits a topic, in [0, 1]. `hop`: how far it is from what was asked for; None: it is that."""

    fact: Edge
    score: float | None = None
    hop: int | None = None


@dataclass(frozen=True, slots=True)
class Reached:
    name: str
    hop: int


@dataclass(frozen=True, slots=True)
class Connections:
    """`entities`: the start (hop 0) and those of the shown facts, by (hop, id). `suggestions`: for an unknown name."""

    entity: str
    hits: tuple[FactHit, ...]
    entities: tuple[Reached, ...]
    total: int
    has_more: bool
    at: Instant
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundPath:
    """`names`: the entities on the way, both ends too."""

    found: bool
    names: tuple[str, ...]
    facts: tuple[Edge, ...]
    at: Instant


class EdgeTables:
    """The process's one table of edges, made at first need. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._table: EdgeTable | None = None

    def view(self, session: Session, collection: int) -> EdgeView:
        """The collection's edges as the session sees them."""
        with self._lock:
            if self._table is None:
                from evoca.retrieval.edge_table import EdgeTable

                self._table = EdgeTable()
        return self._table.view(session, collection)


class WalkingService:
    """Walks in one store's graphs."""

    def __init__(self, store: Store, clock: Clock, edges: EdgeTables, names: SimilarNames) -> None:
        self._store = store
        self._clock = clock
        self._edges = edges
        self._names = names

    def connections(self, collection: int, name: str, route: Route, limit: int, offset: int) -> Connections:
        """The facts around an entity, each once, by (hop, id). An unknown entity has none."""
        now = self._clock.now()

        def work(session: Session) -> Connections:
            start = find_entity(session, collection, name)
            if start is None:
                suggestions = suggested(session, collection, self._names, name)
                return Connections(name, (), (), 0, has_more=False, at=now, suggestions=suggestions)
            walk = self._walk(session, collection, start, route, now)
            total = len(walk.edges)
            ids = walk.edges[offset : offset + limit].tolist()
            hops = walk.hops[offset : offset + limit].tolist()
            found = session.facts.by_ids(ids)
            hits = tuple(
                FactHit(found[number], hop=hop) for number, hop in zip(ids, hops, strict=True) if number in found
            )
            reached = _reached(session, walk, start, [hit.fact for hit in hits])
            return Connections(start.name, hits, reached, total, offset + len(ids) < total, now)

        return self._store.read(work)

    def path(self, collection: int, start: str, end: str, route: Route) -> FoundPath:
        """A shortest chain between two entities; the same in every process. Raises NotFound for an unknown one."""
        now = self._clock.now()

        def work(session: Session) -> FoundPath | None:
            ends = [self._known(session, collection, name) for name in (start, end)]
            if ends[0].id == ends[1].id:
                return FoundPath(found=True, names=(ends[0].name,), facts=(), at=now)
            found = self._edges.view(session, collection).shortest_path(
                ends[0].id,
                ends[1].id,
                route.depth,
                direction=route.direction,
                predicates=spelled(session, collection, route.predicates) or None,
                at=route.when.at(now),
                include_ended=route.when.include_ended,
            )
            if found is None:
                return FoundPath(found=False, names=(), facts=(), at=now)
            edges = session.facts.by_ids(found.edges)
            entities = session.entities.by_ids(found.entities)
            if len(edges) < len(found.edges) or len(entities) < len(found.entities):
                return None
            return FoundPath(
                found=True,
                names=tuple(entities[number].name for number in found.entities),
                facts=tuple(edges[number] for number in found.edges),
                at=now,
            )

        # The table of edges may be a moment ahead of a session; the next one has caught up with it.
        for _ in range(_ATTEMPTS):
            path = self._store.read(work)
            if path is not None:
                return path
        raise StoreBusy("The graph changes too fast for a path to be read.", "Try again.")

    def _walk(self, session: Session, collection: int, start: Entity, route: Route, now: Instant) -> Walk:
        return self._edges.view(session, collection).walk(
            [start.id],
            route.depth,
            direction=route.direction,
            predicates=spelled(session, collection, route.predicates) or None,
            at=route.when.at(now),
            include_ended=route.when.include_ended,
        )

    def _known(self, session: Session, collection: int, name: str) -> Entity:
        entity = find_entity(session, collection, name)
        if entity is None:
            similar = ", ".join(suggested(session, collection, self._names, name))
            hint = f"Spelled alike: {similar}." if similar else "recall and search_nodes find names."
            raise NotFound(f"Entity not found: {name}", hint)
        return entity


def spelled(session: Session, collection: int, predicates: Sequence[str]) -> set[str]:
    """These predicates as they are spelled in use; case does not matter. Empty for none asked, and only then."""
    return {*predicates, *session.facts.spelled(collection, predicates)} if predicates else set()


def suggested(session: Session, collection: int, names: SimilarNames, text: str) -> tuple[str, ...]:
    """Names that may have been meant by one that means nothing: those that differ in case alone, else similar ones."""
    alike = find_entities(session, collection, [text]).get(nfc(text), [])
    if len(alike) > 1:
        return tuple(entity.name for entity in alike)
    return tuple(each.name for each in names.find(session, collection, text))


def _reached(session: Session, walk: Walk, start: Entity, facts: Sequence[Edge]) -> tuple[Reached, ...]:
    hops = dict(zip(walk.entities.tolist(), walk.distances.tolist(), strict=True))
    ends = {end for fact in facts for end in (fact.subject_id, fact.object_id) if end is not None} | {start.id}
    names = session.entities.by_ids(ends)
    # The table of edges may be a moment ahead of the session.
    shown = sorted((end for end in ends if end in hops and end in names), key=lambda end: (hops[end], end))
    return tuple(Reached(names[end].name, hops[end]) for end in shown)
