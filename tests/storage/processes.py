"""Real processes that use one store at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Self

SECONDS = 60


class Worker:
    """A Python process that says `ready` and does its work when told to."""

    def __init__(self, script: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def read_line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip("\n")

    def tell(self, line: str = "") -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        """SIGKILL, or its like: the process gets no chance to tidy up."""
        self._process.kill()
        self._process.wait(SECONDS)

    def finish(self) -> list[str]:
        """Wait for the end; the rest of what it wrote. Fails when it failed."""
        output, errors = self._process.communicate(timeout=SECONDS)
        assert (self._process.returncode, errors) == (0, "")
        return output.splitlines()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()


def race(script: str, arguments: Sequence[Sequence[str]]) -> list[list[str]]:
    """Start a worker for each list of arguments, let all go at once, and give what each wrote."""
    workers = [Worker(script, *each) for each in arguments]
    try:
        assert [worker.read_line() for worker in workers] == ["ready"] * len(workers)
        for worker in workers:
            worker.tell()
        return [worker.finish() for worker in workers]
    finally:
        for worker in workers:
            worker.__exit__(None, None, None)
