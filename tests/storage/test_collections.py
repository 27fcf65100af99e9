"""Collections, their versions, and the store's own notes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evoca.errors import Conflict
from evoca.storage.contract import Session, Store


def test_the_default_collection_is_there_from_the_start(store: Store) -> None:
    found = store.read(lambda s: s.collections.find("default"))
    assert found is not None
    assert (found.code, found.created_at) == ("default", 1_000_000)
    assert store.read(lambda s: s.collections.find("nada")) is None


def test_a_code_is_taken_once(store: Store) -> None:
    made = store.write(lambda s: s.collections.create("obra", "Obra", "la casa", 5))
    assert store.read(lambda s: s.collections.find("obra")) == made
    with pytest.raises(Conflict):
        store.write(lambda s: s.collections.create("obra", "Otra", "", 6))


def test_the_graph_version_grows_with_commits_only(store: Store, home: int) -> None:
    def version() -> int:
        return store.read(lambda s: s.collections.graph_version(home))

    def twice(session: Session) -> None:
        session.collections.bump(home)
        session.collections.bump(home)

    def fails(session: Session) -> None:
        session.collections.bump(home)
        raise LookupError

    first = version()
    store.write(twice)
    second = version()
    assert second > first
    with pytest.raises(LookupError):
        store.write(fails)
    assert version() == second


def test_notes_are_kept_across_reopening(reopen: Callable[[], Store]) -> None:
    store = reopen()
    store.write(lambda s: s.metadata.set("clave", "uno"))
    store.write(lambda s: s.metadata.set("clave", "dos"))
    store.close()
    again = reopen()
    assert again.read(lambda s: (s.metadata.get("clave"), s.metadata.get("otra"))) == ("dos", None)
