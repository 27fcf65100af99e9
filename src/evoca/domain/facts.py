"""Facts: subject, predicate, and an object that is an entity or a literal value."""

from __future__ import annotations

from dataclasses import dataclass

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class EntityObject:
    id: int


@dataclass(frozen=True, slots=True)
class LiteralObject:
    value: Scalar


FactObject = EntityObject | LiteralObject
