"""What may stand at the store's path, and what Evoca says about it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from evoca.domain.clock import SystemClock
from evoca.errors import NotAStore, StoreDamaged, StoreError, StoreTooNew, StoreUnopenable
from evoca.storage import open_store
from evoca.storage.contract import Store
from tests.storage.given import entity


def opened(path: Path) -> Store:
    return open_store(path, SystemClock(), busy_timeout=5)


def made(path: Path) -> Path:
    """A closed store with one entity."""
    with closing(opened(path)) as store:
        entity(store, 1, "Ana", "persona", "vive en Lugo")
    return path


def names(store: Store) -> list[str]:
    return [each.name for each in store.read(lambda s: s.entities.page(1))]


def test_folders_are_made_and_the_path_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(open_store("a/b/../c ñ%20?/memory.db", SystemClock())) as store:
        entity(store, 1, "Ana")
        assert store.location == str(tmp_path / "a" / "c ñ%20?" / "memory.db")
        assert Path(store.location).is_file()


def test_the_home_folder_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with closing(open_store("~/memory.sqlite", SystemClock())) as store:
        assert store.location == str(tmp_path / "memory.sqlite")


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    assert names(opened(made(path))) == ["Ana"]


def test_a_database_without_tables_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "bare.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("VACUUM")
    with closing(opened(made(path))) as store:
        assert names(store) == ["Ana"]


def text_file(path: Path) -> None:
    path.write_text('{"type": "entity", "name": "Ana"}\n' * 100)


def cut_header(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0 but no more")


def foreign_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.executescript("CREATE TABLE notes (t TEXT); INSERT INTO notes VALUES ('mine');")


def foreign_mark(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.executescript("PRAGMA application_id = 42; VACUUM;")


def foreign_log(path: Path) -> None:
    """Another program's database whose contents stand in its log."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript("PRAGMA journal_mode = WAL; CREATE TABLE notes (t TEXT);")
        copy = path.with_name("copy")
        copy.write_bytes(path.read_bytes())
        log = Path(f"{path}-wal").read_bytes()
    path.write_bytes(copy.read_bytes())
    Path(f"{path}-wal").write_bytes(log)


@pytest.mark.parametrize("make", [text_file, cut_header, foreign_tables, foreign_mark, foreign_log])
def test_another_programs_file_is_refused_and_left_alone(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "theirs.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(NotAStore, match=r"theirs\.db") as caught:
        opened(path)
    assert caught.value.hint
    assert path.read_bytes() == before


def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = made(tmp_path / "new.db")
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match=r"new\.db has schema 99"):
        opened(path)
    assert path.read_bytes() == before


def test_a_store_made_by_other_migrations_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "odd.db")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE migrations SET checksum = 'x'")
    with pytest.raises(StoreError, match=r"odd\.db was made by another migration"):
        opened(path)


def test_damage_is_called_damage(tmp_path: Path) -> None:
    path = made(tmp_path / "hurt.db")
    with path.open("r+b") as file:
        for page in range(1, path.stat().st_size // 4096):
            file.seek(page * 4096)
            file.write(os.urandom(4096))
    with pytest.raises(StoreDamaged, match=r"hurt\.db") as caught:
        opened(path)
    assert caught.value.hint


def test_damage_is_found_by_the_check(tmp_path: Path) -> None:
    path = made(tmp_path / "hurt.db")
    with closing(sqlite3.connect(path)) as database:
        root = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'observations_entity'").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096 + 100)
        file.write(b"\xff" * 3996)
    with closing(opened(path)) as store:
        assert store.check()["integrity"] != "ok"


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreUnopenable, match="it is a folder"):
        opened(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnopenable, match=r"file/memory\.db") as caught:
        opened(tmp_path / "file" / "memory.db")
    assert caught.value.hint


# -- permissions: in a process without root's licence to ignore them -------------------------------

WITHOUT_LICENCE = """
import ctypes, sys
from pathlib import Path
for capability in (1, 2, 3):
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
import os
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
TRY = """
import sys
from evoca.domain.clock import SystemClock
from evoca.domain.graph import NewEntity
from evoca.errors import EvocaError
from evoca.storage import open_store
try:
    store = open_store(sys.argv[1], SystemClock(), 2)
    print([e.name for e in store.read(lambda s: s.entities.page(1))])
    print(store.read(lambda s: s.substrings.entities(1, "lugo")))
    print(store.check()["integrity"], store.check()["writable"])
    store.write(lambda s: s.entities.insert(1, [NewEntity("Bea")], 1))
    print("written")
except EvocaError as error:
    print(type(error).__name__, error.message, error.hint)
else:
    store.close()
"""


def try_without_licence(path: Path) -> list[str]:
    command = [sys.executable, "-c", WITHOUT_LICENCE, "-c", TRY, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="file permissions as Linux has them")
class TestPermissions:
    def test_a_read_only_file_is_read_but_not_written(self, tmp_path: Path) -> None:
        path = made(tmp_path / "memory.db")
        path.chmod(0o444)
        first, second, check, *rest = try_without_licence(path)
        assert (first, second, check) == ("['Ana']", "[1]", "ok no")
        assert rest[0].startswith(f"StoreReadOnly The store {path} cannot be written.")

    def test_a_read_only_folder_is_read_but_not_written(self, tmp_path: Path) -> None:
        folder = tmp_path / "sealed"
        path = made(folder / "memory.db")
        folder.chmod(0o555)
        try:
            path.chmod(0o444)
            first, second, check, *rest = try_without_licence(path)
            path.chmod(0o644)
            again = try_without_licence(path)
        finally:
            folder.chmod(0o755)
        assert (first, second, check) == ("['Ana']", "[1]", "ok no")
        assert rest[0].startswith("StoreReadOnly")
        assert again[0] == "['Ana']"
        assert again[3].startswith("StoreReadOnly")

    def test_a_file_that_may_not_be_read_cannot_be_opened(self, tmp_path: Path) -> None:
        path = made(tmp_path / "memory.db")
        path.chmod(0)
        (line,) = try_without_licence(path)
        assert line.startswith(f"StoreUnopenable The store {path} cannot be opened")

    def test_a_new_store_needs_a_folder_that_may_be_written(self, tmp_path: Path) -> None:
        folder = tmp_path / "sealed"
        folder.mkdir(mode=0o555)
        try:
            here, deeper = try_without_licence(folder / "memory.db"), try_without_licence(folder / "a" / "memory.db")
        finally:
            folder.chmod(0o755)
        assert here[0].startswith(f"StoreUnopenable The store {folder / 'memory.db'} cannot be opened")
        assert deeper[0].startswith("StoreUnopenable")
