"""Uses of entities: counts, days, pairs."""

from __future__ import annotations

from evoca.domain.clock import DAY
from evoca.domain.graph import Access, CoOccurrence
from evoca.storage.contract import Store
from tests.storage.given import entity


def test_uses_and_days_are_counted(store: Store, home: int) -> None:
    a, b = entity(store, home, "a"), entity(store, home, "b")
    for at in (5, DAY - 1, DAY, 3 * DAY, 2 * DAY):
        store.write(lambda s, at=at: s.accesses.record([a, a, 999], at, pairs=False))
    assert store.read(lambda s: s.accesses.of([a, b, 999])) == {a: Access(5, 3 * DAY, 4)}


def test_pairs_are_counted_once_whatever_their_order(store: Store, home: int) -> None:
    a, b, c = (entity(store, home, name) for name in "abc")
    store.write(lambda s: s.accesses.record([b, a, c], 5, pairs=True))
    store.write(lambda s: s.accesses.record([a, b], 9, pairs=True))
    store.write(lambda s: s.accesses.record([a, c], 7, pairs=False))

    def together(entities: list[int], context: list[int]) -> list[CoOccurrence]:
        return store.read(lambda s: s.accesses.together(entities, context))

    ab, ac, bc = CoOccurrence(a, b, 2, 9), CoOccurrence(a, c, 1, 5), CoOccurrence(b, c, 1, 5)
    assert together([a, b, c], [a, b, c]) == [ab, ac, bc]
    assert together([c], [a]) == together([a], [c]) == [ac]
    assert together([a], [a]) == []
