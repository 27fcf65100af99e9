"""Copying a whole store into an empty one, of the same or another engine: rows, ids, times and vectors as they are.

The source is read from one snapshot; what is written to it meanwhile is not copied. Each page of rows is one
transaction of the target, with a note of how far the copy is, so that an interrupted one goes on from there. At last
all rows of the target are read again and compared.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from evoca.errors import Conflict, StoreError
from evoca.storage.contract import Session, Store
from evoca.storage.tables import TABLES, Table
from evoca.storage.transfer_contract import Cell, Cells

_PAGE = 1_000
_MODULUS = 1 << 128


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rows, and the sum of their hashes, which does not depend on their order."""

    rows: int = 0
    sum: int = 0

    def plus(self, row: Cells) -> Tally:
        return Tally(self.rows + 1, (self.sum + _hash(row)) % _MODULUS)

    @property
    def digest(self) -> str:
        return f"{self.sum:032x}"


@dataclass(frozen=True, slots=True)
class Compared:
    """One table on both sides."""

    table: str
    source: Tally
    target: Tally

    @property
    def same(self) -> bool:
        return self.source == self.target


@dataclass(frozen=True, slots=True)
class Copied:
    """`integrity`: what the target says of itself, `ok` when all is well."""

    tables: tuple[Compared, ...]
    integrity: str

    @property
    def good(self) -> bool:
        return self.integrity == "ok" and all(each.same for each in self.tables)


def copy_store(source: Store, target: Store, tell: Callable[[str], None]) -> Copied:
    """Copy all of `source` into `target`, or go on with a copy of it that was interrupted. `tell` hears of each table.

    Raises Conflict when the target holds something else, or when the source has changed since an interrupted copy
    began. A copy that differs from its source is told in the result, and stays unfinished.
    """
    tallies = source.read(lambda session: _Copy(session, source.location, target, tell).run())
    tell("the indexes")
    for index in (_index_words, _index_substrings):
        _walk(target, index)
    tell("the comparison")
    result = Copied(target.read(lambda session: _compared(session, tallies)), target.check()["integrity"])
    if result.good:
        target.write(lambda session: session.rows.write_note(None))
    return result


def refuse_unfinished(store: Store) -> None:
    """Raises StoreError when the store is a copy that was interrupted."""
    if store.read(lambda session: session.rows.note()) is not None:
        raise StoreError(
            f"The store {store.location} is an unfinished copy of another one.",
            "Run the same `evoca copy` again to finish it, or remove it and begin anew.",
        )


# -- the rows ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """How far the copy of a table is. `after`: the key of its last row, None before the first. `whole`: it is done."""

    tally: Tally = field(default_factory=Tally)
    after: Cells | None = None
    whole: bool = False


class _Copy:
    """The rows of one snapshot of the source, on their way into the target."""

    def __init__(self, session: Session, location: str, target: Store, tell: Callable[[str], None]) -> None:
        self._source = session
        self._location = location
        self._target = target
        self._tell = tell
        self._parts: dict[str, _Part] = {}

    def run(self) -> dict[str, Tally]:
        """Copy what the target lacks; what each table holds."""
        if self._source.rows.note() is not None:
            raise Conflict(f"{self._location} is an unfinished copy itself.", "Finish it, or copy its source.")
        note = self._target.read(lambda session: session.rows.note())
        if note is None:
            self._begin()
        else:
            self._resume(note)
        for table in TABLES:
            if not self._part(table).whole:
                self._tell(table.name)
                self._copy(table)
        return {name: part.tally for name, part in self._parts.items()}

    def _part(self, table: Table) -> _Part:
        return self._parts.get(table.name, _Part())

    def _begin(self) -> None:
        counters = self._source.rows.counters()
        last = [self._last_id(table) for table in TABLES if table.name in _COUNTED]
        note = self._note()

        def prepare(session: Session) -> None:
            if not session.rows.empty():
                raise Conflict(
                    f"{self._target.location} holds something already.",
                    "A store is copied into an empty one: name another, or remove it. `evoca import` adds to a store.",
                )
            session.rows.prepare(counters, *last)
            session.rows.write_note(note)

        self._target.write(prepare)

    def _last_id(self, table: Table) -> int:
        return max((cast(int, row[0]) for page in _pages(self._source, table) for row in page), default=0)

    def _resume(self, note: str) -> None:
        """Go on where an earlier try has stopped. Raises Conflict when the source is not what it was."""
        location, self._parts = _read_note(note)
        if location != self._location:
            raise Conflict(
                f"{self._target.location} is an unfinished copy of {location}.",
                "Finish that one, or name another target.",
            )
        changed = [table.name for table in TABLES if not self._is_unchanged(table, self._part(table))]
        if changed:
            raise Conflict(
                f"{location} has changed since the copy was interrupted: {', '.join(changed)}.",
                f"Remove {self._target.location} and begin anew, while nobody writes to the source.",
            )

    def _is_unchanged(self, table: Table, part: _Part) -> bool:
        tally = Tally()
        for page in _pages(self._source, table) if part != _Part() else ():
            for row in page:
                if part.after is None or cast("tuple[int, ...]", row[: len(table.key)]) > part.after:
                    return tally == part.tally and not part.whole
                tally = tally.plus(row)
        return tally == part.tally

    def _copy(self, table: Table) -> None:
        part = self._part(table)
        while page := self._source.rows.page(table, part.after, _PAGE):
            tally = part.tally
            for row in page:
                tally = tally.plus(row)
            part = replace(part, tally=tally, after=page[-1][: len(table.key)])
            self._write(table, part, lambda session, rows=page: session.rows.put(table, rows))
        for page in _pages(self._source, table) if table.later else ():
            self._target.write(lambda session, rows=page: session.rows.complete(table, rows))
        self._write(table, replace(part, whole=True), lambda _session: None)

    def _write(self, table: Table, part: _Part, write: Callable[[Session], None]) -> None:
        """Write to the target, and that the table is so far, in one transaction."""
        self._parts[table.name] = part
        note = self._note()

        def work(session: Session) -> None:
            write(session)
            session.rows.write_note(note)

        self._target.write(work)

    def _note(self) -> str:
        parts = {
            name: [part.tally.rows, part.tally.digest, part.after, part.whole] for name, part in self._parts.items()
        }
        return json.dumps({"from": self._location, "tables": parts}, ensure_ascii=False)


_COUNTED = ("collections", "models", "keys")
"""Tables whose ids the database gives, in the order of `TABLES`."""
_PartJson = tuple[int, str, list[Cell] | None, bool]


def _read_note(note: str) -> tuple[str, dict[str, _Part]]:
    """The source's location, and how far each table is."""
    found = cast("dict[str, object]", json.loads(note))
    parts = {
        name: _Part(Tally(rows, int(digest, 16)), None if after is None else tuple(after), whole)
        for name, (rows, digest, after, whole) in cast("dict[str, _PartJson]", found["tables"]).items()
    }
    return str(found["from"]), parts


def _pages(session: Session, table: Table) -> Iterator[list[Cells]]:
    after: Cells | None = None
    while page := session.rows.page(table, after, _PAGE):
        yield page
        after = page[-1][: len(table.key)]


def _compared(session: Session, tallies: Mapping[str, Tally]) -> tuple[Compared, ...]:
    """What each table of the target holds, beside what the source's held."""
    return tuple(Compared(table.name, tallies[table.name], _tally(session, table)) for table in TABLES)


def _tally(session: Session, table: Table) -> Tally:
    tally = Tally()
    for page in _pages(session, table):
        for row in page:
            tally = tally.plus(row)
    return tally


def _hash(row: Cells) -> int:
    return int.from_bytes(hashlib.blake2b(b"".join(map(_tagged, row)), digest_size=16).digest())


def _tagged(cell: Cell) -> bytes:
    """A cell with its type and length: no two rows look the same."""
    match cell:
        case None:
            return b"n"
        case int():
            text = b"i%d" % cell
        case float():
            text = b"f" + struct.pack(">d", cell)
        case str():
            text = b"t" + cell.encode()
        case bytes():
            text = b"b" + cell
    return b"%d:" % len(text) + text


# -- the indexes -------------------------------------------------------------------------------------------


def _index_words(session: Session, after: int) -> int | None:
    return session.rows.index_words(after, _PAGE)


def _index_substrings(session: Session, after: int) -> int | None:
    return session.rows.index_substrings(after, _PAGE)


def _walk(store: Store, index: Callable[[Session, int], int | None]) -> None:
    """Index page after page, each in a transaction of its own."""
    after = 0
    while (last := store.write(lambda session, since=after: index(session, since))) is not None:
        after = last
