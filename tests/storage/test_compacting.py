"""Giving disk space back: what is left is whole, what was deleted is in no file, others may go on meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from evoca.domain.clock import FrozenClock
from evoca.domain.graph import NewEntity
from evoca.errors import StoreBusy
from evoca.storage import open_store
from evoca.storage.contract import Session, Store
from tests.storage.given import entity, healthy

WORD = "zarigüeyómetro"
TRACES = (b"zarig", "zarigüe".encode(), b"zarigu", b"ometro", "ómetro".encode())


def fill(store: Store, home: int, count: int = 200) -> int:
    for number in range(count):
        entity(store, home, f"Lugar {number}", "Sitio", f"El {WORD} marca {number}", f"Nota {number} " * 20)
    return store.size()


def clear(store: Store, home: int, kept: int = 5) -> None:
    def work(session: Session) -> None:
        ids = [each.id for each in session.entities.page(home)]
        session.entities.delete(ids[kept:])
        for left in session.observations.of(ids[:kept]).values():
            session.observations.delete([each.id for each in left if WORD in each.content])

    store.write(work)


def traces(place: str) -> list[tuple[str, bytes]]:
    """What is left of the word, in each of the store's files."""
    return [
        (file.name, trace)
        for file in Path(place).parent.glob(Path(place).name + "*")
        for trace in TRACES
        if trace in file.read_bytes().lower()
    ]


def test_the_store_is_whole_and_smaller(store: Store, home: int) -> None:
    fill(store, home)
    clear(store, home)
    before = store.size()
    store.compact()
    assert store.size() < 0.75 * before
    assert healthy(store)
    assert [each.name for each in store.read(lambda s: s.entities.page(home))] == [f"Lugar {n}" for n in range(5)]
    assert store.read(lambda s: s.substrings.entities(home, "nota 3")) != []
    assert store.read(lambda s: s.substrings.entities(home, WORD)) == []
    assert entity(store, home, "Después", "Sitio", f"otro {WORD}") > 0
    assert len(store.read(lambda s: s.substrings.entities(home, WORD))) == 1


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_what_was_deleted_is_in_no_file(place: str, store: Store, home: int) -> None:
    fill(store, home)
    clear(store, home)
    assert traces(place)
    store.compact()
    assert traces(place) == []


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_what_is_owed_to_the_indexes_is_not_lost(
    place: str, store: Store, home: int, reopen: Callable[[], Store]
) -> None:
    """Compacted again and again by another process, between its own deletions and additions."""
    other = reopen()
    for number in range(3):
        entity(store, home, f"Faro {number}", "Sitio", f"El {WORD} marca {number}")
        other.compact()
        clear(store, home, kept=0)
        other.compact()
        assert traces(place) == []
        assert healthy(store)
        assert healthy(other)


def test_others_read_and_write_meanwhile(store: Store, home: int, reopen: Callable[[], Store]) -> None:
    fill(store, home)
    other, done = reopen(), threading.Event()
    faults: list[Exception] = []

    def work() -> None:
        number = 0
        try:
            while not done.is_set():
                entity(other, home, f"Más {number}", "Sitio", "algo")
                assert other.read(lambda s: s.entities.by_names(home, ["Lugar 1"]))
                number += 1
        except Exception as error:  # noqa: BLE001 - shown below
            faults.append(error)

    writer = threading.Thread(target=work)
    writer.start()
    try:
        for _ in range(3):
            store.compact()
    finally:
        done.set()
        writer.join()
    assert faults == []
    assert healthy(store)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_reader_that_stays_is_told_of(place: str, store: Store, home: int) -> None:
    """Its older state is in the log: what was deleted may stand there until it is done."""
    fill(store, home, 20)
    clear(store, home)
    impatient = open_store(place, FrozenClock(1), busy_timeout=0.05)
    try:
        reading, leave = threading.Event(), threading.Event()

        def stay(session: Session) -> None:
            session.entities.count(home)
            reading.set()
            leave.wait(30)

        reader = threading.Thread(target=lambda: store.read(stay))
        reader.start()
        assert reading.wait(30)
        with pytest.raises(StoreBusy, match="others still read its older state"):
            impatient.compact()
        leave.set()
        reader.join()
        impatient.compact()
        assert traces(place) == []
    finally:
        impatient.close()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_writer_that_stays_is_waited_for_and_told_of(place: str, store: Store) -> None:
    impatient = open_store(place, FrozenClock(1), busy_timeout=0.05)
    try:
        writing, leave = threading.Event(), threading.Event()

        def stay(session: Session) -> None:
            session.entities.insert(1, [NewEntity("Lento")], 1)
            writing.set()
            leave.wait(30)

        writer = threading.Thread(target=lambda: store.write(stay))
        writer.start()
        assert writing.wait(30)
        with pytest.raises(StoreBusy):
            impatient.compact()
        leave.set()
        writer.join()
        impatient.compact()
        assert store.read(lambda s: s.entities.by_names(1, ["Lento"]))
    finally:
        impatient.close()
