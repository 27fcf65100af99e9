"""What reads give back: entities with their texts, relations by names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evoca.domain.graph import Edge, Entity, Observation
from evoca.domain.reflections import Reflection
from evoca.storage.contract import Session


@dataclass(frozen=True, slots=True)
class EntityView:
    """An entity and the texts that it shows, in order of insertion."""

    entity: Entity
    observations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntityDetails:
    """Everything of an entity that has no place in the plain view."""

    observations: tuple[Observation, ...]
    reflections: tuple[Reflection, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """How a partial answer stands in the whole: `total` entities match, `has_more` follow this page."""

    total: int
    has_more: bool


@dataclass(frozen=True, slots=True)
class GraphView:
    """Entities, and the relations with at least one end among them. `page` is None for a whole answer."""

    entities: tuple[EntityView, ...]
    relations: tuple[Edge, ...]
    page: Page | None = None
    details: dict[int, EntityDetails] | None = None


def views_of(session: Session, entities: Iterable[Entity]) -> tuple[EntityView, ...]:
    """The plain view of each entity, in the order given."""
    rows = list(entities)
    texts = session.observations.texts_of([row.id for row in rows])
    return tuple(EntityView(row, tuple(texts[row.id])) for row in rows)
