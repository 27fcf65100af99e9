"""Toy servers: real processes over a folder each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.process.support.client import Server
from tests.process.support.launch import ROOT, isolated_env


def toy_command(folder: Path) -> list[str]:
    return [sys.executable, "-m", "tests.surfaces.toy", str(folder)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the toy servers of one test share."""
    made = tmp_path / "toy"
    made.mkdir()
    return made


@pytest.fixture
def start(folder: Path, tmp_path: Path) -> Iterator[Callable[[], Server]]:
    """Starts toy servers, without a handshake; ends them all."""
    with ExitStack() as running:
        yield lambda: running.enter_context(Server(toy_command(folder), isolated_env(tmp_path / "home"), ROOT))


@pytest.fixture
def toy(start: Callable[[], Server]) -> Server:
    """One toy server after its handshake."""
    server = start()
    server.initialize()
    return server


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One toy server for tests that leave it usable."""
    folder = tmp_path_factory.mktemp("toy")
    with Server(toy_command(folder), isolated_env(folder / "home"), ROOT) as server:
        server.initialize()
        yield server
