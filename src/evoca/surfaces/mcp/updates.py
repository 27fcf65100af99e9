"""Notices that the graph has changed, for both ways of subscribing.

On 2025-11-25 and before a client subscribes with `resources/subscribe`, on 2026-07-28 it holds a `subscriptions/listen`
stream open. Behind both stands one publisher: while anybody is subscribed it asks for the graph's version, five times
a second and at once after the server's own writes, so that changes made by other processes are noticed as well.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated, ServerEvent

from evoca.domain.tenancy import LOCAL, Caller
from evoca.errors import EvocaError, NotFound
from evoca.logs import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from anyio.abc import TaskGroup
    from mcp.server.connection import Connection
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession
    from mcp_types import SubscriptionsListenRequestParams, SubscriptionsListenResult

GRAPH_URI = "memory://knowledge-graph"
INTERVAL = 0.2
"""Seconds between two looks at the graph's version."""


class GraphUpdates:
    """The publisher. `version` gives the version of a caller's graph, which grows with every committed change.

    Callers that see the same collections read the same graph and share its notices.
    """

    def __init__(self, version: Callable[[Caller], Awaitable[int]], interval: float = INTERVAL) -> None:
        self._version = version
        self._interval = interval
        self._topics: dict[frozenset[int] | None, _Topic] = {}
        self._sessions: dict[Connection, Callable[[], None]] = {}
        self._group: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Watch the graphs meanwhile."""
        async with anyio.create_task_group() as group:
            self._group = group
            yield
            group.cancel_scope.cancel()

    def changed(self) -> None:
        """Something was written here: look at once."""
        for topic in self._topics.values():
            topic.look_soon()

    async def listen(
        self, context: ServerRequestContext[None], parameters: SubscriptionsListenRequestParams, caller: Caller = LOCAL
    ) -> SubscriptionsListenResult:
        """Serve one `subscriptions/listen` stream until it is closed. Raises NotFound when there is no graph."""
        topic = self._topic(caller)
        await topic.note_version()
        return await topic.listen(context, parameters)

    async def subscribe(self, connection: Connection, session: ServerSession, caller: Caller = LOCAL) -> None:
        """Send the connection a notice of every change from now on. The subscription ends with the connection.

        Raises NotFound when there is no graph to read.
        """
        if connection in self._sessions or self._group is None:
            return
        topic = self._topic(caller)
        await topic.note_version()
        leave = topic.bus.subscribe(_Session(session, self._group).deliver)
        self._sessions[connection] = leave
        connection.exit_stack.callback(self.unsubscribe, connection)

    def unsubscribe(self, connection: Connection) -> None:
        leave = self._sessions.pop(connection, None)
        if leave is not None:
            leave()

    def close(self) -> None:
        """End every listen stream; each is answered."""
        for topic in self._topics.values():
            topic.listen.close()

    def _topic(self, caller: Caller) -> _Topic:
        key = caller.collections
        topic = self._topics.get(key)
        if topic is None:
            assert self._group is not None  # noqa: S101 - requests are served while it runs
            topic = self._topics[key] = _Topic(lambda: self._version(caller), self._interval)
            self._group.start_soon(topic.watch)
        return topic


class _Topic:
    """One graph that is watched while anybody listens."""

    def __init__(self, version: Callable[[], Awaitable[int]], interval: float) -> None:
        self._version = version
        self._interval = interval
        self.bus = _CountingBus(self.look_soon)
        self.listen = ListenHandler(self.bus)
        self._seen: int | None = None
        self._wake = anyio.Event()

    def look_soon(self) -> None:
        self._wake.set()

    async def note_version(self) -> None:
        """What is there now is no news. Raises NotFound."""
        if not self.bus.listeners:
            self._seen = await self._look()

    async def watch(self) -> None:
        while True:
            with anyio.move_on_after(self._interval if self.bus.listeners else None):
                await self._wake.wait()
            self._wake = anyio.Event()
            if not self.bus.listeners:
                continue
            try:
                version = await self._look()
            except NotFound:
                continue  # the collection is gone; it may come back
            if version is not None and version != self._seen:
                self._seen = version
                await self.bus.publish(ResourceUpdated(GRAPH_URI))

    async def _look(self) -> int | None:
        try:
            return await self._version()
        except NotFound:
            raise
        except EvocaError as error:
            get_logger("mcp").warning("graph version unknown", error=type(error).__name__)
            return None


class _Session:
    """A connection that has subscribed. Changes while a notice is under way make one more notice, not many."""

    def __init__(self, session: ServerSession, group: TaskGroup) -> None:
        self._session = session
        self._group = group
        self._due = False
        self._sending = False

    def deliver(self, _event: ServerEvent) -> None:
        self._due = True
        if not self._sending:
            self._sending = True
            self._group.start_soon(self._send)

    async def _send(self) -> None:
        try:
            while self._due:
                self._due = False
                await self._session.send_resource_updated(GRAPH_URI)
        finally:
            self._sending = False


class _CountingBus(InMemorySubscriptionBus):
    """The SDK's bus, which also says how many listen to it."""

    def __init__(self, joined: Callable[[], None]) -> None:
        super().__init__()
        self.listeners = 0
        self._joined = joined

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        leave = super().subscribe(listener)
        self.listeners += 1
        self._joined()
        left = False

        def once() -> None:
            nonlocal left
            if not left:
                left = True
                self.listeners -= 1
                leave()

        return once
