"""How one entity becomes part of another, inside a transaction."""

from __future__ import annotations

from dataclasses import dataclass

from evoca.domain.clock import Instant
from evoca.domain.graph import Edge, Entity
from evoca.services.graph import edge_name
from evoca.storage.contract import Session


@dataclass(frozen=True, slots=True)
class MergedEntities:
    """What came to the target, and what did not: texts and relations that it had, relations to itself."""

    target: str
    sources: tuple[str, ...]
    moved_observations: int
    dropped_observations: tuple[str, ...]
    moved_relations: int
    dropped_relations: tuple[Edge, ...]
    reflections: int
    aliases: tuple[str, ...]
    dry_run: bool


class Merger:
    """Takes entities into `target`, one after another."""

    def __init__(self, session: Session, collection: int, target: Entity, now: Instant) -> None:
        self._session = session
        self._collection = collection
        self._target = target
        self._now = now
        self._moved_observations = 0
        self._dropped_observations: list[str] = []
        self._moved_relations = 0
        self._dropped_relations: list[Edge] = []
        self._reflections = 0

    def take(self, source: Entity) -> None:
        """Move everything of `source`, then delete it; its names go on as aliases."""
        self._take_observations(source)
        self._take_relations(source)
        session, target = self._session, self._target
        session.edges.adopt_values(source.id, target.id)
        self._reflections += len(session.reflections.about("entity", [source.id])[source.id])
        session.reflections.move(source.id, target.id)
        session.accesses.merge(source.id, target.id)
        names = [*session.entities.aliases(source.id), source.name]
        session.entities.add_aliases(self._collection, target.id, names, self._now)
        session.entities.delete([source.id])

    def outcome(self, sources: tuple[str, ...], dry_run: bool) -> MergedEntities:
        return MergedEntities(
            target=self._target.name,
            sources=sources,
            moved_observations=self._moved_observations,
            dropped_observations=tuple(self._dropped_observations),
            moved_relations=self._moved_relations,
            dropped_relations=tuple(self._dropped_relations),
            reflections=self._reflections,
            aliases=tuple(self._session.entities.aliases(self._target.id)),
            dry_run=dry_run,
        )

    def _take_observations(self, source: Entity) -> None:
        observations = self._session.observations
        rows = observations.of([source.id], include_superseded=True)[source.id]
        live = [row for row in rows if row.superseded_at is None]
        known = observations.find(self._target.id, [row.content for row in live])
        twins = {row.id: row.content for row in live if row.content in known}
        kept = [row.id for row in rows if row.id not in twins]
        observations.delete(list(twins))
        observations.move(kept, self._target.id)
        self._moved_observations += len(kept)
        self._dropped_observations += twins.values()

    def _take_relations(self, source: Entity) -> None:
        edges = self._session.edges
        for edge in edges.touching([source.id], include_ended=True):
            if edge.object_id is None:
                continue
            subject = self._target.id if edge.subject_id == source.id else edge.subject_id
            other = self._target.id if edge.object_id == source.id else edge.object_id
            key = (subject, edge.predicate, other)
            to_itself = subject == other and edge.subject_id != edge.object_id
            over = edge.ended_at is not None and edge.ended_at <= self._now
            if to_itself or (not over and edges.active(self._collection, [key], upcoming=True)):
                self._session.reflections.release("relation", [(edge.id, edge_name(edge))])
                edges.delete([edge.id])
                self._dropped_relations.append(edge)
            else:
                edges.repoint(edge.id, subject, other)
                self._moved_relations += 1
