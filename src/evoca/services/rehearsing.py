"""Dry runs: the real work, undone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from evoca.storage.contract import Session, Store

T = TypeVar("T")


class _Rehearsed(Exception):
    """Ends a transaction that is to leave nothing."""


def rehearse(store: Store, work: Callable[[Session], T]) -> T:
    """Do a unit of work and undo it: what it returns is what the real run will do. Raises what the work raises."""
    outcomes: list[T] = []

    def undone(session: Session) -> None:
        outcomes[:] = [work(session)]
        raise _Rehearsed

    with suppress(_Rehearsed):
        store.write(undone)
    return outcomes[0]
