"""Facts: literals, periods, documents that follow every change, lists and the change feed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoca.domain.clock import FrozenClock
from evoca.domain.facts import EntityObject, LiteralObject, Scalar
from evoca.domain.graph import Edge, NewEdge, NewEntity
from evoca.domain.text import query_terms
from evoca.errors import Conflict
from evoca.storage import open_store
from evoca.storage.contract import NewVector, OwnerKind, Session, Store
from evoca.storage.fact_contract import After, EdgeRow, FactFilter, Sorting, SortKey
from tests.storage.given import edge, entity, healthy

NOW = 1_000_000
"""Where the tests' clock stands."""


@pytest.fixture
def three(store: Store, home: int) -> tuple[int, int, int]:
    ana, bea, lugo = (entity(store, home, name) for name in ("Ana", "Bea", "Lugo"))
    return ana, bea, lugo


def tell(store: Store, home: int, *rows: NewEdge, at: int = 9) -> list[int]:
    return store.write(lambda s: s.facts.insert(home, rows, at))


def fact(store: Store, number: int) -> Edge:
    return store.read(lambda s: s.facts.by_ids([number]))[number]


def text(store: Store, number: int) -> str | None:
    return store.read(lambda s: s.documents.texts([number])).get(number)


def holding(store: Store, home: int, words: str) -> list[int]:
    """The facts whose documents hold all the words."""
    terms = [term.alternatives for term in query_terms(words)]

    def work(session: Session) -> set[int]:
        lists = [set(found.tolist()) for found in session.documents.postings(home, terms)]
        rows = session.documents.changes(0, None).rows
        owners = {row.id: row.owner_id for row in rows if row.owner_kind == OwnerKind.FACT}
        return {owners[each] for each in set[int].intersection(*lists) if each in owners}

    return sorted(store.read(work))


# -- what is stored ------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["42", 42, 42.0, 4.2, -1, True, False, "true", "", "ñandú", 10**18])
def test_a_literal_is_read_as_it_was_told(store: Store, home: int, three: tuple[int, int, int], value: Scalar) -> None:
    (made,) = tell(store, home, NewEdge(three[0], "dato", value=value, source="yo", confidence=0.5, valid_from=3))
    read = fact(store, made)
    assert (read.value, type(read.value), read.object_id, read.object) == (value, type(value), None, None)
    assert (read.subject, read.source, read.confidence, read.valid_from, read.created_at) == ("Ana", "yo", 0.5, 3, 9)
    of_triple = store.read(lambda s: s.facts.of_triple(home, three[0], "dato", LiteralObject(value)))
    assert [each.id for each in of_triple] == [made]


def test_literals_of_different_kinds_are_different_facts(store: Store, home: int, three: tuple[int, int, int]) -> None:
    values: list[Scalar] = ["1", 1, True, "true"]
    made = tell(store, home, *(NewEdge(three[0], "dato", value=value) for value in values))
    with pytest.raises(Conflict):
        tell(store, home, NewEdge(three[0], "dato", value=1))
    for number, value in zip(made, values, strict=True):
        found = store.read(lambda s, value=value: s.facts.of_triple(home, three[0], "dato", LiteralObject(value)))
        assert [each.id for each in found] == [number]


def test_periods_come_in_order_of_their_beginnings(store: Store, home: int, three: tuple[int, int, int]) -> None:
    ana, bea, lugo = three
    rows = (
        NewEdge(ana, "vive_en", lugo, valid_from=40),
        NewEdge(ana, "vive_en", lugo, valid_from=10, ended_at=20),
        NewEdge(ana, "vive_en", value="Vigo", valid_from=20, ended_at=40),
        NewEdge(bea, "vive_en", lugo, valid_from=1),
        NewEdge(ana, "vive", lugo, valid_from=1),
    )
    last, first, second, _, _ = tell(store, home, *rows)
    periods = store.read(lambda s: s.facts.periods(home, ana, "vive_en"))
    assert [each.id for each in periods] == [first, second, last]
    assert [(each.valid_from, each.ended_at) for each in periods] == [(10, 20), (20, 40), (40, None)]
    of_triple = store.read(lambda s: s.facts.of_triple(home, ana, "vive_en", EntityObject(lugo)))
    assert [each.id for each in of_triple] == [first, last]


@pytest.mark.parametrize(
    ("begins", "ends", "current"),
    [
        (None, None, True),
        (NOW, None, True),
        (NOW + 1, None, False),
        (None, NOW + 1, True),
        (None, NOW, False),
        (5, NOW - 1, False),
        (NOW + 1, NOW + 9, False),
    ],
)
def test_an_edge_is_active_while_its_times_say_so(
    store: Store, home: int, three: tuple[int, int, int], begins: int | None, ends: int | None, current: bool
) -> None:
    ana, _, lugo = three
    (made,) = tell(store, home, NewEdge(ana, "vive_en", lugo, valid_from=begins, ended_at=ends))

    def seen(session: Session) -> tuple[bool, ...]:
        return (
            session.facts.by_ids([made])[made].active,
            session.edges.by_ids([made])[made].active,
            bool(session.edges.active(home, [(ana, "vive_en", lugo)])),
            bool(session.edges.touching([lugo])),
            bool(session.edges.all(home)),
            session.edges.count(home) == 1,
            session.facts.count(FactFilter(home, at=NOW)) == 1,
        )

    assert set(store.read(seen)) == {current}
    assert [each.id for each in store.read(lambda s: s.edges.touching([ana], include_ended=True))] == [made]
    to_come = store.read(lambda s: s.edges.active(home, [(ana, "vive_en", lugo)], upcoming=True))
    assert bool(to_come) == (ends is None or ends > NOW)


def test_a_known_end_does_not_stand_in_the_way_of_the_next_period(
    store: Store, home: int, three: tuple[int, int, int]
) -> None:
    ana, _, lugo = three
    rows = [NewEdge(ana, "vive_en", lugo, valid_from=n, ended_at=n + 5) for n in (NOW - 5, NOW, NOW + 5, NOW + 10)]
    made = tell(store, home, *rows, NewEdge(ana, "vive_en", lugo, valid_from=NOW + 15))
    assert [each for each in made if fact(store, each).active] == [made[1]]
    assert store.read(lambda s: s.edges.active(home, [(ana, "vive_en", lugo)]))[ana, "vive_en", lugo].id == made[1]
    with pytest.raises(Conflict):
        tell(store, home, NewEdge(ana, "vive_en", lugo))


def test_ending_an_edge_leaves_earlier_ends_alone(store: Store, home: int, three: tuple[int, int, int]) -> None:
    ana, bea, lugo = three
    past, open_, later = tell(
        store,
        home,
        NewEdge(ana, "vive_en", lugo, ended_at=50),
        NewEdge(bea, "vive_en", lugo),
        NewEdge(ana, "conoce", bea, ended_at=NOW + 9),
    )
    store.write(lambda s: s.edges.end([past, open_, later], NOW))
    assert [fact(store, each).ended_at for each in (past, open_, later)] == [50, NOW, NOW]
    tell(store, home, NewEdge(bea, "vive_en", lugo))


# -- documents -----------------------------------------------------------------------------------


def test_every_edge_is_found_by_its_words(store: Store, home: int, three: tuple[int, int, int]) -> None:
    ana, bea, lugo = three
    relation = edge(store, home, ana, "vive_en", lugo)
    literal, ended, camel = tell(
        store,
        home,
        NewEdge(bea, "edad", value=42, context="Lo dijo en el faro."),
        NewEdge(bea, "vive_en", lugo, ended_at=20),
        NewEdge(bea, "worksAt", lugo),
    )
    assert text(store, relation) == "Ana vive en Lugo"
    assert text(store, literal) == "Bea edad 42. Lo dijo en el faro."
    assert holding(store, home, "vive Lugo") == [relation, ended]
    assert holding(store, home, "42") == holding(store, home, "faro") == [literal]
    assert holding(store, home, "works") == [camel]
    assert healthy(store)


def test_a_long_context_is_found_to_its_end(store: Store, home: int, three: tuple[int, int, int]) -> None:
    context = " ".join(f"frase{n} sobre el puerto." for n in range(60))
    long, short = tell(
        store, home, NewEdge(three[0], "sabe", value="todo", context=context), NewEdge(three[0], "sabe", value="nada")
    )
    assert holding(store, home, "frase59") == holding(store, home, "frase0") == [long]
    rows = [row for row in store.read(lambda s: s.documents.changes(0, None)).rows if row.owner_id == long]
    assert len(rows) > 3
    assert " ".join(store.read(lambda s: s.documents.texts([r.id for r in rows])).values()).endswith("puerto.")
    store.write(lambda s: s.facts.revise(replace(fact(store, short), context=context)))
    assert holding(store, home, "frase59") == [long, short]
    store.write(lambda s: s.facts.revise(replace(fact(store, long), context=None)))
    assert holding(store, home, "frase59") == [short]
    store.write(lambda s: s.facts.delete([short]))
    assert holding(store, home, "frase59") == []
    assert healthy(store)


def test_revising_writes_everything_and_the_indexes_follow(
    store: Store, home: int, three: tuple[int, int, int]
) -> None:
    ana, bea, lugo = three
    (made,) = tell(store, home, NewEdge(ana, "vive_en", lugo, context="desde siempre", source="x"))
    revised = replace(
        fact(store, made),
        subject_id=bea,
        predicate="edad",
        object_id=None,
        value=7,
        context=None,
        source=None,
        confidence=0.25,
        valid_from=5,
        ended_at=NOW + 1,
    )
    store.write(lambda s: s.facts.revise(revised))
    read = fact(store, made)
    assert read == replace(revised, subject="Bea", object=None, active=True)
    assert (text(store, made), holding(store, home, "Ana"), holding(store, home, "siempre")) == ("Bea edad 7", [], [])
    assert healthy(store)


def test_a_new_name_is_in_what_is_said_of_it(store: Store, home: int, three: tuple[int, int, int]) -> None:
    ana, bea, lugo = three
    made = [edge(store, home, ana, "vive_en", lugo), edge(store, home, bea, "conoce", ana)]
    other = edge(store, home, bea, "vive_en", lugo)
    store.write(lambda s: s.entities.rename(ana, "Nuria", 10))
    assert [text(store, each) for each in made] == ["Nuria vive en Lugo", "Bea conoce Nuria"]
    assert (holding(store, home, "Nuria"), holding(store, home, "Ana")) == (made, [])
    assert text(store, other) == "Bea vive en Lugo"
    assert healthy(store)


def test_what_an_edge_loses_its_document_loses(store: Store, home: int, three: tuple[int, int, int]) -> None:
    ana, bea, lugo = three
    first, second, third = (
        edge(store, home, ana, "vive_en", lugo),
        edge(store, home, bea, "conoce", ana),
        edge(store, home, bea, "vive_en", lugo),
    )
    store.write(lambda s: s.entities.delete([ana]))
    assert store.read(lambda s: sorted(s.facts.by_ids([first, second, third]))) == [third]
    assert [text(store, each) for each in (first, second)] == [None, None]
    store.write(lambda s: s.edges.delete([third]))
    assert holding(store, home, "vive") == []
    assert healthy(store)


def test_an_entity_s_facts_go_to_another_with_their_documents(
    store: Store, home: int, three: tuple[int, int, int]
) -> None:
    ana, bea, lugo = three
    moved, known, relation = tell(
        store,
        home,
        NewEdge(ana, "edad", value=41),
        NewEdge(ana, "color", value="azul"),
        NewEdge(ana, "vive_en", lugo),
    )
    (kept,) = tell(store, home, NewEdge(bea, "color", value="azul"))
    store.write(lambda s: s.edges.adopt_values(ana, bea))
    store.write(lambda s: s.edges.repoint(relation, bea, lugo))
    assert [text(store, each) for each in (moved, known, kept, relation)] == [
        "Bea edad 41",
        None,
        "Bea color azul",
        "Bea vive en Lugo",
    ]
    assert holding(store, home, "Ana") == []
    assert healthy(store)


def test_vectors_of_facts_come_last_and_nobody_else_waits_for_them(
    store: Store, home: int, three: tuple[int, int, int]
) -> None:
    store.write(lambda s: s.documents.register_model("m", 1))
    made = edge(store, home, three[0], "vive_en", three[2])
    later = entity(store, home, "Zoe")
    claimed = store.write(lambda s: s.documents.claim("m", 4, "me", 10, 20))
    assert [each.id for each in claimed] == [later, *reversed(three)]
    rows = [NewVector(each.id, each.content_hash, b"\0" * 8) for each in claimed]
    store.write(lambda s: s.documents.store_vectors("m", rows))
    assert store.read(lambda s: (s.documents.pending(home, "m"), s.documents.pending(home, "m", facts=False))) == (1, 0)
    (last,) = store.write(lambda s: s.documents.claim("m", 4, "me", 10, 20))
    assert (last.id, last.text) == (made, "Ana vive en Lugo")
    store.write(lambda s: s.documents.register_model("n", 1))
    assert store.read(lambda s: (s.documents.pending(home, "n"), s.documents.pending(home, "n", facts=False))) == (5, 4)


# -- lists ---------------------------------------------------------------------------------------

KEYS: Sequence[SortKey] = ("created_at", "predicate", "subject", "object", "confidence", "id")


def some_facts(store: Store, home: int) -> list[Edge]:
    people = [
        entity(store, home, name, kind) for name, kind in (("Ana", "Persona"), ("bea", "PERSONA"), ("Lugo", "Lugar"))
    ]
    rows = [
        NewEdge(
            people[n % 3], f"p{n % 2}", people[2] if n % 4 else None, None if n % 4 else f"v{n}", confidence=n % 3 / 2
        )
        for n in range(12)
    ]
    made = [tell(store, home, replace(row, ended_at=n * 10 or None), at=n // 3)[0] for n, row in enumerate(rows)]
    return [fact(store, each) for each in made]


def sort_value(row: Edge, by: SortKey) -> str | float | int:
    match by:
        case "object":
            return str(row.value if row.object is None else row.object)
        case "created_at":
            return row.created_at
        case "predicate":
            return row.predicate
        case "subject":
            return row.subject
        case "confidence":
            return row.confidence
        case "id":
            return row.id


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("by", KEYS)
def test_pages_are_cut_from_one_sorted_list(store: Store, home: int, by: SortKey, descending: bool) -> None:
    facts = some_facts(store, home)
    expected = sorted(facts, key=lambda row: (sort_value(row, by), row.id), reverse=descending)
    sorting, every = Sorting(by, descending), FactFilter(home)
    whole = store.read(lambda s: s.facts.page(every, sorting, 100))
    assert [row.id for row in whole] == [row.id for row in expected]
    for size in (1, 5):
        by_offset = [store.read(lambda s, n=n: s.facts.page(every, sorting, size, n)) for n in range(0, 12, size)]
        assert [row for page in by_offset for row in page] == whole
        gone_on: list[Edge] = []
        after: After | None = None
        while page := store.read(lambda s, after=after: s.facts.page(every, sorting, size, after=after)):
            gone_on += page
            after = After(sort_value(page[-1], by), page[-1].id)
        assert gone_on == whole


def test_filters_let_through_what_they_say(store: Store, home: int) -> None:
    facts = some_facts(store, home)
    ana, bea, lugo = (facts[n].subject_id for n in range(3))
    other = store.write(lambda s: s.collections.create("other", "", "", 1)).id
    stranger = entity(store, other, "Zoe", "Persona")
    tell(store, other, NewEdge(stranger, "p1", value="v"))

    def ends(row: Edge) -> set[int | None]:
        return {row.subject_id, row.object_id}

    cases: list[tuple[FactFilter, list[Edge]]] = [
        (FactFilter(home), facts),
        (FactFilter(home, predicates=["p1", "?"]), [row for row in facts if row.predicate == "p1"]),
        (FactFilter(home, predicates=[]), []),
        (FactFilter(home, at=25), [row for row in facts if row.ended_at is None or row.ended_at > 25]),
        (FactFilter(home, at=2), [row for row in facts if row.created_at <= 2]),
        (FactFilter(home, touching=[ana, stranger]), [row for row in facts if ana in ends(row)]),
        (
            FactFilter(home, touching=[ana, bea], also_touching=[lugo]),
            [row for row in facts if ends(row) & {ana, bea} and lugo in ends(row)],
        ),
        (FactFilter(home, entity_type="persona"), [row for row in facts if ends(row) & {ana, bea}]),
        (FactFilter(home, entity_type="nada"), []),
        (FactFilter(home, among=[facts[3].id, facts[7].id, 10**9]), [facts[3], facts[7]]),
        (FactFilter(home, among=[]), []),
        (
            FactFilter(home, predicates=["p0"], at=25, touching=[lugo], entity_type="PERSONA".casefold()),
            [
                row
                for row in facts
                if row.predicate == "p0"
                and (row.ended_at is None or row.ended_at > 25)
                and lugo in ends(row)
                and ends(row) & {ana, bea}
            ],
        ),
    ]
    for wanted, expected in cases:
        found = store.read(lambda s, wanted=wanted: (s.facts.matching(wanted), s.facts.count(wanted)))
        page = store.read(lambda s, wanted=wanted: s.facts.page(wanted, Sorting(), 100))
        assert (found, page) == (({row.id for row in expected}, len(expected)), expected), wanted
    assert store.read(lambda s: s.facts.predicates(home)) == [("p0", 6), ("p1", 6)]


# -- the change feed -----------------------------------------------------------------------------


def known(rows: dict[int, EdgeRow], store: Store, since: int) -> int:
    """Follow the changes; returns the counter."""
    changes = store.read(lambda s: s.facts.changes(since))
    if changes.complete:
        rows.clear()
    for gone in changes.removed:
        rows.pop(gone, None)
    rows.update((row.id, row) for row in changes.rows)
    return changes.counter


Step = tuple[str, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("tell", "end", "revise", "rename", "delete", "drop", "adopt", "look")), st.integers(0, 99)
    ),
    max_size=20,
)


def do(session: Session, people: list[int], step: Step, at: int) -> None:
    """One change of a graph with five entities."""
    what, n = step
    edges = session.facts.page(FactFilter(1), Sorting(), 100)
    a, b = people[n % 5], people[n // 5 % 5]
    if what == "tell" or not edges:
        session.facts.insert(1, [NewEdge(a, f"p{at}", b if n % 2 else None, None if n % 2 else n)], at)
        return
    one = edges[n % len(edges)]
    match what:
        case "end":
            session.edges.end([one.id], at)
        case "revise":
            session.facts.revise(replace(one, subject_id=b, valid_from=at))
        case "rename":
            session.entities.rename(a, f"n{at}", at)
        case "delete":
            session.facts.delete([one.id])
        case "drop":
            session.entities.delete([a])
            people[n % 5 :] = [*session.entities.insert(1, [NewEntity(f"m{at}")], at), *people[n % 5 + 1 :]]
        case _:
            session.edges.adopt_values(a, b)


@settings(max_examples=25)
@given(steps=STEPS)
def test_following_the_changes_gives_what_reading_all_gives(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    with closing(open_store(tmp_path_factory.mktemp("facts") / "memory.db", FrozenClock(NOW))) as store:
        rows: dict[int, EdgeRow] = {}
        since = 0
        people = [entity(store, 1, f"e{n}") for n in range(5)]
        for at, step in enumerate(steps, 1):
            if step[0] == "look":
                since = known(rows, store, since)
            else:
                store.write(lambda s, step=step, at=at: do(s, people, step, at))
        known(rows, store, since)
        anew: dict[int, EdgeRow] = {}
        known(anew, store, 0)
        assert rows == anew
        texts = store.read(lambda s: s.documents.texts(anew))
        facts = store.read(lambda s: s.facts.by_ids(anew))
        assert texts == {
            number: f"{row.subject} {row.predicate} {row.value if row.object is None else row.object}"
            for number, row in facts.items()
        }
        assert healthy(store)
