"""Notices of changes, both ways of subscribing, with the server's own writes and those of others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from mcp.server.subscriptions import ResourceUpdated, ServerEvent

from evoca.domain.tenancy import LOCAL, Caller, Scope
from evoca.errors import StoreBusy
from evoca.surfaces.mcp.updates import GRAPH_URI, GraphUpdates
from tests.process.support.client import JsonObject, Server, object_at, text_at

UPDATED = "notifications/resources/updated"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
META: JsonObject = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def subscribe(server: Server) -> None:
    server.request("resources/subscribe", {"uri": GRAPH_URI})


def updates(server: Server) -> int:
    return sum(message["method"] == UPDATED for message in list(server.notifications))


def write_as_another_process(folder: Path) -> None:
    with (folder / "graph").open("a", encoding="utf-8") as graph:
        graph.write("elsewhere\n")


def listen(server: Server, number: int, uri: str = GRAPH_URI) -> None:
    """Open a stream of notices (2026-07-28)."""
    wanted: JsonObject = {"resourceSubscriptions": [uri]}
    server.send(
        {
            "jsonrpc": "2.0",
            "id": number,
            "method": "subscriptions/listen",
            "params": {"notifications": wanted, "_meta": META},
        }
    )
    server.wait_notification(ACKNOWLEDGED)


def save(server: Server, text: str, meta: JsonObject | None = None) -> None:
    params: JsonObject = {"name": "save", "arguments": {"text": text}} | ({"_meta": meta} if meta else {})
    server.request("tools/call", params)


def test_own_writes_are_noticed(toy: Server) -> None:
    subscribe(toy)
    save(toy, "a")
    message = toy.wait_notification(UPDATED)
    assert message["params"] == {"uri": GRAPH_URI}


def test_writes_of_other_processes_are_noticed(toy: Server, folder: Path) -> None:
    subscribe(toy)
    write_as_another_process(folder)
    toy.wait_notification(UPDATED)


def test_only_changes_after_the_subscription_are_told(toy: Server) -> None:
    save(toy, "before")
    subscribe(toy)
    save(toy, "after")
    toy.wait_notification(UPDATED)
    toy.ok("echo", {"text": "flush"})
    assert updates(toy) == 1


def test_subscribing_twice_tells_once(toy: Server) -> None:
    subscribe(toy)
    subscribe(toy)
    save(toy, "a")
    toy.wait_notification(UPDATED)
    toy.ok("echo", {"text": "flush"})
    assert updates(toy) == 1


def test_nothing_is_told_without_a_subscription_or_after_its_end(toy: Server, start: Callable[[], Server]) -> None:
    watcher = start()
    watcher.initialize()
    subscribe(watcher)
    save(toy, "never subscribed")
    watcher.wait_notification(UPDATED)
    subscribe(toy)
    toy.request("resources/unsubscribe", {"uri": GRAPH_URI})
    toy.request("resources/unsubscribe", {"uri": GRAPH_URI})
    seen = len(watcher.notifications)
    save(toy, "unsubscribed")
    watcher.wait_notification(UPDATED, seen)
    toy.ok("echo", {"text": "flush"})
    assert updates(toy) == 0


def test_a_stream_of_2026_is_acknowledged_told_and_ended(start: Callable[[], Server], folder: Path) -> None:
    server = start()
    listen(server, 50)
    save(server, "own", META)
    first = server.wait_notification(UPDATED)
    seen = len(server.notifications)
    write_as_another_process(folder)
    server.wait_notification(UPDATED, seen)
    params = object_at(first, "params")
    assert text_at(params, "uri") == GRAPH_URI
    assert object_at(params, "_meta") == {"io.modelcontextprotocol/subscriptionId": 50}
    assert server.stop() == 0
    assert any(b'"id":50' in line and b'"result"' in line for line in server.lines)


def test_a_stream_for_something_else_is_told_nothing(start: Callable[[], Server]) -> None:
    server = start()
    listen(server, 50, "memory://other")
    save(server, "a", META)
    server.request("tools/list", {"_meta": META})
    assert updates(server) == 0


# -- the publisher alone --------------------------------------------------------------------------


class Graph:
    """A graph's version, and how often it was asked for."""

    def __init__(self) -> None:
        self.version = 1
        self.looks = 0
        self.broken = False

    async def look(self, _caller: Caller) -> int:
        self.looks += 1
        if self.broken:
            raise StoreBusy("busy")
        return self.version


def joined(updates: GraphUpdates, caller: Caller = LOCAL) -> tuple[list[ServerEvent], Callable[[], None]]:
    """A listener on the publisher's bus for this caller."""
    heard: list[ServerEvent] = []
    return heard, updates._topic(caller).bus.subscribe(heard.append)  # pyright: ignore[reportPrivateUsage]


async def soon(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(30):
        while not condition():  # noqa: ASYNC110 - the condition is the publisher's doing, which has no event for it
            await anyio.sleep(0.001)


@pytest.mark.anyio
async def test_nobody_asks_while_nobody_listens() -> None:
    graph = Graph()
    updates = GraphUpdates(graph.look, interval=0.001)
    async with updates.running():
        updates.changed()
        await anyio.wait_all_tasks_blocked()
        assert graph.looks == 0
        _, leave = joined(updates)
        await soon(lambda: graph.looks > 1)
        leave()
        await anyio.wait_all_tasks_blocked()
        looks = graph.looks
        updates.changed()
        await anyio.wait_all_tasks_blocked()
        assert graph.looks == looks


@pytest.mark.anyio
async def test_a_store_that_cannot_be_asked_is_asked_again() -> None:
    graph = Graph()
    updates = GraphUpdates(graph.look, interval=0.001)
    async with updates.running():
        heard, leave = joined(updates)
        await soon(lambda: len(heard) == 1)
        graph.broken = True
        looks = graph.looks
        await soon(lambda: graph.looks > looks + 2)
        graph.version, graph.broken = 2, False
        await soon(lambda: len(heard) == 2)
        leave()
    assert heard == [ResourceUpdated(GRAPH_URI)] * 2


@pytest.mark.anyio
async def test_each_caller_hears_of_its_own_graph() -> None:
    versions = {frozenset({1}): 1, frozenset({2}): 1}

    async def look(caller: Caller) -> int:
        assert caller.collections is not None
        return versions[caller.collections]

    updates = GraphUpdates(look, interval=0.001)
    async with updates.running():
        house, _ = joined(updates, Caller(1, Scope.READ, frozenset({1})))
        other_key_of_it, _ = joined(updates, Caller(2, Scope.WRITE, frozenset({1})))
        site, _ = joined(updates, Caller(3, Scope.READ, frozenset({2})))
        await soon(lambda: len(house) == len(site) == len(other_key_of_it) == 1)
        versions[frozenset({1})] = 2
        await soon(lambda: len(house) == len(other_key_of_it) == 2)
        versions[frozenset({2})] = 2
        await soon(lambda: len(site) == 2)
    assert len(house) == len(other_key_of_it) == 2


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
