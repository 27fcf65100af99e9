"""The connection that writes, as group commit uses it, and the copying of the log into the database."""

from __future__ import annotations

from evoca.domain.clock import Clock
from evoca.errors import EvocaError
from evoca.storage.readers import Readers
from evoca.storage.repositories.session import RepositorySession
from evoca.storage.sqlite.database import Database, WalPages
from evoca.storage.sqlite.indexes import SqliteIndexes
from evoca.storage.sqlite.opening import SqliteOptions
from evoca.storage.sqlite.readers import SqliteReader

_GAP = 0.05
"""Seconds to wait for a gap between readers, and for other processes' readers in it."""
_SHORT = 1_024
"""So many pages are copied while readers wait; SQLite needs a few milliseconds for them."""
_WAL_PAGE = 4096 + 24
_RETRY_PAGES = 2_048
"""After a checkpoint that found no gap, the log grows by so many pages before the next try."""


class SqliteTransactions:
    """See `storage.group_commit.Transactions`."""

    def __init__(
        self, database: Database, readers: Readers[SqliteReader], clock: Clock, options: SqliteOptions
    ) -> None:
        self._database = database
        self._readers = readers
        self._options = options
        self.session = RepositorySession(database, SqliteIndexes(database), clock)
        self.checkpoint_fault = ""
        self._wal = WalPages()
        self._next_checkpoint = max(1, options.checkpoint_bytes // _WAL_PAGE)
        database.count_wal_pages(self._wal)

    def begin(self) -> None:
        self._database.command("BEGIN IMMEDIATE")

    def mark(self) -> None:
        self._database.command("SAVEPOINT unit")

    def release(self) -> None:
        self._database.command("RELEASE unit")

    def undo(self) -> bool:
        if not self._database.in_transaction:
            return False
        self._database.command("ROLLBACK TO unit")
        self._database.command("RELEASE unit")
        return True

    def commit(self) -> None:
        self._database.command("COMMIT")

    def roll_back(self) -> None:
        self._database.roll_back()

    def passing(self, error: BaseException) -> bool:  # noqa: ARG002 -- SQLite has waited already
        return False

    def rest(self) -> float | None:
        return self._options.idle if self._wal.count else None

    # -- checkpoints -----------------------------------------------------------------------------

    def tidy(self, idle: bool) -> None:
        if not self._wal.count or not (idle or self._wal.count >= self._next_checkpoint):
            return
        try:
            copied, emptied = self._checkpoint()
            self.checkpoint_fault = ""
        except EvocaError as error:
            # What was committed is safe in the log; the next try may succeed. `Store.check` tells of it.
            copied, emptied = False, False
            self.checkpoint_fault = error.message
        if emptied or (idle and copied):
            self._wal.count = 0
            self._next_checkpoint = max(1, self._options.checkpoint_bytes // _WAL_PAGE)
        else:
            self._next_checkpoint = self._wal.count + _RETRY_PAGES

    def _checkpoint(self) -> tuple[bool, bool]:
        """Copy the log, then empty it in a gap between readers. Whether all was copied, and whether it is empty.

        The long part goes on beside the readers; there is a gap only if little is left to copy in it.
        """
        left = self._database.checkpoint(truncate=False)
        if left > _SHORT:
            return False, False
        patience = self._database.patience
        usual, patience.limit = patience.limit, _GAP
        try:
            with self._readers.gap(_GAP) as free:
                return left == 0, free and self._database.checkpoint(truncate=True) == 0
        finally:
            patience.limit = usual

    def finish(self) -> None:
        self.tidy(idle=True)
        if self.checkpoint_fault:
            # Closing would try again; the log keeps what was committed for the next one who opens the store.
            self._database.leave_log(alone=True)
        self._database.close()
