"""Splitting an entity that holds too much into smaller ones (seed 000, tools 11 to 14; contract, Graph 8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evoca.domain.clock import Clock, Instant
from evoca.domain.graph import Entity, NewEntity, Observation, Triple
from evoca.domain.splitting import (
    LEAST_THRESHOLD,
    Topic,
    child_names,
    children_of,
    split_score,
    threshold_for,
    topics_of,
)
from evoca.domain.text import nfc
from evoca.errors import Conflict, EntityNotFound, InvalidInput, ModelUnavailable, NotFound, StoreReadOnly
from evoca.services.embedding import Embedding
from evoca.services.graph import RelationDraft, relate
from evoca.services.indexing import IndexingService
from evoca.services.vectors import observation_vectors
from evoca.storage.contract import Session, Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONTAINS = "contiene"
PART_OF = "parte_de"


@dataclass(frozen=True, slots=True)
class SplitAnalysis:
    """`topics`: each text of the entity in one of them; none for an entity within its threshold."""

    entity: Entity
    texts: tuple[str, ...]
    threshold: int
    topics: tuple[Topic, ...]

    @property
    def count(self) -> int:
        return len(self.texts)

    @property
    def needs_split(self) -> bool:
        return self.count > self.threshold

    @property
    def score(self) -> float:
        return split_score(self.count, self.threshold)


@dataclass(frozen=True, slots=True)
class Child:
    """A part of an entity as an entity of its own. `entity_type` None: the original's."""

    name: str
    observations: tuple[str, ...]
    entity_type: str | None = None


@dataclass(frozen=True, slots=True)
class SplitProposal:
    analysis: SplitAnalysis
    children: tuple[Child, ...]


@dataclass(frozen=True, slots=True)
class ExecutedSplit:
    """`created`: the names of entities that did not exist before. `remaining`: texts left with the original."""

    original: Entity
    created: tuple[str, ...]
    moved: int
    relations: int
    remaining: int


class SplittingService:
    """Splits in one store's graphs. Only `execute` writes: one transaction, all of it or nothing."""

    def __init__(
        self, store: Store, clock: Clock, embedding: Embedding, indexing: IndexingService, catch_up: float
    ) -> None:
        """`catch_up`: how many seconds an analysis waits for texts that have no vector yet."""
        self._store = store
        self._clock = clock
        self._embedding = embedding
        self._indexing = indexing
        self._catch_up = catch_up

    def analyse(self, collection: int, name: str) -> SplitAnalysis:
        """Whether an entity holds too much, and its topics: by meaning where every text has a vector, else by words.

        Raises EntityNotFound.
        """
        return self._analyse(collection, name)

    def propose(self, collection: int, name: str) -> SplitProposal | None:
        """The children that an entity could be split into; None when it is within its threshold.

        Names that entities have already are numbered. Raises EntityNotFound.
        """
        analysis = self._analyse(collection, name)
        if not analysis.needs_split:
            return None
        topics = children_of(analysis.topics, analysis.texts, analysis.threshold)
        original = analysis.entity.name
        names = self._store.read(lambda session: _free_names(session, collection, original, topics))
        children = tuple(
            Child(child, tuple(analysis.texts[at] for at in topic.members), analysis.entity.entity_type)
            for child, topic in zip(names, topics, strict=True)
        )
        return SplitProposal(analysis, children)

    def candidates(self, collection: int) -> tuple[SplitAnalysis, ...]:
        """Every entity above its threshold, in order of insertion; topics by words, as there may be many."""
        found = self._store.read(lambda session: crowded(session, collection))
        return tuple(
            SplitAnalysis(entity, texts, threshold, topics_of(texts, entity.name)) for entity, threshold, texts in found
        )

    def execute(
        self, collection: int, name: str, children: Sequence[Child], parent_name: str | None = None
    ) -> ExecutedSplit:
        """Move observations to new entities and tie these to the parent, by default the original.

        Rows are moved: ids, kinds, times and history stay. A child may exist if it is a part of the parent or the
        original. Raises NotFound, EntityNotFound, InvalidInput naming the field, Conflict for a taken name.
        """
        now = self._clock.now()
        return self._store.write(lambda session: _Split(session, collection, now).execute(name, children, parent_name))

    def _analyse(self, collection: int, name: str) -> SplitAnalysis:
        def work(session: Session) -> tuple[Entity, list[Observation]]:
            entity = session.entities.resolve(collection, [name]).get(nfc(name))
            if entity is None:
                raise EntityNotFound(name)
            return entity, session.observations.of([entity.id])[entity.id]

        entity, rows = self._store.read(work)
        texts = tuple(row.content for row in rows)
        threshold = threshold_for(entity.entity_type)
        if len(texts) <= threshold:
            return SplitAnalysis(entity, texts, threshold, ())
        meaning = self._meaning(collection, [row.id for row in rows])
        return SplitAnalysis(entity, texts, threshold, topics_of(texts, entity.name, meaning))

    def _meaning(self, collection: int, observations: Sequence[int]) -> NDArray[np.float32] | None:
        """The vectors of these observations, a row each; None as long as one has none: words do as well."""
        if not self._embedding.wanted:
            return None
        try:
            embedder = self._embedding.load()
            self._indexing.catch_up(collection, self._catch_up)
        except (ModelUnavailable, StoreReadOnly):
            return None
        vectors = self._store.read(lambda session: observation_vectors(session, embedder, observations))
        return vectors.rows if vectors.known.all() else None


def crowded(session: Session, collection: int) -> list[tuple[Entity, int, tuple[str, ...]]]:
    """Entities above their threshold, in order of insertion, with it and their live texts."""
    counts = session.observations.counts(collection)
    # No threshold is below the least one: most entities need not be looked at.
    many = session.entities.by_ids(sorted(number for number, count in counts.items() if count > LEAST_THRESHOLD))
    large = [entity for entity in many.values() if counts[entity.id] > threshold_for(entity.entity_type)]
    texts = session.observations.texts_of([entity.id for entity in large])
    return [
        (entity, threshold_for(entity.entity_type), tuple(texts[entity.id]))
        for entity in sorted(large, key=lambda entity: entity.id)
    ]


def _free_names(session: Session, collection: int, original: str, topics: Sequence[Topic]) -> tuple[str, ...]:
    """Names for the children that lead to no entity. As long as one is taken, the next number is tried."""
    taken: set[str] = set()
    while True:
        names = child_names(original, topics, taken)
        found = session.entities.resolve(collection, names)
        if not found:
            return names
        taken |= set(found)


class _Split:
    """The transaction behind `execute`."""

    def __init__(self, session: Session, collection: int, now: Instant) -> None:
        self._session = session
        self._collection = collection
        self._now = now

    def execute(self, name: str, children: Sequence[Child], parent_name: str | None) -> ExecutedSplit:
        original, parent = self._ends(name, parent_name)
        names = _checked_names(children, original, parent)
        rows = self._session.observations.of([original.id], include_superseded=True)[original.id]
        live = {row.content: row for row in rows if row.superseded_at is None}
        moves = _checked_moves(children, live, original)
        existing = self._existing(names, {original.id, parent.id})
        entities = self._entities(children, names, original, existing)
        for entity, moved in zip(entities, moves, strict=True):
            self._refuse_repeated(entity, moved, entity.name in existing)
            self._session.observations.move(_with_history(moved, rows), entity.id)
        relations = self._relate(parent, names)
        self._session.entities.touch([original.id, *(entity.id for entity in existing.values())], self._now)
        self._session.collections.bump(self._collection)
        moved_count = sum(len(moved) for moved in moves)
        created = tuple(each for each in names if each not in existing)
        return ExecutedSplit(original, created, moved_count, relations, len(live) - moved_count)

    def _ends(self, name: str, parent_name: str | None) -> tuple[Entity, Entity]:
        asked = [name] if parent_name is None else [name, parent_name]
        found = self._session.entities.resolve(self._collection, asked)
        original = found.get(nfc(name))
        if original is None:
            raise NotFound(
                f"Original entity '{name}' not found",
                "Names are exact; search_nodes finds them, find_split_candidates lists what could be split.",
            )
        if parent_name is None:
            return original, original
        parent = found.get(nfc(parent_name))
        if parent is None:
            raise EntityNotFound(parent_name)
        return original, parent

    def _existing(self, names: Sequence[str], parents: set[int]) -> dict[str, Entity]:
        """Children that are there already. Raises Conflict for one that is a part of neither end."""
        found = self._session.entities.resolve(self._collection, names)
        for at, name in enumerate(names):
            entity = found.get(name)
            if entity is None:
                continue
            keys = [(parent, CONTAINS, entity.id) for parent in parents]
            if entity.name != name or not self._session.edges.active(self._collection, keys):
                raise Conflict(
                    f"approved_splits[{at}].name: {name} is an entity already, and no part of the original",
                    "Choose another name, or make it a part first: create_relations with contiene.",
                )
        return found

    def _entities(
        self, children: Sequence[Child], names: Sequence[str], original: Entity, existing: dict[str, Entity]
    ) -> list[Entity]:
        drafts = [
            NewEntity(name, original.entity_type if child.entity_type is None else child.entity_type)
            for child, name in zip(children, names, strict=True)
            if name not in existing
        ]
        self._session.entities.insert(self._collection, drafts, self._now)
        made = self._session.entities.by_names(self._collection, names)
        return [made[name] for name in names]

    def _refuse_repeated(self, entity: Entity, moved: Sequence[Observation], existed: bool) -> None:
        if existed and self._session.observations.find(entity.id, [row.content for row in moved]):
            raise Conflict(
                f"{entity.name} has one of the observations that are to move to it",
                "Delete it from one of the two with delete_observations, then split again.",
            )

    def _relate(self, parent: Entity, names: Sequence[str]) -> int:
        """Tie the children to the parent; returns how many relations were really made."""
        ids = self._session.entities.by_names(self._collection, names)
        keys = [(parent.id, CONTAINS, ids[name].id) for name in names]
        keys += [(ids[name].id, PART_OF, parent.id) for name in names]
        before = len(self._session.edges.active(self._collection, keys))
        triples = [Triple(parent.name, CONTAINS, name) for name in names]
        triples += [Triple(name, PART_OF, parent.name) for name in names]
        relate(self._session, self._collection, [RelationDraft(triple) for triple in triples], self._now)
        return len(self._session.edges.active(self._collection, keys)) - before


def _checked_names(children: Sequence[Child], original: Entity, parent: Entity) -> list[str]:
    names: list[str] = []
    for at, child in enumerate(children):
        name = nfc(child.name)
        field = f"approved_splits[{at}].name"
        if name in (original.name, parent.name):
            end = "the original entity" if name == original.name else "the parent"
            raise InvalidInput(f"{field}: a part cannot have the name of {end}", "Choose another name.", field)
        if name in names:
            raise InvalidInput(
                f"{field}: the name of approved_splits[{names.index(name)}] again",
                "Put the observations of both into one of them.",
                field,
            )
        names.append(name)
    return names


def _checked_moves(
    children: Sequence[Child], live: dict[str, Observation], original: Entity
) -> list[list[Observation]]:
    """The rows that each child gets. Raises InvalidInput for a text that is not there, or is named twice."""
    named: dict[str, str] = {}
    moves: list[list[Observation]] = []
    for at, child in enumerate(children):
        for place, text in enumerate(child.observations):
            field = f"approved_splits[{at}].observations[{place}]"
            if text not in live:
                raise InvalidInput(
                    f"{field} is not an observation of {original.name}",
                    "Use the exact texts that open_nodes or propose_entity_split shows.",
                    field,
                )
            if text in named:
                raise InvalidInput(f"{field} is the same text as {named[text]}", "Name each text once.", field)
            named[text] = field
        moves.append([live[text] for text in child.observations])
    return moves


def _with_history(moved: Iterable[Observation], rows: Iterable[Observation]) -> list[int]:
    """The ids of these observations and of the superseded ones that they stand for."""
    by_id = {row.id: row for row in rows}
    found: dict[int, None] = {}
    for row in moved:
        at: Observation | None = row
        while at is not None and at.id not in found:
            found[at.id] = None
            at = by_id.get(at.supersedes) if at.supersedes is not None else None
    return list(found)
