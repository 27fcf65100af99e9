"""Read connections: as many as are asked for at once, a few of them kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from evoca.errors import ShuttingDown
from evoca.storage.repositories.session import RepositorySession
from evoca.storage.sqlite.database import Database
from evoca.storage.sqlite.indexes import SqliteIndexes


class Reader:
    """A connection and the session over it."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.session = RepositorySession(database, SqliteIndexes(database))


class Readers:
    """Lends read connections. Readers wait for nobody but a checkpoint that needs a gap between them."""

    def __init__(self, connect: Callable[[], Database], keep: int) -> None:
        self._connect = connect
        self._keep = keep
        self._idle: list[Reader] = []
        self._changed = threading.Condition()
        self._active = 0
        self._paused = False
        self._closed = False

    @contextmanager
    def lend(self) -> Generator[Reader]:
        """A reader inside a transaction: it sees one state of the store until it is given back."""
        reader = self._take()
        try:
            reader.database.command("BEGIN")
            try:
                yield reader
            except BaseException:
                reader.session.ledger.clear()
                raise
            finally:
                reader.database.roll_back()
        finally:
            self._give_back(reader)

    @contextmanager
    def gap(self, patience: float) -> Generator[bool]:
        """A moment without readers: new ones wait. Yields False when those at work took longer than `patience` s."""
        with self._changed:
            self._paused = True
            free = self._changed.wait_for(lambda: self._active == 0, patience)
        try:
            yield free
        finally:
            with self._changed:
                self._paused = False
                self._changed.notify_all()

    def close(self, patience: float) -> None:
        """Lend no more, wait for those at work up to `patience` seconds, close the rest."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._active == 0, patience)
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.database.close()

    def _take(self) -> Reader:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or not self._paused)
            if self._closed:
                raise ShuttingDown("The store is closed.")
            self._active += 1
            if self._idle:
                return self._idle.pop()
        try:
            return Reader(self._connect())
        except BaseException:
            self._settle(None)
            raise

    def _give_back(self, reader: Reader) -> None:
        if not self._settle(reader):
            reader.database.close()

    def _settle(self, reader: Reader | None) -> bool:
        """One reader less at work. Whether it is kept."""
        with self._changed:
            kept = reader is not None and not self._closed and len(self._idle) < self._keep
            if kept and reader is not None:
                self._idle.append(reader)
            self._active -= 1
            self._changed.notify_all()
            return kept
