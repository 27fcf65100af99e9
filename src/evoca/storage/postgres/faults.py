"""What PostgreSQL and psycopg report, said in Evoca's errors: the one place where the two meet."""

from __future__ import annotations

import psycopg

from evoca.errors import (
    Conflict,
    EvocaError,
    InvalidInput,
    LimitExceeded,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnopenable,
    Unavailable,
)

_RETRY = "Try again: another process is writing."
_AWAY = "Try again in a moment; see whether the database runs and can be reached."
_FULL = {"53100", "53200"}
_BUSY = {"55P03", "57014", "40001", "40P01", "53300", "55006"}
_DENIED = {"28000", "28P01", "3D000", "42501", "3F000", "0LP01"}
_STARTING = ("starting up", "shutting down", "recovery", "too many clients", "connection slots")


class Lost(Unavailable):
    """The connection broke, and its transaction with it."""


class Repeatable(StoreBusy):
    """The transaction was undone because of another; repeated, it may succeed."""


def translated(fault: psycopg.Error, location: str) -> EvocaError:
    """The error to raise for what the server at `location` reported."""
    code = fault.sqlstate or ""
    match code[:2]:
        case "40":
            return Repeatable(f"The store {location} is busy.", _RETRY)
        case "23":
            return Conflict(
                f"The store {location} holds this already, or lacks what it refers to: {first_line(fault)}."
            )
        case "XX" | "58":
            return StoreDamaged(
                f"The store {location} reports damage: {first_line(fault)}.",
                "Put back a backup, or export what can still be read.",
            )
        case _:
            pass
    if code in _FULL:
        return StoreFull(f"No space is left for the store {location}.", "Free some space and try again.")
    if code in _BUSY:
        return StoreBusy(f"The store {location} is busy.", _RETRY)
    if code == "25006":
        return read_only(location)
    if code in _DENIED:
        return unopenable(location, first_line(fault))
    if code.startswith("54"):
        return LimitExceeded(f"A text is longer than the store {location} can index: {first_line(fault)}.")
    if isinstance(fault, psycopg.OperationalError | psycopg.InterfaceError) and not code.startswith("42"):
        return away(location, first_line(fault))
    if isinstance(fault, psycopg.DataError):
        return InvalidInput(f"The store {location} cannot hold this: {first_line(fault)}.")
    return StoreError(f"The store {location} refused a statement: {first_line(fault)}.", "Please report this.")


def not_connected(fault: psycopg.Error, location: str) -> EvocaError:
    """The error to raise when a connection could not be made. libpq tells no code, but no password either."""
    reason = first_line(fault)
    refused = "FATAL:" in str(fault) and not any(sign in str(fault) for sign in _STARTING)
    if refused or isinstance(fault, psycopg.ProgrammingError):
        return unopenable(location, reason.rpartition("FATAL:")[2].strip())
    return away(location, reason)


def away(location: str, reason: str) -> Lost:
    return Lost(f"The store {location} cannot be reached: {reason}.", _AWAY)


def read_only(location: str) -> StoreReadOnly:
    return StoreReadOnly(
        f"The store {location} cannot be written.", "It is a replica, or this user may only read: use the primary."
    )


def unopenable(location: str, reason: str) -> StoreUnopenable:
    return StoreUnopenable(
        f"The store {location} cannot be opened: {reason}.", "Check the URL, the user and its rights."
    )


def first_line(fault: psycopg.Error) -> str:
    """What went wrong, on one line and without the details, which may hold stored contents."""
    text = fault.diag.message_primary or str(fault).partition("\n")[0]
    return " ".join(text.split()).rstrip(".:")
