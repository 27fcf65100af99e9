"""Serving HTTP until a signal: one socket, one process."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio
import uvicorn

from evoca.errors import InvalidInput, Unavailable
from evoca.logs import get_logger
from evoca.surfaces.http.app import HttpApp
from evoca.surfaces.http.connections import within
from evoca.surfaces.http.health import RuntimeInsight
from evoca.surfaces.http.hosts import is_loopback
from evoca.surfaces.signals import on_signals

if TYPE_CHECKING:
    from evoca.runtime import Runtime

GRACE = 3.0
"""Seconds from a signal for what is running to finish; then it is asked to leave nothing."""
LIFETIME = 4.8
"""Seconds from a signal to the end of the process, whatever hangs."""
STREAMS_FIRST = 0.5
"""Seconds, within `GRACE`, that what is running may be asked earlier than the server gives up waiting for it."""
BACKLOG = 512
KEEP_ALIVE = 30
"""Seconds that an idle connection stays open."""


def serve(runtime: Runtime, announce: Callable[[str], None]) -> None:
    """Serve the runtime as its settings say until SIGTERM or SIGINT, then close it.

    Raises InvalidInput when the address would be open to others without a key, StoreError when the store cannot be
    opened, Unavailable when the address cannot be used.
    """
    try:
        guarded = _check_exposure(runtime, announce)
        listener = listen(runtime.settings.host, runtime.settings.port)
        app = HttpApp(runtime, RuntimeInsight(runtime), runtime.settings, closed=guarded)
        announce(f"listening on {_shown(listener, runtime.settings.host)}")
        anyio.run(_run, app, listener, min(KEEP_ALIVE, runtime.settings.request_timeout))
    finally:
        runtime.close()


def _check_exposure(runtime: Runtime, announce: Callable[[str], None]) -> bool:
    """Whether callers need a key whatever happens. Opens the store."""
    settings = runtime.settings
    if runtime.keys_in_place():
        return True
    if _local_only(settings.host):
        return False
    if not settings.insecure:
        raise InvalidInput(
            f"--host {settings.host}: without a key everybody who reaches this address could use the memory.",
            "Make a key with `evoca keys create NAME`, leave --host out to stay on this machine, or add --insecure.",
        )
    announce(f"warning: everybody who reaches {settings.host} can read, change and delete this memory")
    return False


def _local_only(host: str) -> bool:
    return all(is_loopback(address) for *_, address in _addresses(host, 0))


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, tuple[object, ...], str]]:
    """Each address of a host: its family, what to bind, and the address itself."""
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise InvalidInput(
            f"--host {host}: there is no such address", "Use 127.0.0.1, or this machine's own."
        ) from None
    return [(family, place, str(place[0])) for family, _, _, _, place in found]


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises InvalidInput, or Unavailable when the address is taken."""
    # A name of both kinds, as localhost, means the older one: every client tries that.
    family, place, _ = min(_addresses(host, port), key=lambda each: each[0] != socket.AF_INET)
    # asyncio sends at once only where the protocol is named: else every answer on an open connection took 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise Unavailable(
            f"{host}:{port} cannot be listened at: {error.strerror}", "Choose another --port, or 0 for a free one."
        ) from None
    return listener


def _shown(listener: socket.socket, host: str) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listener.getsockname()[1]}"


class _Server(uvicorn.Server):
    """uvicorn, told to stop from here."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def stop(self) -> None:
        self.should_exit = True


async def _run(app: HttpApp, listener: socket.socket, patience: float) -> None:
    config = uvicorn.Config(
        app,
        http=within(patience),
        loop="asyncio",
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=int(GRACE),
    )
    server, signalled = _Server(config), anyio.Event()

    def stop() -> None:
        get_logger("http").info("ending", reason="signal")
        watchdog = threading.Timer(LIFETIME, os._exit, (0,))
        watchdog.daemon = True
        watchdog.start()
        signalled.set()

    with on_signals(asyncio.get_running_loop(), stop):
        async with app.running(), anyio.create_task_group() as group:
            group.start_soon(_end_at, signalled, app, server)
            await server.serve(sockets=[listener])
            group.cancel_scope.cancel()


async def _end_at(signalled: anyio.Event, app: HttpApp, server: _Server) -> None:
    await signalled.wait()
    server.stop()
    await app.stop()
    await anyio.sleep(GRACE - STREAMS_FIRST)
    app.abandon()
