"""Writing and finding reflections (seed 000, tools 18 and 19; contract, Graph 12)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from evoca.domain.clock import Clock
from evoca.domain.graph import Triple
from evoca.domain.reflections import MOODS, TARGET_TYPES, NewReflection, Reflection, recency
from evoca.domain.text import folded_words, nfc
from evoca.errors import InvalidInput, NotFound
from evoca.services.graph import find_edge
from evoca.services.indexing import IndexingService
from evoca.services.serving import Serving
from evoca.storage.contract import Session, Store


@dataclass(frozen=True, slots=True)
class Target:
    """What a reflection is about. `name` for an entity, or `triple` for a relation, may stand for `id`."""

    type: str
    id: int | None = None
    name: str | None = None
    triple: Triple | None = None


@dataclass(frozen=True, slots=True)
class ReflectionQuery:
    """Filters that are None let everything through."""

    text: str
    author: str | None = None
    mood: str | None = None
    target_type: str | None = None
    limit: int = 10


@dataclass(frozen=True, slots=True)
class ReflectionHit:
    """`score`: reciprocal rank fusion where words matched anything, else similarity; times recency."""

    reflection: Reflection
    score: float


class ReflectionService:
    """Reflections of one store's collections."""

    def __init__(
        self, store: Store, clock: Clock, serving: Serving, indexing: IndexingService, catch_up: float
    ) -> None:
        self._store = store
        self._clock = clock
        self._serving = serving
        self._indexing = indexing
        self._catch_up = catch_up

    def add(self, collection: int, target: Target, content: str, author: str, mood: str | None) -> Reflection:
        """Raises InvalidInput naming the field, NotFound for an unknown target; nothing is saved then."""
        if not content.strip():
            raise InvalidInput("content cannot be empty", field="content")
        kind = one_of(target.type, TARGET_TYPES, "target_type")
        feeling = None if mood is None else one_of(mood, MOODS, "mood")
        now = self._clock.now()

        def work(session: Session) -> Reflection:
            about = _target_id(session, collection, kind, target)
            row = NewReflection(kind, content, author, feeling, about)
            number = session.reflections.insert(collection, row, now)
            session.collections.bump(collection)
            return Reflection(number, kind, about, author, content, feeling, now)

        return self._store.write(work)

    def search(self, collection: int, query: ReflectionQuery) -> tuple[ReflectionHit, ...]:
        """The reflections that fit best, ties by id. Raises ModelUnavailable without a model."""
        mood = None if query.mood is None else one_of(query.mood, MOODS, "mood")
        kind = None if query.target_type is None else one_of(query.target_type, TARGET_TYPES, "target_type")
        self._indexing.catch_up(collection, self._catch_up)
        retriever, vector = self._serving.choose(query.text)
        now = self._clock.now()

        def work(session: Session) -> tuple[ReflectionHit, ...]:
            allowed = session.reflections.matching(collection, query.author, mood, kind)
            ranking = retriever.reflections(session, collection, query.text, vector, allowed)
            rows = session.reflections.by_ids(candidate.entity_id for candidate in ranking.candidates)
            hits = [
                ReflectionHit(
                    rows[candidate.entity_id],
                    _score(candidate.rrf_score if ranking.hybrid else None, candidate.distance)
                    * recency(rows[candidate.entity_id].created_at, now),
                )
                for candidate in ranking.candidates
            ]
            hits.sort(key=lambda hit: (-hit.score, hit.reflection.id))
            return tuple(hits[: query.limit])

        return self._store.read(work)


def _score(rrf: float | None, distance: float | None) -> float:
    if rrf is not None:
        return rrf
    return 0.0 if distance is None else max(0.0, 1.0 - distance)


def one_of(given: str, allowed: Iterable[str], field: str) -> str:
    """The allowed value that is meant; case and accents are forgiven. Raises InvalidInput naming them all."""
    meant = " ".join(folded_words(given))
    for value in allowed:
        if value == meant:
            return value
    raise InvalidInput(f"{field}: unknown value {given!r}", f"Use one of: {', '.join(allowed)}.", field)


def _target_id(session: Session, collection: int, kind: str, target: Target) -> int | None:
    match kind:
        case "entity":
            return _entity_id(session, collection, target)
        case "relation":
            return _edge_id(session, collection, target)
        case "session":
            return target.id
        case _:
            if target.id is not None:
                raise InvalidInput("target_id does not go with target_type global", field="target_id")
            return None


def _entity_id(session: Session, collection: int, target: Target) -> int:
    if target.name is not None:
        name = nfc(target.name)
        found = session.entities.by_names(collection, [name])
        if name not in found:
            _unknown("target_name", f"Entity not found: {target.name}")
        return found[name].id
    if target.id is None:
        raise InvalidInput("target_id is missing", "Give target_id or target_name for target_type entity.", "target_id")
    entity = session.entities.by_ids([target.id]).get(target.id)
    if entity is None or session.entities.by_names(collection, [entity.name]).get(entity.name) != entity:
        _unknown("target_id", f"Entity with id={target.id} not found")
    return entity.id


def _edge_id(session: Session, collection: int, target: Target) -> int:
    if target.id is None and target.triple is None:
        raise InvalidInput(
            "target_id is missing", "Give target_id or from, to and relationType for target_type relation.", "target_id"
        )
    edge = find_edge(session, collection, target.id, target.triple)
    if edge is None:
        what = f"id={target.id}" if target.triple is None else str(target.triple)
        _unknown("target_id", f"Relation with {what} not found")
    return edge.id


def _unknown(field: str, message: str) -> NoReturn:
    raise NotFound(f"{field}: {message}", "open_nodes with details=true shows ids and names.")
