"""From a path to an open database that is certainly ours, in WAL mode and up to date."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evoca.domain.clock import Clock
from evoca.errors import StoreBusy, StoreReadOnly, StoreUnopenable
from evoca.storage.migration import Migration
from evoca.storage.sqlite.database import Database, Patience, tune
from evoca.storage.sqlite.faults import not_a_store, unopenable
from evoca.storage.sqlite.migrations import APPLICATION_ID, Migrator, packaged


@dataclass(frozen=True, slots=True)
class SqliteOptions:
    """`busy_timeout`: seconds to wait for another process's write. `checkpoint_bytes`: the log's length from which
    it is copied into the database. `group`: most units of work in one transaction. `idle`: seconds without a write
    after which the log is copied. `readers`: idle read connections that are kept. `vfs`: SQLite's file layer.
    `migrations`: None for those that ship.
    """

    busy_timeout: float = 30.0
    checkpoint_bytes: int = 32 * 1024 * 1024
    group: int = 256
    idle: float = 2.0
    readers: int = 4
    writer_cache_kib: int = 16_384
    reader_cache_kib: int = 16_384
    vfs: str | None = None
    migrations: Sequence[Migration] | None = None


class Opener:
    """Makes the connections of one store."""

    def __init__(self, path: Path, clock: Clock, options: SqliteOptions, closing: threading.Event) -> None:
        self._path = Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 -- a link stays the path that was asked for
        self._clock = clock
        self._options = options
        self._closing = closing
        self._uri = ""

    @property
    def location(self) -> str:
        return str(self._path)

    def open_first(self) -> Database:
        """The connection that may write, on a store that is ours and up to date.

        Raises StoreUnopenable, NotAStore, StoreTooNew, StoreReadOnly, StoreBusy, StoreFull, StoreDamaged.
        """
        self._prepare_place()
        database = self._connect_somehow()
        try:
            if not database.read_only:
                self._switch_to_wal(database)
            tune(database, self._options.writer_cache_kib)
            migrations = self._options.migrations or packaged()
            Migrator(database, self._path, self._clock, migrations, self._connect).run()
        except BaseException:
            database.close()
            raise
        return database

    def open_maintainer(self) -> Database:
        """A further connection that may write, on a store that has been opened."""
        database = self._connect()
        tune(database, self._options.writer_cache_kib)
        return database

    def open_reader(self) -> Database:
        database = self._connect()
        tune(database, self._options.reader_cache_kib)
        database.command("PRAGMA query_only = ON")
        return database

    def _connect(self) -> Database:
        patience = Patience(self._options.busy_timeout, self._closing)
        return Database(self._path, self.location, patience, self._options.vfs, self._uri)

    def _prepare_place(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise unopenable(self.location, f"its folder cannot be made ({fault.strerror})") from fault
        if self._path.is_dir():
            raise unopenable(self.location, "it is a folder")

    def _connect_somehow(self) -> Database:
        """Connect and make sure that the file is ours.

        A log cannot be used in a folder that cannot be written; a store at rest is then read as a file that
        nobody changes.
        """
        database = self._connect()
        # Should it be another program's database, its log is left as it is.
        database.leave_log(alone=True)
        try:
            self._identify(database)
            database.leave_log(alone=False)
        except (StoreUnopenable, StoreReadOnly):
            database.close()
            if not self._path.is_file() or self._log_holds_data():
                raise
            self._uri = f"{self._path.as_uri()}?immutable=1"
            database = self._connect()
            self._identify(database)
        except BaseException:
            database.close()
            raise
        return database

    def _log_holds_data(self) -> bool:
        log = Path(f"{self._path}-wal")
        return log.exists() and log.stat().st_size > 0

    def _identify(self, database: Database) -> None:
        """Raises NotAStore for another program's file. An empty one is free to take."""
        mark = database.number("PRAGMA application_id")
        if mark == APPLICATION_ID:
            return
        if mark != 0 or database.number("SELECT count(*) FROM sqlite_schema") > 0:
            # Another process may have made the store between the two looks.
            if database.number("PRAGMA application_id") == APPLICATION_ID:
                return
            raise not_a_store(self.location)

    def _switch_to_wal(self, database: Database) -> None:
        """SQLite does not call the busy handler here, so others are waited for by hand."""
        deadline = time.monotonic() + self._options.busy_timeout
        attempt = 0
        while True:
            try:
                mode = database.text("PRAGMA journal_mode = WAL")
            except StoreBusy:
                mode = ""
            if mode == "wal":
                return
            if not database.patience(attempt) or time.monotonic() >= deadline:
                raise StoreBusy(f"The store {self.location} is busy.", "Try again: another process is using it.")
            attempt += 1
