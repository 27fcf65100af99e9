"""Importing a file: an export of ours, all of it or nothing, or one of the official memory server (docs/moving.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from evoca.domain.episodes import Episode, EpisodeLink, Merge
from evoca.domain.graph import CoOccurrence, Edge, Observation
from evoca.domain.reflections import Reflection
from evoca.errors import InvalidInput
from evoca.services.portable import KINDS, Ending, Envelope, Row
from evoca.services.portable_reading import Broken, is_ours, read_envelope, read_row
from evoca.services.rehearsing import rehearse
from evoca.services.taking import Taking
from evoca.services.transfer import ImportReport, TransferService
from evoca.storage.contract import Session, Store
from evoca.storage.transfer_contract import WholeEntity, WholeEpisode

_BATCH = 1_000
_PROBLEMS = 20
"""So many bad lines are told."""


@dataclass(frozen=True, slots=True)
class Imported:
    """`added`, `known`: records of each kind that are new, and that were there."""

    envelope: Envelope
    added: Mapping[str, int]
    known: Mapping[str, int]
    dry_run: bool


class ImportService:
    """Imports into one store. A file is only ever read."""

    def __init__(self, store: Store, transfer: TransferService) -> None:
        self._store = store
        self._transfer = transfer

    def import_from(self, collection: int, path: Path, dry_run: bool = False) -> Imported | ImportReport:
        """Import an export, or a JSONL file of the official memory server as `migrate` does.

        An export is one transaction: other writers wait. Raises InvalidInput when the file cannot be read, and when any
        line of an export is bad: nothing was imported then.
        """
        try:
            with path.open("rb") as file:
                if is_ours(file.readline()):
                    return self._import(collection, path, file, dry_run)
        except OSError as fault:
            raise InvalidInput(
                f"{path} cannot be read: {fault.strerror}.", "Give the path of a readable file."
            ) from fault
        return self._transfer.migrate(collection, str(path), dry_run)

    def _import(self, collection: int, path: Path, file: BinaryIO, dry_run: bool) -> Imported:
        envelope = _checked(path, file)

        def work(session: Session) -> Imported:
            taking = Taking(session, collection)
            for rows in _batches(_rows(path, file)):
                taking.take(rows)
            taking.finish(envelope)
            return Imported(envelope, taking.added, taking.known, dry_run)

        return rehearse(self._store, work) if dry_run else self._store.write(work)


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1."""
    file.seek(0)
    return ((number, raw) for number, raw in enumerate(file, 1) if raw.strip())


def _rows(path: Path, file: BinaryIO) -> Iterator[Row]:
    """The rows of a file that was found good."""
    lines = _lines(file)
    next(lines)
    for number, raw in lines:
        try:
            row = read_row(raw)
        except Broken as reason:
            raise InvalidInput(f"{path} changed while it was read: line {number}: {reason}.", "Try again.") from None
        if not isinstance(row, Ending):
            yield row


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Runs of rows of one kind."""
    batch: list[Row] = []
    for row in rows:
        if batch and (len(batch) == _BATCH or type(row) is not type(batch[0])):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


# -- is the file whole? ------------------------------------------------------------------------------------


def _checked(path: Path, file: BinaryIO) -> Envelope:
    """The envelope of a file in which everything is right. Raises InvalidInput, which tells what is not."""
    check = _Check()
    lines = _lines(file)
    number, first = next(lines)
    try:
        envelope = read_envelope(first)
    except Broken as reason:
        raise InvalidInput(
            f"{path} cannot be imported: line {number}: {reason}.", "Nothing was imported. Export it again."
        ) from None
    for number, raw in lines:
        try:
            check.row(number, read_row(raw))
        except Broken as reason:
            check.problem(number, str(reason))
    problems = check.problems()
    if problems:
        told = "; ".join(problems[:_PROBLEMS])
        more = f"; and {len(problems) - _PROBLEMS} more" if len(problems) > _PROBLEMS else ""
        raise InvalidInput(
            f"{path} cannot be imported: {told}{more}.", "Nothing was imported. Mend these lines, or export it again."
        )
    return envelope


class _Check:
    """Whether every number that a row refers to is a row of the right kind before it, and whether all are there."""

    def __init__(self) -> None:
        self._kinds: dict[int, str] = {}
        self._counts = dict.fromkeys(KINDS.values(), 0)
        self._later: list[tuple[int, int, str]] = []
        self._problems: list[tuple[int, str]] = []
        self._ending: Ending | None = None
        self._last = 0

    def problem(self, number: int, reason: str) -> None:
        self._problems.append((number, reason))

    def row(self, number: int, row: Row | Ending) -> None:
        self._last = number
        if self._ending is not None:
            raise Broken("stands after the end record")
        if isinstance(row, Ending):
            self._ending = row
            return
        kind = KINDS[type(row)]
        self._counts[kind] += 1
        own = _own_number(row)
        if own is not None:
            if own in self._kinds:
                raise Broken(f"id {own} was given before")
            self._kinds[own] = kind
        for reference, wanted in _references(row):
            if self._kinds.get(reference) != wanted:
                raise Broken(f"refers to {wanted} {reference}, which does not stand before it")
        self._later += [(number, reference, kind) for reference in _references_to_kin(row)]

    def problems(self) -> list[str]:
        """A clause for each, by line."""
        found = self._problems + [
            (number, f"refers to {kind} {reference}, which is not in the file")
            for number, reference, kind in self._later
            if self._kinds.get(reference) != kind
        ]
        clauses = [f"line {number}: {reason}" for number, reason in sorted(found)]
        if not clauses and self._ending is None:
            clauses = [f"it ends early, after line {self._last}: the end record is missing"]
        elif not clauses and self._ending is not None and self._ending.counts != self._counts:
            clauses = [f"it was changed: {_difference(self._ending.counts, self._counts)}"]
        return clauses


def _difference(told: Mapping[str, int], found: Mapping[str, int]) -> str:
    return ", ".join(
        f"{count} records of type {kind} are told, {found[kind]} are there"
        for kind, count in told.items()
        if found[kind] != count
    )


def _own_number(row: Row) -> int | None:
    match row:
        case WholeEntity(entity=entity):
            return entity.id
        case WholeEpisode(episode=episode):
            return episode.id
        case Observation() | Edge() | EpisodeLink():
            return row.id
        case _:
            return None


def _references(row: Row) -> list[tuple[int, str]]:
    """What a row of another kind must be there for: (number, kind)."""
    match row:
        case Observation():
            return [(row.entity_id, "entity")]
        case Edge():
            return [(each, "entity") for each in (row.subject_id, row.object_id) if each is not None]
        case Reflection(target_id=int(target), target_type="entity"):
            return [(target, "entity")]
        case Reflection(target_id=int(target), target_type="relation"):
            return [(target, "edge")]
        case EpisodeLink():
            return [(row.source_id, "episode"), (row.target_id, "episode")]
        case Merge():
            return [(row.survivor_id, "episode"), (row.merged_id, "episode")]
        case CoOccurrence():
            return [(row.first, "entity"), (row.second, "entity")]
        case _:
            return []


def _references_to_kin(row: Row) -> list[int]:
    match row:
        case Observation(supersedes=int(number)):
            return [number]
        case WholeEpisode(episode=episode):
            return [each for each in _kin(episode) if each is not None]
        case _:
            return []


def _kin(episode: Episode) -> tuple[int | None, ...]:
    return episode.possible_duplicate_of, episode.superseded_by, episode.merged_into
