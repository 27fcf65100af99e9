"""The table of edges: walks agree with following edges one by one, whatever happens to the store."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoca.domain.clock import FrozenClock, Instant
from evoca.domain.graph import Edge, NewEdge, NewEntity
from evoca.retrieval.edge_table import Direction, EdgeTable, EdgeView
from evoca.storage import open_store
from evoca.storage.contract import Session, Store
from evoca.storage.fact_contract import FactFilter, Sorting

HOME = 1
DIRECTIONS: Sequence[Direction] = ("out", "in", "both")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(tmp_path / "memory.db", FrozenClock(1_000_000))) as opened:
        yield opened


def entities(store: Store, count: int, collection: int = HOME) -> list[int]:
    new = [NewEntity(f"e{n}") for n in range(count)]
    return store.write(lambda s: s.entities.insert(collection, new, 1))


def join(store: Store, *pairs: tuple[int, int], predicate: str = "x") -> list[int]:
    rows = [NewEdge(subject, predicate, target) for subject, target in pairs]
    return store.write(lambda s: s.facts.insert(HOME, rows, 1))


def view_of(store: Store, table: EdgeTable, collection: int = HOME) -> EdgeView:
    return store.read(lambda s: table.view(s, collection))


# -- the plain way ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Way:
    direction: Direction = "both"
    predicates: frozenset[str] | None = None
    at: Instant | None = None

    def passes(self, edge: Edge) -> bool:
        begin = edge.created_at if edge.valid_from is None else edge.valid_from
        if self.at is not None and not (begin <= self.at and (edge.ended_at is None or edge.ended_at > self.at)):
            return False
        return self.predicates is None or edge.predicate in self.predicates

    def steps(self, edge: Edge) -> Iterator[tuple[int, int | None]]:
        if self.direction != "in":
            yield edge.subject_id, edge.object_id
        if self.direction != "out" and edge.object_id is not None:
            yield edge.object_id, edge.subject_id


def walk_plainly(edges: Sequence[Edge], start: Sequence[int], depth: int, way: Way) -> tuple[dict[int, int], ...]:
    """Edge → hop, entity → distance."""
    hops: dict[int, int] = {}
    distances = dict.fromkeys(start, 0)
    for hop in range(1, depth + 1):
        front = {entity for entity, distance in distances.items() if distance == hop - 1}
        for edge in edges:
            if not way.passes(edge):
                continue
            for here, there in way.steps(edge):
                if here in front:
                    hops.setdefault(edge.id, hop)
                    if there is not None:
                        distances.setdefault(there, hop)
    return hops, distances


def agrees(view: EdgeView, edges: Sequence[Edge], start: Sequence[int], depth: int, way: Way) -> None:
    predicates = None if way.predicates is None else set(way.predicates)
    walk = view.walk(start, depth, direction=way.direction, predicates=predicates, at=way.at)
    hops, distances = walk_plainly(edges, start, depth, way)
    assert list(zip(walk.hops.tolist(), walk.edges.tolist(), strict=True)) == sorted((h, e) for e, h in hops.items())
    touched = {end for edge in edges for end in (edge.subject_id, edge.object_id)}
    expected = sorted((distance, entity) for entity, distance in distances.items() if entity in touched)
    reached = zip(walk.distances.tolist(), walk.entities.tolist(), strict=True)
    assert [each for each in reached if each[1] in touched] == expected
    goal = max(touched - {None}, default=0, key=lambda end: (distances.get(end or 0, -1), end or 0)) or 0
    path = view.shortest_path(start[0], goal, depth, direction=way.direction, predicates=predicates, at=way.at)
    nearest = walk_plainly(edges, start[:1], depth, way)[1].get(goal)
    assert (None if path is None else len(path.edges)) == (0 if start[0] == goal else nearest)
    by_id = {edge.id: edge for edge in edges}
    for here, number, there in zip(
        *((path.entities, path.edges, path.entities[1:]) if path else ((), (), ())), strict=False
    ):
        assert (here, there) in list(way.steps(by_id[number]))
        assert way.passes(by_id[number])


# -- shapes ----------------------------------------------------------------------------------------


def test_each_edge_comes_once_at_its_shortest_distance(store: Store) -> None:
    a, b, c, d = entities(store, 4)
    ab, ba, bc, ca, aa, cd = join(store, (a, b), (b, a), (b, c), (c, a), (a, a), (c, d))
    view = view_of(store, EdgeTable())
    walk = view.walk([a], 5)
    assert walk.edges.tolist() == [ab, ba, ca, aa, bc, cd]
    assert walk.hops.tolist() == [1, 1, 1, 1, 2, 2]
    assert (walk.entities.tolist(), walk.distances.tolist()) == ([a, b, c, d], [0, 1, 1, 2])
    assert view.walk([a], 1).edges.tolist() == [ab, ba, ca, aa]
    assert view.walk([a], 5, direction="out").edges.tolist() == [ab, aa, ba, bc, ca, cd]
    assert view.walk([d], 1, direction="out").edges.tolist() == []


def test_a_literal_is_reached_and_leads_nowhere(store: Store) -> None:
    a, b = entities(store, 2)
    rows = [NewEdge(a, "edad", value=4), NewEdge(b, "edad", value=4)]
    first, _ = store.write(lambda s: s.facts.insert(HOME, rows, 1))
    walk = view_of(store, EdgeTable()).walk([a], 5)
    assert (walk.edges.tolist(), walk.entities.tolist()) == ([first], [a])


def test_of_several_shortest_paths_the_smallest_ids_win(store: Store) -> None:
    a, b, c, d = entities(store, 4)
    _, _, cd, bd, ac, _ab = join(store, (b, c), (c, b), (c, d), (b, d), (a, c), (a, b))
    path = view_of(store, EdgeTable()).shortest_path(a, d, 5)
    assert path is not None
    assert (path.edges, path.entities) == ([ac, cd], [a, c, d])
    assert bd > cd


def test_nothing_is_found_from_unknown_entities_or_in_empty_collections(store: Store) -> None:
    table = EdgeTable()
    other = store.write(lambda s: s.collections.create("other", "", "", 1)).id
    a, b, alone = entities(store, 3)
    (ab,) = join(store, (a, b))
    for view in (view_of(store, table, other), view_of(store, table, 999)):
        assert view.walk([a], 5).edges.tolist() == view.ids().tolist() == view.touching([a]).tolist() == []
        assert view.shortest_path(a, b, 5) is None
    view = view_of(store, table)
    assert view.walk([alone, 10**9], 3).edges.tolist() == []
    assert view.shortest_path(alone, a, 5) is None
    path = view.shortest_path(alone, alone, 5)
    assert path is not None
    assert (path.edges, path.entities) == ([], [alone])
    assert view.having(view.ids(), {"nada"}).tolist() == [False]
    assert view.ends([ab, 10**9]).tolist() == [a, b]
    assert view.walk([a], 0).edges.tolist() == []


def test_a_dense_graph_is_walked_once(store: Store) -> None:
    members = entities(store, 40)
    made = join(store, *((one, other) for one in members for other in members if one != other))
    walk = view_of(store, EdgeTable()).walk(members[:1], 5)
    assert sorted(walk.edges.tolist()) == made
    assert set(walk.hops.tolist()) == {1, 2}
    assert len(walk.entities) == 40


def test_columns_of_a_view_never_change(store: Store) -> None:
    table = EdgeTable()
    a, b = entities(store, 2)
    (ab,) = join(store, (a, b))
    before = view_of(store, table)
    (ba,) = join(store, (b, a))
    (c,) = store.write(lambda s: s.entities.insert(HOME, [NewEntity("c")], 1))
    join(store, (a, c))
    store.write(lambda s: s.edges.end([ab], 5))
    after = view_of(store, table)
    assert (before.ids(at=10).tolist(), after.walk([b], 1, at=10).edges.tolist()) == ([ab], [ba])
    assert before.walk([c, a], 2).edges.tolist() == [ab]
    store.write(lambda s: s.facts.delete([ab]))
    assert (view_of(store, table).touching([b]).tolist(), after.touching([b]).tolist()) == ([ba], [ab, ba])


def test_an_older_session_is_served_without_going_back(store: Store) -> None:
    table = EdgeTable()
    a, b = entities(store, 2)
    (ab,) = join(store, (a, b))

    def work(session: Session) -> list[list[int]]:
        before = table.view(session, HOME).ids().tolist()
        (ba,) = join(store, (b, a))
        assert view_of(store, table).ids().tolist() == [ab, ba]
        return [before, table.view(session, HOME).ids().tolist()]

    first, second = store.read(work)
    assert first == [ab]
    assert second[:1] == [ab]


def test_a_store_that_was_put_back_is_read_anew(tmp_path: Path) -> None:
    table = EdgeTable()
    with closing(open_store(tmp_path / "new.db", FrozenClock(9))) as newer:
        a, b = entities(newer, 2)
        join(newer, (a, b), (b, a), (a, a))
        join(newer, (b, b))
        view_of(newer, table)
    with closing(open_store(tmp_path / "old.db", FrozenClock(9))) as older:
        a, b = entities(older, 2)
        (ab,) = join(older, (a, b))
        looks = [view_of(older, table).ids().tolist() for _ in range(12)]
        assert looks[-1] == [ab]


# -- whatever happens --------------------------------------------------------------------------------

STEPS = ("tell", "tell", "tell many", "end", "revise", "delete", "drop", "look")


def do(session: Session, people: list[int], step: str, rng: random.Random, at: int) -> None:
    edges = session.facts.page(FactFilter(HOME), Sorting(), 10_000)
    if step in ("tell", "tell many") or not edges:
        rows = [
            NewEdge(
                rng.choice(people),
                f"p{rng.randrange(3)}" if n else f"open{at}",
                target := rng.choice([*people, None]),
                value=rng.random() if target is None else None,
                valid_from=rng.choice([None, rng.randrange(100)]),
                ended_at=rng.randrange(1, 120) if n else None,
            )
            for n in range(30 if step == "tell many" else 1)
        ]
        session.facts.insert(HOME, rows, at)
        return
    one = rng.choice(edges)
    match step:
        case "end":
            session.edges.end([one.id], at)
        case "revise":
            session.facts.revise(replace(one, subject_id=rng.choice(people), predicate=f"q{one.id}", valid_from=at))
        case "delete":
            session.facts.delete([one.id])
        case _:
            gone = people[0]
            session.entities.delete([gone])
            people[:] = [*people[1:], *session.entities.insert(HOME, [NewEntity(f"n{at}")], at)]


@settings(max_examples=40)
@given(steps=st.lists(st.sampled_from(STEPS), min_size=1, max_size=15), seed=st.integers(0, 10_000))
def test_walks_agree_with_following_edges_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], seed: int
) -> None:
    rng = random.Random(seed)
    path = tmp_path_factory.mktemp("edges") / "memory.db"
    table = EdgeTable()
    # Another process, as far as the table knows: what it writes is only in the change feed.
    with closing(open_store(path, FrozenClock(50))) as store, closing(open_store(path, FrozenClock(50))) as other:
        people = entities(store, 8)
        for at, step in enumerate(steps, 1):
            if step == "look":
                view_of(store, table)
            else:
                writer = rng.choice([store, other])
                writer.write(lambda s, step=step, at=at: do(s, people, step, rng, at))
        view = view_of(store, table)
        edges = store.read(lambda s: s.facts.page(FactFilter(HOME), Sorting(), 10_000))
        for _ in range(6):
            way = Way(
                rng.choice(DIRECTIONS),
                rng.choice([None, frozenset({"p0", "p1"}), frozenset({"q", "nada"})]),
                rng.choice([None, rng.randrange(130)]),
            )
            agrees(view, edges, rng.sample(people, rng.choice([1, 1, 3])), rng.randrange(6), way)
            assert view.ids(at=way.at).tolist() == [edge.id for edge in edges if at_any_predicate(way).passes(edge)]
        anew = view_of(store, EdgeTable())
        assert view.ids().tolist() == anew.ids().tolist() == [edge.id for edge in edges]


def at_any_predicate(way: Way) -> Way:
    """The same time with any predicate."""
    return Way(at=way.at)


def test_much_of_the_past_is_cleared_away(store: Store) -> None:
    table = EdgeTable()
    a, b, c = entities(store, 3)
    rows = [NewEdge(a, f"p{n}", b) for n in range(2_500)]
    made = store.write(lambda s: s.facts.insert(HOME, rows, 1))
    view_of(store, table)
    store.write(lambda s: s.facts.delete(made[:2_000]))
    assert view_of(store, table).ids().tolist() == made[2_000:]
    (last,) = join(store, (b, c))
    view = view_of(store, table)
    assert view.ids().tolist() == [*made[2_000:], last]
    assert len(view.edge_ids) == 501, "what is gone takes no place any more"
