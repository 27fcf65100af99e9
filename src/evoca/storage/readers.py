"""Read connections: as many as are asked for at once, a few of them kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from evoca.errors import ShuttingDown, StoreBusy

if TYPE_CHECKING:
    from evoca.storage.repositories.session import RepositorySession


class Reader(Protocol):
    """A connection for reading and the session over it."""

    @property
    def session(self) -> RepositorySession: ...
    def begin(self) -> None:
        """Fix the state of the store that is seen until `end`."""
        ...

    def end(self) -> bool:
        """End the transaction. False when the connection is of no more use."""
        ...

    def close(self) -> None: ...


R = TypeVar("R", bound=Reader)


class Readers(Generic[R]):
    """Lends read connections, `most` at once, and keeps `keep` of them. `patience`: seconds to wait for one.

    Readers wait for nobody but others who hold the last connection, or an engine that needs a gap between them.
    """

    def __init__(self, connect: Callable[[], R], keep: int, most: int = 1_000_000, patience: float = 30.0) -> None:
        self._connect = connect
        self._keep = keep
        self._most = most
        self._patience = patience
        self._idle: list[R] = []
        self._changed = threading.Condition()
        self._active = 0
        self._paused = False
        self._closed = False

    @contextmanager
    def lend(self) -> Generator[R]:
        """A reader inside a transaction: it sees one state of the store until it is given back."""
        reader = self._take()
        usable = False
        try:
            reader.begin()
            try:
                yield reader
            except BaseException:
                reader.session.ledger.clear()
                raise
            finally:
                usable = reader.end()
        finally:
            self._give_back(reader, usable)

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
            reader.close()

    def drop_idle(self) -> None:
        """Close the connections that are kept: their server may be gone."""
        with self._changed:
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.close()

    def _take(self) -> R:
        with self._changed:
            free = self._changed.wait_for(
                lambda: self._closed or not (self._paused or self._active >= self._most), self._patience
            )
            if self._closed:
                raise ShuttingDown("The store is closed.")
            if not free:
                raise StoreBusy("No connection to the store is free.", "Try again: many calls read at once.")
            self._active += 1
            if self._idle:
                return self._idle.pop()
        try:
            return self._connect()
        except BaseException:
            self._settle(None)
            raise

    def _give_back(self, reader: R, usable: bool) -> None:
        if not self._settle(reader if usable else None):
            reader.close()

    def _settle(self, reader: R | None) -> bool:
        """One reader less at work. Whether it is kept."""
        with self._changed:
            kept = reader is not None and not self._closed and len(self._idle) < self._keep
            if kept and reader is not None:
                self._idle.append(reader)
            self._active -= 1
            self._changed.notify_all()
            return kept
