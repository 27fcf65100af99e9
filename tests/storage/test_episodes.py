"""Memories in the store: their documents, their feed, what goes with them and what stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evoca.domain.episodes import CONTRADICTS, EPISODICA, SEMANTICA, Episode, NewEpisode, NewEpisodeLink
from evoca.domain.identity import signature
from evoca.storage.contract import NewVector, Session, Store
from tests.storage.given import healthy

MODEL = "m"
LONG = "Una frase que se alarga bastante para llenar sitio. " * 40


def save(store: Store, home: int, content: str, at: int = 1, **given: object) -> int:
    row = replace(NewEpisode(content, signature(content)), **given)  # pyright: ignore[reportArgumentType]

    def work(session: Session) -> int:
        number = session.episodes.insert(home, row, at)
        session.enrichments.add(home, number, auto_link=False)
        return number

    return store.write(work)


def episode(store: Store, home: int, number: int) -> Episode:
    return store.read(lambda s: s.episodes.by_ids(home, [number]))[number]


def embed(store: Store) -> int:
    """Give everything that waits a vector; how many did."""

    def work(session: Session) -> int:
        rows = session.documents.claim(MODEL, 1000, "me", 10, 20)
        return session.documents.store_vectors(MODEL, [NewVector(each.id, each.content_hash, b"xx") for each in rows])

    return store.write(work)


@pytest.fixture
def model(store: Store) -> str:
    store.write(lambda s: s.documents.register_model(MODEL, 1))
    return MODEL


def found(store: Store, home: int, word: str) -> list[int]:
    return store.read(lambda s: s.documents.postings(home, [[word]]))[0].tolist()


def test_what_is_saved_is_read_and_found_by_its_words(store: Store, home: int) -> None:
    number = save(store, home, "El faro parpadea", categories=("Mar", "noche"), session_id="s", code="x", critico=True)
    assert episode(store, home, number) == Episode(
        number, "s", "El faro parpadea", "event", "x", EPISODICA, True, 1, 1, categories=("Mar", "noche")
    )
    assert found(store, home, "far") == [number]
    assert store.read(lambda s: s.episodes.by_ids(home + 1, [number])) == {}


def test_an_update_keeps_what_was_and_moves_the_indexes(store: Store, home: int) -> None:
    number = save(store, home, "El faro parpadea", categories=("Mar",))
    before = episode(store, home, number)
    after = replace(before, content=LONG + "zarigüeya", nivel=SEMANTICA, categories=("tierra",))
    store.write(lambda s: s.episodes.update(home, before, after, b"sig", 9))
    assert episode(store, home, number) == replace(after, updated_at=9)
    assert found(store, home, "far") == []
    assert len(store.read(lambda s: s.documents.of_owners([number], None))) > 1
    (version,) = store.read(lambda s: s.episodes.versions(number))
    assert (version.version, version.content, version.categories, version.replaced_at) == (
        1,
        before.content,
        ("Mar",),
        9,
    )
    assert healthy(store)


def test_the_archive_keeps_words_and_gives_up_vectors_until_it_is_restored(store: Store, home: int, model: str) -> None:
    number = save(store, home, LONG)
    embed(store)
    assert store.read(lambda s: s.episodes.by_ids(home, [number]))
    assert store.read(lambda s: s.documents.embedded([number], [model])) == {number}
    store.write(lambda s: s.episodes.archive([number], "old", 7))
    assert (episode(store, home, number).archived_at, episode(store, home, number).archived_reason) == (7, "old")
    assert found(store, home, "fras")
    assert store.read(lambda s: s.documents.embedded([number], [model])) == set()
    assert store.read(lambda s: s.documents.pending(home, model)) == 0
    store.write(lambda s: s.documents.register_model("another", 8))
    assert store.read(lambda s: s.documents.pending(home, "another")) == 0, "a new model leaves the archive alone"
    store.write(lambda s: s.episodes.restore(home, [number]))
    assert embed(store) > 1
    assert store.read(lambda s: s.documents.embedded([number], [model])) == {number}
    assert episode(store, home, number).archived_at is None


def test_a_memory_is_embedded_when_each_of_its_parts_is(store: Store, home: int, model: str) -> None:
    number = save(store, home, LONG)

    def one(session: Session) -> None:
        rows = session.documents.claim(MODEL, 1, "me", 10, 20)
        session.documents.store_vectors(MODEL, [NewVector(each.id, each.content_hash, b"xx") for each in rows])

    store.write(one)
    assert store.read(lambda s: s.documents.embedded([number], [model])) == set()
    embed(store)
    assert store.read(lambda s: s.documents.embedded([number], [model])) == {number}


def test_deleting_takes_everything_along(store: Store, home: int) -> None:
    old, new = save(store, home, "uno"), save(store, home, "dos")
    copy = save(store, home, "dos dos")

    def work(session: Session) -> None:
        session.episode_links.insert(home, NewEpisodeLink(new, old, CONTRADICTS), 5)
        session.episodes.supersede(old, new)
        session.episodes.mark_duplicate(old, new)
        session.episodes.hide([copy], new)
        session.merges.insert(home, new, copy, "{}", 5)

    store.write(work)
    assert found(store, home, "dos") == [new]
    store.write(lambda s: s.episodes.delete([new]))
    left = episode(store, home, old)
    assert (left.superseded_by, left.possible_duplicate_of) == (None, None)
    assert store.read(lambda s: s.episodes.by_ids(home, [new, copy])) == {}
    assert store.read(lambda s: s.episode_links.all(home)) == []
    assert store.read(lambda s: s.merges.all(home)) == []
    assert store.read(lambda s: s.enrichments.pending(home)) == 1
    assert healthy(store)


def test_what_was_hidden_comes_back(store: Store, home: int) -> None:
    kept, copy = save(store, home, "faro"), save(store, home, "Faro")
    store.write(lambda s: s.episodes.hide([copy], kept))
    assert store.read(lambda s: [each.id for each in s.episodes.live(home)]) == [kept]
    store.write(lambda s: s.episodes.unhide(home, [copy]))
    assert found(store, home, "far") == [kept, copy]
    assert healthy(store)


def test_alike_are_those_that_live_in_the_same_session(store: Store, home: int) -> None:
    mark = signature("El faro")
    same = save(store, home, "El faro", session_id="s")
    save(store, home, "El faro", session_id="t")
    for change in ("archive", "supersede", "hide"):
        gone = save(store, home, "El faro", session_id="s")

        def work(session: Session, gone: int = gone, change: str = change) -> None:
            match change:
                case "archive":
                    session.episodes.archive([gone], "old", 2)
                case "supersede":
                    session.episodes.supersede(gone, same)
                case _:
                    session.episodes.hide([gone], same)

        store.write(work)
    save(store, home, "El faro", session_id="s", expires_at=5)
    assert store.read(lambda s: [each.id for each in s.episodes.alike(home, "s", mark, 5)]) == [same]


def test_the_feed_tells_of_traits_too(store: Store, home: int) -> None:
    first, second = save(store, home, "uno"), save(store, home, "dos")
    since = store.read(lambda s: s.documents.counter())
    store.write(lambda s: s.episodes.supersede(first, second))
    changes = store.read(lambda s: s.episodes.changes(since))
    assert {row.id: row.superseded for row in changes.rows}[first] is True
    since = changes.counter
    store.write(lambda s: s.episodes.use([first], 5))
    assert store.read(lambda s: s.documents.counter()) == since, "use changes nothing that is searched by"
    store.write(lambda s: s.episodes.delete([second]))
    changes = store.read(lambda s: s.episodes.changes(since))
    assert list(changes.removed) == [second]
    assert [(row.id, row.superseded) for row in changes.rows] == [(first, False)]


def test_the_feed_has_categories_folded(store: Store, home: int) -> None:
    both = save(store, home, "uno", categories=("Política", "Casa"))
    none = save(store, home, "dos")
    rows = store.read(lambda s: s.episodes.changes(0)).rows
    assert {row.id: row.categories for row in rows} == {both: ("politica", "casa"), none: ()}
    store.write(lambda s: s.episodes.set_categories(home, none, ["Año"]))
    rows = store.read(lambda s: s.episodes.changes(1)).rows
    assert {row.id: row.categories for row in rows}[none] == ("año",)


def test_expired_ones_are_those_whose_time_is_over(store: Store, home: int) -> None:
    over = save(store, home, "uno", expires_at=5)
    save(store, home, "dos", expires_at=6)
    save(store, home, "tres", expires_at=5, critico=True)
    assert store.read(lambda s: s.episodes.expired(5, 10)) == [over]


def test_enrichments_wait_for_the_vector_and_are_held_by_one(store: Store, home: int, model: str) -> None:
    number = save(store, home, "El faro")
    assert not store.read(lambda s: s.enrichments.ready(model, 10))
    embed(store)
    assert store.read(lambda s: s.enrichments.ready(model, 10))
    claimed = store.write(lambda s: s.enrichments.claim(model, 5, "a", 10, 20))
    assert [(each.episode_id, each.collection_id, each.auto_link) for each in claimed] == [(number, home, False)]
    assert store.write(lambda s: s.enrichments.claim(model, 5, "b", 19, 30)) == []
    assert len(store.write(lambda s: s.enrichments.claim(model, 5, "b", 20, 30))) == 1, "the lease has run out"
    assert not store.write(lambda s: s.enrichments.finish(number, "a"))
    store.write(lambda s: s.enrichments.add(home, number, auto_link=True))
    assert not store.write(lambda s: s.enrichments.finish(number, "b")), "the memory has changed since"
    (again,) = store.write(lambda s: s.enrichments.claim(model, 5, "c", 21, 30))
    assert again.auto_link
    assert store.write(lambda s: s.enrichments.finish(number, "c"))
    assert store.read(lambda s: s.enrichments.pending(None)) == 0


def test_a_link_is_made_once_and_put_back_as_it_was(store: Store, home: int) -> None:
    one, other = save(store, home, "uno"), save(store, home, "dos")
    row = NewEpisodeLink(one, other, "related", 0.5)
    made = store.write(lambda s: s.episode_links.insert(home, row, 3))
    assert made is not None
    assert store.write(lambda s: s.episode_links.insert(home, row, 4)) is None
    store.write(lambda s: s.episode_links.use([made], 8))
    (link,) = store.read(lambda s: s.episode_links.touching([other]))
    assert (link.weight, link.created_at, link.last_used_at) == (0.5, 3, 8)
    assert store.read(lambda s: s.episode_links.linked(home)) == {one, other}
    store.write(lambda s: s.episode_links.delete([made]))
    store.write(lambda s: s.episode_links.restore(home, link))
    store.write(lambda s: s.episode_links.restore(home, link))
    assert store.read(lambda s: s.episode_links.all(home)) == [link]
