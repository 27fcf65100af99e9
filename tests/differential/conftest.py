"""One pair of servers for the whole run: the official one, and Evoca beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.differential.pair import Pair
from tests.process.support.launch import official_missing, start_evoca, start_official


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Skipped where the official server cannot run, unless skips are failures (`EVOCA_CI`)."""
    if missing := official_missing():
        if os.environ.get("EVOCA_CI"):
            pytest.fail(f"the differential test must run here, but {missing}")
        pytest.skip(missing)
    folder = tmp_path_factory.mktemp("differential")
    file: Path = folder / "official.jsonl"
    with start_official(folder / "official", file) as official, start_evoca(folder / "evoca", folder / "m.db") as evoca:
        yield Pair(official, evoca, file)
