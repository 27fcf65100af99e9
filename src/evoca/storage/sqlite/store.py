"""The store on SQLite: reads on a pool of connections, writes through one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from evoca.domain.clock import Clock
from evoca.errors import StoreDamaged
from evoca.storage.contract import Session, cancellation
from evoca.storage.group_commit import GroupCommit
from evoca.storage.readers import Readers
from evoca.storage.sqlite.compacting import compact
from evoca.storage.sqlite.database import Database
from evoca.storage.sqlite.faults import read_only
from evoca.storage.sqlite.opening import Opener, SqliteOptions
from evoca.storage.sqlite.readers import SqliteReader
from evoca.storage.sqlite.writer import SqliteTransactions

T = TypeVar("T")
_LAST_READS = 2.0
"""Seconds that closing waits for reads at work."""


class SqliteStore:
    """See `storage.contract.Store`."""

    def __init__(self, path: Path, clock: Clock, options: SqliteOptions) -> None:
        self._closing = threading.Event()
        opener = self._opener = Opener(path, clock, options, self._closing)
        self._location = opener.location
        first = opener.open_first()
        self._readers = Readers(lambda: SqliteReader(opener.open_reader(), clock), options.readers)
        self._writer: GroupCommit | None = None
        self._transactions: SqliteTransactions | None = None
        self._idle: Database | None = None
        if first.read_only:
            self._idle = first
        else:
            self._transactions = SqliteTransactions(first, self._readers, clock, options)
            self._writer = GroupCommit(self._transactions, options.group)

    @property
    def location(self) -> str:
        return self._location

    def read(self, work: Callable[[Session], T]) -> T:
        with self._readers.lend() as reader:
            return work(reader.session)

    def write(self, work: Callable[[Session], T]) -> T:
        if self._writer is None:
            raise read_only(self._location)
        results: list[T] = []

        def unit(session: Session) -> None:
            results[:] = [work(session)]

        self._writer.do(unit, cancellation.get())
        return results[0]

    def check(self) -> Mapping[str, str]:
        with self._readers.lend() as reader:
            report = _examine(reader.database)
        report |= {name: str(self._file_size(suffix)) for name, suffix in (("size", ""), ("log_size", "-wal"))}
        report["writable"] = "no" if self._writer is None else "yes"
        if self._transactions is not None and self._transactions.checkpoint_fault:
            report["checkpoint"] = self._transactions.checkpoint_fault
        return report

    def size(self) -> int:
        return self._file_size("") + self._file_size("-wal")

    def compact(self) -> None:
        if self._writer is None:
            raise read_only(self._location)
        database = self._opener.open_maintainer()
        try:
            compact(database)
        finally:
            database.close()

    def _file_size(self, suffix: str) -> int:
        path = Path(self._location + suffix)
        return path.stat().st_size if path.exists() else 0

    def close(self) -> None:
        self._closing.set()
        self._readers.close(_LAST_READS)
        if self._writer is not None:
            self._writer.close()
        if self._idle is not None:
            self._idle.close()


def _examine(database: Database) -> dict[str, str]:
    try:
        problems = _problems(database)
    except StoreDamaged as damage:
        problems = [damage.message]
    return {
        "integrity": "; ".join(problems) or "ok",
        "schema_version": str(database.number("PRAGMA user_version")),
        "journal_mode": database.text("PRAGMA journal_mode"),
    }


def _problems(database: Database) -> list[str]:
    for look in _LOOKS:
        # FTS5 checks the structure that this connection saw last; only a query makes it look again. Without, a segment
        # that another connection has emptied since is reported as damage.
        database.select(look, {}, tuple[int])
    problems = [line for (line,) in database.select("PRAGMA integrity_check(20)", {}, tuple[str]) if line != "ok"]
    strays = database.select("PRAGMA foreign_key_check", {}, tuple[str, int | None, str, int])
    problems += [f"{table} refers to a missing row of {parent}" for table, _row, parent, _key in strays[:20]]
    return problems + [text for text, sql in _AGREEMENT.items() if database.number(sql)]


_LOOKS = (
    "SELECT rowid FROM text_index WHERE text_index MATCH '\"x\"' LIMIT 1",
    "SELECT rowid FROM substring_index WHERE substring_index MATCH '\"xxx\"' LIMIT 1",
)
_AGREEMENT = {
    "documents and the text index differ": """
        SELECT (SELECT count(*) FROM documents WHERE words > 0) <> (SELECT count(*) FROM text_index_docsize)
    """,
    "contents and the substring index differ": """
        SELECT (SELECT count(*) FROM entities WHERE id <= value)
            + (SELECT count(*) FROM observations WHERE id <= value AND superseded_at IS NULL)
            <> (SELECT count(*) FROM substring_index_docsize)
        FROM counters WHERE name = 'substrings'
    """,
}
