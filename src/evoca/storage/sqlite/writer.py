"""The one thread of a process that writes: group commit.

What is queued is run as one transaction, each unit of work in a savepoint of its own, and answered after
the commit. One wait for the disk serves the whole group. A unit that fails is undone alone. When the
transaction itself fails, nothing of it was acknowledged: its units are repeated one by one, so that
each gets an outcome of its own.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from evoca.errors import EvocaError, ShuttingDown
from evoca.storage.contract import Cancellation, Cancelled, Session
from evoca.storage.repositories.session import RepositorySession
from evoca.storage.sqlite.database import Database, WalPages
from evoca.storage.sqlite.indexes import SqliteIndexes
from evoca.storage.sqlite.opening import SqliteOptions
from evoca.storage.sqlite.readers import Readers

_LONGEST_GROUP = 0.1
"""Seconds after which a group takes no further unit: other processes wait for the lock."""
_GAP = 0.05
"""Seconds to wait for a gap between readers, and for other processes' readers in it."""
_SHORT = 1_024
"""So many pages are copied while readers wait; SQLite needs a few milliseconds for them."""
_WAL_PAGE = 4096 + 24
_RETRY_PAGES = 2_048
"""After a checkpoint that found no gap, the log grows by so many pages before the next try."""


class _CancelledMeanwhile(Exception):
    """A unit of the group was cancelled before the commit: the group is repeated without it."""


class _TransactionLost(Exception):
    """SQLite ended the whole transaction on a unit's error."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(slots=True, eq=False)
class _Job:
    """One unit of work and how it ended. Done when `done` is set: `error` None is success."""

    run: Callable[[Session], None]
    cancellation: Cancellation | None
    done: threading.Event = field(default_factory=threading.Event)
    error: BaseException | None = None

    @property
    def cancelled(self) -> bool:
        return self.cancellation is not None and self.cancellation.cancelled

    def seal(self) -> bool:
        """Whether the caller still wants it; from here on it cannot be cancelled."""
        return self.cancellation is None or self.cancellation.seal()

    def finish(self, error: BaseException | None = None) -> None:
        self.error = error
        self.done.set()


class Writer:
    """Owns the connection that writes."""

    def __init__(self, database: Database, readers: Readers, options: SqliteOptions) -> None:
        self._database = database
        self._readers = readers
        self._options = options
        self._session = RepositorySession(database, SqliteIndexes(database))
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._accepting = threading.Lock()
        self._closed = False
        self.checkpoint_fault = ""
        self._wal = WalPages()
        self._next_checkpoint = max(1, options.checkpoint_bytes // _WAL_PAGE)
        database.count_wal_pages(self._wal)
        self._thread = threading.Thread(target=self._serve, name="evoca-writer", daemon=True)
        self._thread.start()

    def do(self, run: Callable[[Session], None], cancellation: Cancellation | None) -> None:
        """Run a unit of work and wait for its commit. Raises what the unit raised, or why it could not be kept."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("a unit of work must use its session, not the store")
        job = _Job(run, cancellation)
        with self._accepting:
            if self._closed:
                raise ShuttingDown("The store is closed.")
            self._queue.put(job)
        job.done.wait()
        if job.error is not None:
            raise job.error

    def close(self) -> None:
        """Finish what was taken, copy the log into the database, close the connection."""
        with self._accepting:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    # -- the thread ------------------------------------------------------------------------------

    def _serve(self) -> None:
        ending = False
        while not ending:
            jobs, ending = self._gather()
            try:
                self._commit(jobs)
                self._tidy(idle=not jobs)
            except BaseException as error:  # noqa: BLE001 -- a fault here must not leave callers waiting for ever
                for job in _wanted(jobs):
                    job.finish(error)
        self._finish()

    def _gather(self) -> tuple[list[_Job], bool]:
        """What is queued, up to a group, and whether it was the end. Nothing when the log should be copied."""
        try:
            first = self._queue.get(timeout=self._options.idle if self._wal.count else None)
        except queue.Empty:
            return [], False
        jobs: list[_Job] = []
        while first is not None:
            jobs.append(first)
            if len(jobs) >= self._options.group:
                return jobs, False
            try:
                first = self._queue.get_nowait()
            except queue.Empty:
                return jobs, False
        return jobs, True

    def _commit(self, jobs: Sequence[_Job]) -> None:
        """Give each job its outcome."""
        while wanted := _wanted(jobs):
            try:
                self._database.roll_back()  # in case an earlier rollback failed
                self._database.command("BEGIN IMMEDIATE")
            except EvocaError as error:
                for job in wanted:
                    job.finish(type(error)(error.message, error.hint))
                return
            try:
                outcomes = self._transact(wanted)
            except _CancelledMeanwhile:
                continue
            except (_TransactionLost, EvocaError) as error:
                self._repeat(wanted, error.error if isinstance(error, _TransactionLost) else error)
                return
            for job, outcome in outcomes.items():
                job.finish(outcome)

    def _repeat(self, jobs: Sequence[_Job], error: BaseException) -> None:
        """After a lost transaction: one by one, so that only those fail that must."""
        if len(jobs) == 1:
            jobs[0].finish(error)
            return
        for job in jobs:
            self._commit([job])

    def _transact(self, jobs: Sequence[_Job]) -> dict[_Job, BaseException | None]:
        """Run and commit the open transaction. Returns how each unit ended; those that found no time are not in it."""
        ledger = self._session.ledger
        latest = time.monotonic() + _LONGEST_GROUP
        outcomes: dict[_Job, BaseException | None] = {}
        try:
            for job in jobs:
                outcomes[job] = self._run_unit(job)
                if time.monotonic() > latest:
                    break
            if None in outcomes.values():
                ledger.settle()
                if not all(job.seal() for job, error in outcomes.items() if error is None):
                    raise _CancelledMeanwhile
                self._database.command("COMMIT")
            return outcomes
        finally:
            ledger.clear()
            self._database.roll_back()

    def _run_unit(self, job: _Job) -> BaseException | None:
        if job.cancelled:
            return Cancelled()
        ledger, database = self._session.ledger, self._database
        database.command("SAVEPOINT unit")
        try:
            job.run(self._session)
            database.command("RELEASE unit")
        except BaseException as error:
            ledger.forget_unit()
            if not database.in_transaction:
                raise _TransactionLost(error) from error
            database.command("ROLLBACK TO unit")
            database.command("RELEASE unit")
            return error
        ledger.keep_unit()
        return None

    # -- checkpoints -----------------------------------------------------------------------------

    def _tidy(self, idle: bool) -> None:
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

    def _finish(self) -> None:
        self._tidy(idle=True)
        if self.checkpoint_fault:
            # Closing would try again; the log keeps what was committed for the next one who opens the store.
            self._database.leave_log(alone=True)
        self._database.close()


def _wanted(jobs: Sequence[_Job]) -> list[_Job]:
    """The jobs that nobody has cancelled; the others are answered."""
    kept: list[_Job] = []
    for job in jobs:
        if job.done.is_set():
            continue
        if job.cancelled:
            job.finish(Cancelled())
        else:
            kept.append(job)
    return kept
