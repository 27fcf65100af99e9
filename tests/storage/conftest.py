"""Stores to test on. Every test that asks for `store` runs on each engine of `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evoca.domain.clock import FrozenClock
from evoca.storage import open_store
from evoca.storage.contract import Store
from tests.support.engines import ENGINES, Servers


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The name of the engine."""
    return str(request.param)


@pytest.fixture
def place(engine: str, servers: Servers, tmp_path: Path) -> Iterator[str]:
    """Where the test's one store is."""
    with servers.place(engine, tmp_path) as place:
        yield place


@pytest.fixture
def reopen(place: str) -> Iterator[Callable[[], Store]]:
    """Opens the test's one store, as often as it is called; all are closed at the end."""
    opened: list[Store] = []

    def open_again() -> Store:
        opened.append(open_store(place, FrozenClock(1_000_000)))
        return opened[-1]

    yield open_again
    for store in opened:
        store.close()


@pytest.fixture
def store(reopen: Callable[[], Store]) -> Store:
    return reopen()


@pytest.fixture
def home(store: Store) -> int:
    """The default collection."""
    collection = store.read(lambda session: session.collections.find("default"))
    assert collection is not None
    return collection.id
