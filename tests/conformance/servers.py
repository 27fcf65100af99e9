"""The servers under test, each a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.process.support.launch import ENDS_WITHIN, ROOT, evoca_command, isolated_env
from tests.surfaces.waiting import until

_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


def product(folder: Path) -> Sequence[str]:
    return evoca_command("serve", "--store", str(folder / "m.db"), "--port", "0")


def stand_in(what: str, folder: Path) -> Sequence[str]:
    return [sys.executable, "-W", "ignore", "-m", "tests.conformance.serve", what, str(folder)]


@contextmanager
def served(command: Sequence[str], folder: Path) -> Generator[str]:
    """The address of `/mcp` while the process runs. What it says is left in `folder`."""
    said = folder / "server.log"
    with said.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT, env=isolated_env(folder / "home"))
        try:
            until(lambda: process.poll() is not None or _address(said) is not None, "the server listens")
            address = _address(said)
            assert address is not None, said.read_text("utf-8")
            yield f"{address}/mcp"
            assert process.poll() is None, f"the server ended by itself\n{said.read_text('utf-8')}"
        finally:
            process.terminate()
            process.wait(ENDS_WITHIN)


def _address(said: Path) -> str | None:
    found = _ADDRESS.search(said.read_text("utf-8"))
    return found and found[0]
