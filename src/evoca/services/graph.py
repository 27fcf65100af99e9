"""Changing the graph: entities, observations and relations (seed 000, tools 1–6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from evoca.domain.clock import Clock, Instant
from evoca.domain.graph import (
    DEFAULT_KIND,
    DEFAULT_STATUS,
    KINDS,
    STATUSES,
    Edge,
    Entity,
    NewEdge,
    NewEntity,
    NewObservation,
    Triple,
    type_of_name,
)
from evoca.domain.text import nfc
from evoca.errors import EntityNotFound, InvalidInput
from evoca.services.views import EntityView, views_of
from evoca.storage.contract import Session, Store

INVERSE_CONTEXT = "Inversa automática de {}"


@dataclass(frozen=True, slots=True)
class EntityDraft:
    """An entity to create or to merge into the one of that name. None: keep, or the default for a new one."""

    name: str
    observations: tuple[str, ...] = ()
    entity_type: str | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True)
class RelationDraft:
    triple: Triple
    context: str | None = None


@dataclass(frozen=True, slots=True)
class Additions:
    """Texts for one entity. `supersedes`: the id of a live observation of it that they replace."""

    name: str
    contents: tuple[str, ...]
    kind: str = DEFAULT_KIND
    supersedes: int | None = None


@dataclass(frozen=True, slots=True)
class Removals:
    """Exact texts to remove from one entity."""

    name: str
    contents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CreatedEntities:
    """`entities`: each named entity once, whole, in order of first mention."""

    entities: tuple[EntityView, ...]
    created: tuple[str, ...]
    updated: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RelationOutcome:
    """`missing`: the end that does not exist; `existed`: the relation was there before."""

    draft: RelationDraft
    missing: str | None = None
    existed: bool = False


@dataclass(frozen=True, slots=True)
class Added:
    """What one item of a call really added."""

    name: str
    contents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddedObservations:
    results: tuple[Added, ...]
    entities: tuple[EntityView, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeletedEntities:
    deleted: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeletedObservations:
    """`entity` is None when it does not exist; `missing`: texts it does not have."""

    name: str
    entity: EntityView | None
    deleted: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RelationRemoval:
    """`ends_known` is False when an end does not exist."""

    triple: Triple
    deleted: bool
    ends_known: bool


class GraphService:
    """Writes to one store's graphs. Each method is one transaction: all of it, or an error and nothing.

    Names are compared by their NFC form, observations by their exact text.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def create_entities(self, collection: int, drafts: Sequence[EntityDraft]) -> CreatedEntities:
        """Create entities, or merge observations into those that exist."""
        merged = merge_drafts(drafts)
        now = self._clock.now()
        result = self._store.write(lambda session: create(session, collection, merged, now))
        return CreatedEntities(result.entities, result.created, result.updated, _status_warnings(merged))

    def create_relations(self, collection: int, drafts: Sequence[RelationDraft]) -> tuple[RelationOutcome, ...]:
        """Make each relation whose ends exist; `contiene` and `parte_de` make their inverse too."""
        now = self._clock.now()
        return self._store.write(lambda session: relate(session, collection, drafts, now))

    def add_observations(self, collection: int, items: Sequence[Additions]) -> AddedObservations:
        """Add texts to existing entities; texts that are there already are left out.

        Raises EntityNotFound for an unknown entity, InvalidInput for a `supersedes` that cannot be; nothing is saved.
        """
        now = self._clock.now()
        names = list(dict.fromkeys(nfc(item.name) for item in items))

        def work(session: Session) -> AddedObservations:
            found = session.entities.resolve(collection, names)
            for item in items:
                if nfc(item.name) not in found:
                    raise EntityNotFound(item.name)
            results = [_add(session, collection, found[nfc(item.name)], item, now) for item in items]
            if any(result.contents for result in results) or any(item.supersedes is not None for item in items):
                session.collections.bump(collection)
            views = views_of(session, list({found[name].id: found[name] for name in names}.values()))
            return AddedObservations(tuple(results), views, _kind_warnings(items))

        return self._store.write(work)

    def delete_entities(self, collection: int, names: Sequence[str]) -> DeletedEntities:
        """Delete entities with their observations and relations; unknown names are told apart."""
        wanted = list(dict.fromkeys(nfc(name) for name in names))

        def work(session: Session) -> DeletedEntities:
            found = session.entities.resolve(collection, wanted)
            if found:
                entities = list({entity.id: entity for entity in found.values()}.values())
                release_reflections(session, entities)
                session.entities.delete([entity.id for entity in entities])
                session.collections.bump(collection)
            # Of several names of one entity the first counts.
            first = {found[name].id: name for name in reversed(wanted) if name in found}
            deleted = tuple(name for name in wanted if name in found and first[found[name].id] == name)
            return DeletedEntities(deleted, tuple(name for name in wanted if name not in found))

        return self._store.write(work)

    def delete_observations(self, collection: int, items: Sequence[Removals]) -> tuple[DeletedObservations, ...]:
        """Delete exactly these texts, superseded ones too."""
        now = self._clock.now()

        def work(session: Session) -> tuple[DeletedObservations, ...]:
            found = session.entities.resolve(collection, {nfc(item.name) for item in items})
            outcomes = tuple(_remove(session, found.get(nfc(item.name)), item, now) for item in items)
            if any(outcome.deleted for outcome in outcomes):
                session.collections.bump(collection)
            return outcomes

        return self._store.write(work)

    def delete_relations(self, collection: int, triples: Sequence[Triple]) -> tuple[RelationRemoval, ...]:
        """Delete active relations, and the inverse of a `contiene`/`parte_de`; ended ones stay as history."""

        def work(session: Session) -> tuple[RelationRemoval, ...]:
            wanted = list(dict.fromkeys(_with_present_names(session, collection, triples)))
            ids = _ids_of_ends(session, collection, wanted)
            keys = {key for triple in wanted for key in _keys_with_inverse(triple, ids)}
            active = session.edges.active(collection, keys)
            if active:
                session.reflections.release("relation", [(edge.id, edge_name(edge)) for edge in active.values()])
                session.edges.delete([edge.id for edge in active.values()])
                session.collections.bump(collection)
            return tuple(
                RelationRemoval(triple, _key(triple, ids) in active, triple.subject in ids and triple.object in ids)
                for triple in wanted
            )

        return self._store.write(work)


def merge_drafts(drafts: Iterable[EntityDraft]) -> tuple[EntityDraft, ...]:
    """One draft a name, in order of first mention: texts are joined, the first given type and status hold."""
    merged: dict[str, EntityDraft] = {}
    for draft in drafts:
        name = nfc(draft.name)
        before = merged.get(name, EntityDraft(name))
        merged[name] = EntityDraft(
            name,
            tuple(dict.fromkeys((*before.observations, *draft.observations))),
            draft.entity_type if before.entity_type is None else before.entity_type,
            draft.status if before.status is None else before.status,
        )
    return tuple(merged.values())


def create(session: Session, collection: int, drafts: Sequence[EntityDraft], now: Instant) -> CreatedEntities:
    """The transaction behind `create_entities`; `drafts` are merged already (`merge_drafts`)."""
    existing = session.entities.resolve(collection, [draft.name for draft in drafts])
    if existing:
        # Two former names, or a former and the present one, may lead to the same entity.
        drafts = merge_drafts(
            replace(draft, name=existing[draft.name].name) if draft.name in existing else draft for draft in drafts
        )
        existing = {entity.name: entity for entity in existing.values()}
    fresh = [draft for draft in drafts if draft.name not in existing]
    views = _insert(session, collection, fresh, now)
    changed = [
        draft.name
        for draft in drafts
        if draft.name in existing and _merge(session, collection, existing[draft.name], draft, now)
    ]
    if fresh or changed:
        session.collections.bump(collection)
    if existing:
        present = session.entities.by_ids(entity.id for entity in existing.values())
        views |= {view.entity.name: view for view in views_of(session, present.values())}
    return CreatedEntities(
        tuple(views[draft.name] for draft in drafts), tuple(draft.name for draft in fresh), tuple(changed), ()
    )


def _insert(session: Session, collection: int, drafts: Sequence[EntityDraft], now: Instant) -> dict[str, EntityView]:
    """New entities with their texts, by name."""
    new = [_new_entity(draft) for draft in drafts]
    ids = session.entities.insert(collection, new, now)
    rows = [
        NewObservation(entity, text) for entity, draft in zip(ids, drafts, strict=True) for text in draft.observations
    ]
    session.observations.insert(collection, rows, now)
    return {
        draft.name: EntityView(Entity(id_, row.name, row.entity_type, row.status, now, now), draft.observations)
        for id_, row, draft in zip(ids, new, drafts, strict=True)
    }


def _merge(session: Session, collection: int, entity: Entity, draft: EntityDraft, now: Instant) -> bool:
    """Merge a draft into the entity of that name. Whether anything changed."""
    known = session.observations.find(entity.id, draft.observations)
    rows = [NewObservation(entity.id, text) for text in draft.observations if text not in known]
    if not rows and not _changes_header(entity, draft):
        return False
    session.entities.update(
        entity.id,
        entity.entity_type if draft.entity_type is None else draft.entity_type,
        entity.status if draft.status is None else draft.status,
        now,
    )
    session.observations.insert(collection, rows, now)
    return True


def relate(
    session: Session, collection: int, drafts: Sequence[RelationDraft], now: Instant
) -> tuple[RelationOutcome, ...]:
    """The transaction behind `create_relations`."""
    triples = _with_present_names(session, collection, [draft.triple for draft in drafts])
    drafts = [replace(draft, triple=triple) for draft, triple in zip(drafts, triples, strict=True)]
    ids = _ids_of_ends(session, collection, triples)
    keys = {key for draft in drafts for key in _keys_with_inverse(draft.triple, ids)}
    known = session.edges.active(collection, keys, upcoming=True)
    taken = {key for key, edge in known.items() if edge.active}
    rows: list[NewEdge] = []
    outcomes: list[RelationOutcome] = []
    for draft in drafts:
        triple = draft.triple
        missing = next((name for name in (triple.subject, triple.object) if name not in ids), None)
        key = _key(triple, ids)
        if missing is None and key is not None and key not in taken:
            taken.add(key)
            rows.append(NewEdge(key[0], key[1], key[2], context=draft.context))
            rows += _inverse_edge(triple, ids, taken)
            outcomes.append(RelationOutcome(draft))
        else:
            outcomes.append(RelationOutcome(draft, missing, existed=missing is None))
    if rows:
        session.edges.insert(collection, [row for row in rows if _triple_of(row) not in known], now)
        for row in rows:
            if (upcoming := known.get(_triple_of(row))) is not None:
                # Told as a fact that begins later: it begins now.
                session.facts.revise(replace(upcoming, valid_from=now))
        session.collections.bump(collection)
    return tuple(outcomes)


def _triple_of(row: NewEdge) -> tuple[int, str, int]:
    return row.subject_id, row.predicate, row.object_id or 0


def _inverse_edge(triple: Triple, ids: dict[str, int], taken: set[tuple[int, str, int]]) -> list[NewEdge]:
    inverse = triple.inverse()
    key = _key(inverse, ids) if inverse else None
    if key is None or key in taken:
        return []
    taken.add(key)
    return [NewEdge(key[0], key[1], key[2], context=INVERSE_CONTEXT.format(triple.predicate))]


def _new_entity(draft: EntityDraft) -> NewEntity:
    return NewEntity(
        draft.name,
        type_of_name(draft.name) if draft.entity_type is None else draft.entity_type,
        DEFAULT_STATUS if draft.status is None else draft.status,
    )


def _changes_header(entity: Entity, draft: EntityDraft) -> bool:
    return (draft.entity_type is not None and draft.entity_type != entity.entity_type) or (
        draft.status is not None and draft.status != entity.status
    )


def _add(session: Session, collection: int, entity: Entity, item: Additions, now: Instant) -> Added:
    if item.supersedes is not None:
        old = session.observations.by_ids([item.supersedes]).get(item.supersedes)
        if old is None or old.entity_id != entity.id or old.superseded_at is not None:
            raise InvalidInput(
                f"supersedes: {item.supersedes} is not a live observation of {entity.name}",
                "open_nodes with details=true lists the ids of its observations.",
                "supersedes",
            )
        session.observations.supersede(item.supersedes, now)
    contents = list(dict.fromkeys(item.contents))
    known = session.observations.find(entity.id, contents)
    new = [text for text in contents if text not in known]
    rows = [NewObservation(entity.id, text, item.kind) for text in new]
    if rows and item.supersedes is not None:
        # The last one stands for the replaced text, as in the public implementation (seeds, `supersedes`).
        rows[-1] = NewObservation(entity.id, new[-1], item.kind, item.supersedes)
    session.observations.insert(collection, rows, now)
    if rows or item.supersedes is not None:
        session.entities.touch([entity.id], now)
    return Added(entity.name, tuple(new))


def _remove(session: Session, entity: Entity | None, item: Removals, now: Instant) -> DeletedObservations:
    contents = dict.fromkeys(item.contents)
    if entity is None:
        return DeletedObservations(item.name, None, (), tuple(contents))
    rows = session.observations.of([entity.id], include_superseded=True)[entity.id]
    ids = [row.id for row in rows if row.content in contents]
    known = {row.content for row in rows}
    if ids:
        session.observations.delete(ids)
        session.entities.touch([entity.id], now)
    return DeletedObservations(
        entity.name,
        views_of(session, [entity])[0],
        tuple(text for text in contents if text in known),
        tuple(text for text in contents if text not in known),
    )


def release_reflections(session: Session, entities: Collection[Entity]) -> None:
    """What is said of entities that go, and of their relations, stays as global (contract, Graph 12)."""
    ids = [entity.id for entity in entities]
    edges = session.edges.by_ids(session.reflections.relations_at(ids)).values()
    session.reflections.release("relation", [(edge.id, edge_name(edge)) for edge in edges])
    session.reflections.release("entity", [(entity.id, entity.name) for entity in entities])


def find_edge(session: Session, collection: int, id_: int | None, triple: Triple | None) -> Edge | None:
    """A relation by its id, or by names: the active one, else the one that ended last. None when there is none."""
    if id_ is not None:
        edge = session.edges.by_ids([id_]).get(id_)
        known = edge and session.entities.by_names(collection, [edge.subject]).get(edge.subject)
        return edge if edge and known and known.id == edge.subject_id else None
    if triple is None:
        return None
    (present,) = _with_present_names(session, collection, [triple])
    ids = _ids_of_ends(session, collection, [present])
    key = _key(present, ids)
    if key is None:
        return None
    ended = (
        edge
        for edge in session.edges.touching([key[0]], include_ended=True)
        if (edge.subject_id, edge.predicate, edge.object_id) == key
    )
    return session.edges.active(collection, [key]).get(key) or max(ended, key=lambda edge: edge.id, default=None)


def edge_name(edge: Edge) -> str:
    """How a relation is named in messages: `Ada -> Lab (works_at)`."""
    return f"{edge.subject} -> {edge.object} ({edge.predicate})"


def _ids_of_ends(session: Session, collection: int, triples: Iterable[Triple]) -> dict[str, int]:
    names = {name for triple in triples for name in (triple.subject, triple.object)}
    return {name: entity.id for name, entity in session.entities.resolve(collection, names).items()}


def _with_present_names(session: Session, collection: int, triples: Iterable[Triple]) -> list[Triple]:
    """The triples, in NFC; where a former name was given, with the name that the entity has now."""
    given = [Triple(nfc(each.subject), each.predicate, nfc(each.object)) for each in triples]
    names = {name for each in given for name in (each.subject, each.object)}
    present = {name: entity.name for name, entity in session.entities.resolve(collection, names).items()}
    return [
        Triple(present.get(each.subject, each.subject), each.predicate, present.get(each.object, each.object))
        for each in given
    ]


def _key(triple: Triple, ids: dict[str, int]) -> tuple[int, str, int] | None:
    subject, other = ids.get(triple.subject), ids.get(triple.object)
    return None if subject is None or other is None else (subject, triple.predicate, other)


def _keys_with_inverse(triple: Triple, ids: dict[str, int]) -> list[tuple[int, str, int]]:
    inverse = triple.inverse()
    keys = (_key(triple, ids), _key(inverse, ids) if inverse else None)
    return [key for key in keys if key is not None]


def _status_warnings(drafts: Iterable[EntityDraft]) -> tuple[str, ...]:
    unknown = dict.fromkeys(
        draft.status for draft in drafts if draft.status is not None and draft.status not in STATUSES
    )
    return tuple(f"Unknown status '{status}' was stored; known: {', '.join(STATUSES)}." for status in unknown)


def _kind_warnings(items: Iterable[Additions]) -> tuple[str, ...]:
    unknown = dict.fromkeys(item.kind for item in items if item.kind not in KINDS)
    return tuple(f"Unknown kind '{kind}' was stored; known: {', '.join(KINDS)}." for kind in unknown)
