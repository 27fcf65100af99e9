"""Observations: order, exact equality, supersession, long texts."""

from __future__ import annotations

from evoca.domain.graph import NewObservation, Observation
from evoca.storage.contract import Store
from tests.storage.given import entity, healthy, observation


def test_an_observation_is_read_as_it_was_written(store: Store, home: int) -> None:
    ana = entity(store, home, "Ana")
    old = observation(store, home, ana, "vive en Lugo", at=3)
    new = store.write(lambda s: s.observations.insert(home, [NewObservation(ana, "en Vigo", "estado", old)], 4)[0])
    store.write(lambda s: s.observations.supersede(old, 4))
    expected = [
        Observation(old, ana, "vive en Lugo", "generic", None, 4, False, 3),
        Observation(new, ana, "en Vigo", "estado", old, None, False, 4),
    ]
    assert store.read(lambda s: s.observations.of([ana], include_superseded=True)) == {ana: expected}
    assert store.read(lambda s: s.observations.of([ana])) == {ana: expected[1:]}
    assert store.read(lambda s: s.observations.by_ids([old, 999])) == {old: expected[0]}
    assert store.read(lambda s: s.observations.count(home)) == 1


def test_kinds_are_chosen_by_name_the_default_one_too(store: Store, home: int) -> None:
    ana = entity(store, home, "Ana", "persona", "llano")
    metric = observation(store, home, ana, "42", "metrica")
    chosen = store.read(lambda s: [s.observations.of([ana], kinds=kinds)[ana] for kinds in (["metrica"], ["generic"])])
    assert [[each.content for each in found] for found in chosen] == [["42"], ["llano"]]
    assert chosen[0][0].id == metric


def test_texts_keep_their_order_and_unknown_entities_have_none(store: Store, home: int) -> None:
    ana, bea = entity(store, home, "Ana", "p", "uno", "dos"), entity(store, home, "Bea", "p", "tres")
    observation(store, home, ana, "cuatro")
    assert store.read(lambda s: s.observations.texts_of([bea, ana, 999])) == {
        bea: ["tres"],
        ana: ["uno", "dos", "cuatro"],
        999: [],
    }


def test_only_exactly_equal_live_texts_are_found(store: Store, home: int) -> None:
    ana = entity(store, home, "Ana", "p", "Café", "cafe", "café ")
    gone = observation(store, home, ana, "té")
    store.write(lambda s: s.observations.supersede(gone, 2))
    found = store.read(lambda s: s.observations.find(ana, ["Café", "CAFÉ", "café", "té", "cafe"]))
    assert sorted(found) == ["Café", "cafe"]


def test_texts_with_equal_checksums_are_told_apart(store: Store, home: int) -> None:
    # CRC-32 of both is 0x4DDB0C25.
    ana = entity(store, home, "Ana", "p", "plumless")
    observation(store, home, ana, "buckeroo")
    found = store.read(lambda s: s.observations.find(ana, ["buckeroo", "plumless"]))
    read = store.read(lambda s: s.observations.by_ids(found.values()))
    assert {read[number].content: number for number in read} == found
    assert len(read) == 2


def test_superseded_texts_leave_the_indexes_and_may_be_added_again(store: Store, home: int) -> None:
    ana = entity(store, home, "Ana")
    old = observation(store, home, ana, "zarigüeya")
    store.write(lambda s: s.observations.supersede(old, 2))
    assert store.read(lambda s: s.substrings.entities(home, "zarigüeya")) == []
    again = observation(store, home, ana, "zarigüeya")
    assert store.read(lambda s: (s.observations.find(ana, ["zarigüeya"]), s.substrings.entities(home, "ZARIGÜ"))) == (
        {"zarigüeya": again},
        [ana],
    )
    assert healthy(store)


def test_deleting_an_observation_leaves_who_superseded_it(store: Store, home: int) -> None:
    ana = entity(store, home, "Ana")
    old = observation(store, home, ana, "vieja")
    new = store.write(lambda s: s.observations.insert(home, [NewObservation(ana, "nueva", "generic", old)], 2)[0])
    store.write(lambda s: s.observations.supersede(old, 2))
    store.write(lambda s: s.observations.delete([old]))
    (left,) = (store.read(lambda s: s.observations.of([ana], include_superseded=True))[ana],)
    assert [(each.id, each.supersedes) for each in left] == [(new, None)]
    assert healthy(store)


def test_a_long_text_has_documents_that_cover_it_and_go_with_it(store: Store, home: int) -> None:
    ana = entity(store, home, "Ana")
    text = " ".join(f"La nota {n} habla del faro número{n}." for n in range(200))
    long = observation(store, home, ana, text)
    after = observation(store, home, ana, "corta")
    rows = [row for row in store.read(lambda s: s.documents.changes(0, None)).rows if row.owner_id == long]
    assert len(rows) > 5
    assert [row.id for row in rows] == list(range(long, long + len(rows)))
    assert after > rows[-1].id
    parts = store.read(lambda s: s.documents.texts(row.id for row in rows))
    assert "".join("".join(parts[row.id] for row in rows).split()) == "".join(text.split())
    (found,) = store.read(lambda s: s.documents.postings(home, [["numero199"]]))
    assert found.tolist() == [rows[-1].id]
    store.write(lambda s: s.observations.delete([long]))
    assert [row.owner_id for row in store.read(lambda s: s.documents.changes(0, None)).rows] == [ana, after]
    assert healthy(store)


def test_mostly_metadata_is_more_than_half(store: Store, home: int) -> None:
    half, more, none = entity(store, home, "a", "p", "x"), entity(store, home, "b", "p", "x"), entity(store, home, "c")
    observation(store, home, half, "m", "metadata")
    for text in ("m", "n"):
        observation(store, home, more, text, "metadata")
    assert store.read(lambda s: s.observations.mostly_metadata([half, more, none])) == {more}
