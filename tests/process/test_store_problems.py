"""Stores that cannot be used or have no room: the client is told which file and what to do, and nothing is lost."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.process.support.client import Server
from tests.process.support.graph import check_integrity, entities, entity, names_in, refused
from tests.process.support.launch import evoca_command, isolated_env, start_evoca

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.process.support.client import JsonObject

ORDINARY_ROOT = """
import ctypes, os, sys
for capability in (1, 2, 3):
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Runs a command without root's licence to ignore file permissions; for anybody else it changes nothing."""

SMALL_FILES = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Runs a command that can make no file larger than so many bytes."""

SMALL_DISK = 'mount -t tmpfs -o size="$1" tmpfs "$2" && shift 2 && exec "$@"'
"""Runs a command, in a mount namespace of its own, with a file system of so many bytes on a folder."""

CALLS: list[tuple[str, JsonObject]] = [
    ("create_entities", entities(entity("Ana"))),
    ("read_graph", {}),
    ("search_nodes", {"query": "Ana"}),
    ("delete_entities", {"entityNames": ["Ana"]}),
]


def _start(home: Path, store: Path, wrapper: Sequence[str] = (), **env: str) -> Server:
    server = Server([*wrapper, *evoca_command("mcp", "--store", str(store))], isolated_env(home, env), home)
    try:
        server.initialize()
    except BaseException:
        server.__exit__(None, None, None)
        raise
    return server


def _every_call_is_refused(home: Path, store: Path, *fragments: str, wrapper: Sequence[str] = ()) -> None:
    """The server starts and lists its tools, and each call says what is the matter with the store."""
    with _start(home, store, wrapper) as server:
        assert server.tools()
        for tool, arguments in CALLS:
            refused(server.call(tool, arguments), str(store), *fragments)
        assert server.stop() == 0


@pytest.mark.parametrize("content", [b"Querido diario:\n" * 500, b"{}", b"SQLite format 3\0 or so"])
def test_a_file_that_is_no_database_is_named_and_left_alone(home: Path, store: Path, content: bytes) -> None:
    store.write_bytes(content)
    _every_call_is_refused(home, store)
    assert store.read_bytes() == content


def test_the_database_of_another_program_is_named_and_left_alone(home: Path, store: Path) -> None:
    with closing(sqlite3.connect(store)) as other:
        other.execute("CREATE TABLE entities (recipe TEXT)")
        other.execute("INSERT INTO entities VALUES ('tortilla')")
        other.commit()
    before = store.read_bytes()
    _every_call_is_refused(home, store, "Evoca")
    assert store.read_bytes() == before


def test_a_store_of_a_newer_version_is_named_and_left_alone(home: Path, store: Path) -> None:
    with start_evoca(home, store) as server:
        server.ok("create_entities", entities(entity("Ana")))
        server.stop()
    with closing(sqlite3.connect(store)) as newer:
        (version,) = newer.execute("PRAGMA user_version").fetchone()
        newer.execute(f"PRAGMA user_version = {int(version) + 7}")
        newer.commit()
    before = store.read_bytes()
    _every_call_is_refused(home, store, "newer", str(version + 7))
    assert store.read_bytes() == before


def test_a_folder_in_place_of_the_store_is_named(home: Path, store: Path) -> None:
    store.mkdir()
    _every_call_is_refused(home, store)
    assert list(store.iterdir()) == []


def test_a_path_through_a_file_is_named(home: Path, store: Path) -> None:
    store.write_bytes(b"")
    _every_call_is_refused(home, store / "memoria.db")


@pytest.mark.skipif(sys.platform != "linux", reason="root's licence can be given up on Linux only")
class TestWithoutPermission:
    """As a person who is not root meets it."""

    WRAPPER = (sys.executable, "-c", ORDINARY_ROOT)

    def test_a_folder_that_cannot_be_written_is_named(self, home: Path, tmp_path: Path) -> None:
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o555)
        _every_call_is_refused(home, closed / "memoria.db", wrapper=self.WRAPPER)
        assert list(closed.iterdir()) == []

    def test_a_store_that_cannot_be_written_can_still_be_read(self, home: Path, tmp_path: Path) -> None:
        folder = tmp_path / "archive"
        folder.mkdir()
        store = folder / "memoria.db"
        with start_evoca(home, store) as server:
            server.ok("create_entities", entities(entity("Ana", "vive en Gijón")))
            server.stop()
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
        before = store.read_bytes()
        with _start(home, store, self.WRAPPER) as server:
            assert server.ok("read_graph").observations("Ana") == ["vive en Gijón"]
            assert server.ok("search_nodes", {"query": "gijón"}).names() == ["Ana"]
            for tool, arguments in (CALLS[0], CALLS[3]):
                refused(server.call(tool, arguments), str(store))
            assert server.ok("open_nodes", {"names": ["Ana"]}).names() == ["Ana"]
        folder.chmod(0o755)
        assert store.read_bytes() == before


def _small_disk_possible() -> bool:
    unshare, mount = shutil.which("unshare"), shutil.which("mount")
    if sys.platform != "linux" or unshare is None or mount is None:
        return False
    trial = [unshare, "-m", "sh", "-c", SMALL_DISK, "sh", "65536", "/mnt", "true"]
    return subprocess.run(trial, capture_output=True, check=False, timeout=30).returncode == 0


def _fill(server: Server, store: Path) -> set[str]:
    """Write until there is no room; the names that were acknowledged."""
    stored: set[str] = set()
    for n in range(2_000):
        name = f"Lleno-{n:04d}"
        reply = server.call(
            "create_entities", entities(entity(name, *(f"{name} {k} " + "texto " * 60 for k in range(9))))
        )
        if reply.is_error:
            refused(reply, str(store))
            return stored
        stored.add(name)
    raise AssertionError("the disk did not fill up")


def _check_full(server: Server, store: Path, stored: set[str]) -> None:
    """Everything acknowledged is whole, nothing else is there, and a batch that does not fit leaves nothing."""
    graph = server.ok("read_graph")
    assert set(graph.names()) == stored
    assert all(len(graph.observations(name)) == 9 for name in stored)
    batch = [entity("Pequeña"), *(entity(f"Grande-{n}", "texto " * 9_000) for n in range(60))]
    refused(server.call("create_entities", entities(*batch)), str(store))
    assert names_in(server) == stored
    assert server.ok("search_nodes", {"query": "Grande"}).names() == []


def test_a_store_that_may_not_grow_keeps_everything_acknowledged(home: Path, store: Path) -> None:
    with start_evoca(home, store) as server:
        server.ok("create_entities", entities(entity("Lleno-antes", *(f"{k}" for k in range(9)))))
        server.stop()
    limit = store.stat().st_size + 600_000
    with _start(home, store, (sys.executable, "-c", SMALL_FILES, str(limit))) as server:
        stored = _fill(server, store) | {"Lleno-antes"}
        assert len(stored) > 3
        _check_full(server, store, stored)
        server.kill()
    check_integrity(store)
    with start_evoca(home, store) as roomy:
        assert names_in(roomy) == stored
        roomy.ok("create_entities", entities(entity("Después")))


if _small_disk_possible():

    def test_a_full_disk_keeps_everything_acknowledged(home: Path, tmp_path: Path) -> None:
        disk = tmp_path / "disk"
        disk.mkdir()
        store = disk / "memoria.db"
        with _start(home, store, ("unshare", "-m", "sh", "-c", SMALL_DISK, "sh", "3000000", str(disk))) as server:
            stored = _fill(server, store)
            assert len(stored) > 3
            _check_full(server, store, stored)
            for name in sorted(stored)[:3]:
                reply = server.call("delete_entities", {"entityNames": [name]})
                if not reply.is_error:
                    stored.discard(name)
            assert names_in(server) == stored
