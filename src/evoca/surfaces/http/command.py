"""`evoca serve`: its options. What serves is imported when it is called."""

from __future__ import annotations

import os

import click

from evoca.surfaces.console import announce, settings_of, store_options


@click.command()
@store_options
@click.option("--toolsets", metavar="A,B", help="Which tools and routes are offered. Default: all.")
@click.option("--host", metavar="ADDRESS", help="Where to listen. Default: 127.0.0.1, this machine alone.")
@click.option("--port", metavar="PORT", help="Default: 8420. 0: a free one.")
@click.option("--insecure", is_flag=True, help="Let everybody in who reaches an address beyond this machine.")
def serve(
    store: str | None,
    collection: str | None,
    toolsets: str | None,
    host: str | None,
    port: str | None,
    insecure: bool,
) -> None:
    """Serve MCP, REST, metrics and documentation over HTTP."""
    settings = settings_of(
        store=store,
        collection=collection,
        toolsets=toolsets,
        host=host,
        port=port,
        insecure="true" if insecure else None,
        # Who runs a server expects a line for each request; who says otherwise is heard.
        log_level=None if os.environ.get("EVOCA_LOG_LEVEL") else "info",
    )
    announce(f"store {settings.shown_location}")
    from evoca.runtime import Runtime
    from evoca.surfaces.http.server import serve as run

    run(Runtime(settings), announce)
