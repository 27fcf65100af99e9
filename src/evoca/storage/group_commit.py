"""The one thread of a process that writes: group commit, whatever the engine.

What is queued is run as one transaction, each unit of work in a savepoint of its own, and answered after
the commit. One wait for the disk serves the whole group. A unit that fails is undone alone. When the
transaction itself fails, nothing of it was acknowledged: its units are repeated, all together when the
engine says that it failed for a passing reason, else one by one, so that each gets an outcome of its own.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from evoca.errors import CommitUnknown, EvocaError, ShuttingDown
from evoca.storage.contract import Cancellation, Cancelled, Session

if TYPE_CHECKING:
    from evoca.storage.repositories.session import RepositorySession

_LONGEST_GROUP = 0.1
"""Seconds after which a group takes no further unit: other processes wait for the lock."""


class Transactions(Protocol):
    """The connection that writes, as group commit needs it. Used by one thread."""

    @property
    def session(self) -> RepositorySession: ...
    def begin(self) -> None:
        """Begin a transaction that no other process can overtake. Raises when that takes too long."""
        ...

    def mark(self) -> None:
        """Set the savepoint of a unit."""
        ...

    def release(self) -> None:
        """Keep what the unit did."""
        ...

    def undo(self) -> bool:
        """Go back to the savepoint. False when the whole transaction is lost."""
        ...

    def commit(self) -> None:
        """Returns when the transaction is durable. Raises CommitUnknown when nobody can say whether it is."""
        ...

    def roll_back(self) -> None:
        """End the transaction, if there is one."""
        ...

    def passing(self, error: BaseException) -> bool:
        """Whether a transaction that was lost to this error may succeed if it is repeated as it is."""
        ...

    def rest(self) -> float | None:
        """Seconds without work after which `tidy` is due; None: never."""
        ...

    def tidy(self, idle: bool) -> None:
        """Do what is due between two groups."""
        ...

    def finish(self) -> None:
        """Close the connection."""
        ...


class _CancelledMeanwhile(Exception):
    """A unit of the group was cancelled before the commit: the group is repeated without it."""


class _TransactionLost(Exception):
    """The whole transaction ended on a unit's error."""

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


class GroupCommit:
    """Takes units of work from any thread. `most`: units in one transaction."""

    def __init__(self, transactions: Transactions, most: int) -> None:
        self._transactions = transactions
        self._most = most
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._accepting = threading.Lock()
        self._closed = False
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
        """Finish what was taken, then close the connection."""
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
                self._transactions.tidy(idle=not jobs)
            except BaseException as error:  # noqa: BLE001 -- a fault here must not leave callers waiting for ever
                for job in _wanted(jobs):
                    job.finish(error)
        self._transactions.finish()

    def _gather(self) -> tuple[list[_Job], bool]:
        """What is queued, up to a group, and whether it was the end. Nothing when there is time to tidy."""
        try:
            first = self._queue.get(timeout=self._transactions.rest())
        except queue.Empty:
            return [], False
        jobs: list[_Job] = []
        while first is not None:
            jobs.append(first)
            if len(jobs) >= self._most:
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
                self._transactions.roll_back()  # in case an earlier rollback failed
                self._transactions.begin()
            except EvocaError as error:
                _refuse(wanted, error)
                return
            try:
                outcomes = self._transact(wanted)
            except _CancelledMeanwhile:
                continue
            except CommitUnknown as error:
                _refuse(wanted, error)
                return
            except (_TransactionLost, EvocaError) as error:
                cause = error.error if isinstance(error, _TransactionLost) else error
                if self._transactions.passing(cause):
                    continue
                self._repeat(wanted, cause)
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
        ledger = self._transactions.session.ledger
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
                self._transactions.commit()
            return outcomes
        finally:
            ledger.clear()
            self._transactions.roll_back()

    def _run_unit(self, job: _Job) -> BaseException | None:
        if job.cancelled:
            return Cancelled()
        session, transactions = self._transactions.session, self._transactions
        transactions.mark()
        try:
            job.run(session)
            transactions.release()
        except BaseException as error:
            session.ledger.forget_unit()
            if not transactions.undo():
                raise _TransactionLost(error) from error
            return error
        session.ledger.keep_unit()
        return None


def _refuse(jobs: Sequence[_Job], error: EvocaError) -> None:
    """Each caller raises an error of its own: one that is shared would collect all their tracebacks."""
    for job in jobs:
        job.finish(type(error)(error.message, error.hint))


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
