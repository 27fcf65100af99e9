"""What a surface needs of the runtime, and the threads that call it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Protocol, TypeVar

import anyio

from evoca.domain.tenancy import LOCAL, Caller
from evoca.errors import EvocaError, ShuttingDown
from evoca.logs import get_logger
from evoca.operations.base import Operation
from evoca.storage.contract import Cancellation, Cancelled, cancellation
from evoca.surfaces.rendering import Internal

T = TypeVar("T")
READERS = 8
WRITERS = 64


class Backend(Protocol):
    """The runtime as surfaces see it. Thread-safe; every method may block."""

    @property
    def catalogue(self) -> tuple[Operation, ...]: ...
    def call(self, operation: Operation, raw: Mapping[str, object], caller: Caller = LOCAL) -> Mapping[str, object]: ...
    def graph_version(self, caller: Caller = LOCAL) -> int: ...
    def authenticate(self, secret: str) -> Caller | None:
        """Whose API key this is; None when it is no key in force."""
        ...

    def keys_in_place(self) -> bool:
        """Whether a key was ever made: then nobody may come in from outside without one."""
        ...

    def close(self) -> None: ...


def answer(
    backend: Backend, operation: Operation, raw: Mapping[str, object], caller: Caller = LOCAL
) -> Mapping[str, object]:
    """The operation's result. Raises as `guarded` does."""
    return guarded(lambda: backend.call(operation, raw, caller), operation.name)


def guarded(work: Callable[[], T], what: str) -> T:
    """Do `work`; raises EvocaError and nothing else. What is unexpected is logged, and raised as Internal."""
    try:
        return work()
    except EvocaError:
        raise
    except Cancelled:
        raise ShuttingDown("The server is ending: nothing was done.", "Call again when it is back.") from None
    except Exception as error:  # noqa: BLE001 - the edge of the process: logged, and shown without internals
        get_logger("surfaces").failure("operation failed", error, operation=what)
        raise Internal from None


class Workers:
    """Two pools of threads, so that writes that wait for their commit never hold up reads.

    A call whose task is cancelled asks the store to leave nothing of it, and keeps its thread until that is settled.
    """

    def __init__(self, readers: int = READERS, writers: int = WRITERS) -> None:
        self._readers = ThreadPoolExecutor(readers, "evoca-read")
        self._writers = ThreadPoolExecutor(writers, "evoca-write")
        self._running: dict[Cancellation, asyncio.Task[object] | None] = {}
        self._given_up: set[Cancellation] = set()
        self._abandoned = False

    async def run(self, work: Callable[[], T], *, read_only: bool) -> T:
        """Run `work` in a thread, with a cancellation of its own in force. Raises ShuttingDown when it is abandoned."""
        token = Cancellation()
        context = copy_context()
        context.run(cancellation.set, token)
        pool = self._readers if read_only else self._writers
        future = pool.submit(context.run, work)
        task = self._running[token] = asyncio.current_task()
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if token in self._given_up and task is not None and not task.uncancel():
                raise ShuttingDown("The server is ending: nothing was done.", "Call again when it is back.") from None
            token.cancel()
            if not (future.cancelled() or self._abandoned):
                with anyio.CancelScope(shield=True):
                    ended = asyncio.wrap_future(future)
                    await asyncio.wait([ended])
                    ended.exception()
            raise
        finally:
            self._running.pop(token, None)
            self._given_up.discard(token)

    def abandon(self) -> None:
        """The process is ending: every running call that can leave nothing is given up; from now on none is waited for.

        A call that waits for a store that is away would notice nothing, so who made it is told at once.
        """
        self._abandoned = True
        for token, task in tuple(self._running.items()):
            if token.cancel() and task is not None:
                self._given_up.add(token)
                task.cancel()

    def close(self) -> None:
        """Take no more work; do not wait for what is running."""
        self._readers.shutdown(wait=False, cancel_futures=True)
        self._writers.shutdown(wait=False, cancel_futures=True)
