"""Reading from a streaming replica of a server of PostgreSQL's, copying from it, and taking it over."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from evoca import Memory
from evoca.domain.clock import FrozenClock
from evoca.errors import StoreReadOnly
from evoca.storage import open_store
from evoca.storage.contract import Store
from evoca.storage.copying import copy_store
from tests.storage.given import entity
from tests.support.postgres import Server, embedded, following, running

SECONDS = 30


@pytest.fixture(scope="module")
def primary() -> Generator[Server]:
    with running(embedded()) as server:
        yield server


@contextmanager
def opened(place: str) -> Generator[Store]:
    with closing(open_store(place, FrozenClock(1))) as store:
        yield store


def names(store: Store) -> list[str]:
    return [each.name for each in store.read(lambda session: session.entities.page(1))]


def until_seen(store: Store, name: str) -> None:
    deadline = time.monotonic() + SECONDS
    while name not in names(store):
        assert time.monotonic() < deadline, f"{name} did not arrive"
        time.sleep(0.02)


def test_a_replica_is_read_and_not_written(primary: Server) -> None:
    database = primary.empty_store()
    with opened(primary.url(database)) as store:
        entity(store, 1, "before", "Generic", "some words")
        with following(primary) as replica, opened(replica.url(database)) as behind:
            until_seen(behind, "before")
            entity(store, 1, "after")
            until_seen(behind, "after")
            assert behind.check()["writable"] == "no"
            with pytest.raises(StoreReadOnly, match="cannot be written"):
                entity(behind, 1, "mine")


def test_a_memory_on_a_replica_finds_what_is_told_on_the_primary(primary: Server) -> None:
    database = primary.empty_store()
    with Memory(primary.url(database), embedder="hash:32") as memory, following(primary) as replica:
        memory.create_entities([{"name": "Ada", "observations": ["writes programs"]}])
        memory.save_hipocampo("Llueve en Múnich")
        with opened(replica.url(database)) as behind:
            until_seen(behind, "Ada")
        with Memory(replica.url(database), embedder="hash:32") as reader:
            assert [each["name"] for each in reader.search_nodes("PROGRAMS")["entities"]] == ["Ada"]
            assert reader.search_semantic("programs")["results"][0]["name"] == "Ada"
            assert reader.search_hipocampo("llueve", limit=1)["count"] == 1
            with pytest.raises(StoreReadOnly):
                reader.create_entities([{"name": "Bob"}])


def test_a_replica_is_copied_and_taken_over(primary: Server, tmp_path: Path) -> None:
    database = primary.empty_store()
    with opened(primary.url(database)) as store:
        entity(store, 1, "Ada", "Generic", "writes programs")
        next_id = store.write(lambda session: session.incoming.take_ids(1))
    with following(primary) as replica:
        url = replica.url(database)
        with opened(url) as behind, opened(str(tmp_path / "copy.db")) as copy:
            until_seen(behind, "Ada")
            assert copy_store(behind, copy, lambda _what: None).good
            assert names(copy) == ["Ada"]
            assert copy.write(lambda session: session.incoming.take_ids(1)) > next_id
        replica.promote()
        with opened(url) as store:
            assert entity(store, 1, "Bob") > next_id
            assert names(store) == ["Ada", "Bob"]
