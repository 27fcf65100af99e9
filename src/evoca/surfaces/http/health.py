"""Whether the server lives, and whether it can work."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, Protocol, TypedDict, TypeVar

import anyio

from evoca.errors import EvocaError
from evoca.surfaces.backend import Workers, guarded
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


class Readiness:
    """Asks whether the store can be read and written. No answer holds a path or a name of anything in the store."""

    def __init__(self, insight: Insight, workers: Workers, now: Callable[[], float] = time.monotonic) -> None:
        self._insight = insight
        self._workers = workers
        self._now = now
        self._lock = anyio.Lock()
        self._known: Ready | None = None
        self._at = 0.0

    async def ask(self) -> Ready:
        async with self._lock:
            if self._known is None or self._now() - self._at > REMEMBERED:
                self._known = await self._look()
                self._at = self._now()
            return self._known

    async def _look(self) -> Ready:
        condition = Condition(0, 0, "unknown")
        code = "store_busy"
        with anyio.move_on_after(PATIENCE):
            try:
                condition = await self._run(self._insight.condition, read_only=True)
                await self._run(self._insight.try_writing, read_only=False)
            except EvocaError as error:
                code = http_face(error).code
            else:
                return {"status": "ready", "backlog": condition.pending, "model": condition.model}
        # The error's own words may hold paths, and anybody may ask.
        trouble: Trouble = {"code": code, "message": "The store cannot be used now", "hint": "The log tells more."}
        return {"status": "unavailable", "backlog": condition.pending, "model": condition.model, "error": trouble}

    async def _run(self, work: Callable[[], Found], *, read_only: bool) -> Found:
        return await self._workers.run(lambda: guarded(work, "ready"), read_only=read_only)
