"""Bringing a store to this Evoca's schema: numbered SQL files, all of them in one transaction.

Any number of servers may race: the first one there holds a lock, and the others find it done. PostgreSQL undoes
half a migration, tables and all, so there is no copy to fall back on; a backup is the operator's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from evoca.domain.clock import Clock
from evoca.errors import StoreError, StoreTooNew
from evoca.storage.migration import Migration, numbered
from evoca.storage.postgres.database import Database
from evoca.storage.postgres.faults import unopenable
from evoca.storage.postgres.location import Location

_BY_COLLECTION = "/* by collection */"
LOCK = 1_163_284_300
"""`EVOC`: the class of every advisory lock that Evoca takes; the schema's hash tells stores apart."""

ALONE = f"SELECT pg_advisory_xact_lock({LOCK}, 0)"
"""One server at a time changes what the database has besides rows."""


def packaged() -> tuple[Migration, ...]:
    """The migrations that ship with this Evoca, in order."""
    return numbered(Path(__file__).with_name("migrations"))


class Migrator:
    """Brings one store up to date."""

    def __init__(self, database: Database, location: Location, clock: Clock, migrations: Sequence[Migration]) -> None:
        self._database = database
        self._location = location
        self._clock = clock
        self._migrations = migrations

    def run(self) -> None:
        """Raises StoreTooNew, StoreUnopenable (rights are missing), or what PostgreSQL reports."""
        if self._version() < self._migrations[-1].version:
            self._upgrade()
        version = self._version()
        if version > self._migrations[-1].version:
            raise StoreTooNew(
                f"The store {self._location.shown} has schema {version}; this Evoca knows schemas up to "
                f"{self._migrations[-1].version}.",
                "Use the newer Evoca that wrote it.",
            )
        self._compare()

    def check(self) -> None:
        """The same for a store that cannot be written: it must be up to date already."""
        if self._version() < self._migrations[-1].version:
            raise unopenable(self._location.shown, "its schema is older than this Evoca, or missing, and is read-only")
        self.run()

    def _version(self) -> int:
        if not self._database.number(_THERE.format(schema=self._location.schema)):
            return 0
        return self._database.number("SELECT coalesce(max(version), 0) FROM migrations")

    def _upgrade(self) -> None:
        self._database.command("BEGIN")
        try:
            self._database.command(ALONE)
            if not self._database.number(_SCHEMA.format(schema=self._location.schema)):
                self._database.command(f"CREATE SCHEMA {self._location.schema}")
            version = self._version()
            for migration in self._migrations:
                if migration.version > version:
                    self._apply(migration)
            self._database.command("COMMIT")
        finally:
            self._database.roll_back()

    def _apply(self, migration: Migration) -> None:
        now = self._clock.now()
        cut = "PARTITION BY HASH (collection_id)" if self._location.partitions else ""
        self._database.command(migration.sql.replace(_BY_COLLECTION, cut).replace(":now", str(now)))
        for table in re.findall(r"CREATE TABLE (\w+)", migration.sql) if cut else ():
            self._cut(table)
        values = {"version": migration.version, "name": migration.name, "checksum": migration.checksum, "now": now}
        self._database.run(_RECORD, values)

    def _cut(self, table: str) -> None:
        parts = self._location.partitions
        if self._database.number(_IS_CUT.format(table=table)):
            for part in range(parts):
                self._database.command(
                    f"CREATE TABLE {table}_{part} PARTITION OF {table} "
                    f"FOR VALUES WITH (MODULUS {parts}, REMAINDER {part})"
                )

    def _compare(self) -> None:
        known = {each.version: each.checksum for each in self._migrations}
        for version, checksum in self._database.select(_RECORDED, {}, tuple[int, str]):
            if known.get(version) != checksum:
                raise StoreError(
                    f"Schema {version} of the store {self._location.shown} was made by another migration than this "
                    "Evoca's.",
                    "Open it with the Evoca that wrote it, export it there, and import it here.",
                )


_THERE = "SELECT count(*) FROM pg_tables WHERE schemaname = '{schema}' AND tablename = 'migrations'"
_SCHEMA = "SELECT count(*) FROM pg_namespace WHERE nspname = '{schema}'"
_IS_CUT = "SELECT count(*) FROM pg_class WHERE oid = '{table}'::regclass AND relkind = 'p'"
_RECORD = "INSERT INTO migrations (version, name, checksum, applied_at) VALUES (:version, :name, :checksum, :now)"
_RECORDED = "SELECT version, checksum FROM migrations ORDER BY version"
