"""A memory of its own for each test, words only unless a test asks for more; every test runs on each engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import evoca.storage
from evoca import Memory
from evoca.domain.clock import Clock
from evoca.storage.contract import Store
from tests.support.engines import ENGINES, POSTGRES, SQLITE, Servers

EVERYWHERE = {
    "test_creating_entities",
    "test_episodes",
    "test_episodes_search",
    "test_fact_contract",
    "test_keys",
    "test_reading",
    "test_relations",
    "test_searching",
    "test_walking",
}
"""What is tested on PostgreSQL in every run; the long runs test all of it there, and without pgvector too."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine" in metafunc.fixturenames and not any(
        "engine" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")
    ):
        name = metafunc.definition.path.stem
        tried = (SQLITE, POSTGRES) if name in EVERYWHERE else (SQLITE,)
        metafunc.parametrize("engine", ENGINES if os.environ.get("EVOCA_PROVE") else tried, indirect=True)


@pytest.fixture(autouse=True)
def engine(request: pytest.FixtureRequest, servers: Servers, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The engine that keeps what a test keeps at a path: each path stands for a store of its own."""
    name = str(request.param)
    if name == SQLITE:
        yield name
        return
    places: dict[str, str] = {}
    open_store = evoca.storage.open_store
    with ExitStack() as stack:

        def open_there(location: str | Path, clock: Clock, busy_timeout: float = 30.0) -> Store:
            path = str(location)
            if path not in places:
                places[path] = stack.enter_context(servers.place(name, Path(path).parent))
            return open_store(places[path], clock, busy_timeout)

        monkeypatch.setattr(evoca.storage, "open_store", open_there)
        yield name


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", embedder="none") as opened:
        yield opened
