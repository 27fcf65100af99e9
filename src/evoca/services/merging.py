"""How one entity becomes part of another, inside a transaction."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evoca.domain.clock import Instant
from evoca.domain.graph import Edge, Entity
from evoca.domain.validity import is_current, object_of
from evoca.services.timelines import fact_name
from evoca.storage.contract import Session
from evoca.storage.fact_contract import FactFilter


@dataclass(frozen=True, slots=True)
class MergedEntities:
    """What came to the target, and what did not: what it had already, and relations to itself.

    Facts are those with literal values. `at`: when they were merged.
    """

    target: str
    sources: tuple[str, ...]
    moved_observations: int
    dropped_observations: tuple[str, ...]
    moved_relations: int
    dropped_relations: tuple[Edge, ...]
    moved_facts: int
    dropped_facts: tuple[Edge, ...]
    reflections: int
    aliases: tuple[str, ...]
    dry_run: bool
    at: Instant


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
        self._moved_facts = 0
        self._dropped_facts: list[Edge] = []
        self._reflections = 0

    def take(self, source: Entity) -> None:
        """Move everything of `source`, then delete it; its names go on as aliases."""
        self._take_observations(source)
        self._take_relations(source)
        self._take_facts(source)
        session, target = self._session, self._target
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
            moved_facts=self._moved_facts,
            dropped_facts=tuple(self._dropped_facts),
            reflections=self._reflections,
            aliases=tuple(self._session.entities.aliases(self._target.id)),
            dry_run=dry_run,
            at=self._now,
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
            twin = None if self._is_over(edge) else edges.active(self._collection, [key], upcoming=True).get(key)
            if to_itself or twin is not None:
                self._drop(edge, twin)
                self._dropped_relations.append(edge)
            else:
                edges.repoint(edge.id, subject, other)
                self._moved_relations += 1

    def _take_facts(self, source: Entity) -> None:
        facts = self._session.facts
        touching = facts.by_ids(facts.matching(FactFilter(self._collection, touching=[source.id])))
        literals = [touching[number] for number in sorted(touching) if touching[number].object_id is None]
        twins = [(each, self._fact_twin(each)) for each in literals]
        for fact, twin in twins:
            if twin is None:
                self._moved_facts += 1
            else:
                self._drop(fact, twin)
                self._dropped_facts.append(fact)
        self._session.edges.adopt_values(source.id, self._target.id)

    def _fact_twin(self, fact: Edge) -> Edge | None:
        """What the target has that says the same and is not over."""
        if self._is_over(fact):
            return None
        known = self._session.facts.of_triple(self._collection, self._target.id, fact.predicate, object_of(fact))
        open_ones = [each for each in known if not self._is_over(each)]
        return min(open_ones, key=lambda each: not is_current(each, self._now), default=None)

    def _drop(self, edge: Edge, twin: Edge | None) -> None:
        """Delete an edge; the one that says the same takes what it lacks from it."""
        self._session.reflections.release("relation", [(edge.id, fact_name(edge))])
        self._session.edges.delete([edge.id])
        if twin is None:
            return
        # Read anew: it may have taken something from an earlier one.
        twin = self._session.facts.by_ids([twin.id])[twin.id]
        filled = replace(twin, context=twin.context or edge.context, source=twin.source or edge.source)
        if filled != twin:
            self._session.facts.revise(filled)

    def _is_over(self, edge: Edge) -> bool:
        return edge.ended_at is not None and edge.ended_at <= self._now
