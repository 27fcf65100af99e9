"""Whether the server lives, and whether it can work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NotRequired, Protocol, TypedDict, TypeVar

import anyio

from evoca.errors import EvocaError
from evoca.surfaces.backend import guarded
from evoca.surfaces.http.replies import http_face

if TYPE_CHECKING:
    from evoca.runtime import Runtime

Found = TypeVar("Found")
PATIENCE = 4.0
"""Seconds to wait for the store; who asks whether the server is ready does not wait long."""
REMEMBERED = 1.0
"""Seconds for which an answer stands, so that asking often costs nothing."""


@dataclass(frozen=True, slots=True)
class Condition:
    """How the memory is. `pending`: texts that wait for their vectors. `size`: bytes on disk. `model`: its state."""

    pending: int
    size: int
    model: str


class Insight(Protocol):
    """Where the condition comes from. Thread-safe; may block."""

    def condition(self) -> Condition:
        """Raises EvocaError when the store cannot be read."""
        ...

    def try_writing(self) -> None:
        """Raises EvocaError when the store cannot be written."""
        ...


class RuntimeInsight:
    """The insight into a runtime."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def condition(self) -> Condition:
        indexing = self._runtime.services().indexing.status()
        return Condition(indexing.pending, self._runtime.store.size(), indexing.state)

    def try_writing(self) -> None:
        self._runtime.store.write(lambda _session: None)


class Live(TypedDict):
    status: str


class Trouble(TypedDict):
    code: str
    message: str
    hint: str


class Ready(TypedDict):
    """`backlog`: texts that wait for their vectors. `model`: the indexer's state. `error`: why it cannot work."""

    status: str
    backlog: int
    model: str
    error: NotRequired[Trouble]


class Look(Generic[Found]):
    """A question to the store, asked in a thread of its own, once at a time. Nobody waits for it beyond `PATIENCE`.

    A store that is away may keep the thread for long; who asks meanwhile is told at once that there is no answer.
    """

    def __init__(self, work: Callable[[], Found]) -> None:
        """`work` raises nothing."""
        self._work = work
        self._thread = ThreadPoolExecutor(1, "evoca-look")
        self._running: Future[Found] | None = None
        self._latest = 0.0

    async def ask(self) -> Found | None:
        """The answer; None when there is none yet."""
        running = self._running
        if running is None or running.done():
            self._latest = time.monotonic() + PATIENCE
            running = self._running = self._thread.submit(self._work)
        await asyncio.wait([asyncio.wrap_future(running)], timeout=max(0.0, self._latest - time.monotonic()))
        return running.result() if running.done() else None

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


class Readiness:
    """Asks whether the store can be read and written. No answer holds a path or a name of anything in the store."""

    def __init__(self, insight: Insight, now: Callable[[], float] = time.monotonic) -> None:
        self._insight = insight
        self._now = now
        self._lock = anyio.Lock()
        self._look = Look(self._find)
        self._known: Ready | None = None
        self._at = 0.0

    async def ask(self) -> Ready:
        async with self._lock:
            if self._known is None or self._now() - self._at > REMEMBERED:
                self._known = await self._look.ask()
                self._at = self._now()
            return self._known or _unready("store_busy")

    def close(self) -> None:
        self._look.close()

    def _find(self) -> Ready:
        condition = _UNKNOWN
        try:
            condition = guarded(self._insight.condition, "ready")
            guarded(self._insight.try_writing, "ready")
        except EvocaError as error:
            return _unready(http_face(error).code, condition)
        return {"status": "ready", "backlog": condition.pending, "model": condition.model}


_UNKNOWN = Condition(0, 0, "unknown")


def _unready(code: str, condition: Condition = _UNKNOWN) -> Ready:
    # An error's own words may hold paths, and anybody may ask.
    trouble: Trouble = {"code": code, "message": "The store cannot be used now", "hint": "The log tells more."}
    return {"status": "unavailable", "backlog": condition.pending, "model": condition.model, "error": trouble}
