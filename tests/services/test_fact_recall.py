"""recall: entities, topics, filters, pages (seed 004; contract, Facts 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca import Memory
from evoca.errors import InvalidInput, LimitExceeded
from evoca.memory_facts import FactData
from evoca.operations.fact_results import FactJson, RecallResult
from tests.services.dated import DatedMemory, day


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[DatedMemory]:
    with DatedMemory(tmp_path) as opened:
        yield opened


def tell(memory: Memory, *facts: tuple[str, str, str]) -> list[int]:
    rows: list[FactData] = [{"subject": s, "predicate": p, "object": o} for s, p, o in facts]
    return [fact["id"] for fact in memory.remember_many(rows)["facts"]]


def ids(result: RecallResult) -> list[int]:
    return [fact["id"] for fact in result["facts"]]


def said(facts: Sequence[FactJson]) -> list[str]:
    return [f"{fact['subject']} {fact['predicate']} {fact.get('object', fact.get('value'))}" for fact in facts]


CHAIN = [("A", "a", "B"), ("B", "b", "C"), ("C", "c", "D"), ("D", "d", "E"), ("E", "e", "F"), ("F", "f", "G")]


# -- the contract's examples ---------------------------------------------------------------------------


def test_the_seed_s_example(memory: DatedMemory) -> None:
    fact = memory.remember("user:maya", "has_skill", "TypeScript")
    found = memory.recall(query="user:maya")
    assert found["count"] == found["total"] == 1
    assert found["has_more"] is False
    shown = found["facts"][0]
    assert {key: shown.get(key) for key in ("subject", "predicate", "object")} == {
        "subject": "user:maya",
        "predicate": "has_skill",
        "object": "TypeScript",
    }
    assert shown["id"] == fact["id"]
    assert "score" not in shown


def test_something_must_be_asked_for(memory: DatedMemory) -> None:
    nothing: list[dict[str, object]] = [{}, {"entity_type": "user"}, {"query": "  "}, {"predicates": []}]
    for given_nothing in nothing:
        with pytest.raises(InvalidInput, match=r"^At least one of query, predicate or related_to is required$"):
            memory.ask("recall", **given_nothing)
    for enough in ({"query": "x"}, {"predicate": "x"}, {"predicates": ["x"]}, {"related_to": "x"}):
        assert memory.ask("recall", **enough)["facts"] == []


@pytest.mark.parametrize(
    "given_values",
    [
        {"limit": 0}, {"limit": 201}, {"limit": -1}, {"depth": -1}, {"depth": 6}, {"offset": -1},
        {"sort_by": "score"}, {"sort_by": "id", "sort_order": "up"}, {"as_of": "ayer"},
    ],
)  # fmt: skip
def test_values_out_of_range_are_refused_naming_the_field(memory: DatedMemory, given_values: dict[str, object]) -> None:
    field = list(given_values)[-1]
    with pytest.raises(InvalidInput) as error:
        memory.recall("x", **given_values)  # pyright: ignore[reportArgumentType] - what is refused
    assert field in error.value.message


def test_long_queries_and_lists_are_refused(memory: DatedMemory) -> None:
    assert memory.recall("x" * 2_000)["facts"] == []
    with pytest.raises(LimitExceeded, match="query too long: 2001 > 2000 characters"):
        memory.recall("x" * 2_001)
    assert memory.recall(predicates=[str(number) for number in range(20)])["facts"] == []
    with pytest.raises(LimitExceeded, match="predicates too long: 21 > 20 items"):
        memory.recall(predicates=[str(number) for number in range(21)])


# -- entities ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["user:maya", "USER:Maya", "  user:maya "])
def test_an_entity_is_found_by_its_name(memory: DatedMemory, name: str) -> None:
    known = tell(memory, ("user:maya", "has_skill", "TypeScript"), ("team:web", "has_member", "user:maya"))
    tell(memory, ("user:mayan", "has_skill", "Rust"))
    assert ids(memory.recall(name, depth=0)) == known


def test_a_former_name_leads_to_the_entity(memory: DatedMemory) -> None:
    known = tell(memory, ("Vieja", "habla", "inglés"))
    memory.rename_entity("Vieja", "Nueva", dry_run=False)
    assert ids(memory.recall("Vieja", depth=0)) == known
    assert said(memory.recall("Vieja", depth=0)["facts"]) == ["Nueva habla inglés"]


def test_neighbours_fill_the_page_hop_by_hop(memory: DatedMemory) -> None:
    known = tell(memory, *CHAIN)
    for depth in range(6):
        found = memory.recall("A", depth=depth)
        assert ids(found) == known[: depth + 1]
        assert [fact.get("hop") for fact in found["facts"]] == [None, 1, 2, 3, 4, 5][: depth + 1]
        assert found["total"] == depth + 1
    assert ids(memory.recall("A")) == known[:3]


def test_neighbours_come_behind_direct_hits_by_hop_and_id(memory: DatedMemory) -> None:
    far, near, direct = tell(memory, ("C", "r", "D"), ("B", "r", "C"), ("A", "r", "B"))
    (loop,) = tell(memory, ("B", "r", "B"))
    assert ids(memory.recall("A")) == [direct, near, loop, far]


def test_an_identifier_that_names_nothing_is_not_searched_as_words(memory: DatedMemory) -> None:
    tell(memory, ("user:maya", "has_skill", "TypeScript"), ("Nota", "cita", "user may"))
    found = memory.recall("user:may")
    assert (found["facts"], found["total"], found.get("suggestions")) == ([], 0, ["user:maya"])
    assert said(memory.recall("user:may", fuzzy_match=True, depth=0)["facts"]) == ["user:maya has_skill TypeScript"]


def test_similar_names_will_do_if_asked(memory: DatedMemory) -> None:
    one, other = tell(memory, ("José Pérez", "habla", "inglés"), ("Josefa Perea", "habla", "ruso"))
    assert ids(memory.recall("jose perez", fuzzy_match=True, depth=0)) == [one, other]
    assert ids(memory.recall("JOSÉ PÉREZ", fuzzy_match=True, depth=0)) == [one], "the name itself wins"
    assert memory.recall("zzzz", fuzzy_match=True)["facts"] == []


def test_suggestions_are_few_and_only_where_nothing_matched(memory: DatedMemory) -> None:
    tell(memory, *((f"user:maya{number}", "es", "x") for number in range(8)))
    assert memory.recall("user:maya").get("suggestions") == [f"user:maya{number}" for number in range(5)]
    assert memory.recall(related_to="user:maya").get("suggestions") == [f"user:maya{number}" for number in range(5)]
    assert "suggestions" not in memory.recall("user:maya1")


def test_a_name_that_may_mean_several_suggests_them(memory: DatedMemory) -> None:
    memory.create_entities([{"name": "user:ANA"}, {"name": "user:Ana"}])
    assert memory.recall("user:ana").get("suggestions") == ["user:ANA", "user:Ana"]


# -- filters -------------------------------------------------------------------------------------------


def test_predicates_join(memory: DatedMemory) -> None:
    one, two, three = tell(memory, ("A", "p", "B"), ("A", "q", "C"), ("A", "r", "D"))
    assert ids(memory.recall(predicate="p")) == [one]
    assert ids(memory.recall(predicate="p", predicates=["r"])) == [one, three]
    assert ids(memory.recall("A", predicates=["q", "p"])) == [one, two]


def test_neighbours_are_reached_over_any_facts_and_shown_if_they_pass(memory: DatedMemory) -> None:
    _, skill = tell(memory, ("team:web", "has_member", "user:maya"), ("user:maya", "has_skill", "TypeScript"))
    found = memory.recall("team:web", predicate="has_skill")
    assert [(fact["id"], fact.get("hop")) for fact in found["facts"]] == [(skill, 1)]


def test_a_type_is_of_subject_or_object_without_regard_to_case(memory: DatedMemory) -> None:
    one, two, _ = tell(memory, ("user:maya", "p", "X"), ("X", "p", "user:leo"), ("X", "p", "Y"))
    assert ids(memory.recall("X", entity_type="User", depth=0)) == [one, two]
    assert ids(memory.recall(predicate="p", entity_type="USER")) == [one, two]
    assert memory.recall("X", entity_type="robot")["total"] == 0


def test_related_to_finds_what_lies_around_an_entity(memory: DatedMemory) -> None:
    known = tell(memory, *CHAIN)
    assert ids(memory.recall(related_to="A", depth=1)) == known[:2]
    assert ids(memory.recall("D", related_to="A", depth=2)) == [known[2], known[1], known[0]]
    assert ids(memory.recall("D", related_to="A", depth=1)) == [known[1]]
    assert memory.recall("D", related_to="Nadie")["facts"] == []


def test_history_is_shown_when_asked_for(memory: DatedMemory) -> None:
    (old,) = tell(memory, ("Marta", "vive_en", "Lugo"))
    memory.days(1)
    (new,) = tell(memory, ("Marta", "vive_en", "Gijón"))
    assert ids(memory.recall("Marta")) == [new]
    assert ids(memory.recall("Marta", include_ended=True)) == [old, new]
    assert ids(memory.recall("Marta", as_of=day(0.5))) == [old]
    assert ids(memory.recall("Lugo", include_ended=True, depth=0)) == [old]
    assert ids(memory.recall(predicate="vive_en", as_of=day(0))) == [old]
    assert ids(memory.recall("Marta", sort_by="id", as_of=day(0))) == [old]
    with pytest.raises(InvalidInput, match="exclude each other"):
        memory.recall("Marta", as_of=day(0), include_ended=True)


# -- topics --------------------------------------------------------------------------------------------


def test_a_topic_is_found_by_its_words_at_once(memory: DatedMemory) -> None:
    known = tell(memory, ("Marta", "vive_en", "Gijón"), ("Iria", "habla", "gallego"), ("Luis", "toca", "guitarra"))
    found = memory.recall("¿Quién habla gallego?", depth=0)
    assert ids(found) == [known[1]]
    assert 0 < found["facts"][0].get("score", 0) <= 1
    assert found.get("warnings") == ["No embedding model: facts were sought by words only."]


def test_a_fact_is_found_by_its_context(memory: DatedMemory) -> None:
    fact = memory.remember("Marta", "vive_en", "Gijón", context="Se mudó por el trabajo en el astillero")
    tell(memory, ("Iria", "habla", "gallego"))
    assert ids(memory.recall("astillero", depth=0)) == [fact["id"]]


def test_ended_facts_are_no_hits_unless_asked_for(memory: DatedMemory) -> None:
    (old,) = tell(memory, ("Marta", "vive_en", "Lugo"))
    memory.days(1)
    (new,) = tell(memory, ("Marta", "vive_en", "Gijón"))
    assert ids(memory.recall("dónde vive", depth=0)) == [new]
    assert sorted(ids(memory.recall("dónde vive", include_ended=True, depth=0))) == [old, new]


def test_a_topic_is_filled_with_neighbours_and_narrowed_by_related_to(memory: DatedMemory) -> None:
    hit, near, far, alone = tell(
        memory, ("Marta", "toca", "guitarra"), ("Marta", "conoce", "Bea"), ("Bea", "conoce", "Luis"),
        ("Iria", "toca", "piano"),
    )  # fmt: skip
    found = memory.recall("guitarra española")
    assert [(fact["id"], fact.get("hop")) for fact in found["facts"]] == [(hit, None), (near, 1), (far, 2)]
    assert ["score" in fact for fact in found["facts"]] == [True, False, False]
    assert sorted(ids(memory.recall("quién toca algo", depth=0))) == [hit, alone]
    assert ids(memory.recall("quién toca algo", related_to="Bea", depth=1)) == [hit, near]


def test_with_a_model_meaning_ranks_too(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hash") as memory:
        known = tell(memory, ("Marta", "vive_en", "Gijón"), ("Iria", "habla", "gallego"))
        found = memory.recall("Iria habla gallego con soltura", depth=0)
        assert ids(found)[0] == known[1]
        assert "warnings" not in found


# -- pages ---------------------------------------------------------------------------------------------


def test_pages_go_on_into_the_neighbours(memory: DatedMemory) -> None:
    known = tell(memory, *CHAIN)
    pages = [memory.recall("A", depth=5, limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert [number for page in pages for number in ids(page)] == known
    assert [page["has_more"] for page in pages] == [True, True, False, False]
    assert [page["count"] for page in pages] == [2, 2, 2, 0]
    assert {page["total"] for page in pages} == {6}


NAMES = st.sampled_from("ABCDEF")
FACTS = st.lists(st.tuples(NAMES, st.sampled_from("pq"), NAMES), min_size=1, max_size=25)
QUERIES: list[dict[str, object]] = [
    {"query": "A"}, {"related_to": "A", "depth": 1}, {"predicate": "p"}, {"query": "A", "related_to": "B", "depth": 1},
    {"query": "qué hay de p", "depth": 1}, {"query": "A", "predicate": "q"}, {"query": "A", "sort_by": "object"},
    {"predicate": "p", "sort_by": "subject", "sort_order": "desc"},
]  # fmt: skip


@given(facts=FACTS, size=st.integers(1, 7))
def test_pages_joined_are_the_whole_list(
    tmp_path_factory: pytest.TempPathFactory, facts: list[tuple[str, str, str]], size: int
) -> None:
    with DatedMemory(tmp_path_factory.mktemp("pages")) as memory:
        tell(memory, *facts)
        for query in QUERIES:
            whole = memory.recall(limit=200, **query)  # pyright: ignore[reportArgumentType]
            joined: list[FactJson] = []
            while True:
                page = memory.recall(limit=size, offset=len(joined), **query)  # pyright: ignore[reportArgumentType]
                joined += page["facts"]
                assert page["total"] == whole["total"]
                if not page["has_more"]:
                    break
            assert joined == whole["facts"]
            assert len({fact["id"] for fact in joined}) == len(joined) == whole["total"]


# -- sorted --------------------------------------------------------------------------------------------


def test_sorted_pages_have_neither_ranking_nor_neighbours(memory: DatedMemory) -> None:
    one = memory.remember("A", "p", "Zoe", confidence=0.5)["id"]
    memory.days(1)
    two = memory.remember("A", "q", value=10)["id"]
    three = memory.remember("B", "a", "A", confidence=0.5)["id"]
    memory.remember("B", "a", "Zoe")
    orders = {
        ("id", "asc"): [one, two, three], ("id", "desc"): [three, two, one],
        ("created_at", "desc"): [three, two, one], ("predicate", "asc"): [three, one, two],
        ("subject", "asc"): [one, two, three], ("subject", "desc"): [three, two, one],
        ("object", "asc"): [two, three, one], ("confidence", "asc"): [one, three, two],
        ("confidence", "desc"): [two, three, one],
    }  # fmt: skip
    for (by, order), expected in orders.items():
        found = memory.recall("A", sort_by=by, sort_order=order)
        assert (by, order, ids(found)) == (by, order, expected)
        assert not [fact for fact in found["facts"] if "score" in fact or "hop" in fact]
        assert (found["total"], found["has_more"]) == (3, False)


def test_a_sorted_topic_holds_what_has_all_its_words(memory: DatedMemory) -> None:
    one, two, _ = tell(
        memory, ("Marta", "toca", "guitarra eléctrica"), ("Iria", "toca", "la guitarra"), ("Luis", "toca", "piano")
    )
    assert ids(memory.recall("tocar guitarra", sort_by="id", sort_order="desc")) == [two, one]
    assert memory.recall("tocar trompeta", sort_by="id")["total"] == 0


def test_sorted_pages_obey_the_filters(memory: DatedMemory) -> None:
    one, two, _ = tell(memory, ("user:a", "p", "X"), ("X", "p", "user:b"), ("X", "q", "Y"))
    assert ids(memory.recall(related_to="X", predicate="p", sort_by="id")) == [one, two]
    assert ids(memory.recall("user:a", related_to="X", sort_by="id")) == [one]
    assert ids(memory.recall("X", entity_type="user", sort_by="id")) == [one, two]
    assert memory.recall("user:zz", sort_by="id")["facts"] == []


def all_pages(memory: Memory, insert: bool, **given_query: object) -> list[int]:
    """Follow the cursor to the end, telling more facts meanwhile."""
    seen: list[int] = []
    cursor: str | None = None
    number = 0
    while True:
        page = memory.recall(cursor=cursor, **given_query)  # pyright: ignore[reportArgumentType]
        seen += ids(page)
        cursor = page.get("next_cursor")
        if cursor is None:
            return seen
        if insert:
            number += 1
            tell(memory, (f"Nuevo {number}", "p", "A"), ("Z", "p", f"Nuevo {number}"))


@pytest.mark.parametrize("by", ["created_at", "predicate", "subject", "object", "confidence", "id"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_cursor_neither_skips_nor_repeats_while_others_are_told(memory: DatedMemory, by: str, order: str) -> None:
    """All keys but the id are equal for many."""
    known: list[int] = []
    for number in range(40):
        known += tell(memory, (f"S{number % 3}", "p", f"O{number}" if by == "subject" else f"O{number % 7} {number}"))
    seen = all_pages(memory, insert=True, predicate="p", sort_by=by, sort_order=order, limit=7)
    assert len(set(seen)) == len(seen)
    assert set(known) <= set(seen)


@pytest.mark.parametrize("by", ["id", "created_at"])
def test_by_id_and_time_offsets_are_stable_too(memory: DatedMemory, by: str) -> None:
    known = tell(memory, *((f"S{number}", "p", "O") for number in range(30)))
    seen: list[int] = []
    while page := ids(memory.recall(predicate="p", sort_by=by, limit=7, offset=len(seen))):
        seen += page
        if len(seen) < 60:
            tell(memory, *((f"N{len(seen)} {number}", "p", "O") for number in range(3)))
    assert seen[:30] == known
    assert len(set(seen)) == len(seen)


def test_ten_thousand_facts_are_paged_while_others_are_told(memory: DatedMemory) -> None:
    known: list[int] = []
    for batch in range(100):
        rows: list[FactData] = [
            {"subject": f"S{batch % 5}", "predicate": "p", "value": batch * 100 + number} for number in range(100)
        ]
        known += [fact["id"] for fact in memory.remember_many(rows)["facts"]]
    seen = all_pages(memory, insert=True, predicate="p", sort_by="subject", limit=200)
    assert len(set(seen)) == len(seen)
    assert set(known) <= set(seen)


def test_a_cursor_belongs_to_its_list(memory: DatedMemory) -> None:
    tell(memory, *CHAIN)
    cursor = memory.recall(predicates=["a", "b", "c"], sort_by="id", limit=1)["next_cursor"]  # pyright: ignore[reportTypedDictNotRequiredAccess]
    assert memory.recall(predicates=["c", "b", "a"], sort_by="id", limit=2, cursor=cursor)["count"] == 2
    for other in ({"predicates": ["a", "b"]}, {"sort_by": "subject"}, {"sort_order": "desc"}, {"as_of": day(0)}):
        given_query = {"predicates": ["a", "b", "c"], "sort_by": "id", "cursor": cursor, **other}
        with pytest.raises(InvalidInput, match="another list"):
            memory.recall(**cast("dict[str, str]", given_query))  # pyright: ignore[reportArgumentType]
    for bad in ("x", "e30", "ÿ", "W10", cursor[:-3]):
        with pytest.raises(InvalidInput, match=r"^cursor"):
            memory.recall(predicates=["a", "b", "c"], sort_by="id", cursor=bad)
    with pytest.raises(InvalidInput, match="offset: does not go with cursor"):
        memory.recall(predicates=["a", "b", "c"], sort_by="id", cursor=cursor, offset=1)
    with pytest.raises(InvalidInput, match="cursor: goes with sort_by"):
        memory.recall("A", cursor=cursor)
