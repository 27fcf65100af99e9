"""Serve what is not the product: `python -m tests.conformance.serve fixtures|refusals FOLDER`. Says `listening on URL`.

`--plain` takes the SDK's own HTTP application instead of Evoca's, which tells whose fault a failure is.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import uvicorn

from evoca.runtime import Runtime
from evoca.settings import Settings
from evoca.surfaces.http.app import HttpApp
from evoca.surfaces.http.health import RuntimeInsight
from tests.conformance.fixtures import build_fixtures
from tests.conformance.refusals import build_refusals

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp


def main(arguments: list[str]) -> None:
    what, folder, *options = arguments
    server = {"fixtures": build_fixtures, "refusals": build_refusals}[what]()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sys.stdout.write(f"listening on http://127.0.0.1:{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        anyio.run(_serve, _plain(server) if "--plain" in options else _evoca(server, Path(folder)), listener)


@asynccontextmanager
async def _plain(server: Server[None]) -> AsyncGenerator[ASGIApp]:
    app = server.streamable_http_app()
    async with server.session_manager.run():
        yield app


@asynccontextmanager
async def _evoca(server: Server[None], folder: Path) -> AsyncGenerator[ASGIApp]:
    settings = Settings(store=str(folder / "m.db"))
    runtime = Runtime(settings)
    app = HttpApp(runtime, RuntimeInsight(runtime), settings, server=server)
    async with app.running():
        yield app
    runtime.close()


async def _serve(serving: AbstractAsyncContextManager[ASGIApp], listener: socket.socket) -> None:
    async with serving as app:
        await uvicorn.Server(uvicorn.Config(app, http="h11", lifespan="off", log_level="warning")).serve(
            sockets=[listener]
        )


if __name__ == "__main__":
    main(sys.argv[1:])
