"""A wire between client and server that can be cut at a chosen statement."""

from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

_PORT_FILE = ".s.PGSQL.5432"
_READ = 65_536


class Wire:
    """Passes bytes on between Unix sockets. Each order to cut is for one statement."""

    def __init__(self, folder: Path, server: Path) -> None:
        self._server = server
        self._folder = folder
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / _PORT_FILE))
        self._listener.listen()
        self._lock = threading.Lock()
        self._order: tuple[bytes, bool] | None = None
        self._ends_with_cut = self._refusing = False
        self._pairs: list[_Pair] = []
        self.cuts = 0
        self._closed = False
        self._threads: list[threading.Thread] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, database: str) -> str:
        return f"postgresql://evoca@/{database}?host={quote(str(self._folder), safe='')}"

    def cut(self, statement: bytes, arrives: bool, whole: bool = False) -> None:
        """At the next `statement`: break the connection, before the server has got it, or after it has answered.

        `whole`: all other connections too, and no new one is let through until `mend`.
        """
        with self._lock:
            self._order = (statement, arrives)
            self._ends_with_cut = whole

    def mend(self) -> None:
        with self._lock:
            self._refusing = False

    def close(self) -> None:
        """All connections must be closed already."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        while not self._closed:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._refusing:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(str(self._server / _PORT_FILE))
            except OSError:
                client.close()
                server.close()
                continue
            pair = _Pair(client, server)
            self._pairs.append(pair)
            self._start(self._forward, pair)
            self._start(_Pair.back, pair)

    def _start(self, target: Callable[[_Pair], None], pair: _Pair) -> None:
        thread = threading.Thread(target=target, args=(pair,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _forward(self, pair: _Pair) -> None:
        with contextlib.suppress(OSError):
            while data := pair.client.recv(_READ):
                order = self._due(data)
                if order is None:
                    pair.server.sendall(data)
                    continue
                if order:
                    pair.deaf.set()
                    pair.server.sendall(data)
                    pair.answered.wait(10)
                if self._refusing:
                    for other in self._pairs:
                        other.close()
                break
        pair.close()

    def _due(self, data: bytes) -> bool | None:
        with self._lock:
            if self._order is None or self._order[0] not in data:
                return None
            arrives = self._order[1]
            self._order = None
            self._refusing = self._ends_with_cut
            self.cuts += 1
            return arrives


class _Pair:
    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client, self.server = client, server
        self.deaf, self.answered = threading.Event(), threading.Event()

    def back(self) -> None:
        with contextlib.suppress(OSError):
            while data := self.server.recv(_READ):
                if self.deaf.is_set():
                    self.answered.set()
                    return
                self.client.sendall(data)
        self.close()

    def close(self) -> None:
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def wire(server: Path) -> Generator[Wire]:
    """A wire to the server whose socket is in that folder."""
    folder = Path(tempfile.mkdtemp(prefix="evoca-wire-"))
    laid = Wire(folder, server)
    try:
        yield laid
    finally:
        laid.close()
        shutil.rmtree(folder, ignore_errors=True)
