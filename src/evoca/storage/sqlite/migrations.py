"""Bringing a store to this Evoca's schema: numbered SQL files, each in a transaction of its own.

Any number of processes may race: each step is taken under the write lock, by the first one there, and
the others find it done. Before a store that holds data is changed, a copy is written beside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from evoca.domain.clock import Clock
from evoca.errors import StoreError, StoreReadOnly, StoreTooNew, StoreUnopenable
from evoca.storage.migration import Migration, numbered
from evoca.storage.sqlite.database import Database

APPLICATION_ID = 0x45564F43
"""`EVOC` in the database's header."""


def packaged() -> tuple[Migration, ...]:
    """The migrations that ship with this Evoca, in order."""
    return numbered(Path(__file__).with_name("migrations"))


class Migrator:
    """Brings one store up to date. `reader` opens a further connection, for the copy."""

    def __init__(
        self,
        database: Database,
        path: Path,
        clock: Clock,
        migrations: Sequence[Migration],
        reader: Callable[[], Database],
    ) -> None:
        self._database = database
        self._path = path
        self._clock = clock
        self._migrations = migrations
        self._reader = reader

    def run(self) -> None:
        """Raises StoreTooNew, StoreReadOnly (an old store that cannot be written), or what SQLite reports."""
        latest = self._migrations[-1].version
        while (version := self._database.number("PRAGMA user_version")) < latest:
            if self._database.read_only:
                raise StoreReadOnly(
                    f"The store {self._database.location} has schema {version}, this Evoca needs {latest}, "
                    "and the file cannot be written.",
                    "Make the file and its folder writable once, or open it with the Evoca that wrote it.",
                )
            self._step()
        if version > latest:
            raise StoreTooNew(
                f"The store {self._database.location} has schema {version}; this Evoca knows schemas up to {latest}.",
                "Use the newer Evoca that wrote it.",
            )
        self._compare()

    def _step(self) -> None:
        """Apply the next migration, unless another process was quicker."""
        self._database.command("BEGIN IMMEDIATE")
        try:
            version = self._database.number("PRAGMA user_version")
            due = [each for each in self._migrations if each.version > version]
            if due:
                if version > 0:
                    self._copy_once(version)
                self._apply(due[0])
                if len(due) == 1:
                    self._database.run(_UPGRADED, {"key": _COPIED})
            self._database.command("COMMIT")
        finally:
            self._database.roll_back()

    def _apply(self, migration: Migration) -> None:
        now = self._clock.now()
        self._database.run(migration.sql, {"now": now})
        values = {"version": migration.version, "name": migration.name, "checksum": migration.checksum, "now": now}
        self._database.run(_RECORD, values)
        self._database.command(f"PRAGMA application_id = {APPLICATION_ID}")
        self._database.command(f"PRAGMA user_version = {migration.version}")

    def _copy_once(self, version: int) -> None:
        """Copy a store that holds something, unless this upgrade has a copy already.

        A note in the store tells so to other processes, and to who goes on after a crash.
        """
        holds_something = self._database.number(_NEXT_ID) > 1
        if holds_something and not self._database.select(_NOTE, {"key": _COPIED}, tuple[str]):
            self._copy(version)
            self._database.run(_TAKE_NOTE, {"key": _COPIED, "version": str(version)})

    def _copy(self, version: int) -> None:
        """Write `<store>.schema-<version>.backup`. The write lock is held, so one process does it at a time."""
        target = _unused(self._path.with_name(f"{self._path.name}.schema-{version}.backup"))
        unfinished = target.with_name(f"{target.name}.{os.getpid()}.unfinished")
        source = self._reader()
        try:
            unfinished.unlink(missing_ok=True)
            source.copy_to(unfinished)
            unfinished.replace(target)
        except OSError as fault:
            raise StoreUnopenable(
                f"The store {self._database.location} has an older schema, and no copy of it can be written "
                f"to {target}: {fault.strerror}.",
                "Free some disk space or make the folder writable; the store was left as it is.",
            ) from fault
        finally:
            source.close()

    def _compare(self) -> None:
        known = {each.version: each.checksum for each in self._migrations}
        for version, checksum in self._database.select(_RECORDED, {}, tuple[int, str]):
            if known.get(version) != checksum:
                raise StoreError(
                    f"Schema {version} of the store {self._database.location} was made by another migration than this "
                    "Evoca's.",
                    "Open it with the Evoca that wrote it, export it there, and import it here.",
                )


def _unused(path: Path) -> Path:
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate


_COPIED = "copied before the upgrade from schema"
_NEXT_ID = "SELECT value FROM counters WHERE name = 'items'"
_NOTE = "SELECT value FROM metadata WHERE key = :key"
_TAKE_NOTE = "INSERT INTO metadata (key, value) VALUES (:key, :version)"
_UPGRADED = "DELETE FROM metadata WHERE key = :key"
_RECORD = "INSERT INTO migrations (version, name, checksum, applied_at) VALUES (:version, :name, :checksum, :now)"
_RECORDED = "SELECT version, checksum FROM migrations ORDER BY version"
