"""The engines that tests run on, each with its own way to a fresh store."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.postgres import DEBIAN, Server, embedded, running

SQLITE = "sqlite"
POSTGRES = "postgres"
"""With pgvector and every other extension."""
ARRAYS = "postgres-arrays"
"""Without pgvector: Debian's server where it is installed, else the same server told not to use it."""
ENGINES = (SQLITE, POSTGRES, ARRAYS)


class Servers:
    """The servers of a test run, started when they are first needed."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._started: dict[Path, Server] = {}

    def of(self, engine: str) -> Server:
        programs = DEBIAN if engine == ARRAYS and DEBIAN.is_dir() else embedded()
        if programs not in self._started:
            self._started[programs] = self._stack.enter_context(running(programs))
        return self._started[programs]

    @contextmanager
    def place(self, engine: str, folder: Path) -> Generator[str]:
        """Where an empty store of this engine is: a path in `folder`, or a URL."""
        if engine == SQLITE:
            yield str(folder / "memory.db")
            return
        server = self.of(engine)
        database = server.empty_store()
        try:
            yield server.url(database, **({"vectors": "arrays"} if engine == ARRAYS else {}))
        finally:
            server.take_back(database)

    def close(self) -> None:
        self._stack.close()
