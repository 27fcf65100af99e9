"""Disks that fail or are full: callers are told, nothing acknowledged is lost, nothing is half there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Protocol, cast

import apsw
import pytest

from evoca.domain.clock import SystemClock
from evoca.domain.graph import NewEntity, NewObservation
from evoca.errors import EvocaError, StoreError, StoreFull
from evoca.storage import open_store
from evoca.storage.contract import Session, Store
from evoca.storage.sqlite.opening import SqliteOptions
from evoca.storage.sqlite.store import SqliteStore
from tests.storage.given import entity, healthy
from tests.storage.test_group_commit import Held


class Disk(apsw.VFS):
    """A file layer whose writes and syncs fail when they are told to."""

    def __init__(self) -> None:
        self.fault: Callable[[str, str], Exception | None] = lambda _action, _file: None
        self.name = f"failing-{id(self)}"
        super().__init__(self.name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return DiskFile(self, name, flags)

    def act(self, action: str, file: str) -> None:
        fault = self.fault(action, file)
        if fault is not None:
            raise fault


class _Writes(Protocol):
    def xWrite(self, data: bytes, offset: int) -> None: ...  # noqa: N802


class DiskFile(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._disk = disk
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else name or ""

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.act("write", self._name)
        cast(_Writes, super()).xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.act("sync", self._name)
        super().xSync(flags)


@pytest.fixture
def disk() -> Iterator[Disk]:
    made = Disk()
    yield made
    made.unregister()


@pytest.fixture
def store(tmp_path: Path, disk: Disk) -> Iterator[Store]:
    with closing(SqliteStore(tmp_path / "memory.db", SystemClock(), SqliteOptions(vfs=disk.name))) as opened:
        entity(opened, 1, "first", "t", "una nota")
        yield opened
        disk.fault = lambda _action, _file: None


def names(store: Store) -> list[str]:
    return sorted(each.name for each in store.read(lambda s: s.entities.page(1)))


def add(name: str, notes: int = 3) -> Callable[[Session], None]:
    def work(session: Session) -> None:
        (made,) = session.entities.insert(1, [NewEntity(name, "t")], 1)
        session.observations.insert(1, [NewObservation(made, f"nota {n} de {name}") for n in range(notes)], 1)

    return work


FAULTS: dict[str, tuple[str, Callable[[], Exception], type[EvocaError]]] = {
    "full": ("write", lambda: apsw.FullError("disk full"), StoreFull),
    "write": ("write", lambda: apsw.IOError("write failed"), StoreError),
    "sync": ("sync", lambda: apsw.IOError("sync failed"), StoreError),
}


@pytest.mark.parametrize("kind", sorted(FAULTS))
@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_failing_disk_fails_the_call_and_nothing_else(store: Store, disk: Disk, kind: str, after: int) -> None:
    action, fault, expected = FAULTS[kind]
    seen = 0

    def failing(done: str, file: str) -> Exception | None:
        nonlocal seen
        seen += done == action and file.endswith("-wal")
        return fault() if seen > after and done == action and file.endswith("-wal") else None

    disk.fault = failing
    errors: list[EvocaError] = []
    for n in range(10):
        try:
            store.write(add(f"bad{n}"))
        except expected as error:
            errors.append(error)
    assert len(errors) >= 10 - after
    assert all("memory.db" in error.message and error.hint for error in errors)
    assert "first" in names(store), "reads go on"
    kept = names(store)
    disk.fault = lambda _action, _file: None
    store.write(add("good"))
    assert names(store) == sorted([*kept, "good"])
    assert store.read(lambda s: len(s.substrings.entities(1, "nota"))) == len(kept) + 1
    assert healthy(store)


def test_each_unit_of_a_lost_group_gets_its_own_outcome(store: Store, disk: Disk) -> None:
    """The group's commit fails once; then the units are tried one by one, and one of them never fits."""
    left = 1

    def once(action: str, _file: str) -> Exception | None:
        nonlocal left
        if action == "sync" and left:
            left -= 1
            return apsw.IOError("sync failed")
        return None

    def refuses(_session: Session) -> None:
        raise LookupError("mine")

    with ThreadPoolExecutor(9) as pool:
        with Held(store):
            calls = [pool.submit(store.write, add(f"n{n}")) for n in range(8)]
            own = pool.submit(store.write, refuses)
            disk.fault = once
        assert [each.exception() for each in calls if each.exception() is not None] == []
        assert isinstance(own.exception(), LookupError)
    assert left == 0
    assert names(store) == sorted(["first", *(f"n{n}" for n in range(8))])
    assert healthy(store)


def test_what_was_acknowledged_before_the_disk_was_full_is_there_after_reopening(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "memory.db"
    room = 400

    def filling(action: str, _file: str) -> Exception | None:
        nonlocal room
        room -= action == "write"
        return apsw.FullError("disk full") if room < 0 and action == "write" else None

    kept: list[str] = []
    with closing(SqliteStore(path, SystemClock(), SqliteOptions(vfs=disk.name))) as store:
        disk.fault = filling
        for n in range(60):
            try:
                store.write(add(f"n{n}"))
                kept.append(f"n{n}")
            except StoreFull:
                pass
    assert 0 < len(kept) < 60
    disk.fault = lambda _action, _file: None
    with closing(open_store(path, SystemClock())) as store:
        assert names(store) == sorted(kept)
        assert healthy(store)


def test_a_checkpoint_that_fails_loses_nothing_and_is_told(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "memory.db"
    options = SqliteOptions(vfs=disk.name, checkpoint_bytes=4096)
    with closing(SqliteStore(path, SystemClock(), options)) as store:
        disk.fault = lambda action, file: (
            apsw.FullError("disk full") if action == "write" and file.endswith("memory.db") else None
        )
        for n in range(5):
            store.write(add(f"n{n}"))
        store.write(lambda s: s.metadata.set("after the last checkpoint was tried", "yes"))
        assert "No space is left" in store.check()["checkpoint"]
        disk.fault = lambda _action, _file: None
        assert len(names(store)) == 5
        assert healthy(store)
    with closing(open_store(path, SystemClock())) as again:
        assert len(names(again)) == 5


def test_a_migration_on_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "memory.db"
    disk.fault = lambda action, file: apsw.FullError("disk full") if action == "write" and "wal" in file else None
    with pytest.raises(StoreFull):
        SqliteStore(path, SystemClock(), SqliteOptions(vfs=disk.name))
    disk.fault = lambda _action, _file: None
    with closing(open_store(path, SystemClock())) as store:
        entity(store, 1, "Ana")
        assert healthy(store)
