"""Backing up and restoring a whole store, with other processes at work on it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from evoca.domain.clock import FrozenClock
from evoca.errors import Conflict, NotAStore, NotFound, StoreBusy, StoreDamaged, StoreTooNew
from evoca.storage import open_store
from evoca.storage.contract import Store
from evoca.storage.sqlite.backup import back_up, restore
from tests.storage.given import entity, healthy


@contextmanager
def opened(path: Path) -> Generator[Store]:
    store = open_store(path, FrozenClock(1))
    try:
        yield store
    finally:
        store.close()


def make(path: Path, *names: str) -> Path:
    with opened(path) as store:
        for name in names:
            entity(store, 1, name)
    return path


def names(path: Path) -> list[str]:
    with opened(path) as store:
        assert healthy(store)
        return [each.name for each in store.read(lambda session: session.entities.page(1))]


def run_sql(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(statement)


def test_a_backup_is_one_file_that_can_be_put_back(tmp_path: Path) -> None:
    store = make(tmp_path / "m.db", "Ana", "Ñandú")
    done = back_up(store, tmp_path / "copy.db")
    assert done.size == (tmp_path / "copy.db").stat().st_size
    assert {each.name for each in tmp_path.iterdir()} == {"m.db", "copy.db"}
    restored = restore(tmp_path / "copy.db", tmp_path / "new" / "m.db")
    assert restored.kept is None
    assert names(tmp_path / "new" / "m.db") == ["Ana", "Ñandú"]
    assert (tmp_path / "copy.db").stat().st_size == done.size


def test_a_backup_made_while_others_write_holds_one_moment(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    started, enough = threading.Event(), threading.Event()
    with opened(path) as store:

        def write() -> None:
            number = 0
            while not enough.is_set():
                entity(store, 1, f"e{number}", "Generic", f"text {number}")
                number += 1
                if number == 20:
                    started.set()

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert started.wait(30)
            copies = [back_up(path, tmp_path / f"{number}.db").copy for number in range(3)]
        finally:
            enough.set()
            writer.join()
    lengths = [len(names(copy)) for copy in copies]
    assert lengths[0] >= 20
    assert lengths == sorted(lengths)
    for copy, length in zip(copies, lengths, strict=True):
        assert names(copy) == [f"e{number}" for number in range(length)]


def test_a_backup_overwrites_only_what_it_is_told_to(tmp_path: Path) -> None:
    store = make(tmp_path / "m.db", "Ana")
    (tmp_path / "there").write_text("mine", encoding="utf-8")
    with pytest.raises(Conflict):
        back_up(store, tmp_path / "there")
    assert (tmp_path / "there").read_text(encoding="utf-8") == "mine"
    back_up(store, tmp_path / "there", overwrite=True)
    with pytest.raises(Conflict):
        back_up(store, store, overwrite=True)
    assert names(tmp_path / "there") == ["Ana"]


def test_only_a_sound_store_is_backed_up(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        back_up(tmp_path / "none.db", tmp_path / "copy.db")
    other = tmp_path / "other.db"
    run_sql(other, "CREATE TABLE t (x)")
    with pytest.raises(NotAStore):
        back_up(other, tmp_path / "copy.db")
    spoilt = make(tmp_path / "spoilt.db", *(f"e{number}" for number in range(50)))
    content = bytearray(spoilt.read_bytes())
    content[4096 * 4 : 4096 * 8] = b"\xff" * (4096 * 4)
    spoilt.write_bytes(content)
    with pytest.raises(StoreDamaged):
        back_up(spoilt, tmp_path / "copy.db")
    assert {each.name for each in tmp_path.iterdir()} == {"other.db", "spoilt.db"}


def test_a_restore_keeps_what_was_there(tmp_path: Path) -> None:
    store = make(tmp_path / "m.db", "Ana")
    back_up(store, tmp_path / "copy.db")
    make(store, "Bob")
    with pytest.raises(Conflict, match="There is a store"):
        restore(tmp_path / "copy.db", store)
    assert names(store) == ["Ana", "Bob"]
    first = restore(tmp_path / "copy.db", store, overwrite=True)
    assert names(store) == ["Ana"]
    assert first.kept is not None
    second = restore(first.kept, store, overwrite=True)
    assert names(store) == ["Ana", "Bob"]
    assert second.kept is not None
    assert second.kept != first.kept
    assert names(second.kept) == ["Ana"]


def test_a_restore_refuses_what_is_no_store_of_a_known_schema(tmp_path: Path) -> None:
    store = make(tmp_path / "m.db", "Ana")
    copy = back_up(store, tmp_path / "copy.db").copy
    run_sql(copy, "PRAGMA user_version = 999")
    (tmp_path / "text").write_text("not a database, " * 1_000, encoding="utf-8")
    for wrong, kind in ((copy, StoreTooNew), (tmp_path / "text", NotAStore), (tmp_path / "none", NotFound)):
        with pytest.raises(kind):
            restore(wrong, store, overwrite=True)
    with pytest.raises(Conflict, match="the store itself"):
        restore(store, store, overwrite=True)
    run_sql(tmp_path / "other.db", "CREATE TABLE t (x)")
    with pytest.raises(Conflict, match="another program's"):
        restore(back_up(store, tmp_path / "good.db").copy, tmp_path / "other.db", overwrite=True)
    assert names(store) == ["Ana"]
    assert not list(tmp_path.glob("*.before-restore*"))


def test_a_damaged_store_is_put_aside_as_it_is(tmp_path: Path) -> None:
    store = make(tmp_path / "m.db", "Ana")
    copy = back_up(store, tmp_path / "copy.db").copy
    store.write_bytes(b"garbage" * 2_000)
    Path(f"{store}-wal").write_bytes(b"old log")
    done = restore(copy, store, overwrite=True)
    assert names(store) == ["Ana"]
    assert done.kept is not None
    assert done.kept.read_bytes() == b"garbage" * 2_000
    assert Path(f"{done.kept}-wal").read_bytes() == b"old log"


def test_a_log_without_its_store_does_not_get_into_the_new_one(tmp_path: Path) -> None:
    store = make(tmp_path / "m.db", "Ana")
    copy = back_up(store, tmp_path / "copy.db").copy
    Path(f"{tmp_path / 'gone.db'}-wal").write_bytes(b"old log")
    restore(copy, tmp_path / "gone.db")
    assert names(tmp_path / "gone.db") == ["Ana"]


HOLD = """
import sys
from pathlib import Path
from evoca.domain.clock import FrozenClock
from evoca.storage import open_store

store = open_store(Path(sys.argv[1]), FrozenClock(1))
store.read(lambda session: session.entities.count(1))
print("open", flush=True)
sys.stdin.read()
store.close()
"""


def test_a_store_in_use_by_another_process_is_not_replaced(tmp_path: Path) -> None:
    store = make(tmp_path / "m.db", "Ana")
    copy = back_up(store, tmp_path / "copy.db").copy
    make(store, "Bob")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StoreBusy, match="in use by another process"):
            restore(copy, store, overwrite=True)
        holder.communicate()
    assert names(store) == ["Ana", "Bob"]
    assert not list(tmp_path.glob("*.before-restore*"))
    restore(copy, store, overwrite=True)
    assert names(store) == ["Ana"]
