"""The export format: one JSON record a line, an envelope first and the counts last (docs/moving.md).

Here it is written; `portable_reading` reads it. Rows are the store's own values whose ids are numbers of the file. What
a record does not have is left out. Times are ISO 8601 with microseconds; beyond the calendar they are microseconds
since 1970.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from evoca.domain.clock import EPOCH, FIRST, LAST, Instant
from evoca.domain.episodes import EpisodeLink, EpisodeVersion, Merge
from evoca.domain.graph import DEFAULT_KIND, CoOccurrence, Edge, Observation
from evoca.domain.reflections import Reflection
from evoca.services.episode_merging import MergeRecord, Moved, read_record, written
from evoca.storage.transfer_contract import WholeEntity, WholeEpisode

FORMAT = "evoca"
VERSION = 1

Json = Mapping[str, object]
Row = WholeEntity | Observation | Edge | Reflection | WholeEpisode | EpisodeLink | Merge | CoOccurrence
KINDS: Mapping[type, str] = {
    WholeEntity: "entity",
    Observation: "observation",
    Edge: "edge",
    Reflection: "reflection",
    WholeEpisode: "episode",
    EpisodeLink: "link",
    Merge: "merge",
    CoOccurrence: "company",
}
"""Each kind of record, in the order of the file."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The first record: whose file it is, and which collection it holds."""

    exported_at: Instant
    collection: str
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Ending:
    """The last record: how many records of each kind stand before it."""

    counts: Mapping[str, int]


# -- numbers -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class FileNumbers:
    """Numbers of a file for a store's ids, from 1 in order of first mention."""

    _known: dict[int, int] = field(default_factory=dict[int, int])

    def __call__(self, row: int) -> int:
        return self._known.setdefault(row, len(self._known) + 1)


def renumbered(row: Row, of: Callable[[int], int], lost: Callable[[int], int]) -> Row:
    """The row with other ids. `lost`: for ids that a merge remembers, of what may be gone by now.

    A reflection and a merge keep their own, which nothing refers to.
    """

    def maybe(number: int | None) -> int | None:
        return None if number is None else of(number)

    match row:
        case WholeEntity(entity=entity):
            return replace(row, entity=replace(entity, id=of(entity.id)))
        case Observation():
            return replace(row, id=of(row.id), entity_id=of(row.entity_id), supersedes=maybe(row.supersedes))
        case Edge():
            return replace(row, id=of(row.id), subject_id=of(row.subject_id), object_id=maybe(row.object_id))
        case Reflection():
            return replace(row, target_id=maybe(row.target_id)) if row.target_type in _TARGETS else row
        case WholeEpisode(episode=episode):
            number = of(episode.id)
            changed = replace(
                episode,
                id=number,
                possible_duplicate_of=maybe(episode.possible_duplicate_of),
                superseded_by=maybe(episode.superseded_by),
                merged_into=maybe(episode.merged_into),
            )
            versions = tuple(replace(each, episode_id=number) for each in row.versions)
            return replace(row, episode=changed, versions=versions)
        case EpisodeLink():
            return replace(row, id=of(row.id), source_id=of(row.source_id), target_id=of(row.target_id))
        case Merge():
            details = written(_renumbered_record(read_record(row.details), lost))
            return replace(row, survivor_id=of(row.survivor_id), merged_id=of(row.merged_id), details=details)
        case CoOccurrence():
            return replace(row, first=of(row.first), second=of(row.second))


_TARGETS = ("entity", "relation")


def _renumbered_record(record: MergeRecord, lost: Callable[[int], int]) -> MergeRecord:
    moved = tuple(
        Moved(
            replace(
                each.link,
                id=lost(each.link.id),
                source_id=lost(each.link.source_id),
                target_id=lost(each.link.target_id),
            ),
            None if each.ends is None else (lost(each.ends[0]), lost(each.ends[1])),
        )
        for each in record.moved
    )
    was = record.was_duplicate_of
    return MergeRecord(moved, record.added, None if was is None else lost(was))


# -- writing -----------------------------------------------------------------------------------------------


def line(record: Json) -> bytes:
    """A record as a line of the file; what it does not have is left out."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def envelope_json(envelope: Envelope) -> Json:
    collection = {"code": envelope.collection, "name": envelope.name, "description": envelope.description}
    return {"format": FORMAT, "version": VERSION, "exported_at": exact(envelope.exported_at), "collection": collection}


def ending_json(ending: Ending) -> Json:
    return {"type": "end", "counts": dict(ending.counts)}


def row_json(row: Row) -> Json:
    """A row, renumbered already, as its record."""
    match row:
        case WholeEntity():
            fields = _entity_json(row)
        case Observation():
            fields = _observation_json(row)
        case Edge():
            fields = _edge_json(row)
        case Reflection():
            fields = _reflection_json(row)
        case WholeEpisode():
            fields = _episode_json(row)
        case EpisodeLink():
            fields = _link_json(row)
        case Merge():
            fields = _merge_json(row)
        case CoOccurrence():
            fields = {"first": row.first, "second": row.second, "count": row.count, "last": exact(row.last)}
    return {"type": KINDS[type(row)], **_present(fields)}


def _present(fields: Json) -> Json:
    return {key: value for key, value in fields.items() if value is not None and value != []}


def _entity_json(row: WholeEntity) -> Json:
    entity, use = row.entity, row.use
    return {
        "id": entity.id,
        "name": entity.name,
        "entity_type": entity.entity_type,
        "status": entity.status,
        "created_at": exact(entity.created_at),
        "updated_at": exact(entity.updated_at),
        "former_names": [{"name": each.name, "since": exact(each.since)} for each in row.former_names],
        "use": None if use is None else {"count": use.count, "last": exact(use.last), "days": [*map(list, use.days)]},
    }


def _observation_json(row: Observation) -> Json:
    return {
        "id": row.id,
        "entity": row.entity_id,
        "content": row.content,
        "kind": None if row.kind == DEFAULT_KIND else row.kind,
        "created_at": exact(row.created_at),
        "supersedes": row.supersedes,
        "superseded_at": _moment(row.superseded_at),
        "similar": row.similarity_flag or None,
    }


def _edge_json(row: Edge) -> Json:
    return {
        "id": row.id,
        "subject": row.subject_id,
        "predicate": row.predicate,
        "object": row.object_id,
        "value": row.value,
        "context": row.context,
        "source": row.source,
        "confidence": None if row.confidence == 1 else row.confidence,
        "created_at": exact(row.created_at),
        "valid_from": _moment(row.valid_from),
        "ended_at": _moment(row.ended_at),
    }


def _reflection_json(row: Reflection) -> Json:
    return {
        "target_type": row.target_type,
        "target": row.target_id,
        "former_target": row.former_target,
        "author": row.author,
        "mood": row.mood,
        "content": row.content,
        "created_at": exact(row.created_at),
    }


def _episode_json(row: WholeEpisode) -> Json:
    episode = row.episode
    return {
        "id": episode.id,
        "session_id": episode.session_id or None,
        "content": episode.content,
        "memory_type": episode.memory_type,
        "code": episode.code or None,
        "categories": list(episode.categories),
        "nivel": episode.nivel,
        "critico": episode.critico or None,
        "created_at": exact(episode.created_at),
        "updated_at": exact(episode.updated_at),
        "expires_at": _moment(episode.expires_at),
        "used_count": episode.used_count or None,
        "last_used_at": _moment(episode.last_used_at),
        "consolidated_at": _moment(episode.consolidated_at),
        "degraded_at": _moment(episode.degraded_at),
        "degraded_reason": episode.degraded_reason,
        "archived_at": _moment(episode.archived_at),
        "archived_reason": episode.archived_reason,
        "possible_duplicate_of": episode.possible_duplicate_of,
        "superseded_by": episode.superseded_by,
        "merged_into": episode.merged_into,
        "versions": [_present(_version_json(each)) for each in row.versions],
        "unseen": None if row.auto_link is None else {"auto_link": row.auto_link},
    }


def _version_json(version: EpisodeVersion) -> Json:
    return {
        "version": version.version,
        "session_id": version.session_id or None,
        "content": version.content,
        "memory_type": version.memory_type,
        "code": version.code or None,
        "categories": list(version.categories),
        "nivel": version.nivel,
        "critico": version.critico or None,
        "expires_at": _moment(version.expires_at),
        "replaced_at": exact(version.replaced_at),
    }


def _link_json(link: EpisodeLink) -> Json:
    return {
        "id": link.id,
        "source": link.source_id,
        "target": link.target_id,
        "relation_type": link.relation_type,
        "weight": link.weight,
        "created_at": exact(link.created_at),
        "last_used_at": _moment(link.last_used_at),
        "details": None if link.details is None else json.loads(link.details),
    }


def _merge_json(row: Merge) -> Json:
    record = read_record(row.details)
    moved = [
        {**_present(_link_json(each.link)), **({} if each.ends is None else {"ends": list(each.ends)})}
        for each in record.moved
    ]
    return {
        "survivor": row.survivor_id,
        "merged": row.merged_id,
        "merged_at": exact(row.merged_at),
        "undone_at": _moment(row.undone_at),
        "links": moved,
        "categories": list(record.added),
        "duplicate_of": record.was_duplicate_of,
    }


def exact(at: Instant) -> str | int:
    """`2026-04-14T22:47:23.000001Z`; beyond the calendar the number itself."""
    if not FIRST <= at <= LAST:
        return at
    moment = EPOCH + timedelta(microseconds=at)
    return f"{moment.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _moment(at: Instant | None) -> str | int | None:
    return None if at is None else exact(at)
