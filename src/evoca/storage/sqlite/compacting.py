"""Giving disk space back, with nothing left in the files of what was deleted."""

from __future__ import annotations

import time

from evoca.errors import StoreBusy
from evoca.storage.sqlite.database import Database

_PAUSE = 0.01
"""Seconds between two tries to empty the log."""


def compact(database: Database) -> None:
    """Write the store anew through a connection of its own, which is then of no more use; others may go on.

    Deleted rows leave their bytes in free pages and in the log, deleted terms in the segments of the text indexes:
    the segments are merged, the pages written anew, the log copied and emptied. Raises StoreBusy when others keep the
    lock or old pages for the whole bounded wait, StoreFull when there is no room for a second copy meanwhile.
    """
    for optimize in _OPTIMIZE:
        database.command(optimize)
    # A store may be larger than the memory; the copy is made in a file, which no name leads to.
    database.command("PRAGMA temp_store = FILE")
    database.command("VACUUM")
    latest = time.monotonic() + database.patience.limit
    while database.checkpoint(truncate=True):
        # SQLite waits for readers, not for who copies the log at this moment.
        if time.monotonic() < latest:
            time.sleep(_PAUSE)
            continue
        raise StoreBusy(
            f"The store {database.location} was compacted, but others still read its older state: what was deleted "
            "stays in its log until they are done.",
            "Call evoca compact again, or end the programs that use the store.",
        )


_OPTIMIZE = (
    "INSERT INTO text_index (text_index) VALUES ('optimize')",
    "INSERT INTO substring_index (substring_index) VALUES ('optimize')",
)
