"""Collections, their versions, and the store's own notes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evoca.domain.episodes import NewEpisode, NewEpisodeLink
from evoca.domain.graph import NewEdge, NewEntity, NewObservation
from evoca.domain.reflections import NewReflection
from evoca.domain.tenancy import DEFAULT_COLLECTION_ID
from evoca.errors import Conflict
from evoca.storage.contract import NewVector, Session, Store
from evoca.storage.tenancy_contract import CollectionCounts
from tests.storage.given import healthy

MODEL = "m"


def test_the_default_collection_is_there_from_the_start(store: Store) -> None:
    found = store.read(lambda s: s.collections.find("default"))
    assert found is not None
    assert (found.id, found.code, found.created_at) == (DEFAULT_COLLECTION_ID, "default", 1_000_000)
    assert store.read(lambda s: s.collections.find("nada")) is None


def test_a_code_is_taken_once(store: Store) -> None:
    made = store.write(lambda s: s.collections.create("obra", "Obra", "la casa", 5))
    assert store.read(lambda s: s.collections.find("obra")) == made
    with pytest.raises(Conflict):
        store.write(lambda s: s.collections.create("obra", "Otra", "", 6))


def filled(store: Store, code: str) -> int:
    """A collection with something of each kind; its texts begin with its code."""

    def work(session: Session) -> int:
        made = session.collections.find(code) or session.collections.create(code, code, "", 1)
        home = made.id
        first, second = session.entities.insert(home, [NewEntity(f"{code} uno"), NewEntity(f"{code} dos")], 1)
        session.entities.add_aliases(home, first, [f"{code} antes"], 1)
        notes = [NewObservation(first, f"{code} faro"), NewObservation(first, f"{code} viejo")]
        _, old = session.observations.insert(home, notes, 1)
        session.observations.supersede(old, 2)
        relation, _ = session.edges.insert(home, [NewEdge(first, "ve", second), NewEdge(second, "ve", first)], 1)
        session.edges.end([relation], 3)
        session.edges.insert(home, [NewEdge(first, "edad", value=7)], 1)
        session.reflections.insert(home, NewReflection("entity", f"{code} prosa", target_id=first), 1)
        older, newer = (
            session.episodes.insert(home, NewEpisode(f"{code} episodio {n}", b"", categories=("a",)), 1) for n in (1, 2)
        )
        session.episode_links.insert(home, NewEpisodeLink(older, newer, "similar"), 1)
        session.merges.insert(home, older, newer, "{}", 1)
        session.enrichments.add(home, older, auto_link=False)
        session.accesses.record([first, second], 1, pairs=True)
        return home

    return store.write(work)


def embed(store: Store) -> None:
    """Give every document a vector."""

    def work(session: Session) -> None:
        session.documents.register_model(MODEL, 1)
        rows = session.documents.claim(MODEL, 100, "me", 1, 1)
        session.documents.store_vectors(MODEL, [NewVector(row.id, row.content_hash, b"12345678") for row in rows])

    store.write(work)


def test_counts_are_the_collection_s_own(store: Store, home: int) -> None:
    other = filled(store, "obra")
    assert store.read(lambda s: s.collections.counts(other)) == CollectionCounts(2, 2, 2, 1, 2, 1)
    assert store.read(lambda s: s.collections.counts(home)) == CollectionCounts(0, 0, 0, 0, 0, 0)


def test_a_deleted_collection_leaves_nothing_and_others_alone(store: Store, home: int) -> None:
    filled(store, "default")
    other = filled(store, "obra")
    embed(store)
    before = store.read(lambda s: s.documents.changes(0, MODEL))
    kept = [row for row in before.rows if row.collection_id == home]
    counted = store.read(lambda s: s.collections.counts(home))

    store.write(lambda s: s.collections.delete(other))

    assert store.read(lambda s: s.collections.find("obra")) is None
    assert [each.code for each in store.read(lambda s: s.collections.all())] == ["default"]
    assert not store.read(lambda s: s.collections.exists(other))
    assert store.read(lambda s: s.collections.counts(other)) == CollectionCounts(0, 0, 0, 0, 0, 0)
    assert store.read(lambda s: s.documents.changes(0, MODEL)).rows == kept
    assert store.read(lambda s: s.substrings.entities(other, "faro")) == []
    assert [list(found) for found in store.read(lambda s: s.documents.postings(other, [["far"]]))] == [[]]
    assert store.read(lambda s: s.enrichments.pending(other)) == 0

    assert store.read(lambda s: s.collections.counts(home)) == counted
    assert store.read(lambda s: s.substrings.entities(home, "faro")) != []
    assert [len(found) for found in store.read(lambda s: s.documents.postings(home, [["far"]]))] == [1]
    assert healthy(store)


def test_followers_hear_of_a_deleted_collection(store: Store, home: int) -> None:
    """The in-process indexes of this and other processes drop what is gone, edges and episodes too."""
    filled(store, "default")
    other = filled(store, "obra")
    since = store.read(lambda s: s.documents.counter())
    gone = {row.id for row in store.read(lambda s: s.documents.changes(0, None)).rows if row.collection_id == other}
    edges = {edge.id for edge in store.read(lambda s: s.edges.all(other, include_ended=True))}
    store.write(lambda s: s.collections.delete(other))
    changes = store.read(lambda s: s.documents.changes(since, None))
    assert gone | edges <= set(changes.removed)
    assert all(row.collection_id == home for row in changes.rows)
    assert gone & set(store.read(lambda s: s.episodes.changes(since)).removed)


def test_a_collection_can_be_filled_and_deleted_in_one_unit(store: Store) -> None:
    def work(session: Session) -> None:
        made = session.collections.create("breve", "", "", 1)
        (one,) = session.entities.insert(made.id, [NewEntity("Faro breve")], 1)
        session.observations.insert(made.id, [NewObservation(one, "efímero")], 1)
        session.collections.delete(made.id)

    store.write(work)
    assert store.read(lambda s: s.documents.changes(0, None)).rows == []
    assert healthy(store)


def test_a_deletion_that_fails_leaves_everything(store: Store) -> None:
    other = filled(store, "obra")
    counted = store.read(lambda s: s.collections.counts(other))

    def fails(session: Session) -> None:
        session.collections.delete(other)
        raise LookupError

    with pytest.raises(LookupError):
        store.write(fails)
    assert store.read(lambda s: s.collections.counts(other)) == counted
    assert store.read(lambda s: s.substrings.entities(other, "faro")) != []
    assert healthy(store)


def test_the_id_of_a_deleted_collection_is_never_used_again(store: Store) -> None:
    other = filled(store, "obra")
    store.write(lambda s: s.collections.delete(other))
    assert filled(store, "obra") > other


def test_what_refers_to_a_deleted_collection_is_refused(store: Store) -> None:
    other = filled(store, "obra")
    store.write(lambda s: s.collections.delete(other))
    with pytest.raises(Conflict):
        store.write(lambda s: s.entities.insert(other, [NewEntity("tarde")], 1))
    assert healthy(store)


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
