"""The export format, read: strictly, so that what was changed or cut off is told and not half understood."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn, cast

from evoca.domain.clock import Instant, from_iso
from evoca.domain.episodes import NIVELES, Episode, EpisodeLink, EpisodeVersion, Merge
from evoca.domain.graph import DEFAULT_KIND, CoOccurrence, Edge, Entity, Observation
from evoca.domain.reflections import TARGET_TYPES, Reflection
from evoca.domain.text import nfc, unusable_character
from evoca.services.episode_merging import MergeRecord, Moved, written
from evoca.services.portable import FORMAT, KINDS, VERSION, Ending, Envelope, Json, Row
from evoca.storage.transfer_contract import FormerName, Use, WholeEntity, WholeEpisode

if TYPE_CHECKING:
    from evoca.domain.facts import Scalar


_OURS = f'{{"format":"{FORMAT}",'.encode()


class Broken(Exception):
    """Why a record cannot be read. Never leaves an import, which tells it with the line."""


def is_ours(first_line: bytes) -> bool:
    """Whether a file that begins with this line says that it is an export of ours, of any version, whole or not."""
    if first_line.lstrip().startswith(_OURS):
        return True
    try:
        value: object = json.loads(first_line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and cast("dict[str, object]", value).get("format") == FORMAT


def read_envelope(raw: bytes) -> Envelope:
    """Raises Broken, also for a format that is newer than this Evoca."""
    fields = _Fields(_object(raw))
    fields.choice("format", (FORMAT,))
    version = fields.number("version")
    if version != VERSION:
        raise Broken(f"the format is version {version}; this Evoca reads version {VERSION}")
    collection = _Fields(fields.mapping("collection"))
    envelope = Envelope(
        fields.at("exported_at"), collection.text("code"), collection.text("name"), collection.text("description")
    )
    collection.end()
    fields.end()
    return envelope


def read_row(raw: bytes) -> Row | Ending:
    """A record after the envelope. Raises Broken."""
    fields = _Fields(_object(raw))
    kind = fields.text("type")
    reader = _READERS.get(kind)
    if reader is None:
        raise Broken(f"unknown type {kind!r}; known: {', '.join(_READERS)}")
    row = reader(fields)
    fields.end()
    return row


def _object(raw: bytes) -> Json:
    try:
        value: object = json.loads(raw.decode(), parse_constant=_no_number)
    except UnicodeDecodeError:
        raise Broken("not UTF-8 text") from None
    except (ValueError, RecursionError):
        raise Broken("not JSON") from None
    if not isinstance(value, dict):
        raise Broken("not a JSON object")
    return cast("Json", value)


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


class _Fields:
    """A record's fields, taken one by one; what is left at the end should not be there."""

    def __init__(self, given: Json) -> None:
        self._left = dict(given)

    def end(self) -> None:
        if self._left:
            raise Broken(f"unknown key {', '.join(map(repr, sorted(self._left)))}")

    def has(self, key: str) -> bool:
        return self._left.get(key) is not None

    def _take(self, key: str) -> object:
        value = self._left.pop(key, None)
        if value is None:
            raise Broken(f"{key} is missing")
        return value

    def text(self, key: str) -> str:
        return _text(self._take(key), key)

    def maybe_text(self, key: str) -> str | None:
        return self.text(key) if self.has(key) else None

    def filled(self, key: str) -> str:
        text = self.text(key)
        if not text.strip():
            raise Broken(f"{key} is blank")
        return text

    def choice(self, key: str, allowed: Sequence[str]) -> str:
        text = self.text(key)
        if text not in allowed:
            raise Broken(f"{key} is {text!r}; allowed: {', '.join(allowed)}")
        return text

    def number(self, key: str) -> int:
        return _whole(self._take(key), key)

    def maybe_number(self, key: str) -> int | None:
        return self.number(key) if self.has(key) else None

    def share(self, key: str) -> float:
        """A number in [0, 1]."""
        value = self._take(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise Broken(f"{key} is not a number from 0 to 1")
        return float(value)

    def at(self, key: str) -> Instant:
        value = self._take(key)
        if not isinstance(value, str):
            return _whole(value, key)
        try:
            return from_iso(value)
        except ValueError:
            raise Broken(f"{key} is not a time") from None

    def maybe_at(self, key: str) -> Instant | None:
        return self.at(key) if self.has(key) else None

    def flag(self, key: str) -> bool:
        value = self._left.pop(key, None)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise Broken(f"{key} is neither true nor false")
        return value

    def scalar(self, key: str) -> Scalar:
        value = self._take(key)
        if isinstance(value, str):
            return _text(value, key)
        if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        raise Broken(f"{key} is neither a text nor a number nor true or false")

    def mapping(self, key: str) -> Json:
        value = self._take(key)
        if not isinstance(value, dict):
            raise Broken(f"{key} is not an object")
        return cast("Json", value)

    def items(self, key: str) -> list[object]:
        value = self._left.pop(key, None)
        if value is None:
            return []
        if not isinstance(value, list):
            raise Broken(f"{key} is not a list")
        return cast("list[object]", value)

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(_text(each, key) for each in self.items(key))

    def parts(self, key: str) -> Iterable[_Fields]:
        for each in self.items(key):
            if not isinstance(each, dict):
                raise Broken(f"{key} holds something that is not an object")
            yield _Fields(cast("Json", each))

    def pair(self, key: str) -> tuple[int, int]:
        first, second = _two(self.items(key), key)
        return first, second


def _text(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise Broken(f"{key} is not a text")
    if unusable_character(value):
        raise Broken(f"{key} holds a NUL or half of a surrogate pair")
    return value


def _whole(value: object, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise Broken(f"{key} is not a whole number")
    return value


def _two(value: object, key: str) -> tuple[int, int]:
    if not isinstance(value, list) or len(cast("list[object]", value)) != 2:
        raise Broken(f"{key} is not a list of two numbers")
    first, second = cast("list[object]", value)
    return _whole(first, key), _whole(second, key)


def _read_entity(fields: _Fields) -> WholeEntity:
    entity = Entity(
        fields.number("id"),
        nfc(fields.filled("name")),
        fields.text("entity_type"),
        fields.text("status"),
        fields.at("created_at"),
        fields.at("updated_at"),
    )
    names: list[FormerName] = []
    for each in fields.parts("former_names"):
        names.append(FormerName(nfc(each.filled("name")), each.at("since")))
        each.end()
    return WholeEntity(entity, tuple(names), _read_use(fields))


def _read_use(fields: _Fields) -> Use | None:
    if not fields.has("use"):
        return None
    given = _Fields(fields.mapping("use"))
    use = Use(given.number("count"), given.at("last"), tuple(_two(each, "days") for each in given.items("days")))
    given.end()
    if len({day for day, _uses in use.days}) != len(use.days):
        raise Broken("use.days names a day twice")
    return use


def _read_observation(fields: _Fields) -> Observation:
    return Observation(
        fields.number("id"),
        fields.number("entity"),
        fields.text("content"),
        fields.maybe_text("kind") or DEFAULT_KIND,
        fields.maybe_number("supersedes"),
        fields.maybe_at("superseded_at"),
        fields.flag("similar"),
        fields.at("created_at"),
    )


def _read_edge(fields: _Fields) -> Edge:
    if fields.has("object") == fields.has("value"):
        raise Broken("an edge has either an object or a value")
    ended_at = fields.maybe_at("ended_at")
    return Edge(
        id=fields.number("id"),
        subject_id=fields.number("subject"),
        subject="",
        predicate=fields.filled("predicate"),
        object_id=fields.maybe_number("object"),
        object=None,
        value=fields.scalar("value") if fields.has("value") else None,
        context=fields.maybe_text("context"),
        source=fields.maybe_text("source"),
        confidence=fields.share("confidence") if fields.has("confidence") else 1.0,
        active=ended_at is None,
        created_at=fields.at("created_at"),
        valid_from=fields.maybe_at("valid_from"),
        ended_at=ended_at,
    )


def _read_reflection(fields: _Fields) -> Reflection:
    return Reflection(
        0,
        fields.choice("target_type", TARGET_TYPES),
        fields.maybe_number("target"),
        fields.text("author"),
        fields.text("content"),
        fields.maybe_text("mood"),
        fields.at("created_at"),
        fields.maybe_text("former_target"),
    )


def _read_episode(fields: _Fields) -> WholeEpisode:
    number = fields.number("id")
    episode = Episode(
        id=number,
        session_id=fields.maybe_text("session_id") or "",
        content=fields.filled("content"),
        memory_type=fields.text("memory_type"),
        code=fields.maybe_text("code") or "",
        nivel=fields.choice("nivel", NIVELES),
        critico=fields.flag("critico"),
        created_at=fields.at("created_at"),
        updated_at=fields.at("updated_at"),
        expires_at=fields.maybe_at("expires_at"),
        used_count=fields.maybe_number("used_count") or 0,
        last_used_at=fields.maybe_at("last_used_at"),
        consolidated_at=fields.maybe_at("consolidated_at"),
        degraded_at=fields.maybe_at("degraded_at"),
        degraded_reason=fields.maybe_text("degraded_reason"),
        archived_at=fields.maybe_at("archived_at"),
        archived_reason=fields.maybe_text("archived_reason"),
        possible_duplicate_of=fields.maybe_number("possible_duplicate_of"),
        superseded_by=fields.maybe_number("superseded_by"),
        merged_into=fields.maybe_number("merged_into"),
        categories=fields.texts("categories"),
    )
    versions = tuple(_read_version(number, each) for each in fields.parts("versions"))
    if len({each.version for each in versions}) != len(versions):
        raise Broken("versions names a version twice")
    return WholeEpisode(episode, versions, _read_unseen(fields))


def _read_unseen(fields: _Fields) -> bool | None:
    if not fields.has("unseen"):
        return None
    given = _Fields(fields.mapping("unseen"))
    auto_link = given.flag("auto_link")
    given.end()
    return auto_link


def _read_version(episode: int, fields: _Fields) -> EpisodeVersion:
    version = EpisodeVersion(
        episode,
        fields.number("version"),
        fields.maybe_text("session_id") or "",
        fields.text("content"),
        fields.text("memory_type"),
        fields.maybe_text("code") or "",
        fields.texts("categories"),
        fields.choice("nivel", NIVELES),
        fields.flag("critico"),
        fields.maybe_at("expires_at"),
        fields.at("replaced_at"),
    )
    fields.end()
    return version


def _read_link(fields: _Fields) -> EpisodeLink:
    link = EpisodeLink(
        fields.number("id"),
        fields.number("source"),
        fields.number("target"),
        fields.filled("relation_type"),
        fields.share("weight"),
        fields.at("created_at"),
        fields.maybe_at("last_used_at"),
        json.dumps(fields.mapping("details")) if fields.has("details") else None,
    )
    if link.source_id == link.target_id:
        raise Broken("a link joins two memories")
    return link


def _read_merge(fields: _Fields) -> Merge:
    moved: list[Moved] = []
    for each in fields.parts("links"):
        ends = each.pair("ends") if each.has("ends") else None
        moved.append(Moved(_read_link(each), ends))
        each.end()
    was = fields.maybe_number("duplicate_of")
    return Merge(
        0,
        fields.number("survivor"),
        fields.number("merged"),
        fields.at("merged_at"),
        fields.maybe_at("undone_at"),
        written(MergeRecord(tuple(moved), fields.texts("categories"), was)),
    )


def _read_company(fields: _Fields) -> CoOccurrence:
    company = CoOccurrence(fields.number("first"), fields.number("second"), fields.number("count"), fields.at("last"))
    if company.first == company.second:
        raise Broken("company is of two entities")
    return company


def _read_ending(fields: _Fields) -> Ending:
    given = _Fields(fields.mapping("counts"))
    counts = {kind: given.number(kind) for kind in KINDS.values()}
    given.end()
    return Ending(counts)


_READERS: Mapping[str, Callable[[_Fields], Row | Ending]] = {
    "entity": _read_entity,
    "observation": _read_observation,
    "edge": _read_edge,
    "reflection": _read_reflection,
    "episode": _read_episode,
    "link": _read_link,
    "merge": _read_merge,
    "company": _read_company,
    "end": _read_ending,
}
