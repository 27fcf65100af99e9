"""A connection that reads."""

from __future__ import annotations

from evoca.domain.clock import Clock
from evoca.storage.repositories.session import RepositorySession
from evoca.storage.sqlite.database import Database
from evoca.storage.sqlite.indexes import SqliteIndexes


class SqliteReader:
    """See `storage.readers.Reader`."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        self.session = RepositorySession(database, SqliteIndexes(database), clock)

    def begin(self) -> None:
        self.database.command("BEGIN")

    def end(self) -> bool:
        self.database.roll_back()
        return True

    def close(self) -> None:
        self.database.close()
