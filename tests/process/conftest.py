"""Whole servers as clients meet them: real processes, real pipes, a store file of their own."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.process.support.graph import clear
from tests.process.support.http import HttpServer
from tests.process.support.launch import start_evoca

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from tests.process.support.client import Server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home folder of the servers of one test."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where the store of one test will be; not made yet."""
    return tmp_path / "memory.db"


@pytest.fixture
def serve(home: Path, store: Path) -> Iterator[Callable[..., HttpServer]]:
    """Starts `evoca serve` on the test's store; ends all of them. Options: `env`, and `headers` for every request."""
    with ExitStack() as running:

        def start(*arguments: str, **options: Mapping[str, str]) -> HttpServer:
            server = HttpServer(
                home, store, arguments=arguments, env=options.get("env"), headers=options.get("headers")
            )
            return running.enter_context(server)

        yield start


@pytest.fixture(scope="module")
def module_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for the tests of a module that leave it usable; searches by meaning use the stand-in model."""
    folder = tmp_path_factory.mktemp("server")
    env = {"EVOCA_EMBEDDER": "hash", "EVOCA_CATCH_UP": "30", "EVOCA_INDEXER_REST": "0"}
    with start_evoca(folder / "home", folder / "memory.db", env=env) as server:
        yield server


@pytest.fixture
def evoca(module_server: Server) -> Server:
    """The module's server, emptied."""
    clear(module_server)
    return module_server
