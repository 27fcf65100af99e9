"""Where memory is kept: the engine contract, the engines, and one repository per aggregate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evoca.domain.clock import Clock
    from evoca.storage.contract import Store


def open_store(location: str | Path, clock: Clock, busy_timeout: float = 30.0) -> Store:
    """Open the store at a path or a `postgresql://` URL, made if missing and brought up to date if old.

    `~` and a relative path are against the home and the current folder. `busy_timeout`: seconds to wait for
    another process's write, and for a database that is away. Raises StoreUnopenable, NotAStore, StoreTooNew,
    StoreReadOnly, StoreBusy, StoreFull, StoreDamaged or Unavailable, each naming the place and the way out.
    """
    if isinstance(location, str) and "://" in location:
        return _open_url(location, clock, busy_timeout)
    from evoca.storage.sqlite.opening import SqliteOptions
    from evoca.storage.sqlite.store import SqliteStore

    return SqliteStore(Path(location), clock, SqliteOptions(busy_timeout=busy_timeout))


def _open_url(url: str, clock: Clock, busy_timeout: float) -> Store:
    from evoca.storage.postgres.location import parse
    from evoca.storage.postgres.opening import PostgresOptions
    from evoca.storage.postgres.store import PostgresStore

    return PostgresStore(parse(url), clock, PostgresOptions(busy_timeout=busy_timeout))
