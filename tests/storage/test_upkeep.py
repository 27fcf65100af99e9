"""What upkeep asks of a store: counts, flags, and the documents of observations."""

from __future__ import annotations

from evoca.domain.text import passages
from evoca.storage.contract import NewVector, OwnerKind, Store
from evoca.storage.repositories.passages import content_hash
from tests.storage.given import entity, observation

MODEL = "model"
LONG = "\n".join(f"Línea {number} de un texto que no cabe en un solo pasaje." for number in range(30))


def embed(store: Store, *owners: int) -> None:
    """Give every document of these owners a vector that says whose it is."""
    store.write(lambda session: session.documents.register_model(MODEL, 1))
    waiting = store.write(lambda session: session.documents.claim(MODEL, 100, "me", 1, 2))
    known = {row.id for row in store.read(lambda session: session.documents.of_owners(owners, MODEL))}
    rows = [
        NewVector(each.id, content_hash(each.text), each.id.to_bytes(2, "big")) for each in waiting if each.id in known
    ]
    store.write(lambda session: session.documents.store_vectors(MODEL, rows))


def test_counts_are_of_live_observations(store: Store, home: int) -> None:
    full = entity(store, home, "Full", "Generic", "one", "two", "three")
    entity(store, home, "Empty")
    gone = observation(store, home, full, "four")
    store.write(lambda session: session.observations.supersede(gone, 2))
    other = store.write(lambda session: session.collections.create("other", "other", "", 1)).id
    entity(store, other, "Elsewhere", "Generic", "five")
    assert store.read(lambda session: session.observations.counts(home)) == {full: 3}


def test_flags_stay_and_superseded_ones_are_not_listed(store: Store, home: int) -> None:
    owner = entity(store, home, "E")
    one, two, three = (observation(store, home, owner, text) for text in ("one", "two", "three"))
    for _ in range(2):
        store.write(lambda session: session.observations.flag([two, three]))
    store.write(lambda session: session.observations.supersede(three, 2))
    assert [row.id for row in store.read(lambda session: session.observations.flagged(home))] == [two]
    rows = store.read(lambda session: session.observations.by_ids([one, two]))
    assert (rows[one].similarity_flag, rows[two].similarity_flag) == (False, True)


def test_an_owner_has_a_document_for_each_passage(store: Store, home: int) -> None:
    owner = entity(store, home, "E")
    short, long, blank = (observation(store, home, owner, text) for text in ("short", LONG, " "))
    parts = len(passages(LONG))
    assert parts > 2
    rows = store.read(lambda session: session.documents.of_owners([short, long, blank], MODEL))
    assert [row.owner_id for row in rows] == [short, *[long] * parts]
    assert {row.vector for row in rows} == {None}
    embed(store, short, long)
    rows = store.read(lambda session: session.documents.of_owners([short, long], MODEL))
    assert [row.vector for row in rows] == [row.id.to_bytes(2, "big") for row in rows]
    assert {row.vector for row in store.read(lambda s: s.documents.of_owners([short, long], "another"))} == {None}


def test_the_documents_of_a_text_that_has_grown_are_found(store: Store, home: int) -> None:
    owner = entity(store, home, "E")
    grown = observation(store, home, owner, "short")
    after = observation(store, home, owner, "after")
    store.write(lambda session: session.observations.rewrite(home, grown, LONG, "generic"))
    rows = store.read(lambda session: session.documents.of_owners([grown, after], None))
    assert sorted(row.owner_id for row in rows) == sorted([after, *[grown] * len(passages(LONG))])


def test_documents_lead_to_their_owners_and_follow_them(store: Store, home: int) -> None:
    first, second = entity(store, home, "First"), entity(store, home, "Second")
    long = observation(store, home, first, LONG)
    ids = [row.id for row in store.read(lambda session: session.documents.of_owners([long], None))]
    assert store.read(lambda session: session.documents.owners([first, *ids], OwnerKind.OBSERVATION)) == {long: first}
    store.write(lambda session: session.observations.move([long], second))
    assert store.read(lambda session: session.documents.owners(ids, OwnerKind.OBSERVATION)) == {long: second}
    assert {row.entity_id for row in store.read(lambda s: s.documents.of_owners([long], None))} == {second}
