"""The in-process index follows the store."""

from __future__ import annotations

import random
import threading
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoca.domain.clock import FrozenClock
from evoca.errors import StoreDamaged
from evoca.retrieval.columns import BLOCK
from evoca.retrieval.embedders import load_embedder
from evoca.retrieval.index import DocumentIndex, Limits, ShardView, pack_vectors, unpack_vectors
from evoca.storage import open_store
from evoca.storage.contract import NewVector, Session
from tests.retrieval.shelf import Shelf

Step = Literal["put", "add", "embed", "embed some", "delete", "supersede", "retype", "look"]
TEXTS = ("el faro de noche", "the lighthouse at night", "compras de Nuria", "4471-K", "la campaña", "x " * 300)


def index_of(shelf: Shelf, limits: Limits | None = None) -> DocumentIndex:
    embedder = shelf.embedder
    return DocumentIndex(embedder.model_id, embedder.dim, embedder.calibration, limits or Limits())


def view_of(shelf: Shelf, index: DocumentIndex) -> ShardView:
    return shelf.store.read(lambda session: index.view(session, shelf.home)[0])


def contents(view: ShardView) -> dict[int, tuple[int, int, int, int, bool]]:
    return {
        int(view.ids[row]): (
            int(view.entity_ids[view.entities[row]]),
            int(view.kinds[row]),
            int(view.languages[row]),
            int(view.lengths[row]),
            bool(view.places[row] >= 0),
        )
        for row in np.flatnonzero(view.alive)
    }


def do(shelf: Shelf, step: Step, rng: random.Random) -> None:
    store, entities = shelf.store, sorted(shelf.names)
    one = rng.choice(entities) if entities else None
    if step == "embed":
        shelf.embed()
    elif step == "embed some":
        shelf.embed(most=2)
    elif step == "put" or one is None:
        shelf.put(f"entity {rng.random()}", *rng.sample(TEXTS, 2))
    elif step == "add":
        shelf.add(one, f"{rng.choice(TEXTS)} {rng.random()}")
    elif step == "delete":
        store.write(lambda session: session.entities.delete([one]))
        del shelf.names[one]
    elif step == "retype":
        store.write(lambda session: session.entities.update(one, rng.choice(("Lugar", "Persona")), "activo", 2))
    elif step == "supersede":
        for observation in store.read(lambda session: session.observations.of([one]))[one][:1]:
            store.write(lambda session, gone=observation.id: session.observations.supersede(gone, 2))


@pytest.mark.parametrize("limits", [Limits(), Limits(exact=3, coarse=5), Limits(exact=2, coarse=1_000)])
@settings(max_examples=15)
@given(
    steps=st.lists(
        st.sampled_from(("put", "add", "embed", "embed some", "delete", "supersede", "retype", "look")), max_size=15
    ),
    seed=st.integers(0, 1_000),
)
def test_following_the_changes_gives_what_reading_all_anew_gives(
    tmp_path_factory: pytest.TempPathFactory, limits: Limits, steps: list[Step], seed: int
) -> None:
    store = open_store(tmp_path_factory.mktemp("index") / "memory.db", FrozenClock(1_000_000))
    shelf = Shelf(store, load_embedder("hash:64"))
    follower = index_of(shelf, limits)
    rng = random.Random(seed)
    for step in steps:
        do(shelf, step, rng)
        if step == "look":
            view_of(shelf, follower)
    followed, fresh = view_of(shelf, follower), view_of(shelf, index_of(shelf, limits))
    assert contents(followed) == contents(fresh)
    assert followed.entity_count == fresh.entity_count
    assert followed.pending == fresh.pending
    assert followed.typical_length == pytest.approx(fresh.typical_length)
    assert similar_cosines(shelf, followed, fresh)
    if followed.vectors.keeps_rows and type(followed.vectors) is type(fresh.vectors):
        assert followed.mean_count == fresh.mean_count
        assert followed.mean_sum == pytest.approx(fresh.mean_sum, abs=1e-4)
    store.close()


def similar_cosines(shelf: Shelf, one: ShardView, other: ShardView) -> bool:
    query = shelf.embedder.embed_queries(["el faro"])[0]

    def by_document(view: ShardView) -> dict[int, float]:
        cosines = view.vectors.scores(query)
        return {
            int(view.ids[row]): float(cosines[view.places[row]])
            for row in np.flatnonzero(view.alive & (view.places >= 0))
        }

    if type(one.vectors) is not type(other.vectors):
        # What went over to bits stays there when it shrinks again.
        return by_document(one).keys() == by_document(other).keys()
    return by_document(one) == pytest.approx(by_document(other), abs=1e-5)


def test_a_snapshot_stays_as_it_was(shelf: Shelf) -> None:
    first = shelf.put("Faro", "el faro de noche")
    shelf.embed()
    index = index_of(shelf)
    before = view_of(shelf, index)
    kept = contents(before)
    cosines = before.vectors.scores(shelf.embedder.embed_queries(["faro"])[0]).tolist()
    shelf.add(first, "la linterna está rota")
    shelf.put("Nuria", "lleva las compras")
    shelf.embed()
    shelf.store.write(lambda session: session.entities.update(first, "Lugar", "activo", 2))
    after = view_of(shelf, index)
    assert contents(before) == kept
    assert before.vectors.scores(shelf.embedder.embed_queries(["faro"])[0]).tolist() == cosines
    assert len(contents(after)) == len(kept) + 3


def test_an_entity_of_many_texts_weighs_as_much_in_the_mean_as_any_other(shelf: Shelf) -> None:
    index = index_of(shelf)
    shelf.put("Nuria", "lleva las compras")
    garden = shelf.put("Jardín", *(f"el jardín necesita agua {number}" for number in range(30)))
    shelf.embed()
    view = view_of(shelf, index)
    assert view.mean_count == 2
    rows = np.flatnonzero(view.passages & (view.entity_ids[view.entities] == garden))
    of_garden = view.vectors.rows(view.places[rows].astype(np.int64)).mean(axis=0)
    shelf.store.write(lambda session: session.entities.delete([garden]))
    rest = view_of(shelf, index)
    assert rest.mean_count == 1
    assert view.mean_sum - rest.mean_sum == pytest.approx(of_garden, abs=1e-5)


def test_collections_are_apart(shelf: Shelf) -> None:
    other = shelf.store.write(lambda session: session.collections.create("other", "other", "", 1).id)
    shelf.put("Faro", "aquí")
    shelf.put("Faro", "allí", collection=other)
    index = index_of(shelf)
    here = view_of(shelf, index)
    there = shelf.store.read(lambda session: index.view(session, other)[0])
    assert not contents(here).keys() & contents(there).keys()
    assert len(contents(here)) == len(contents(there)) == 2


def test_an_index_ahead_of_a_session_says_so(shelf: Shelf) -> None:
    shelf.put("Faro", "el faro")
    index = index_of(shelf)

    def later_change() -> None:
        shelf.put("Nuria", "lleva las compras")
        view_of(shelf, index)

    def work(session: Session) -> tuple[bool, int]:
        session.documents.counter()  # the snapshot is taken by the first read
        meanwhile = threading.Thread(target=later_change)
        meanwhile.start()
        meanwhile.join()
        view, ahead = index.view(session, shelf.home)
        return ahead, len(contents(view))

    assert shelf.store.read(work) == (True, 4)
    assert shelf.store.read(lambda session: index.view(session, shelf.home))[1] is False


def test_vectors_are_packed_as_half_precision() -> None:
    rows = load_embedder("hash:16").embed_passages(["uno", "dos tres"])
    packed = pack_vectors(rows)
    assert [len(each) for each in packed] == [32, 32]
    assert unpack_vectors(packed, 16) == pytest.approx(rows, abs=1e-3)
    with pytest.raises(StoreDamaged, match="17 dimensions"):
        unpack_vectors(packed, 17)


def test_more_vectors_than_a_block_stand_in_their_places(shelf: Shelf) -> None:
    shelf.put("el faro", *(f"texto {number}" for number in range(BLOCK + 40)))
    shelf.embed(most=2 * BLOCK)
    view = view_of(shelf, index_of(shelf))
    model = shelf.embedder.model_id
    stored = shelf.store.read(lambda session: session.documents.vectors(view.ids.tolist(), model))
    unit = unpack_vectors([stored[number] for number in view.ids.tolist()], shelf.embedder.dim)
    centred = shelf.embedder.calibration.centre_passages(unit, view.languages)
    assert np.array_equal(view.vectors.rows(view.places.astype(np.int64)), centred)
    bits = view_of(shelf, index_of(shelf, Limits(exact=0, coarse=0)))
    assert bits.mean_count == BLOCK + 40
    assert np.allclose(bits.mean_sum, centred[view.passages].sum(axis=0, dtype=np.float64))


def test_vectors_stand_in_their_places_after_one_of_another_size(shelf: Shelf) -> None:
    index, model, dim = index_of(shelf), shelf.embedder.model_id, shelf.embedder.dim
    shelf.put("el faro", *(f"texto {number}" for number in range(3)))
    view_of(shelf, index)
    pending = shelf.store.write(lambda session: session.documents.claim(model, 9, "me", 1, 2))
    right = dict(zip(pending, pack_vectors(np.eye(len(pending), dim, dtype=np.float32)), strict=True))

    def store(wrong: bool) -> None:
        packed = {**right, pending[-1]: b"x"} if wrong else right
        rows = [NewVector(each.id, each.content_hash, vector) for each, vector in packed.items()]
        shelf.store.write(lambda session: session.documents.store_vectors(model, rows))

    store(wrong=True)
    for _ in range(2):
        with pytest.raises(StoreDamaged, match="dimensions"):
            view_of(shelf, index)
    store(wrong=False)
    view = view_of(shelf, index)
    assert view.vectors.size == len(view.owners)
    unit = unpack_vectors([right[each] for each in sorted(pending, key=lambda each: each.id)], dim)
    assert np.array_equal(view.vectors.rows(view.places.astype(np.int64)), unit)
