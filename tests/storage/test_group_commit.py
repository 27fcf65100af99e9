"""Many callers, one transaction: each gets its own outcome, and only what was committed is answered."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import pytest

from evoca.domain.graph import NewEntity
from evoca.errors import Conflict, ShuttingDown
from evoca.storage.contract import Cancellation, Cancelled, Session, Store, cancellation
from tests.storage.given import entity, healthy, observation

T = TypeVar("T")
DEADLINE = 20


class Held:
    """Keeps the writer busy inside a unit of work, so that later units queue up into one group."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._entered, self._leave = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=lambda: store.write(self._work))

    def _work(self, _session: Session) -> None:
        self._entered.set()
        assert self._leave.wait(DEADLINE)

    def __enter__(self) -> None:
        self._thread.start()
        assert self._entered.wait(DEADLINE)

    def __exit__(self, *_: object) -> None:
        self._leave.set()
        self._thread.join(DEADLINE)
        assert not self._thread.is_alive()


@contextmanager
def callers(count: int) -> Generator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(count) as pool:
        yield pool


def write(
    pool: ThreadPoolExecutor, store: Store, work: Callable[[Session], T], stop: Cancellation | None = None
) -> Future[T]:
    def call() -> T:
        cancellation.set(stop)
        return store.write(work)

    return pool.submit(contextvars.copy_context().run, call)


def names(store: Store, home: int) -> list[str]:
    return store.read(lambda s: sorted(e.name for e in s.entities.page(home)))


def test_units_of_one_group_fail_alone(store: Store, home: int) -> None:
    entity(store, home, "taken")

    def add(name: str) -> Callable[[Session], int]:
        return lambda s: s.entities.insert(home, [NewEntity(f"{name}'"), NewEntity(name)], 1)[0]

    def breaks(session: Session) -> None:
        session.entities.insert(home, [NewEntity("never")], 1)
        session.entities.update(1, "gato", "activo", 9)
        raise KeyError("never")

    counter = store.read(lambda s: s.documents.counter())
    with callers(40) as pool:
        with Held(store):
            good = [write(pool, store, add(f"n{n}")) for n in range(20)]
            taken = [write(pool, store, add("taken")) for _ in range(5)]
            broken = [write(pool, store, breaks) for _ in range(5)]
        ids = [each.result(DEADLINE) for each in good]
        assert [type(each.exception(DEADLINE)) for each in taken] == [Conflict] * 5
        assert [type(each.exception(DEADLINE)) for each in broken] == [KeyError] * 5
    assert len(set(ids)) == 20
    assert names(store, home) == sorted(["taken", *(f"n{n}" for n in range(20)), *(f"n{n}'" for n in range(20))])
    assert store.read(lambda s: s.entities.by_ids([1])[1].entity_type) == "Generic"
    assert store.read(lambda s: [p.tolist() for p in s.documents.postings(home, [["never"], ["gat"]])]) == [[], []]
    assert store.read(lambda s: s.documents.counter()) < counter + 20, "one commit served many"
    assert healthy(store)


def test_units_that_search_do_not_disturb_what_their_group_owes_the_indexes(store: Store, home: int) -> None:
    """To search, a unit has the index rows of the whole group written, inside its own savepoint; it may yet fail."""
    old = entity(store, home, "viejo", "perro")
    store.write(lambda s: s.entities.insert(home, [NewEntity(f"n{n}") for n in range(300)], 1))

    def add(name: str) -> Callable[[Session], int]:
        return lambda s: s.entities.insert(home, [NewEntity(name, "faro")], 1)[0]

    def retype(session: Session) -> None:
        session.entities.update(old, "gato", "activo", 1)

    def search_and_fail(session: Session) -> None:
        session.entities.insert(home, [NewEntity("never", "faro")], 1)
        assert "never" in {e.name for e in session.entities.by_ids(session.substrings.entities(home, "faro")).values()}
        session.documents.postings(home, [["far"]])
        raise LookupError

    def search_and_add(session: Session) -> int:
        (made,) = session.entities.insert(home, [NewEntity("finder", "faro")], 1)
        assert made in session.documents.postings(home, [["far"]])[0]
        session.entities.update(made, "faro alto", "activo", 1)
        return made

    with callers(10) as pool:
        with Held(store):
            good = [write(pool, store, add(f"g{n}")) for n in range(4)]
            good.append(write(pool, store, search_and_add))
            changed = write(pool, store, retype)
            bad = [write(pool, store, search_and_fail) for _ in range(2)]
            good += [write(pool, store, add(f"h{n}")) for n in range(2)]
        ids = sorted(each.result(DEADLINE) for each in good)
        changed.result(DEADLINE)
        assert [type(each.exception(DEADLINE)) for each in bad] == [LookupError] * 2
    far, cat, dog = store.read(lambda s: [p.tolist() for p in s.documents.postings(home, [["far"], ["gat"], ["perr"]])])
    assert (far, cat, dog) == (ids, [old], [])
    assert store.read(lambda s: [s.substrings.entities(home, n) for n in ("faro", "gato", "perro")]) == [ids, [old], []]
    assert healthy(store)


def test_a_text_may_go_and_come_back_within_one_group(store: Store, home: int) -> None:
    owner = entity(store, home, "Ana")
    ids = [observation(store, home, owner, f"faro {n}") for n in range(4)]

    def rewrite(number: int, text: str) -> Callable[[Session], None]:
        return lambda s: s.observations.rewrite(home, number, text, "generic")

    with callers(16) as pool:
        with Held(store):
            calls = [write(pool, store, rewrite(ids[n % 4], "" if n % 3 else f"barco {n}")) for n in range(16)]
        for each in calls:
            each.result(DEADLINE)
    left = store.read(lambda s: s.observations.by_ids(ids))
    barco, faro = store.read(lambda s: [p.tolist() for p in s.documents.postings(home, [["barc"], ["far"]])])
    assert (barco, faro) == ([number for number in ids if left[number].content], [])
    assert healthy(store)


def test_a_unit_sees_what_earlier_units_of_its_group_did(store: Store, home: int) -> None:
    def add_if_new(session: Session) -> bool:
        known = session.entities.by_names(home, ["Ana"])
        if not known:
            session.entities.insert(home, [NewEntity("Ana")], 1)
        return not known

    with callers(10) as pool:
        with Held(store):
            made = [write(pool, store, add_if_new) for _ in range(10)]
        assert sorted(each.result(DEADLINE) for each in made) == [False] * 9 + [True]


def test_readers_see_a_unit_whole_or_not_at_all(store: Store, home: int) -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow(session: Session) -> None:
        session.entities.insert(home, [NewEntity("a")], 1)
        entered.set()
        assert leave.wait(DEADLINE)
        session.entities.insert(home, [NewEntity("b")], 1)

    with callers(1) as pool:
        done = write(pool, store, slow)
        assert entered.wait(DEADLINE)
        assert names(store, home) == [], "reads do not wait for the writer, and see nothing of it"
        leave.set()
        done.result(DEADLINE)
    assert names(store, home) == ["a", "b"]


def test_a_reader_keeps_its_snapshot(store: Store, home: int) -> None:
    def twice(session: Session) -> tuple[int, int]:
        before = session.entities.count(home)
        with callers(1) as pool:
            write(pool, store, lambda s: s.entities.insert(home, [NewEntity("a")], 1)).result(DEADLINE)
        return before, session.entities.count(home)

    assert store.read(twice) == (0, 0)
    assert names(store, home) == ["a"]


def test_units_cancelled_while_queued_leave_nothing(store: Store, home: int) -> None:
    stops = [Cancellation() for _ in range(6)]
    ran: list[str] = []

    def add(name: str) -> Callable[[Session], object]:
        def work(session: Session) -> None:
            ran.append(name)
            session.entities.insert(home, [NewEntity(name)], 1)

        return work

    with callers(6) as pool:
        with Held(store):
            calls = [write(pool, store, add(f"n{n}"), stop) for n, stop in enumerate(stops)]
            assert [stop.cancel() for stop in stops[::2]] == [True] * 3
        outcomes = [type(each.exception(DEADLINE)) for each in calls]
    assert outcomes == [Cancelled, type(None)] * 3
    assert names(store, home) == ["n1", "n3", "n5"]
    assert [stop.cancel() for stop in stops[1::2]] == [False] * 3, "after the commit it is too late"


def test_a_unit_cancelled_after_it_ran_is_taken_out_of_its_group(store: Store, home: int) -> None:
    stop = Cancellation()

    def victim(session: Session) -> None:
        session.entities.insert(home, [NewEntity("victim", "gato")], 1)
        assert stop.cancel(), "its group has not come to its commit"

    def other(name: str) -> Callable[[Session], list[str]]:
        def work(session: Session) -> list[str]:
            session.entities.insert(home, [NewEntity(name)], 1)
            return [each.name for each in session.entities.page(home)]

        return work

    with callers(11) as pool:
        with Held(store):
            calls = [write(pool, store, other(f"n{n}")) for n in range(5)]
            cancelled = write(pool, store, victim, stop)
            calls += [write(pool, store, other(f"m{n}")) for n in range(5)]
        assert type(cancelled.exception(DEADLINE)) is Cancelled
        assert not any("victim" in each.result(DEADLINE) for each in calls)
    assert len(names(store, home)) == 10
    assert store.read(lambda s: s.substrings.entities(home, "gato")) == []
    assert healthy(store)


def wait_for(condition: Callable[[], bool]) -> None:
    expired = threading.Event()
    timer = threading.Timer(DEADLINE, expired.set)
    timer.start()
    try:
        while not condition():
            assert not expired.is_set(), "waited in vain"
            threading.Event().wait(0.001)
    finally:
        timer.cancel()


def test_closing_finishes_what_was_taken_and_refuses_the_rest(reopen: Callable[[], Store]) -> None:
    store = reopen()
    with callers(21) as pool:
        with Held(store):
            calls = [write(pool, store, lambda s, n=n: s.metadata.set(f"k{n}", "v")) for n in range(20)]
            wait_for(lambda: all(each.running() for each in calls))
            closing = pool.submit(store.close)
        closing.result(DEADLINE)
        outcomes = [each.exception(DEADLINE) for each in calls]
    kept = [n for n, outcome in enumerate(outcomes) if outcome is None]
    assert all(outcome is None or isinstance(outcome, ShuttingDown) for outcome in outcomes)
    store.close()
    for use in (store.read, store.write):
        with pytest.raises(ShuttingDown):
            use(lambda s: s.metadata.get("k0"))
    again = reopen()
    assert [n for n in range(20) if again.read(lambda s, n=n: s.metadata.get(f"k{n}"))] == kept


def test_the_store_may_not_be_used_from_inside_a_unit_of_work(store: Store) -> None:
    with pytest.raises(RuntimeError):
        store.write(lambda _: store.write(lambda s: s.metadata.set("a", "b")))
    store.write(lambda s: s.metadata.set("a", "c"))
    assert store.read(lambda s: s.metadata.get("a")) == "c"


def test_fifty_callers_at_once_are_all_there(store: Store, home: int) -> None:
    with callers(50) as pool:
        calls = [
            write(pool, store, lambda s, n=n: s.entities.insert(home, [NewEntity(f"n{n:03}", "t")], 1))
            for n in range(400)
        ]
        ids = {each.result(DEADLINE)[0] for each in calls}
    assert len(ids) == 400
    assert names(store, home) == [f"n{n:03}" for n in range(400)]
    assert healthy(store)
