"""One SQLite connection as the repositories use it, and how it waits for others."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

import apsw

from evoca.storage.connection import Row, Value
from evoca.storage.sqlite.faults import translated
from evoca.storage.sqlite.statements import statement

_STATEMENTS = 200
_ALL_PAGES = 0xFFFFFFFF


class Patience:
    """The busy handler: sleeps a random 0.3 to 2 ms until `limit` seconds are over.

    Random sleeps share the lock fairly between processes; SQLite's own back-off starved one of four.
    Once the store is closing, `closing_limit` seconds must do.
    """

    closing_limit = 2.0

    def __init__(self, limit: float, closing: threading.Event) -> None:
        self.limit = limit
        self._closing = closing
        self._random = random.Random()  # noqa: S311 -- spreads waiting, no secret
        self._began = 0.0

    def __call__(self, earlier: int) -> bool:
        now = time.monotonic()
        if earlier == 0:
            self._began = now
        limit = min(self.limit, self.closing_limit) if self._closing.is_set() else self.limit
        if now - self._began >= limit:
            return False
        time.sleep(self._random.uniform(0.0003, 0.002))
        return True


class _Cursor(Protocol):
    def fetchall(self) -> list[tuple[Value, ...]]: ...


class _Statements(Protocol):
    """The part of apsw's connection whose published types leave something open."""

    def execute(self, statements: str, bindings: Mapping[str, Value], /) -> _Cursor: ...
    def executemany(self, statements: str, sequenceofbindings: Iterable[Sequence[Value]], /) -> _Cursor: ...


class Database:
    """A connection that speaks in `evoca.errors`. For one thread at a time."""

    def __init__(self, path: Path, location: str, patience: Patience, vfs: str | None = None, uri: str = "") -> None:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        if uri:
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        self.location = location
        self.patience = patience
        try:
            self._db = apsw.Connection(uri or str(path), flags, vfs, _STATEMENTS)
            self._db.set_busy_handler(patience)
            self._statements = cast(_Statements, self._db)
        except apsw.Error as fault:
            raise translated(fault, location) from fault

    # -- what repositories use -------------------------------------------------------------------

    def select(self, sql: str, values: Mapping[str, Value], shape: type[Row]) -> list[Row]:  # noqa: ARG002 -- for types
        try:
            known = statement(sql)
            return cast(list[Row], self._statements.execute(known.text, known.bound(values)).fetchall())
        except apsw.Error as fault:
            raise translated(fault, self.location) from fault

    def run(self, sql: str, values: Mapping[str, Value]) -> None:
        try:
            known = statement(sql)
            self._statements.execute(known.text, known.bound(values)).fetchall()
        except apsw.Error as fault:
            raise translated(fault, self.location) from fault

    def run_many(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        try:
            self._statements.executemany(sql, rows)
        except apsw.Error as fault:
            raise translated(fault, self.location) from fault

    # -- what the engine uses --------------------------------------------------------------------

    def command(self, sql: str) -> None:
        """Run a statement without parameters and results: `BEGIN`, `PRAGMA …`."""
        self.run(sql, {})

    def number(self, sql: str) -> int:
        """The one integer that the statement gives."""
        return self.select(sql, {}, tuple[int])[0][0]

    def text(self, sql: str) -> str:
        """The one text that the statement gives."""
        return self.select(sql, {}, tuple[str])[0][0]

    @property
    def in_transaction(self) -> bool:
        return self._db.in_transaction

    @property
    def read_only(self) -> bool:
        return self._db.readonly("main")

    def roll_back(self) -> None:
        """End the transaction, if SQLite has not ended it already."""
        if self._db.in_transaction:
            self.command("ROLLBACK")

    def count_wal_pages(self, heard: WalPages) -> None:
        """Tell `heard` the length of the log after each commit; SQLite makes no checkpoints of its own then."""
        self._db.set_wal_hook(heard)

    def checkpoint(self, truncate: bool) -> int:
        """Copy the log into the database, and empty it if `truncate`. Returns how many pages others kept in it."""
        mode = apsw.SQLITE_CHECKPOINT_TRUNCATE if truncate else apsw.SQLITE_CHECKPOINT_PASSIVE
        try:
            logged, copied = self._db.wal_checkpoint(None, mode)
        except apsw.BusyError:
            return _ALL_PAGES
        except apsw.Error as fault:
            raise translated(fault, self.location) from fault
        return logged - copied

    def leave_log(self, alone: bool) -> None:
        """Whether closing the last connection leaves the log as it is, instead of copying it into the database."""
        self._db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(alone))

    def copy_to(self, target: Path) -> None:
        """Write a consistent copy of the last committed state to `target`."""
        try:
            copy = apsw.Connection(str(target))
            try:
                with copy.backup("main", self._db, "main") as backup:
                    while not backup.done:
                        backup.step(-1)
            finally:
                copy.close()
        except apsw.Error as fault:
            raise translated(fault, str(target)) from fault

    def fill_from(self, source: Path) -> None:
        """Become a copy of the database at `source`, in one transaction."""
        try:
            original = apsw.Connection(str(source))
            try:
                with self._db.backup("main", original, "main") as copying:
                    while not copying.done:
                        copying.step(-1)
            finally:
                original.close()
        except apsw.Error as fault:
            raise translated(fault, self.location) from fault

    def close(self) -> None:
        self._db.close()


class WalPages:
    """Hears from SQLite how many pages the log holds."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self.count = pages
        return apsw.SQLITE_OK


def tune(database: Database, cache_kib: int) -> None:
    """Settings of every connection: durable commits, foreign keys, no checkpoints by itself."""
    for setting in (
        "PRAGMA synchronous = FULL",
        "PRAGMA foreign_keys = ON",
        "PRAGMA wal_autocheckpoint = 0",
        "PRAGMA temp_store = MEMORY",
        f"PRAGMA cache_size = -{cache_kib}",
    ):
        database.command(setting)
