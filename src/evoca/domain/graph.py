"""The graph's values: entities, observations, edges, and the rules that need no store."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evoca.domain.clock import Instant
from evoca.domain.facts import Scalar

DEFAULT_TYPE = "Generic"
DEFAULT_STATUS = "activo"
DEFAULT_KIND = "generic"
STATUSES = ("activo", "pausado", "completado", "archivado")
KINDS = ("hallazgo", "decision", "estado", "spec", "metrica", "metadata", "generic")
INVERSES = {"contiene": "parte_de", "parte_de": "contiene"}
"""Predicates whose inverse is made, ended and deleted with them (seed 000, `end_relation`)."""


_TYPED_NAME = re.compile(r"([a-z][a-z0-9_-]*):([^\s:/]\S*)")


def split_name(name: str) -> tuple[str, str]:
    """Type and id of a name of the form `type:id`; of any other one no type and the whole name."""
    typed = _TYPED_NAME.fullmatch(name)
    return (typed[1], typed[2]) if typed else ("", name)


def type_of_name(name: str) -> str:
    """The type that an entity gets when none is given: `user` for `user:maya`, else the default."""
    return split_name(name)[0] or DEFAULT_TYPE


@dataclass(frozen=True, slots=True)
class Entity:
    id: int
    name: str
    entity_type: str
    status: str
    created_at: Instant
    updated_at: Instant


@dataclass(frozen=True, slots=True)
class NewEntity:
    name: str
    entity_type: str = DEFAULT_TYPE
    status: str = DEFAULT_STATUS


@dataclass(frozen=True, slots=True)
class Observation:
    id: int
    entity_id: int
    content: str
    kind: str
    supersedes: int | None
    superseded_at: Instant | None
    similarity_flag: bool
    created_at: Instant


@dataclass(frozen=True, slots=True)
class NewObservation:
    entity_id: int
    content: str
    kind: str = DEFAULT_KIND
    supersedes: int | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation or a fact: `object_id`/`object` name an entity, or `value` is a literal.

    `active`: it holds now. `valid_from`: None where it was never told; it is `created_at` then.
    """

    id: int
    subject_id: int
    subject: str
    predicate: str
    object_id: int | None
    object: str | None
    value: Scalar | None
    context: str | None
    source: str | None
    confidence: float
    active: bool
    created_at: Instant
    valid_from: Instant | None
    ended_at: Instant | None


@dataclass(frozen=True, slots=True)
class NewEdge:
    subject_id: int
    predicate: str
    object_id: int | None = None
    value: Scalar | None = None
    context: str | None = None
    source: str | None = None
    confidence: float = 1.0
    valid_from: Instant | None = None
    ended_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Triple:
    """A relation by names, as the graph tools know it."""

    subject: str
    predicate: str
    object: str

    def inverse(self) -> Triple | None:
        """The relation that comes and goes with this one, or None."""
        other = INVERSES.get(self.predicate)
        return Triple(self.object, other, self.subject) if other else None


@dataclass(frozen=True, slots=True)
class Collection:
    id: int
    code: str
    name: str
    description: str
    created_at: Instant


@dataclass(frozen=True, slots=True)
class Access:
    """What limbic ranking knows of an entity's use. `days`: on how many UTC days it was used."""

    count: int
    last_access: Instant | None
    days: int


@dataclass(frozen=True, slots=True)
class CoOccurrence:
    """How often two entities were found together; `first` < `second` are entity ids."""

    first: int
    second: int
    count: int
    last: Instant
