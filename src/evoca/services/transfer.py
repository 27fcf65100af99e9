"""Bringing memory in: the official server's JSONL file (seed 000, `migrate`; `MEMORY_FILE_PATH`)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from evoca.domain.clock import Clock, Instant
from evoca.errors import EvocaError, InvalidInput, Unavailable
from evoca.services.graph import EntityDraft, RelationDraft, create, merge_drafts, relate
from evoca.services.jsonl import EntityRecord, Record, RelationRecord, Remark, read_records
from evoca.services.rehearsing import rehearse
from evoca.settings import Limits
from evoca.storage.contract import Session, Store

T = TypeVar("T")

_GROUP = 500
"""Records in one transaction: other writers get their turn between two."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """`entities`/`relations`: new or changed; `unchanged`: there already; `skipped`: lines not used at all."""

    entities: int
    relations: int
    unchanged: int
    skipped: int
    errors: int
    details: tuple[Remark, ...]
    dry_run: bool


class TransferService:
    """Imports into one store. A file is only ever read."""

    def __init__(self, store: Store, clock: Clock, limits: Limits) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits

    def migrate(self, collection: int, source_path: str, dry_run: bool = False) -> ImportReport:
        """Import a JSONL memory file: entities first, then relations, so that their order does not matter.

        Idempotent. `dry_run` reports what would happen and changes nothing. Raises InvalidInput when the path is
        blank or cannot be read.
        """
        if not source_path.strip():
            raise InvalidInput(
                "source_path is required — provide the path to an Anthropic MCP Memory JSONL file", field="source_path"
            )
        try:
            content = Path(source_path).expanduser().read_bytes()
        except (OSError, RuntimeError) as error:  # RuntimeError: no such user's home
            raise InvalidInput(str(error), "Give the path of a readable file.", "source_path") from error
        return self._import(collection, content, dry_run)

    def import_once(self, collection: int, path: Path) -> ImportReport | None:
        """Import `path` unless this very content was imported before: then None. Raises as `migrate` does.

        An import that the store cut short is not done: it raises Unavailable, and is taken up again when asked again.
        """
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InvalidInput(str(error), "Check MEMORY_FILE_PATH.", "MEMORY_FILE_PATH") from error
        digest = hashlib.sha256(content).hexdigest()
        key = f"imported:{collection}:{path}"
        if self._store.read(lambda session: session.metadata.get(key)) == digest:
            return None
        report = self._import(collection, content, dry_run=False)
        if report.errors:
            raise Unavailable(
                f"The import of {path} is incomplete: {report.errors} records could not be stored.",
                "Try again: what is missing is imported then.",
            )
        self._store.write(lambda session: session.metadata.set(key, digest))
        return report

    def _import(self, collection: int, content: bytes, dry_run: bool) -> ImportReport:
        records = list(read_records(content.split(b"\n"), self._limits))
        now = self._clock.now()
        if not dry_run:
            return _Import(records, collection, now).run(self._store.write)
        return rehearse(
            self._store,
            lambda session: _Import(records, collection, now, dry_run=True).run(lambda work: work(session)),
        )


@dataclass(frozen=True, slots=True)
class _Stored:
    """What one transaction did: records new or changed, records that were there, remarks."""

    imported: int
    unchanged: int
    remarks: tuple[Remark, ...] = ()


class _Unit(Protocol):
    """How one unit of work is done: in a transaction of its own, or inside one that is undone."""

    def __call__(self, work: Callable[[Session], _Stored], /) -> _Stored: ...


class _Import:
    """One run over a file's records."""

    def __init__(self, records: Sequence[Record], collection: int, now: Instant, dry_run: bool = False) -> None:
        self._collection = collection
        self._now = now
        self._dry_run = dry_run
        self._entities = _merged(record for record in records if isinstance(record, EntityRecord))
        self._relations = [record for record in records if isinstance(record, RelationRecord)]
        self._details = [record for record in records if isinstance(record, Remark)]
        self._unchanged = 0
        self._errors = 0
        self._failure: EvocaError | None = None

    def run(self, unit: _Unit) -> ImportReport:
        entities = sum(
            self._attempt(unit, self._entity_work(group), [record.line for record in group])
            for group in batched(self._entities, _GROUP)
        )
        relations = sum(
            self._attempt(unit, self._relation_work(group), [record.line for record in group])
            for group in batched(self._relations, _GROUP)
        )
        if self._failure is not None and not entities and not relations:
            raise self._failure
        return ImportReport(
            entities=entities,
            relations=relations,
            unchanged=self._unchanged,
            skipped=sum(remark.skipped for remark in self._details),
            errors=self._errors,
            details=tuple(sorted(self._details, key=lambda remark: remark.line)),
            dry_run=self._dry_run,
        )

    def _attempt(self, unit: _Unit, work: Callable[[Session], _Stored], lines: Sequence[int]) -> int:
        """Do one group; its failure is counted and told, and does not stop the others."""
        try:
            stored = unit(work)
        except EvocaError as error:
            self._failure = error
            self._errors += len(lines)
            self._details += [Remark(line, f"not stored: {error.message}", skipped=False) for line in lines]
            return 0
        self._unchanged += stored.unchanged
        self._details += stored.remarks
        return stored.imported

    def _entity_work(self, group: Sequence[EntityRecord]) -> Callable[[Session], _Stored]:
        drafts = [record.draft for record in group]

        def work(session: Session) -> _Stored:
            result = create(session, self._collection, drafts, self._now)
            changed = len(result.created) + len(result.updated)
            return _Stored(changed, len(drafts) - changed)

        return work

    def _relation_work(self, group: Sequence[RelationRecord]) -> Callable[[Session], _Stored]:
        drafts = [RelationDraft(record.triple) for record in group]

        def work(session: Session) -> _Stored:
            outcomes = relate(session, self._collection, drafts, self._now)
            remarks = tuple(
                Remark(record.line, f"Entity not found: {outcome.missing}")
                for record, outcome in zip(group, outcomes, strict=True)
                if outcome.missing is not None
            )
            existed = sum(outcome.existed for outcome in outcomes)
            return _Stored(len(group) - existed - len(remarks), existed, remarks)

        return work


def _merged(records: Iterable[EntityRecord]) -> list[EntityRecord]:
    """One record a name, at its first line: what a file says twice does not depend on how far apart it stands."""
    lines: dict[str, int] = {}
    drafts: list[EntityDraft] = []
    for record in records:
        lines.setdefault(record.draft.name, record.line)
        drafts.append(record.draft)
    return [EntityRecord(lines[draft.name], draft) for draft in merge_drafts(drafts)]


def batched(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The rows in runs of `size`, the last one shorter."""
    for at in range(0, len(rows), size):
        yield rows[at : at + size]
