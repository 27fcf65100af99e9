"""Every error Evoca raises, and the one table that says how a surface shows it.

    EvocaError
    ├── InvalidInput            the call is wrong: which field, and what is allowed
    │   └── LimitExceeded       too many items, or a text that is too long
    ├── NotFound                the thing named does not exist
    │   └── EntityNotFound      no entity has this name
    ├── Conflict                the thing named exists already, or is in use
    ├── Unauthorized            no key, or a wrong one
    ├── Forbidden               the key may not do this
    ├── PayloadTooLarge         the body is larger than the server takes
    ├── RateLimited             too many calls for one key
    ├── Unavailable             not now: the same call may succeed later or elsewhere
    │   ├── StoreBusy           another process kept the write lock for the whole bounded wait
    │   ├── StoreFull           no space left where the store is
    │   ├── CommitUnknown       the connection broke while a change was being saved
    │   ├── ModelUnavailable    no embedding model can be loaded
    │   └── ShuttingDown        the process is ending
    └── StoreError              the store itself
        ├── StoreUnopenable     the file cannot be opened or made
        ├── StoreReadOnly       the store cannot be written
        ├── NotAStore           the file is not an Evoca store
        ├── StoreTooNew         the store was written by a newer Evoca
        └── StoreDamaged        the database reports damage

`message` says what is wrong and where; `hint` says what to do about it. Neither holds stored contents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


class EvocaError(Exception):
    """Base of all errors. `message`: what is wrong and where. `hint`: the way out, may be empty.

    `payload`: JSON-shaped keys that a reply shows beside the error, for calls that answer item by item.
    """

    def __init__(self, message: str, hint: str = "", payload: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.payload: Mapping[str, object] = payload or {}

    def conceal(self, name: str) -> None:
        """Leave a name out of what is said, as of a store that its caller may not know the place of."""
        self.message = self.message.replace(f" {name}", "")
        self.hint = self.hint.replace(f" {name}", "")


class InvalidInput(EvocaError):
    """The call is wrong. `field` names the argument, `entities[1].name` for one inside a list."""

    def __init__(self, message: str, hint: str = "", field: str = "") -> None:
        super().__init__(message, hint)
        self.field = field


class LimitExceeded(InvalidInput):
    """More items, or a longer text, than a call may carry."""


class NotFound(EvocaError):
    """The thing that the call names does not exist."""


class EntityNotFound(NotFound):
    """No entity has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Entity not found: {name}", "Names are exact; search_nodes finds them, create_entities makes one."
        )
        self.name = name


class Conflict(EvocaError):
    """The thing that the call names exists already, or is in use."""


class Unauthorized(EvocaError):
    """No key, or one that is not known."""


class Forbidden(EvocaError):
    """The key is known and may not do this."""


class PayloadTooLarge(EvocaError):
    """The body is larger than the server takes."""


class RateLimited(EvocaError):
    """Too many calls for one key."""


class Unavailable(EvocaError):
    """Not now: the same call may succeed later."""


class StoreBusy(Unavailable):
    """Another process kept the write lock for the whole bounded wait; nothing was done."""


class StoreFull(Unavailable):
    """No space is left where the store is; nothing was done."""


class CommitUnknown(Unavailable):
    """The connection broke while a change was being saved, and whether it was cannot be found out: look first."""


class ModelUnavailable(Unavailable):
    """No embedding model can be loaded."""


class ShuttingDown(Unavailable):
    """The process is ending; nothing was done."""


class StoreError(EvocaError):
    """The store itself cannot be used."""


class StoreUnopenable(StoreError):
    """The store's file cannot be opened or made."""


class StoreReadOnly(StoreError):
    """The store cannot be written."""


class NotAStore(StoreError):
    """The file is not a database, or a database that is not Evoca's."""


class StoreTooNew(StoreError):
    """The store's schema is newer than this Evoca knows."""


class StoreDamaged(StoreError):
    """The database reports damage."""


@dataclass(frozen=True, slots=True)
class Face:
    """How one kind of error looks from outside. `retryable`: the same call may succeed later."""

    code: str
    http_status: int
    retryable: bool = False


FACES: dict[type[EvocaError], Face] = {
    InvalidInput: Face("invalid_request", 400),
    LimitExceeded: Face("limit_exceeded", 400),
    NotFound: Face("not_found", 404),
    Conflict: Face("conflict", 409),
    Unauthorized: Face("unauthorized", 401),
    Forbidden: Face("forbidden", 403),
    PayloadTooLarge: Face("payload_too_large", 413),
    RateLimited: Face("rate_limited", 429, retryable=True),
    Unavailable: Face("unavailable", 503, retryable=True),
    StoreBusy: Face("store_busy", 503, retryable=True),
    StoreFull: Face("store_full", 503, retryable=True),
    CommitUnknown: Face("outcome_unknown", 503),
    ModelUnavailable: Face("model_unavailable", 503),
    ShuttingDown: Face("shutting_down", 503, retryable=True),
    StoreError: Face("store_error", 503),
    StoreUnopenable: Face("store_unopenable", 503),
    StoreReadOnly: Face("store_read_only", 503),
    NotAStore: Face("not_a_store", 503),
    StoreTooNew: Face("store_too_new", 503),
    StoreDamaged: Face("store_damaged", 503),
    EvocaError: Face("internal", 500),
}


def face(error: EvocaError) -> Face:
    """The row of `FACES` for the nearest class of `error`."""
    return next(FACES[kind] for kind in type(error).__mro__ if kind in FACES)
