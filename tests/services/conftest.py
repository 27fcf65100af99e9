"""A memory of its own for each test, words only unless a test asks for more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evoca import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", embedder="none") as opened:
        yield opened
