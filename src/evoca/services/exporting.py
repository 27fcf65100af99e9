"""Writing a collection to a file: all that was told, its history, and how it was used (docs/moving.md)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from evoca.domain.clock import Clock
from evoca.errors import Conflict, InvalidInput, NotFound
from evoca.services.portable import (
    KINDS,
    Ending,
    Envelope,
    FileNumbers,
    Row,
    ending_json,
    envelope_json,
    line,
    renumbered,
    row_json,
)
from evoca.storage.contract import Session, Store
from evoca.storage.transfer_contract import WholeEntity, WholeEpisode

_PAGE = 1_000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Exported:
    """`counts`: records of each kind."""

    collection: str
    counts: Mapping[str, int]


class ExportService:
    """Exports from one store, each from one snapshot."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def export(self, collection: int, file: BinaryIO) -> Exported:
        """Write a collection to an open file, which can be rewound and is emptied. Raises NotFound."""
        now = self._clock.now()

        def work(session: Session) -> Exported:
            found = session.collections.find(session.collections.code(collection))
            if found is None:
                raise NotFound("The collection was deleted meanwhile.", "list_collections tells which there are.")
            file.seek(0)
            file.truncate()
            file.write(line(envelope_json(Envelope(now, found.code, found.name, found.description))))
            counts = dict.fromkeys(KINDS.values(), 0)
            numbers = FileNumbers()
            for row in _rows(session, found.id):
                file.write(line(row_json(renumbered(row, numbers, numbers))))
                counts[KINDS[type(row)]] += 1
            file.write(line(ending_json(Ending(counts))))
            return Exported(found.code, counts)

        return self._store.read(work)

    def export_to(self, collection: int, path: Path, overwrite: bool = False) -> Exported:
        """Write a collection to `path`, which has its name only when it is whole.

        Raises Conflict when something is there and `overwrite` is False, InvalidInput when it cannot be written.
        """
        return write_whole(path, lambda file: self.export(collection, file), overwrite)


def write_whole(path: Path, write: Callable[[BinaryIO], T], overwrite: bool) -> T:
    """Write a file beside `path`, then give it that name. Raises Conflict, InvalidInput."""
    if not overwrite and path.exists():
        raise Conflict(f"{path} exists.", "Name another file, or say that this one is to be replaced (--force).")
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        with unfinished.open("w+b") as file:
            result = write(file)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as fault:
        raise InvalidInput(
            f"{path} cannot be written: {fault.strerror}.", "Name a file in a folder that exists."
        ) from fault
    finally:
        unfinished.unlink(missing_ok=True)
    return result


def _rows(session: Session, collection: int) -> Iterator[Row]:
    """Every row of a collection, kind by kind, each by id: what rows of other kinds refer to stands before them."""
    out = session.outgoing

    def pages(read: Callable[[int, int, int], Sequence[T]], number: Callable[[T], int]) -> Iterator[T]:
        after = 0
        while page := read(collection, after, _PAGE):
            yield from page
            after = number(page[-1])

    yield from pages(out.entities, _entity_number)
    yield from pages(out.observations, lambda row: row.id)
    yield from pages(out.edges, lambda row: row.id)
    yield from pages(out.reflections, lambda row: row.id)
    yield from pages(out.episodes, _episode_number)
    yield from pages(out.links, lambda row: row.id)
    yield from pages(out.merges, lambda row: row.id)
    after = (0, 0)
    while page := out.company(collection, after, _PAGE):
        yield from page
        after = (page[-1].first, page[-1].second)


def _entity_number(row: WholeEntity) -> int:
    return row.entity.id


def _episode_number(row: WholeEpisode) -> int:
    return row.episode.id
