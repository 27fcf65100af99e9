"""Where the servers come from: commands, an environment of their own, and the official server."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.process.support.client import Server

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parents[3]
OFFICIAL_ENTRY = ROOT / "node_modules/@modelcontextprotocol/server-memory/dist/index.js"
PROVING = bool(os.environ.get("EVOCA_PROVE"))
"""Whether this run is the long one (`make prove`)."""
ENDS_WITHIN = 15.0
"""The promise is 5 s; a busy machine gets three times that before a test calls it broken."""

_INHERITED = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")


def isolated_env(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment that knows nothing of the machine's user: a home of its own, no Evoca settings but `extra`."""
    home.mkdir(parents=True, exist_ok=True)
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    own = {
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "EVOCA_EMBEDDER": "none",
    }
    return inherited | own | dict(extra or {})


def evoca_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "evoca", *arguments]


def start_evoca(
    home: Path,
    store: Path | None = None,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    arguments: Sequence[str] = (),
    handshake: bool = True,
) -> Server:
    """Start `evoca mcp` with an environment of its own. `store` None: no `--store`."""
    place = ["--store", str(store)] if store is not None else []
    server = Server(evoca_command("mcp", *place, *arguments), isolated_env(home, env), cwd or home)
    return _greeted(server) if handshake else server


def official_missing() -> str:
    """Why the official server cannot be run here; empty when it can."""
    if shutil.which("node") is None:
        return "node is not installed"
    if not OFFICIAL_ENTRY.exists():
        return "the official server is not installed (npm ci)"
    return ""


def start_official(home: Path, file: Path) -> Server:
    """Start the official memory server on `file`."""
    node = shutil.which("node")
    assert node is not None, official_missing()
    env = isolated_env(home, {"MEMORY_FILE_PATH": str(file)})
    return _greeted(Server([node, str(OFFICIAL_ENTRY)], env, home))


def _greeted(server: Server) -> Server:
    try:
        server.initialize()
    except BaseException:
        server.__exit__(None, None, None)
        raise
    return server
