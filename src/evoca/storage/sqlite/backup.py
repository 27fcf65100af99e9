"""Copies of a whole store: made while others write, and put back while nobody does."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evoca.errors import Conflict, NotAStore, NotFound, StoreBusy, StoreDamaged, StoreTooNew, StoreUnopenable
from evoca.storage.sqlite.database import Database, Patience
from evoca.storage.sqlite.faults import damaged, not_a_store, unopenable
from evoca.storage.sqlite.migrations import APPLICATION_ID, packaged

_BESIDE = ("-wal", "-shm", "-journal")
_PATIENCE = 30.0
"""Seconds to wait for another process's write."""


@dataclass(frozen=True, slots=True)
class BackedUp:
    """`size`: bytes of the copy. `schema`: the version of its schema."""

    store: Path
    copy: Path
    size: int
    schema: int


@dataclass(frozen=True, slots=True)
class Restored:
    """`kept`: the store that was there before, under another name; None when there was none."""

    store: Path
    copy: Path
    schema: int
    kept: Path | None


def back_up(store: Path, copy: Path, overwrite: bool = False) -> BackedUp:
    """Copy a store as it is at this moment to one file, which has its name only when it was found good.

    Others may write meanwhile. Raises NotFound, Conflict when `copy` exists and is not to be overwritten, NotAStore,
    StoreTooNew, StoreDamaged, StoreUnopenable, StoreFull.
    """
    if not store.is_file():
        raise _no_store(store)
    if copy.exists() and (not overwrite or copy.samefile(store)):
        raise Conflict(f"{copy} exists.", "Name another file, or say that this one is to be replaced (--force).")
    with _unfinished(copy) as unfinished:
        schema = _write_copy(store, unfinished)
        size = unfinished.stat().st_size
        unfinished.replace(copy)
    return BackedUp(store, copy, size, schema)


def restore(copy: Path, store: Path, overwrite: bool = False) -> Restored:
    """Make `store` what the copy is. What was there before is kept beside it, as `<store>.before-restore`.

    Raises NotFound, NotAStore, StoreTooNew, StoreDamaged; Conflict when there is a store and it is not to be
    overwritten, or another program's database; StoreBusy when another process has it open.
    """
    if not copy.is_file():
        raise NotFound(f"There is no file {copy}.", "Give the path of a copy that `evoca backup` has made.")
    if store.exists() and copy.samefile(store):
        raise Conflict(f"{copy} is the store itself.", "Give the path of a copy.")
    if store.exists() and not overwrite:
        raise Conflict(
            f"There is a store at {store}.",
            "Say that it is to be replaced (--force; it is kept beside the new one), or name another path (--store).",
        )
    _make_folder(store)
    with _unfinished(store) as unfinished:
        schema = _write_copy(copy, unfinished)
        kept = _put_in_place(unfinished, store)
    return Restored(store, copy, schema, kept)


def _write_copy(source: Path, target: Path) -> int:
    """Copy a store that this Evoca knows to a single file and check it; its schema's version."""
    original = _open(source)
    # It may be another program's database: its log is left as it is.
    original.leave_log(alone=True)
    try:
        _identify(original, source)
        original.leave_log(alone=False)
        original.copy_to(target)
    finally:
        original.close()
    made = _open(target)
    try:
        made.text("PRAGMA journal_mode = DELETE")
        _check(made, source)
        schema = made.number("PRAGMA user_version")
    finally:
        made.close()
    shutil.copymode(source, target)
    _sync(target)
    return schema


def _identify(database: Database, path: Path) -> None:
    if database.number("PRAGMA application_id") != APPLICATION_ID:
        raise not_a_store(str(path))
    schema, latest = database.number("PRAGMA user_version"), packaged()[-1].version
    if schema > latest:
        raise StoreTooNew(
            f"The store {path} has schema {schema}; this Evoca knows schemas up to {latest}.",
            "Use the newer Evoca that wrote it.",
        )


def _check(database: Database, path: Path) -> None:
    problems = [line for (line,) in database.select("PRAGMA integrity_check(20)", {}, tuple[str]) if line != "ok"]
    problems += [
        f"{table} refers to a missing row of {parent}"
        for table, _row, parent, _key in database.select(
            "PRAGMA foreign_key_check", {}, tuple[str, int | None, str, int]
        )[:20]
    ]
    if problems:
        raise damaged(str(path), "; ".join(problems))


def _put_in_place(made: Path, store: Path) -> Path | None:
    """Give the store's name to a finished copy; where the store that was there is kept."""
    if not store.exists():
        _put_aside(store, _unused(store), _BESIDE)
        made.replace(store)
        return None
    try:
        return _overwrite(made, store)
    except (NotAStore, StoreDamaged):
        # There is nothing in it that could be kept in order while it is replaced.
        kept = _unused(store)
        _put_aside(store, kept, ("", *_BESIDE))
        made.replace(store)
        return kept


def _overwrite(made: Path, store: Path) -> Path:
    """Write the copy into the store, in one transaction, with everybody else kept out."""
    kept = _unused(store)
    database = _open(store, patience=0)
    database.leave_log(alone=True)
    try:
        _lock_out_others(database)
        if database.number("PRAGMA application_id") != APPLICATION_ID and database.number(_THINGS) > 0:
            raise Conflict(f"{store} is another program's database.", "Name another path (--store).")
        with _unfinished(kept) as unfinished:
            database.copy_to(unfinished)
            unfinished.replace(kept)
        database.leave_log(alone=False)
        database.fill_from(made)
        database.checkpoint(truncate=True)
    finally:
        database.close()
    return kept


def _lock_out_others(database: Database) -> None:
    """SQLite gives this lock only to who is alone; whoever opens the store later waits for it."""
    try:
        database.text("PRAGMA locking_mode = EXCLUSIVE")
        database.command("BEGIN EXCLUSIVE")
        database.command("COMMIT")
    except StoreBusy:
        raise StoreBusy(
            f"The store {database.location} is in use by another process.",
            "End the programs that have it open (clients start servers of their own), then try again.",
        ) from None


def _open(path: Path, patience: float = _PATIENCE) -> Database:
    return Database(path, str(path), Patience(patience, threading.Event()))


def _put_aside(path: Path, kept: Path, suffixes: tuple[str, ...]) -> None:
    for suffix in suffixes:
        part = Path(f"{path}{suffix}")
        if part.exists():
            part.replace(f"{kept}{suffix}")


def _unused(store: Path) -> Path:
    candidate, number = Path(f"{store}.before-restore"), 1
    while candidate.exists():
        number += 1
        candidate = Path(f"{store}.before-restore-{number}")
    return candidate


@contextmanager
def _unfinished(path: Path) -> Generator[Path]:
    """A name for what will have the name `path`; nothing is left under it."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
    except OSError as fault:
        raise StoreUnopenable(
            f"{path} cannot be written: {fault.strerror}.", "Check the folder and its space."
        ) from fault
    finally:
        for suffix in ("", *_BESIDE):
            Path(f"{unfinished}{suffix}").unlink(missing_ok=True)


def _make_folder(store: Path) -> None:
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise unopenable(str(store), f"its folder cannot be made ({fault.strerror})") from fault


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _no_store(store: Path) -> NotFound:
    return NotFound(f"There is no store at {store}.", "Check EVOCA_STORE or --store.")


_THINGS = "SELECT count(*) FROM sqlite_schema"
