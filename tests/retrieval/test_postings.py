"""Postings that are kept say what the store says, whatever has changed meanwhile."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from evoca.domain.clock import SystemClock
from evoca.domain.graph import NewEntity, NewObservation
from evoca.retrieval import postings
from evoca.retrieval.postings import Postings
from evoca.storage import open_store
from evoca.storage.contract import Session, Store

WORDS = ("faro", "puerto", "barca", "ola")
TERMS = tuple((word,) for word in WORDS)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(postings, "_LONG", 2)
    return open_store(tmp_path / "memory.db", SystemClock())


def agrees(store: Store, kept: Postings, collection: int) -> bool:
    """Whether every document that exists and holds a word is listed, and no other one that exists."""

    def work(session: Session) -> bool:
        fresh = session.documents.postings(collection, TERMS)
        found = kept.read(session, collection, TERMS)
        there = {row.id for row in session.documents.changes(0, None).rows}
        return all(
            set(ids.tolist()) & there == set(wanted.tolist()) and ids.tolist() == sorted(ids.tolist())
            for ids, wanted in zip(found, fresh, strict=True)
        )

    return store.read(work)


@pytest.mark.parametrize("seed", range(4))
def test_kept_lists_follow_every_change(store: Store, seed: int) -> None:
    chance = random.Random(seed)

    def text() -> str:
        return " ".join(chance.choices(WORDS, k=2))

    collection = store.write(lambda session: session.collections.create("c", "c", "", 1)).id
    entities = store.write(
        lambda session: session.entities.insert(collection, [NewEntity(f"E{n}", "Lugar") for n in range(5)], 1)
    )
    kept, live = Postings(), list[int]()

    def change(session: Session) -> None:
        match chance.choice(("add", "add", "rewrite", "delete", "rename")):
            case "add":
                rows = [NewObservation(chance.choice(entities), text()) for _ in range(chance.randrange(1, 30))]
                live.extend(session.observations.insert(collection, rows, 2))
            case "rewrite" if live:
                session.observations.rewrite(collection, chance.choice(live), text(), "fact")
            case "delete" if live:
                session.observations.delete([live.pop(chance.randrange(len(live)))])
            case _:
                session.entities.rename(chance.choice(entities), f"{text()} {chance.random()}", 3)

    for _ in range(40):
        for _ in range(chance.choice((0, 1, 1, 12))):
            store.write(change)
        assert agrees(store, kept, collection)
    store.close()


def test_a_reader_of_an_older_state_gets_its_own(store: Store) -> None:
    collection = store.write(lambda session: session.collections.create("c", "c", "", 1)).id
    (entity,) = store.write(lambda session: session.entities.insert(collection, [NewEntity("E", "Lugar")], 1))

    def add(session: Session) -> list[int]:
        return session.observations.insert(collection, [NewObservation(entity, "faro") for _ in range(3)], 2)

    first = store.write(add)
    kept = Postings()

    def older(session: Session) -> None:
        assert kept.read(session, collection, [("faro",)])[0].tolist() == first
        second = store.write(add)
        newer = store.read(lambda other: kept.read(other, collection, [("faro",)])[0].tolist())
        assert newer == [*first, *second]
        assert kept.read(session, collection, [("faro",)])[0].tolist() == first

    store.read(older)
    assert agrees(store, kept, collection)
    store.close()
