"""Merging memories that say the same, so that it can be taken back (seed 002; contract, Hipocampo 1 and 4).

A copy is hidden, not deleted; its links and categories go to the survivor, and what was changed for that is recorded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from evoca.domain.clock import Instant
from evoca.domain.episodes import CONTRADICTS, NIVELES, Episode, EpisodeLink, Merge, fold_label
from evoca.services.episodes import settle_superseded
from evoca.storage.contract import Session

_Ends = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Moved:
    """A link of the copy as it was, and the ends that it got; None: the survivor had such a link already."""

    link: EpisodeLink
    ends: _Ends | None


@dataclass(frozen=True, slots=True)
class MergeRecord:
    """What a merge changed besides (`Merge.details`).

    `added`: categories. `was_duplicate_of`: the survivor's, if it was taken off.
    """

    moved: tuple[Moved, ...]
    added: tuple[str, ...]
    was_duplicate_of: int | None


def preference(each: Episode) -> tuple[int, bool, int, bool, int]:
    """Who survives: the higher level, then what lasts longer, then what was used, then the older one."""
    return (
        -NIVELES.index(each.nivel),
        each.expires_at is not None,
        -(each.expires_at or 0),
        not each.used_count,
        each.id,
    )


def merge(session: Session, collection: int, copy: int, survivor: int, now: Instant) -> None:
    """Hide a memory behind another one of its scope, give that its links and categories, and record it."""
    rows = session.episodes.by_ids(collection, [copy, survivor])
    kept = rows[survivor]
    known = {fold_label(each) for each in kept.categories}
    added = tuple(each for each in rows[copy].categories if fold_label(each) not in known)
    if added:
        session.episodes.set_categories(collection, survivor, (*kept.categories, *added))
    moved = tuple(_move(session, collection, link, copy, survivor) for link in session.episode_links.touching([copy]))
    was = kept.possible_duplicate_of if kept.possible_duplicate_of == copy else None
    if was is not None:
        session.episodes.mark_duplicate(survivor, None)
    session.episodes.hide([copy], survivor)
    settle_superseded(session, collection, _contradicted(moved))
    session.merges.insert(collection, survivor, copy, written(MergeRecord(moved, added, was)), now)


def take_back(session: Session, collection: int, done: Merge, now: Instant) -> None:
    """Undo a merge: the copy stands again with its links; the survivor keeps what was given to it since."""
    record = read_record(done.details)
    session.episodes.unhide(collection, [done.merged_id])
    for each in record.moved:
        _move_back(session, collection, each)
    survivor = session.episodes.by_ids(collection, [done.survivor_id])[done.survivor_id]
    rest = tuple(each for each in survivor.categories if each not in record.added)
    if rest != survivor.categories:
        session.episodes.set_categories(collection, survivor.id, rest)
    if record.was_duplicate_of is not None and survivor.possible_duplicate_of is None:
        session.episodes.mark_duplicate(survivor.id, record.was_duplicate_of)
    settle_superseded(session, collection, [*_contradicted(record.moved), survivor.id, done.merged_id])
    session.merges.undo(done.id, now)


def _move(session: Session, collection: int, link: EpisodeLink, copy: int, survivor: int) -> Moved:
    source = survivor if link.source_id == copy else link.source_id
    target = survivor if link.target_id == copy else link.target_id
    session.episode_links.delete([link.id])
    if source == target or session.episode_links.between(source, target, link.relation_type):
        return Moved(link, None)
    session.episode_links.restore(collection, replace(link, source_id=source, target_id=target))
    return Moved(link, (source, target))


def _move_back(session: Session, collection: int, moved: Moved) -> None:
    """A link that was removed or moved on meanwhile is left alone, as is one whose other end is gone or hidden."""
    link = moved.link
    if moved.ends is not None:
        now = session.episode_links.by_ids(collection, [link.id]).get(link.id)
        if now is None or (now.source_id, now.target_id) != moved.ends:
            return
        session.episode_links.delete([link.id])
        link = replace(link, weight=now.weight, last_used_at=now.last_used_at)
    ends = session.episodes.by_ids(collection, [link.source_id, link.target_id])
    if len(ends) == 2 and all(each.merged_into is None for each in ends.values()):
        session.episode_links.restore(collection, link)


def _contradicted(moved: Sequence[Moved]) -> set[int]:
    return {each.link.target_id for each in moved if each.link.relation_type == CONTRADICTS}


def written(record: MergeRecord) -> str:
    """A record as `Merge.details` keeps it."""
    links = [
        [
            each.link.id,
            each.link.source_id,
            each.link.target_id,
            each.link.relation_type,
            each.link.weight,
            each.link.created_at,
            each.link.last_used_at,
            each.link.details,
            each.ends,
        ]
        for each in record.moved
    ]
    return json.dumps({"links": links, "categories": record.added, "duplicate_of": record.was_duplicate_of})


_LinkJson = tuple[int, int, int, str, float, int, int | None, str | None, Sequence[int] | None]


def read_record(details: str) -> MergeRecord:
    """The record that `Merge.details` keeps."""
    found = cast("dict[str, object]", json.loads(details))
    moved = [
        Moved(EpisodeLink(*row[:8]), None if row[8] is None else (row[8][0], row[8][1]))
        for row in cast("list[_LinkJson]", found["links"])
    ]
    return MergeRecord(
        tuple(moved), tuple(cast("list[str]", found["categories"])), cast("int | None", found["duplicate_of"])
    )
