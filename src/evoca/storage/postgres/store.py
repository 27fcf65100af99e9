"""The store on PostgreSQL: reads on a pool of connections, writes through one thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from evoca.domain.clock import Clock
from evoca.errors import StoreUnopenable
from evoca.storage.contract import Session, cancellation
from evoca.storage.group_commit import GroupCommit
from evoca.storage.postgres.database import Database
from evoca.storage.postgres.faults import Lost, read_only
from evoca.storage.postgres.indexes import PostgresIndexes
from evoca.storage.postgres.location import Location
from evoca.storage.postgres.opening import Abilities, Opener, PostgresOptions
from evoca.storage.postgres.outage import Outage
from evoca.storage.postgres.writer import PostgresTransactions
from evoca.storage.readers import Readers
from evoca.storage.repositories.session import RepositorySession

T = TypeVar("T")
_LAST_READS = 2.0
"""Seconds that closing waits for reads at work."""


class PostgresReader:
    """See `storage.readers.Reader`."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        self.session = RepositorySession(database, PostgresIndexes(database), clock)

    def begin(self) -> None:
        self.database.command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def end(self) -> bool:
        self.database.roll_back()
        return not self.database.broken

    def close(self) -> None:
        self.database.close()


class PostgresStore:
    """See `storage.contract.Store`."""

    def __init__(self, location: Location, clock: Clock, options: PostgresOptions) -> None:
        self._shown = location.shown
        self._outage = Outage(options.busy_timeout)
        opener = self._opener = Opener(location, clock, options)
        first, self._abilities = opener.open_first()
        self._readers = Readers(
            lambda: PostgresReader(opener.connect(), clock), options.kept, options.readers, options.busy_timeout
        )
        self._writer: GroupCommit | None = None
        if self._abilities.writable:
            transactions = PostgresTransactions(first, opener.connect, clock, self._outage)
            self._writer = GroupCommit(transactions, options.group)
        else:
            first.close()

    @property
    def location(self) -> str:
        return self._shown

    def read(self, work: Callable[[Session], T]) -> T:
        return self._reading(lambda reader: work(reader.session))

    def _reading(self, work: Callable[[PostgresReader], T]) -> T:
        """Reads change nothing, so one whose connection broke is simply done again."""
        while True:
            try:
                with self._readers.lend() as reader:
                    result = work(reader)
            except (Lost, StoreUnopenable) as error:
                self._readers.drop_idle()
                self._outage.wait(error)
            else:
                self._outage.over()
                return result

    def write(self, work: Callable[[Session], T]) -> T:
        if self._writer is None:
            raise read_only(self._shown)
        results: list[T] = []

        def unit(session: Session) -> None:
            results[:] = [work(session)]

        self._writer.do(unit, cancellation.get())
        return results[0]

    def check(self) -> Mapping[str, str]:
        return self._reading(lambda reader: _examine(reader.database, self._abilities))

    def size(self) -> int:
        return self._reading(lambda reader: reader.database.number(_SIZE))

    def compact(self) -> None:
        """Each table is locked while it is written anew. The server's log and copies are its administrator's."""
        if self._writer is None:
            raise read_only(self._shown)
        database = self._opener.connect()
        try:
            for (table,) in database.select(_TABLES, {}, tuple[str]):
                database.command(f'VACUUM (FULL, ANALYZE) "{table}"')
        finally:
            database.close()

    def close(self) -> None:
        self._outage.close()
        self._readers.close(_LAST_READS)
        if self._writer is not None:
            self._writer.close()


def _examine(database: Database, abilities: Abilities) -> dict[str, str]:
    problems = [text for text, sql in _AGREEMENT.items() if database.number(sql)]
    (server,) = database.select("SELECT current_setting('server_version')", {}, tuple[str])[0]
    return {
        "integrity": "; ".join(problems) or "ok",
        "schema_version": str(database.number("SELECT max(version) FROM migrations")),
        "journal_mode": "wal",
        "server": f"PostgreSQL {server}",
        "vectors": "searched in memory" + (": pgvector is there, but not used yet" if abilities.vector else ""),
        "substrings": "pg_trgm" if abilities.trigrams else "scanned: the server has no pg_trgm",
        "partitions": str(abilities.partitions),
        "size": str(database.number(_SIZE)),
        "writable": "yes" if abilities.writable else "no",
    }


_SIZE = """
SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
"""
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename"
_AGREEMENT = {
    "documents and the text index differ": """
        SELECT ((SELECT count(*) FROM documents WHERE words > 0) <> (SELECT count(*) FROM text_index))::int
    """,
    "contents and the substring index differ": """
        SELECT ((SELECT count(*) FROM entities) + (SELECT count(*) FROM observations WHERE superseded_at IS NULL)
            <> (SELECT count(*) FROM substring_index))::int
    """,
}
