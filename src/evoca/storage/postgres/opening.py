"""From a URL to a database that is certainly ours, with what it can do, and up to date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evoca.domain.clock import Clock
from evoca.errors import StoreError
from evoca.storage.migration import Migration
from evoca.storage.postgres.database import Database
from evoca.storage.postgres.faults import unopenable
from evoca.storage.postgres.location import Location
from evoca.storage.postgres.migrations import ALONE, Migrator, packaged

_OLDEST = 150_000


@dataclass(frozen=True, slots=True)
class PostgresOptions:
    """`busy_timeout`: seconds to wait for another's write, and for a database that is away. `group`: most units of
    work in one transaction. `readers`: connections for reading; `kept`: those that are kept while nobody reads.
    `migrations`: None for those that ship.
    """

    busy_timeout: float = 30.0
    group: int = 256
    readers: int = 12
    kept: int = 4
    migrations: Sequence[Migration] | None = None


@dataclass(frozen=True, slots=True)
class Abilities:
    """`writable`: it is no replica, and the user may write. `vector`, `trigrams`: the extension is there."""

    writable: bool
    vector: bool
    trigrams: bool
    partitions: int


class Opener:
    """Makes the connections of one store."""

    def __init__(self, location: Location, clock: Clock, options: PostgresOptions) -> None:
        self._location = location
        self._clock = clock
        self._options = options

    def connect(self) -> Database:
        """Raises StoreUnopenable when the server refuses, Unavailable when there is none to be reached."""
        return Database(self._location, self._options.busy_timeout, connect_timeout=10)

    def open_first(self) -> tuple[Database, Abilities]:
        """The connection that writes, on a store that is up to date."""
        database = self.connect()
        try:
            self._look(database)
            replica = bool(database.number(_REPLICA))
            migrations = self._options.migrations or packaged()
            migrator = Migrator(database, self._location, self._clock, migrations)
            if replica:
                migrator.check()
            else:
                migrator.run()
                self._extend(database)
            return database, self._abilities(database, not replica)
        except BaseException:
            database.close()
            raise

    def _look(self, database: Database) -> None:
        """Raises StoreUnopenable for a server or a database that will not do."""
        if database.server_version < _OLDEST:
            raise unopenable(self._location.shown, f"PostgreSQL {database.server_version // 10_000} is older than 15")
        (encoding,) = database.select("SELECT current_setting('server_encoding')", {}, tuple[str])[0]
        if encoding != "UTF8":
            raise unopenable(self._location.shown, f"the database's encoding is {encoding}, not UTF8")

    def _extend(self, database: Database) -> None:
        """Make what speeds up searching, where the server has it and the user may."""
        if database.number(_EXTENDED):
            return
        database.command("BEGIN")
        try:
            database.command(ALONE)
            for extension in self._extensions():
                _try(database, f"CREATE EXTENSION IF NOT EXISTS {extension} SCHEMA public")
            if database.number(_HAS.format(extension="pg_trgm")):
                database.command(_TRIGRAMS)
            database.command("COMMIT")
        finally:
            database.roll_back()

    def _extensions(self) -> list[str]:
        return ["pg_trgm", *(["vector"] if self._location.vectors == "auto" else [])]

    def _abilities(self, database: Database, writable: bool) -> Abilities:
        return Abilities(
            writable=writable,
            vector=self._location.vectors == "auto" and bool(database.number(_HAS.format(extension="vector"))),
            trigrams=bool(database.number(_EXTENDED)),
            partitions=database.number(_PARTS),
        )


def _try(database: Database, sql: str) -> None:
    """Run a statement that may fail: the server lacks the extension, or the user the right to make it."""
    database.command("SAVEPOINT attempt")
    try:
        database.command(sql)
    except StoreError:
        database.command("ROLLBACK TO SAVEPOINT attempt")
    database.command("RELEASE SAVEPOINT attempt")


_REPLICA = "SELECT (pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on')::int"
_HAS = "SELECT count(*) FROM pg_extension WHERE extname = '{extension}'"
_EXTENDED = (
    "SELECT count(*) FROM pg_indexes WHERE schemaname = current_schema() AND indexname = 'substring_index_folded'"
)
_TRIGRAMS = "CREATE INDEX IF NOT EXISTS substring_index_folded ON substring_index USING gin (folded gin_trgm_ops)"
_PARTS = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'entities'::regclass"
