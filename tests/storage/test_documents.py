"""The search index: postings, the change feed, vectors and pending work."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evoca.domain.clock import DAY
from evoca.domain.graph import NewEntity
from evoca.domain.text import query_terms
from evoca.storage.contract import NewVector, PendingDocument, Session, Store
from tests.storage.given import entity, healthy, observation

MODEL = "model-a"


def claim(store: Store, limit: int = 100, owner: str = "me", now: int = 10, until: int = 20) -> list[PendingDocument]:
    return store.write(lambda s: s.documents.claim(MODEL, limit, owner, now, until))


def embed(store: Store, documents: list[PendingDocument], model: str = MODEL) -> int:
    rows = [NewVector(each.id, each.content_hash, each.text.encode()[:8].ljust(8)) for each in documents]
    return store.write(lambda s: s.documents.store_vectors(model, rows))


# -- postings ------------------------------------------------------------------------------------


def test_postings_are_ascending_and_alternatives_are_one_term(store: Store, home: int) -> None:
    a = entity(store, home, "Ana", "t", "corre deprisa", "salta")
    b = entity(store, home, "Bea", "t", "corre")
    corre, either, nothing, none = store.read(
        lambda s: s.documents.postings(home, [["corr"], ["salt", "corr"], ["nada"], []])
    )
    assert corre.tolist() == [a + 1, b + 1]
    assert either.tolist() == [a + 1, a + 2, b + 1]
    assert nothing.tolist() == none.tolist() == []
    assert {each.dtype.name for each in (corre, either, nothing, none)} == {"int64"}


def test_postings_keep_to_a_span_of_ids(store: Store, home: int) -> None:
    made = [entity(store, home, f"faro {number}") for number in range(5)]
    (found,) = store.read(lambda s: s.documents.postings(home, [["far"]], (made[1], made[3])))
    assert found.tolist() == made[1:4]
    (found,) = store.read(lambda s: s.documents.postings(home, [["far"]], (made[4] + 1, made[4] + 9)))
    assert found.tolist() == []


def test_postings_keep_to_their_collection(store: Store, home: int) -> None:
    others = [store.write(lambda s, n=n: s.collections.create(f"c{n}", "", "", 1)).id for n in range(20)]
    made = {each: entity(store, each, "faro") for each in (home, *others)}
    for each, number in made.items():
        (found,) = store.read(lambda s, each=each: s.documents.postings(each, [["far"]]))
        assert found.tolist() == [number]


@pytest.mark.parametrize("word", ["猫", "ñandú", "жук", "x" * 64, "x" * 65, "x" * 400, "0", "and", "near"])
def test_any_term_can_be_asked_for(store: Store, home: int, word: str) -> None:
    made = entity(store, home, "otra", "t", word)
    entity(store, home, "tercera", "t", "y" + word[1:])
    terms = [term.alternatives for term in query_terms(word)]
    found = store.read(lambda s: s.documents.postings(home, terms))
    assert [each.tolist() for each in found] == [[made + 1]] * len(terms)


def test_a_text_without_words_has_a_document_without_terms(store: Store, home: int) -> None:
    made = entity(store, home, "Ana", "t", "¡¿…!?", "   ")
    rows = store.read(lambda s: s.documents.changes(0, None)).rows
    assert [(row.id, row.length > 0) for row in rows] == [(made, True), (made + 1, False)]
    store.write(lambda s: s.entities.delete([made]))
    assert healthy(store)


def test_a_unit_of_work_finds_the_words_it_has_just_written(store: Store, home: int) -> None:
    old = entity(store, home, "Ana", "perro")

    def work(session: Session) -> list[list[int]]:
        session.entities.update(old, "gato", "activo", 2)
        made = session.entities.insert(home, [NewEntity("Bea", "gato"), NewEntity("Cara", "gato")], 1)
        session.entities.delete(made[1:])
        return [found.tolist() for found in session.documents.postings(home, [["perr"], ["gat"]])]

    perro, gato = store.write(work)
    assert (perro, len(gato), gato[0]) == ([], 2, old)
    assert store.read(lambda s: s.documents.postings(home, [["gat"]])[0].tolist()) == gato
    assert healthy(store)


# -- the change feed -----------------------------------------------------------------------------


def follow(store: Store, known: dict[int, object], since: int, model: str | None = MODEL) -> int:
    """Do what an in-process index does with the feed; the counter to ask from next."""
    changes = store.read(lambda s: s.documents.changes(since, model))
    if changes.complete:
        known.clear()
    for gone in changes.removed:
        known.pop(gone, None)
    known.update({row.id: row for row in changes.rows})
    return changes.counter


def test_the_counter_moves_once_a_group_and_only_for_documents(store: Store, home: int) -> None:
    first = store.read(lambda s: s.documents.counter())
    made = entity(store, home, "Ana", "t", "uno", "dos")
    second = store.read(lambda s: s.documents.counter())
    assert second == first + 1
    store.write(lambda s: s.entities.touch([made], 9))
    store.write(lambda s: s.metadata.set("a", "b"))
    assert store.read(lambda s: s.documents.counter()) == second


def test_a_follower_hears_of_everything(store: Store, home: int) -> None:
    store.write(lambda s: s.documents.register_model(MODEL, 1))
    known: dict[int, object] = {}
    a = entity(store, home, "Ana", "t", "uno", "dos")
    since = follow(store, known, 0)
    assert sorted(known) == [a, a + 1, a + 2]
    b = entity(store, home, "Bea")
    since = follow(store, known, since)
    assert sorted(known) == [a, a + 1, a + 2, b]
    store.write(lambda s: s.observations.supersede(a + 1, 5))
    embed(store, claim(store))
    since = follow(store, known, since)
    fresh: dict[int, object] = {}
    follow(store, fresh, 0)
    assert known == fresh
    store.write(lambda s: s.entities.delete([a]))
    since = follow(store, known, since)
    assert sorted(known) == [b]
    assert store.read(lambda s: s.documents.changes(since, MODEL)).rows == []


def test_who_is_too_far_behind_or_ahead_reads_everything(store: Store, home: int) -> None:
    made = entity(store, home, "Ana")
    now = store.read(lambda s: s.documents.counter())
    ahead = store.read(lambda s: s.documents.changes(now + 5, None))
    assert (ahead.complete, [row.id for row in ahead.rows], ahead.counter) == (True, [made], now)


def test_what_was_removed_and_made_again_is_not_removed(store: Store, home: int) -> None:
    made = entity(store, home, "Ana", "perro")
    since = store.read(lambda s: s.documents.counter())

    def work(session: Session) -> None:
        session.entities.update(made, "gato", "activo", 2)
        session.entities.update(made, "pez", "activo", 3)

    store.write(work)
    changes = store.read(lambda s: s.documents.changes(since, None))
    assert ([row.id for row in changes.rows], list(changes.removed)) == ([made], [])


# -- vectors and pending work ----------------------------------------------------------------------


def test_new_documents_wait_for_every_known_model(store: Store, home: int) -> None:
    before = entity(store, home, "Ana", "t", "uno")
    assert store.write(lambda s: s.documents.register_model(MODEL, 1)) == 2
    after = entity(store, home, "Bea")
    assert store.write(lambda s: s.documents.register_model("model-b", 1)) == 3
    assert store.read(lambda s: (s.documents.pending(None, MODEL), s.documents.pending(home, "model-b"))) == (3, 3)
    assert [each.id for each in claim(store)] == [after, before + 1, before]
    assert store.read(lambda s: s.documents.pending(None, "unknown")) == 0


def test_pending_work_is_counted_by_collection(store: Store, home: int) -> None:
    other = store.write(lambda s: s.collections.create("obra", "", "", 1)).id
    entity(store, other, "Ana")
    store.write(lambda s: s.documents.register_model(MODEL, 1))
    entity(store, home, "Bea", "t", "x")
    assert store.read(lambda s: [s.documents.pending(each, MODEL) for each in (home, other, None)]) == [2, 1, 3]


def test_a_lease_keeps_others_away_until_it_ends_or_is_given_up(store: Store, home: int) -> None:
    store.write(lambda s: s.documents.register_model(MODEL, 1))
    made = entity(store, home, "Ana", "t", "uno", "dos")
    assert [each.id for each in claim(store, 2, "first", now=10, until=20)] == [made + 2, made + 1]
    assert [each.id for each in claim(store, 9, "second", now=19, until=30)] == [made]
    assert claim(store, 9, "third", now=19) == []
    assert [each.id for each in claim(store, 9, "third", now=20, until=90)] == [made + 2, made + 1]
    store.write(lambda s: s.documents.release("third"))
    assert [each.id for each in claim(store, 9, "fourth", now=21)] == [made + 2, made + 1]


def test_vectors_are_kept_by_model_and_end_the_wait(store: Store, home: int) -> None:
    for model in (MODEL, "model-b"):
        store.write(lambda s, model=model: s.documents.register_model(model, 1))
    made = entity(store, home, "Ana", "t", "uno")
    assert embed(store, claim(store)) == 2
    assert store.read(lambda s: (s.documents.pending(None, MODEL), s.documents.pending(None, "model-b"))) == (0, 2)
    assert store.read(lambda s: s.documents.vectors([made, made + 1, 99], MODEL)) == {
        made: b"Ana (t) ",
        made + 1: b"uno     ",
    }
    assert store.read(lambda s: s.documents.vectors([made], "model-b")) == {}
    with_vectors = {row.id: row.vector for row in store.read(lambda s: s.documents.changes(0, MODEL)).rows}
    assert with_vectors == {made: b"Ana (t) ", made + 1: b"uno     "}
    assert {row.vector for row in store.read(lambda s: s.documents.changes(0, "model-b")).rows} == {None}
    assert {row.vector for row in store.read(lambda s: s.documents.changes(0, None)).rows} == {None}


def test_a_vector_of_a_former_text_is_refused_and_the_document_is_free_again(store: Store, home: int) -> None:
    store.write(lambda s: s.documents.register_model(MODEL, 1))
    made, gone = entity(store, home, "Trueno", "perro"), entity(store, home, "Niebla")
    claimed = claim(store, until=1_000)
    store.write(lambda s: s.entities.update(made, "gato", "activo", 2))
    store.write(lambda s: s.entities.delete([gone]))
    assert embed(store, claimed) == 0
    again = claim(store, now=11)
    assert [(each.id, each.text) for each in again] == [(made, "Trueno (gato)")]
    assert embed(store, again) == 1


def test_a_new_type_takes_the_old_vector_away(store: Store, home: int) -> None:
    store.write(lambda s: s.documents.register_model(MODEL, 1))
    made = entity(store, home, "Trueno", "perro")
    embed(store, claim(store))
    store.write(lambda s: s.entities.update(made, "gato", "activo", 2))
    assert store.read(lambda s: s.documents.vectors([made], MODEL)) == {}
    assert store.read(lambda s: s.documents.pending(None, MODEL)) == 1


def test_a_vector_may_be_written_twice(store: Store, home: int) -> None:
    store.write(lambda s: s.documents.register_model(MODEL, 1))
    made = entity(store, home, "Ana")
    claimed = claim(store)
    assert (embed(store, claimed), embed(store, claimed)) == (1, 1)
    assert list(store.read(lambda s: s.documents.vectors([made], MODEL))) == [made]


def test_registering_again_finds_nothing_lost(reopen: Callable[[], Store]) -> None:
    store = reopen()
    home = 1
    store.write(lambda s: s.documents.register_model(MODEL, 1))
    store.write(lambda s: s.entities.insert(home, [NewEntity("a"), NewEntity("b")], 1))
    embed(store, claim(store, 1))
    store.close()
    again = reopen()
    assert again.write(lambda s: s.documents.register_model(MODEL, 2)) == 1


def test_a_model_out_of_use_gets_no_more_work_until_it_returns(store: Store, home: int) -> None:
    store.write(lambda s: s.documents.register_model("old", 1))
    store.write(lambda s: s.documents.register_model(MODEL, 40 * DAY))
    entity(store, home, "Ana")
    assert store.read(lambda s: (s.documents.pending(None, "old"), s.documents.pending(None, MODEL))) == (0, 1)
    assert store.write(lambda s: s.documents.register_model("old", 41 * DAY)) == 1
    entity(store, home, "Bea")
    assert store.read(lambda s: s.documents.pending(None, "old")) == 2


def test_texts_of_long_contents_are_their_passages(store: Store, home: int) -> None:
    ana = entity(store, home, "Ana")
    text = "¡Ñandú! " * 200
    long = observation(store, home, ana, text)
    store.write(lambda s: s.documents.register_model(MODEL, 1))
    claimed = {each.id: each.text for each in claim(store)}
    assert claimed == store.read(lambda s: s.documents.texts(claimed))
    assert len(claimed) > 3
    assert claimed[ana] == "Ana"
    assert text.startswith(claimed[long])
