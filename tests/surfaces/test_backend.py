"""The threads that call the runtime, when the process ends before they do."""

from __future__ import annotations

import threading

import anyio
import anyio.lowlevel
import pytest

from evoca.errors import ShuttingDown
from evoca.storage.contract import cancellation
from evoca.surfaces.backend import Workers
from tests.surfaces.waiting import DEADLINE

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("sealed", [False, True], ids=["before its commit", "at its commit"])
async def test_an_abandoned_call_is_told_unless_it_is_being_committed(sealed: bool) -> None:
    workers, begun, free, told = Workers(), threading.Event(), threading.Event(), list[str]()

    def work() -> str:
        token = cancellation.get()
        assert token is not None
        assert not sealed or token.seal()
        begun.set()
        free.wait(DEADLINE)
        return "done"

    async def call() -> None:
        try:
            told.append(await workers.run(work, read_only=False))
        except ShuttingDown:
            told.append("ending")
        # The task itself goes on.
        await anyio.lowlevel.checkpoint()
        ended.set()

    ended = anyio.Event()
    with anyio.fail_after(DEADLINE):
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await anyio.to_thread.run_sync(begun.wait)
            workers.abandon()
            if sealed:
                free.set()
            await ended.wait()
    free.set()
    workers.close()
    assert told == ["done" if sealed else "ending"]
