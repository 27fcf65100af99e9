"""One client's connection: uvicorn's, and the time it has to say what it wants."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


def within(seconds: float) -> type[H11Protocol]:
    """The protocol whose connections are closed when no request's head is complete so long after the last answer.

    uvicorn's own limit ends with the first byte: a client that sends the rest slowly, or never, would keep a
    connection, and with it a file descriptor, for ever. It needs no key for that.
    """

    class Connection(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(  # pyright: ignore[reportIncompatibleMethodOverride] - as the class above has it
            self, transport: asyncio.Transport
        ) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def _watch(self) -> None:
            if self.conn.their_state is not h11.IDLE:
                self._forget()
            elif self._deadline is None:
                self._deadline = self.loop.call_later(seconds, self._too_late)

        def _forget(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _too_late(self) -> None:
            self._deadline = None
            if not self.transport.is_closing():
                self.transport.close()

    return Connection
