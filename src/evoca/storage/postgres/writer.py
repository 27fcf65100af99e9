"""The connection that writes, as group commit uses it.

One server writes at a time: an advisory lock is taken at the beginning of a transaction and freed by its end. So a
unit of work sees what all others have committed, as on SQLite; no two servers create the same entity at once, and the
change counter grows in the order of the commits.

When the connection breaks before COMMIT was sent, nothing was done and the group is repeated. While COMMIT was under
way nobody can know; but each transaction leaves its number in `writers`, so the next connection can see. It takes the
lock first, so that the broken transaction is certainly over.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable

from evoca.domain.clock import Clock
from evoca.errors import CommitUnknown, EvocaError, StoreUnopenable
from evoca.storage.connection import Span
from evoca.storage.postgres.database import Database
from evoca.storage.postgres.faults import Lost, Repeatable
from evoca.storage.postgres.indexes import PostgresIndexes
from evoca.storage.postgres.migrations import LOCK
from evoca.storage.postgres.outage import Outage
from evoca.storage.repositories.session import RepositorySession

_LEAST_IDS = 32
_REPEATS = 10
"""So many times in a row a transaction may be repeated because of others."""
_FORGOTTEN = 7 * 86_400_000_000
"""Microseconds after which a writer that was not heard of is forgotten."""


class SequenceIds:
    """Ids from the sequence, a few more than asked for; what is left over when the transaction ends is never used."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.clear()

    def clear(self) -> None:
        self._next = self._end = 0
        self._taken: list[Span] = []

    def take(self, count: int) -> int:
        if self._end - self._next < count:
            allotted = max(count, _LEAST_IDS)
            values = {"count": allotted}
            self._next = self._database.select("SELECT take_ids(:count)", values, tuple[int])[0][0]
            self._end = self._next + allotted
        first = self._next
        self._next += count
        self._note(first, self._next - 1)
        return first

    def _note(self, first: int, last: int) -> None:
        if self._taken and self._taken[-1][1] == first - 1:
            self._taken[-1] = (self._taken[-1][0], last)
        else:
            self._taken.append((first, last))

    def taken(self) -> list[Span]:
        return list(self._taken)

    def save(self) -> None:
        """The sequence has been moved on already."""


class PostgresTransactions:
    """See `storage.group_commit.Transactions`. `connect` makes a new connection."""

    def __init__(self, database: Database, connect: Callable[[], Database], clock: Clock, outage: Outage) -> None:
        self._connect = connect
        self._clock = clock
        self._outage = outage
        self._writer = uuid.uuid4().hex
        self._number = 0
        self._repeated = 0
        self._adopt(database)
        self._database.run(_FORGET, {"before": clock.now() - _FORGOTTEN})

    def _adopt(self, database: Database) -> None:
        self._database = database
        self.session = RepositorySession(database, PostgresIndexes(database), self._clock, SequenceIds(database))

    # -- what group commit asks for --------------------------------------------------------------

    def begin(self) -> None:
        while True:
            try:
                self._begin()
            except Lost:
                self._reconnect()
            else:
                return

    def _begin(self) -> None:
        if self._database.broken:
            raise Lost("")
        self._database.command(_BEGIN)

    def mark(self) -> None:
        self._database.command("SAVEPOINT unit")

    def release(self) -> None:
        self._database.command("RELEASE SAVEPOINT unit")

    def undo(self) -> bool:
        if not self._database.in_transaction:
            return False
        try:
            self._database.command("ROLLBACK TO SAVEPOINT unit")
            self._database.command("RELEASE SAVEPOINT unit")
        except EvocaError:
            return False
        return True

    def commit(self) -> None:
        number = self._number + 1
        try:
            self._database.command(_COMMIT.format(name=self._writer, number=number, now=self._clock.now()))
        except Lost as error:
            if not self._committed(number):
                self._number = number
                raise Repeatable(error.message, error.hint) from error
        self._number = number
        self._repeated = 0

    def roll_back(self) -> None:
        self._database.roll_back()

    def passing(self, error: BaseException) -> bool:
        """Nothing of the transaction was done. A lost connection is made anew by `begin`, in bounded time."""
        self._repeated += 1
        if isinstance(error, Lost | Repeatable) and self._repeated <= _REPEATS:
            return True
        self._repeated = 0
        return False

    def rest(self) -> float | None:
        return None

    def tidy(self, idle: bool) -> None:
        pass

    def finish(self) -> None:
        self._database.close()

    # -- a database that is away -----------------------------------------------------------------

    def _reconnect(self) -> None:
        """Connect anew. Raises Unavailable once the database has been away for too long."""
        self._database.close()
        while True:
            try:
                self._adopt(self._connect())
            except (Lost, StoreUnopenable) as error:
                self._outage.wait(error)
            else:
                self._outage.over()
                return

    def _committed(self, number: int) -> bool:
        """Whether the transaction whose COMMIT was cut off took place. Raises CommitUnknown after the bounded wait."""
        try:
            self.begin()
            rows = self._database.select(_LAST, {"name": self._writer}, tuple[int])
            self._database.roll_back()
        except EvocaError as error:
            raise CommitUnknown(
                f"The connection broke while a change was being saved; whether it was is not known. {error.message}",
                "Look whether the change is there before making it again.",
            ) from error
        return bool(rows) and rows[0][0] == number


_BEGIN = f"BEGIN; SELECT pg_advisory_xact_lock({LOCK}, hashtext(current_schema()))"
_COMMIT = """
INSERT INTO writers (name, commits, seen_at) VALUES ('{name}', {number}, {now})
ON CONFLICT (name) DO UPDATE SET commits = excluded.commits, seen_at = excluded.seen_at;
COMMIT
"""
_LAST = "SELECT commits FROM writers WHERE name = :name"
_FORGET = "DELETE FROM writers WHERE seen_at < :before"
