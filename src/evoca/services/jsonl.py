"""Reading the official server's memory file: one JSON record a line, as tolerant as can be honest.

What cannot be used is told with its line number, never dropped in silence. Records that were glued onto one line
(`{…}{…}`) are all read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from evoca.domain.graph import Triple
from evoca.domain.text import nfc, unusable_character
from evoca.services.graph import EntityDraft
from evoca.settings import Limits


@dataclass(frozen=True, slots=True)
class EntityRecord:
    line: int
    draft: EntityDraft


@dataclass(frozen=True, slots=True)
class RelationRecord:
    line: int
    triple: Triple


@dataclass(frozen=True, slots=True)
class Remark:
    """Something of line `line` that was not used. `skipped`: nothing of that record was."""

    line: int
    reason: str
    skipped: bool = True


Record = EntityRecord | RelationRecord | Remark


class _Unusable(Exception):
    """Why a record cannot be used."""


def read_records(lines: Iterable[bytes], limits: Limits) -> Iterator[Record]:
    """The records of a file's lines (counted from 1), and a remark for whatever could not be used."""
    for number, raw in enumerate(lines, 1):
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError:
            yield Remark(number, "not UTF-8 text")
            continue
        for value in _values(text):
            if isinstance(value, _Unusable):
                yield Remark(number, str(value))
            else:
                yield from _record(number, value, limits)


def _values(text: str) -> Iterator[object]:
    """Every JSON value of a line; an `_Unusable` for the rest when it is no JSON."""
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield _Unusable("not JSON" if at == 0 else f"not JSON after character {at}")
            return
        yield value
        while at < len(text) and text[at].isspace():
            at += 1


def _record(number: int, value: object, limits: Limits) -> Iterator[Record]:
    if not isinstance(value, Mapping):
        yield Remark(number, "not a JSON object")
        return
    fields = cast("Mapping[str, object]", value)
    try:
        match fields.get("type"):
            case "entity":
                yield from _entity(number, fields, limits)
            case "relation":
                yield RelationRecord(number, _relation(fields, limits))
            case None:
                yield Remark(number, "no type: entity or relation")
            case _:
                yield Remark(number, "unknown type: not entity or relation")
    except _Unusable as reason:
        yield Remark(number, str(reason))


def _entity(number: int, fields: Mapping[str, object], limits: Limits) -> Iterator[Record]:
    name = _name(fields, "name", limits)
    entity_type = fields.get("entityType")
    if entity_type is not None:
        entity_type = _text(entity_type, "entityType", limits.type)
    given = fields.get("observations")
    if given is not None and not isinstance(given, list):
        raise _Unusable("observations is not a list")
    observations: list[str] = []
    for position, item in enumerate(cast("list[object]", given or [])):
        try:
            observations.append(_text(item, f"observations[{position}]", limits.text))
        except _Unusable as reason:
            yield Remark(number, f"{reason}; left out", skipped=False)
    yield EntityRecord(number, EntityDraft(name, tuple(observations), entity_type))


def _relation(fields: Mapping[str, object], limits: Limits) -> Triple:
    predicate = _text(fields.get("relationType"), "relationType", limits.type)
    if not predicate.strip():
        raise _Unusable("relationType is blank")
    return Triple(_name(fields, "from", limits), predicate, _name(fields, "to", limits))


def _name(fields: Mapping[str, object], field: str, limits: Limits) -> str:
    name = nfc(_text(fields.get(field), field, limits.name))
    if not name.strip():
        raise _Unusable(f"{field} is blank")
    return name


def _text(value: object, field: str, most: int) -> str:
    if value is None:
        raise _Unusable(f"{field} is missing")
    if not isinstance(value, str):
        raise _Unusable(f"{field} is not a text")
    if len(value) > most:
        raise _Unusable(f"{field} is longer than {most} characters")
    if unusable_character(value):
        raise _Unusable(f"{field} holds a NUL or half of a surrogate pair")
    return value
