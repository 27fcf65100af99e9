"""What SQLite reports, said in Evoca's errors: the one place where the two meet."""

from __future__ import annotations

import apsw

from evoca.errors import (
    Conflict,
    EvocaError,
    NotAStore,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnopenable,
)

_RETRY = "Try again: another process is writing."


def translated(fault: apsw.Error, location: str) -> EvocaError:
    """The error to raise for what SQLite reported about the store at `location`."""
    match fault:
        case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
            return StoreBusy(f"The store {location} is busy.", _RETRY)
        case apsw.FullError():
            return StoreFull(f"No space is left for the store {location}.", "Free some disk space and try again.")
        case apsw.ReadOnlyError():
            return read_only(location)
        case apsw.PermissionsError() | apsw.AuthError():
            return unopenable(location, "permission denied")
        case apsw.NotADBError():
            return not_a_store(location)
        case apsw.CorruptError():
            return damaged(location, str(fault))
        case apsw.CantOpenError():
            return unopenable(location, str(fault))
        case apsw.ConstraintError():
            return Conflict(f"The store {location} holds this already, or lacks what it refers to: {fault}.")
        case apsw.IOError():
            return StoreError(
                f"The disk failed while the store {location} was used: {fault}.",
                "Nothing of this call was saved. Check the disk and its free space.",
            )
        case _:
            return StoreError(f"The store {location} refused a statement: {fault}.", "Please report this.")


def read_only(location: str) -> StoreReadOnly:
    return StoreReadOnly(
        f"The store {location} cannot be written.", "Make the file and its folder writable, or choose another store."
    )


def not_a_store(location: str) -> NotAStore:
    return NotAStore(f"{location} is not an Evoca store.", "Choose another path; the file was left as it is.")


def unopenable(location: str, reason: str) -> StoreUnopenable:
    return StoreUnopenable(
        f"The store {location} cannot be opened: {reason}.", "Check the path and its permissions, or choose another."
    )


def damaged(location: str, reason: str) -> StoreDamaged:
    return StoreDamaged(
        f"The store {location} is damaged: {reason}.", "Put back a backup, or export what can still be read."
    )
