"""The servers that are measured: Evoca, the official memory server, and a bare server as the base."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from tests.process.support.client import Server
from tests.process.support.launch import ROOT, evoca_command, isolated_env, official_missing, start_official

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

EVOCA, OFFICIAL, BARE = "evoca", "official", "bare"


def contenders() -> tuple[str, ...]:
    """Who can be measured here; says who cannot."""
    if missing := official_missing():
        print(f"The official server is left out: {missing}.")
        return (EVOCA, BARE)
    return (EVOCA, OFFICIAL, BARE)


@dataclass(slots=True)
class Contestant:
    """A running server of one contender.

    `started_ms`, `started_cpu_ms`: wall time and CPU from its start to the answer to `tools/list`.
    """

    who: str
    server: Server
    process: psutil.Process
    started_ms: float
    started_cpu_ms: float
    listing_bytes: int

    def cpu_ms(self) -> float:
        """CPU that the process has used so far, in ms (a resolution of 10 ms)."""
        times = self.process.cpu_times()
        return (times.user + times.system) * 1_000

    def rss_mb(self) -> float:
        return self.process.memory_info().rss / 2**20

    def stop(self) -> None:
        try:
            self.server.stop()
        finally:
            self.server.__exit__(None, None, None)


def start(who: str, folder: Path, env: Mapping[str, str] | None = None) -> Contestant:
    """Start a contender on its store in `folder`; everything that it has stored there before is there again."""
    folder.mkdir(parents=True, exist_ok=True)
    home = folder / "home"
    began = time.perf_counter()
    if who == OFFICIAL:
        server = start_official(home, official_file(folder))
    else:
        command = evoca_command("mcp", "--store", str(store_file(folder)))
        if who == BARE:
            command = [sys.executable, "-m", "bench.bare_server"]
        server = Server(command, isolated_env(home, env), ROOT)
        server.initialize()
    server.tools()
    elapsed = (time.perf_counter() - began) * 1_000
    process = psutil.Process(server.process.pid)
    contestant = Contestant(who, server, process, elapsed, 0.0, len(server.lines[-1]))
    contestant.started_cpu_ms = contestant.cpu_ms()
    return contestant


def store_file(folder: Path) -> Path:
    return folder / "memory.db"


def official_file(folder: Path) -> Path:
    return folder / "memory.jsonl"


def size_on_disk(who: str, folder: Path) -> int:
    """Bytes of the contender's store at rest, logs included."""
    base = official_file(folder) if who == OFFICIAL else store_file(folder)
    return sum(file.stat().st_size for file in folder.glob(f"{base.name}*"))
