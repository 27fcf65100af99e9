"""Correcting the graph without losing its history: ending relations, renaming, changing a text (contract, Graph 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evoca.domain.clock import Clock
from evoca.domain.graph import KINDS, Edge, Entity, Observation, Triple
from evoca.domain.text import nfc
from evoca.errors import Conflict, EntityNotFound, InvalidInput, NotFound
from evoca.services.graph import find_edge
from evoca.services.merging import MergedEntities, Merger
from evoca.services.rehearsing import rehearse
from evoca.storage.contract import Session, Store


@dataclass(frozen=True, slots=True)
class EndedRelation:
    """`already`: it had ended before, nothing was done. `inverse`: the id of the inverse that ended with it."""

    edge: Edge
    already: bool
    inverse: int | None = None


@dataclass(frozen=True, slots=True)
class RenamedEntity:
    """What follows the entity to its new name."""

    old_name: str
    entity: Entity
    observations: int
    relations: int
    reflections: int
    aliases: tuple[str, ...]
    dry_run: bool


@dataclass(frozen=True, slots=True)
class UpdatedObservation:
    entity: Entity
    before: Observation
    after: Observation
    warnings: tuple[str, ...]


class EditingService:
    """Corrections in one store's graphs; each is one transaction."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def end_relation(self, collection: int, relation_id: int | None, triple: Triple | None) -> EndedRelation:
        """End a relation, and the inverse of a `contiene`/`parte_de`; it stays as history.

        Ending one that has ended does nothing. Raises NotFound.
        """
        now = self._clock.now()

        def work(session: Session) -> EndedRelation:
            edge = find_edge(session, collection, relation_id, triple)
            if edge is None:
                raise NotFound(
                    f"Relation with id={relation_id} not found"
                    if triple is None
                    else f"Relation not found: {triple.subject} -> {triple.object} ({triple.predicate})",
                    "open_nodes with details=true shows the ids of relations.",
                )
            if edge.ended_at is not None and edge.ended_at <= now:
                return EndedRelation(edge, already=True)
            inverse = _active_inverse(session, collection, edge)
            session.edges.end([edge.id] if inverse is None else [edge.id, inverse.id], now)
            session.collections.bump(collection)
            ended = replace(edge, active=False, ended_at=now)
            return EndedRelation(ended, already=False, inverse=None if inverse is None else inverse.id)

        return self._store.write(work)

    def rename_entity(self, collection: int, name: str, new_name: str, dry_run: bool) -> RenamedEntity:
        """Give an entity another name; everything follows, and the old name goes on leading to it.

        Raises EntityNotFound, Conflict when the new name belongs to another entity.
        """
        now = self._clock.now()
        wanted = nfc(new_name)

        def work(session: Session) -> RenamedEntity:
            entity = session.entities.resolve(collection, [name]).get(nfc(name))
            if entity is None:
                raise EntityNotFound(name)
            taken = session.entities.resolve(collection, [wanted]).get(wanted)
            if taken is not None and taken.id != entity.id:
                raise Conflict(
                    f"new_name: {wanted} belongs to another entity", "Use merge_entities to make one of the two."
                )
            if entity.name != wanted:
                session.entities.rename(entity.id, wanted, now)
                session.collections.bump(collection)
            return RenamedEntity(
                old_name=entity.name,
                entity=replace(entity, name=wanted),
                observations=len(session.observations.of([entity.id], include_superseded=True)[entity.id]),
                relations=len(session.edges.touching([entity.id], include_ended=True)),
                reflections=len(session.reflections.about("entity", [entity.id])[entity.id]),
                aliases=tuple(session.entities.aliases(entity.id)),
                dry_run=dry_run,
            )

        return rehearse(self._store, work) if dry_run else self._store.write(work)

    def merge_entities(self, collection: int, sources: Sequence[str], target: str, dry_run: bool) -> MergedEntities:
        """Make one entity of several: everything of the sources moves to the target, their names lead to it.

        Raises EntityNotFound, InvalidInput when there is no source besides the target itself.
        """
        now = self._clock.now()

        def work(session: Session) -> MergedEntities:
            found = session.entities.resolve(collection, [target, *sources])
            for name in (target, *sources):
                if nfc(name) not in found:
                    raise EntityNotFound(name)
            into = found[nfc(target)]
            apart = {found[nfc(name)].id: found[nfc(name)] for name in sources if found[nfc(name)].id != into.id}
            if not apart:
                raise InvalidInput("sources: nothing to merge", "Name at least one other entity.", "sources")
            merger = Merger(session, collection, into, now)
            for source in apart.values():
                merger.take(source)
            session.entities.touch([into.id], now)
            session.collections.bump(collection)
            return merger.outcome(tuple(source.name for source in apart.values()), dry_run)

        return rehearse(self._store, work) if dry_run else self._store.write(work)

    def update_observation(
        self, collection: int, observation_id: int, content: str | None, kind: str | None
    ) -> UpdatedObservation:
        """Change a live observation's text or kind; it keeps its id and time.

        Raises NotFound for an unknown or superseded one, Conflict when the entity has that text already.
        """

        def work(session: Session) -> UpdatedObservation:
            before = session.observations.by_ids([observation_id]).get(observation_id)
            entity = before and session.entities.by_ids([before.entity_id])[before.entity_id]
            if before is None or entity is None or not _is_in(session, collection, entity):
                raise NotFound(
                    f"Observation with id={observation_id} not found",
                    "open_nodes with details=true shows the ids of observations.",
                )
            if before.superseded_at is not None:
                raise Conflict(
                    f"Observation {observation_id} is history: it has been superseded", "Change the new one."
                )
            after = replace(before, content=before.content if content is None else content, kind=kind or before.kind)
            twin = session.observations.find(entity.id, [after.content]).get(after.content)
            if twin not in (None, observation_id):
                raise Conflict(f"{entity.name} has this text already, as observation {twin}", "Delete one of the two.")
            if after != before:
                session.observations.rewrite(collection, observation_id, after.content, after.kind)
                session.entities.touch([entity.id], self._clock.now())
                session.collections.bump(collection)
            return UpdatedObservation(entity, before, after, _kind_warning(kind))

        if content is None and kind is None:
            raise InvalidInput("Nothing to change", "Give content, kind or both.", "content")
        return self._store.write(work)


def _active_inverse(session: Session, collection: int, edge: Edge) -> Edge | None:
    inverse = Triple(edge.subject, edge.predicate, edge.object or "").inverse()
    if inverse is None or edge.object_id is None:
        return None
    key = (edge.object_id, inverse.predicate, edge.subject_id)
    return session.edges.active(collection, [key], upcoming=True).get(key)


def _is_in(session: Session, collection: int, entity: Entity) -> bool:
    return session.entities.by_names(collection, [entity.name]).get(entity.name) == entity


def _kind_warning(kind: str | None) -> tuple[str, ...]:
    if kind is None or kind in KINDS:
        return ()
    return (f"Unknown kind '{kind}' was stored; known: {', '.join(KINDS)}.",)
