"""Copying a whole store, between engines and within one; interrupted, resumed and refused."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from evoca import Memory
from evoca.domain.clock import FrozenClock
from evoca.domain.tenancy import NewKey, Scope
from evoca.errors import Conflict, StoreError
from evoca.storage import open_store
from evoca.storage.connection import Value
from evoca.storage.contract import Session, Store
from evoca.storage.copying import Copied, copy_store, refuse_unfinished
from evoca.storage.tables import TABLES
from tests.support.engines import ARRAYS, POSTGRES, SQLITE, Servers
from tests.support.filled import fill

PAIRS = [(SQLITE, SQLITE), (SQLITE, POSTGRES), (POSTGRES, SQLITE), (ARRAYS, POSTGRES)]


@contextmanager
def opened(place: str) -> Generator[Store]:
    store = open_store(place, FrozenClock(1_000))
    try:
        yield store
    finally:
        store.close()


@pytest.fixture
def places(servers: Servers, tmp_path: Path, request: pytest.FixtureRequest) -> Generator[tuple[str, str]]:
    """Where the two stores are: engines as the test's parameter says."""
    source, target = request.param
    folders = [tmp_path / name for name in ("source", "target")]
    for folder in folders:
        folder.mkdir()
    with ExitStack() as held:
        yield (
            held.enter_context(servers.place(source, folders[0])),
            held.enter_context(servers.place(target, folders[1])),
        )


def copied(source: str, target: str, tell: Callable[[str], None] = lambda _what: None) -> Copied:
    with opened(source) as one, opened(target) as other:
        return copy_store(one, other, tell)


def answers(place: str) -> list[object]:
    """What a reader is told."""
    with Memory(place, embedder="hash:32") as memory:
        return [
            memory.read_graph(),
            memory.open_nodes(["Ada 0", "Niño"], details=True, include_ended=True, include_superseded=True),
            memory.search_nodes("ÑA"),
            memory.search_semantic("number 1", track=False),
            memory.search_hipocampo("compilador", include_archived=True),
            memory.search_reflections("prose"),
            {**memory.memory_status(), "store": "", "size": 0, "path": ""}["collection"],
        ]


@pytest.mark.parametrize("places", PAIRS, indirect=True, ids=lambda pair: f"{pair[0]}-{pair[1]}")
def test_a_copy_holds_the_same_rows_and_gives_the_same_answers(places: tuple[str, str]) -> None:
    source, target = places
    fill(source)
    told: list[str] = []
    result = copied(source, target, told.append)
    assert result.good, result
    assert told[:-2] == [table.name for table in TABLES]
    assert sum(each.source.rows for each in result.tables) > 60
    assert answers(target) == answers(source)


@pytest.mark.parametrize("places", PAIRS[:3], indirect=True, ids=lambda pair: f"{pair[0]}-{pair[1]}")
def test_a_copy_goes_on_counting_where_its_source_is(places: tuple[str, str]) -> None:
    source, target = places
    fill(source)
    with opened(source) as store:
        next_id = store.write(lambda session: session.incoming.take_ids(1)) + 1
        changes = store.read(lambda session: session.documents.counter())
    assert copied(source, target).good
    with opened(target) as store:
        assert store.write(lambda session: session.incoming.take_ids(1)) >= next_id
        assert store.read(lambda session: session.documents.counter()) >= changes
        assert store.write(lambda session: session.collections.create("new", "", "", 1)).id > 2
        key = NewKey("other", b"digest", Scope.ADMIN, None)
        assert store.write(lambda session: session.keys.insert(key, 1)) > 1
        assert store.read(lambda session: session.keys.version()) > 0
        assert store.write(lambda session: session.documents.register_model("other", 1)) > 0


def test_a_store_is_copied_into_tables_cut_by_collection_and_back(servers: Servers, tmp_path: Path) -> None:
    source = str(tmp_path / "source.db")
    fill(source)
    with servers.place(POSTGRES, tmp_path) as url:
        parts = f"{url}{'&' if '?' in url else '?'}schema=parts&partitions=3"
        assert copied(source, parts).good
        with opened(parts) as store:
            assert store.check()["partitions"] == "3"
        assert copied(parts, str(tmp_path / "back.db")).good
    assert answers(str(tmp_path / "back.db")) == answers(source)


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("places", PAIRS[:3], indirect=True, ids=lambda pair: f"{pair[0]}-{pair[1]}")
@pytest.mark.parametrize("at", ["observations", "episodes", "the indexes", "the comparison"])
def test_an_interrupted_copy_goes_on(places: tuple[str, str], at: str) -> None:
    source, target = places
    fill(source)

    def interrupt(what: str) -> None:
        if what == at:
            raise Interrupted

    with pytest.raises(Interrupted):
        copied(source, target, interrupt)
    with opened(target) as store, pytest.raises(StoreError, match="unfinished copy"):
        refuse_unfinished(store)
    told: list[str] = []
    assert copied(source, target, told.append).good
    assert told[0] == at or at.startswith("the")
    with opened(target) as store:
        refuse_unfinished(store)
    assert answers(target) == answers(source)


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    return str(tmp_path / "source.db"), str(tmp_path / "target.db")


def test_a_copy_that_was_interrupted_inside_a_table_goes_on_there(two: tuple[str, str]) -> None:
    source, target = two
    with Memory(source, embedder="none") as memory:
        memory.create_entities([{"name": f"e{number}"} for number in range(2_500)])
    with opened(source) as one, opened(target) as other:

        class Failing:
            """A target that breaks at its fifth write."""

            def __init__(self) -> None:
                self.writes = 0

            def __getattr__(self, name: str) -> Value:
                return getattr(other, name)

            def write(self, work: Callable[[Session], object]) -> object:
                self.writes += 1
                if self.writes == 7:
                    raise Interrupted
                return other.write(work)

        with pytest.raises(Interrupted):
            copy_store(one, Failing(), lambda _what: None)  # pyright: ignore[reportArgumentType]
        assert 0 < other.read(lambda session: session.entities.count(1)) < 2_500
        assert copy_store(one, other, lambda _what: None).good


def test_a_source_that_has_changed_since_is_told(two: tuple[str, str]) -> None:
    source, target = two
    fill(source)

    def interrupt(what: str) -> None:
        if what == "episodes":
            raise Interrupted

    with pytest.raises(Interrupted):
        copied(source, target, interrupt)
    with Memory(source, embedder="none") as memory:
        memory.create_entities([{"name": "late"}])
    with pytest.raises(Conflict, match="has changed since the copy was interrupted: collections, entities"):
        copied(source, target)


def test_only_an_empty_store_takes_a_copy(two: tuple[str, str], tmp_path: Path) -> None:
    source, target = two
    fill(source)
    with Memory(target, embedder="none") as memory:
        memory.create_entities([{"name": "mine"}])
    with pytest.raises(Conflict, match="holds something already"):
        copied(source, target)
    with Memory(target, embedder="none") as memory:
        assert [entity["name"] for entity in memory.read_graph()["entities"]] == ["mine"]
    unfinished = str(tmp_path / "unfinished.db")
    with pytest.raises(ZeroDivisionError):
        copied(source, unfinished, lambda _what: 1 / 0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(Conflict, match="unfinished copy itself"):
        copied(unfinished, str(tmp_path / "other.db"))
    with pytest.raises(Conflict, match="unfinished copy of"):
        copied(target, unfinished)


def test_a_difference_is_told(two: tuple[str, str]) -> None:
    source, target = two
    fill(source)

    with opened(source) as one, opened(target) as other:

        def meddle(what: str) -> None:
            if what == "the comparison":
                (row,) = other.read(lambda session: session.entities.page(1, limit=1))
                other.write(lambda session: session.entities.touch([row.id], 77))

        result = copy_store(one, other, meddle)
        assert [each.table for each in result.tables if not each.same] == ["entities"]
        assert not result.good
        with pytest.raises(StoreError, match="unfinished"):
            refuse_unfinished(other)


def test_what_is_written_meanwhile_stays_out(two: tuple[str, str]) -> None:
    source, target = two
    fill(source)
    with Memory(source, embedder="none") as memory, opened(source) as one, opened(target) as other:

        def write(what: str) -> None:
            memory.create_entities([{"name": f"while copying {what}"}])

        before = one.read(lambda session: session.entities.count(1))
        assert copy_store(one, other, write).good
        assert other.read(lambda session: session.entities.count(1)) == before
