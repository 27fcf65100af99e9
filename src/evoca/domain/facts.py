"""Facts: subject, predicate, and an object that is an entity or a literal value."""

from __future__ import annotations

from dataclasses import dataclass

Scalar = str | int | float | bool

SINGLE_VALUED = (
    "vive_en", "lives_in", "trabaja_en", "works_at", "works_for", "fecha_nacimiento", "birth_date", "born_on", "edad",
    "age", "estado", "status", "email_principal", "primary_email", "ubicacion_actual", "current_location", "cargo",
    "job_title", "version_actual", "current_version",
)  # fmt: skip
"""The predicates that have one object at a time unless the settings say otherwise (contract, Facts 3)."""


@dataclass(frozen=True, slots=True)
class EntityObject:
    id: int


@dataclass(frozen=True, slots=True)
class LiteralObject:
    value: Scalar


FactObject = EntityObject | LiteralObject
