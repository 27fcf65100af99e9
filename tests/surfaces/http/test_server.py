"""The socket that is listened at."""

from __future__ import annotations

import asyncio
import socket

import pytest

from evoca.surfaces.http.server import listen


@pytest.mark.anyio
async def test_answers_are_sent_at_once() -> None:
    """Without TCP_NODELAY every answer on an open connection waits 40 ms for the client's kernel."""
    accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection: socket.socket = writer.get_extra_info("socket")
        accepted.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = listen("127.0.0.1", 0)
    async with await asyncio.start_server(serve, sock=listener):
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        assert await accepted
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
