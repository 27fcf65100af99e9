"""Edges: unique while active, history kept, degrees."""

from __future__ import annotations

import pytest

from evoca.domain.graph import NewEdge
from evoca.errors import Conflict
from evoca.storage.contract import Store
from tests.storage.given import edge, entity


@pytest.fixture
def three(store: Store, home: int) -> tuple[int, int, int]:
    a, b, c = (entity(store, home, name) for name in ("a", "b", "c"))
    return a, b, c


def test_an_edge_is_read_as_it_was_written(store: Store, home: int, three: tuple[int, int, int]) -> None:
    a, b, _ = three
    new = NewEdge(a, "conoce", b, None, "de la escuela", "Ana", 0.5, 77)
    made = store.write(lambda s: s.edges.insert(home, [new], 9)[0])
    found = store.read(lambda s: s.edges.active(home, [(a, "conoce", b), (b, "conoce", a)]))
    assert list(found) == [(a, "conoce", b)]
    read = found[(a, "conoce", b)]
    assert (read.id, read.subject, read.object, read.context, read.source) == (made, "a", "b", "de la escuela", "Ana")
    assert (read.confidence, read.active, read.created_at, read.valid_from, read.ended_at) == (0.5, True, 9, 77, None)


def test_an_active_edge_stands_alone(store: Store, home: int, three: tuple[int, int, int]) -> None:
    a, b, _ = three
    edge(store, home, a, "conoce", b)
    with pytest.raises(Conflict):
        edge(store, home, a, "conoce", b)
    edge(store, home, a, "teme", b)
    edge(store, home, b, "conoce", a)
    assert store.read(lambda s: s.edges.count(home)) == 3


def test_edges_touch_at_either_end_and_come_once_in_order(store: Store, home: int, three: tuple[int, int, int]) -> None:
    a, b, c = three
    ids = [edge(store, home, *each) for each in ((a, "x", b), (b, "x", c), (c, "x", a), (b, "y", b))]
    touching = store.read(lambda s: [[e.id for e in s.edges.touching(ends)] for ends in ([b], [a, b], [c], [])])
    assert touching == [[ids[0], ids[1], ids[3]], ids, ids[1:3], []]
    assert store.read(lambda s: [e.id for e in s.edges.all(home)]) == ids
    store.write(lambda s: s.edges.delete(ids[:2]))
    assert store.read(lambda s: [e.id for e in s.edges.all(home)]) == ids[2:]


def test_literal_values_are_no_relations(store: Store, home: int, three: tuple[int, int, int]) -> None:
    a, b, _ = three
    store.write(lambda s: s.edges.insert(home, [NewEdge(a, "edad", value="42")], 1))
    edge(store, home, a, "x", b)
    assert store.read(lambda s: ([e.predicate for e in s.edges.all(home)], s.edges.count(home))) == (["x"], 1)


def test_an_inverse_pair_counts_once_in_the_degree(store: Store, home: int, three: tuple[int, int, int]) -> None:
    a, b, c = three
    for each in ((a, "contiene", b), (b, "parte_de", a), (a, "conoce", b), (c, "parte_de", a), (a, "x", a)):
        edge(store, home, *each)
    assert store.read(lambda s: s.edges.degrees([a, b, c, 999])) == {a: 4, b: 2, c: 1, 999: 0}
