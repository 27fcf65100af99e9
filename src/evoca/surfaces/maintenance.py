"""`evoca compact`: care for the store as a whole (docs/collections.md)."""

from __future__ import annotations

from contextlib import closing

import click

from evoca.surfaces.console import expect_store, print_json, settings_of


@click.command()
@click.option("--store", metavar="PATH|URL", help="Where the memory is. Default: the user's data folder.")
def compact(store: str | None) -> None:
    """Give disk space back. Nothing of what was deleted is left in the store's files.

    Others may use the store meanwhile; their writes wait.
    """
    from evoca.domain.clock import SystemClock
    from evoca.storage import open_store

    settings = settings_of(store=store)
    expect_store(settings)
    with closing(open_store(settings.store_location, SystemClock(), settings.busy_timeout)) as opened:
        before = opened.size()
        opened.compact()
        print_json({"store": opened.location, "bytes_before": before, "bytes_after": opened.size()})
