"""Entities: identity by NFC name, order of insertion, and what goes with a deleted one."""

from __future__ import annotations

import pytest

from evoca.domain.graph import Entity, NewEntity
from evoca.errors import Conflict
from evoca.storage.contract import Store
from tests.storage.given import edge, entity, healthy, observation


def test_composed_and_decomposed_forms_are_one_name(store: Store, home: int) -> None:
    made = entity(store, home, "Cafe\u0301")
    found = store.read(lambda s: s.entities.by_names(home, ["Café", "Cafe\u0301", "Cafe", "CAFÉ"]))
    assert {name: each.id for name, each in found.items()} == {"Café": made}


def test_an_entity_is_read_as_it_was_written(store: Store, home: int) -> None:
    made = store.write(lambda s: s.entities.insert(home, [NewEntity("Pozo", "lugar", "pausado")], 7)[0])
    assert store.read(lambda s: s.entities.by_ids([made, 999])) == {
        made: Entity(made, "Pozo", "lugar", "pausado", 7, 7)
    }


def test_names_that_differ_in_case_alone_are_alike(store: Store, home: int) -> None:
    made = [entity(store, home, name) for name in ("STRASSE", "Straße", "Strase")]
    found = store.read(lambda s: s.entities.alike(home, ["straße", "strase", "calle"]))
    assert {name: [each.id for each in rows] for name, rows in found.items()} == {
        "straße": made[:2],
        "strase": made[2:],
    }
    assert store.read(lambda s: s.entities.names(home)) == list(zip(made, ("STRASSE", "Straße", "Strase"), strict=True))


def test_pages_follow_the_order_of_insertion(store: Store, home: int) -> None:
    ids = [entity(store, home, name) for name in ("c", "a", "b", "d")]
    pages = store.read(lambda s: [[e.id for e in s.entities.page(home, offset, 2)] for offset in (0, 1, 3, 4)])
    assert pages == [ids[:2], ids[1:3], ids[3:], []]
    assert store.read(lambda s: s.entities.count(home)) == 4


def test_a_taken_name_is_a_conflict_and_undoes_the_whole_unit(store: Store, home: int) -> None:
    entity(store, home, "Ana")
    with pytest.raises(Conflict):
        store.write(lambda s: s.entities.insert(home, [NewEntity("Bea"), NewEntity("Ana")], 2))
    assert store.read(lambda s: [e.name for e in s.entities.page(home)]) == ["Ana"]
    assert healthy(store)


def test_the_same_name_may_stand_in_two_collections(store: Store, home: int) -> None:
    other = store.write(lambda s: s.collections.create("obra", "Obra", "", 1)).id
    here, there = entity(store, home, "Ana"), entity(store, other, "Ana")
    assert store.read(lambda s: s.entities.by_names(other, ["Ana"]))["Ana"].id == there
    assert store.read(lambda s: s.entities.by_names(home, ["Ana"]))["Ana"].id == here


def test_a_new_type_is_searchable_and_the_old_one_is_not(store: Store, home: int) -> None:
    made = entity(store, home, "Trueno", "perro")
    store.write(lambda s: s.entities.update(made, "gato", "archivado", 9))
    found = store.read(lambda s: s.entities.by_ids([made])[made])
    assert (found.entity_type, found.status, found.created_at, found.updated_at) == ("gato", "archivado", 1, 9)
    assert store.read(lambda s: (s.substrings.entities(home, "perro"), s.substrings.entities(home, "gato"))) == (
        [],
        [made],
    )
    perro, gato = store.read(lambda s: s.documents.postings(home, [["perr"], ["gat"]]))
    assert (perro.tolist(), gato.tolist()) == ([], [made])
    assert store.read(lambda s: s.documents.texts([made])) == {made: "Trueno (gato)"}
    assert healthy(store)


def test_touching_moves_only_the_time_of_change(store: Store, home: int) -> None:
    made, other = entity(store, home, "Ana"), entity(store, home, "Bea")
    store.write(lambda s: s.entities.touch([made], 50))
    found = store.read(lambda s: s.entities.by_ids([made, other]))
    assert (found[made].updated_at, found[made].created_at, found[other].updated_at) == (50, 1, 1)


def test_matching_forgives_the_case_of_types(store: Store, home: int) -> None:
    ana = entity(store, home, "Ana", "PERSONA")
    bea = entity(store, home, "Bea", "Persona")
    pozo = store.write(lambda s: s.entities.insert(home, [NewEntity("Pozo", "Lugar", "pausado")], 1)[0])

    def matching(types: list[str] | None, statuses: list[str] | None) -> set[int]:
        return store.read(lambda s: s.entities.matching(home, types, statuses))

    assert matching(["persona"], None) == {ana, bea}
    assert matching(None, ["pausado"]) == {pozo}
    assert matching(["persona", "lugar"], ["activo"]) == {ana, bea}
    assert matching(None, None) == {ana, bea, pozo}
    assert matching(["nada"], None) == matching([], None) == set()


def test_what_belongs_to_a_deleted_entity_goes_with_it(store: Store, home: int) -> None:
    gone, kept = entity(store, home, "Ana", "persona", "vive en Lugo", "tiene un perro"), entity(store, home, "Bea")
    old = observation(store, home, gone, "trabaja en Vigo")
    edge(store, home, gone, "conoce", kept)
    edge(store, home, kept, "conoce", gone)
    store.write(lambda s: s.observations.supersede(old, 2))
    store.write(lambda s: s.accesses.record([gone, kept], 5, pairs=True))
    store.write(lambda s: s.documents.register_model("m", 1))
    store.write(lambda s: s.entities.delete([gone]))

    def after(_: object = None) -> list[object]:
        return store.read(
            lambda s: [
                s.observations.of([gone], include_superseded=True)[gone],
                s.edges.all(home, include_ended=True),
                s.substrings.entities(home, "lugo"),
                [found.tolist() for found in s.documents.postings(home, [["lug"], ["perr"], ["ana"]])],
                s.accesses.together([gone, kept], [gone, kept]),
                sorted(s.accesses.of([gone, kept])),
                s.documents.pending(home, "m"),
                [row.id for row in s.documents.changes(0, "m").rows],
            ]
        )

    assert after() == [[], [], [], [[], [], []], [], [kept], 1, [kept]]
    assert healthy(store)


def test_ids_are_never_used_again(store: Store, home: int) -> None:
    first = entity(store, home, "Ana", "persona", "una nota")
    store.write(lambda s: s.entities.delete([first]))
    assert entity(store, home, "Ana") > first + 1
