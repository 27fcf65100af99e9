"""recall_connections and find_path: every fact once, the nearest first, whatever the graph (contract, Facts 4)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evoca import Memory
from evoca.errors import InvalidInput, NotFound
from evoca.memory_facts import FactData
from tests.services.dated import DatedMemory, day


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[DatedMemory]:
    with DatedMemory(tmp_path) as opened:
        yield opened


def tell(memory: Memory, *facts: tuple[str, str, str]) -> list[int]:
    told: list[int] = []
    for begin in range(0, len(facts), 100):
        rows: list[FactData] = [{"subject": s, "predicate": p, "object": o} for s, p, o in facts[begin : begin + 100]]
        told += [fact["id"] for fact in memory.remember_many(rows)["facts"]]
    return told


CHAIN = [(f"N{number}", "sigue", f"N{number + 1}") for number in range(8)]


def test_the_seed_s_example(memory: DatedMemory) -> None:
    one, two = tell(memory, ("user:maya", "has_skill", "TypeScript"), ("team:web", "uses", "TypeScript"))
    found = memory.recall_connections("user:maya", depth=2)
    assert [(fact["id"], fact.get("hop")) for fact in found["facts"]] == [(one, 1), (two, 2)]
    assert found["entities"] == [
        {"name": "user:maya", "hop": 0},
        {"name": "TypeScript", "hop": 1},
        {"name": "team:web", "hop": 2},
    ]
    assert (found["entity"], found["count"], found["total"], found["has_more"]) == ("user:maya", 2, 2, False)


def test_depth_counts_the_hops(memory: DatedMemory) -> None:
    known = tell(memory, *CHAIN)
    for depth in range(1, 6):
        found = memory.recall_connections("n0", depth=depth)
        assert [fact["id"] for fact in found["facts"]] == known[:depth]
        assert found["entities"][-1] == {"name": f"N{depth}", "hop": depth}
    assert memory.recall_connections("N0")["count"] == 2


def test_literals_and_relations_are_walked_too(memory: DatedMemory) -> None:
    memory.remember("Ada", "edad", value=36)
    memory.create_entities([{"name": "Lab"}])
    memory.create_relations([{"from": "Ada", "to": "Lab", "relationType": "works_at"}])
    found = memory.recall_connections("Ada")
    assert [fact["predicate"] for fact in found["facts"]] == ["edad", "works_at"]
    assert [each["name"] for each in found["entities"]] == ["Ada", "Lab"]


def test_direction_and_predicates_restrict_the_walk(memory: DatedMemory) -> None:
    out, back, far = tell(memory, ("A", "p", "B"), ("C", "p", "A"), ("B", "q", "D"))

    def walked(**given: object) -> list[int]:
        found = memory.recall_connections("A", depth=3, **given)  # pyright: ignore[reportArgumentType]
        return [fact["id"] for fact in found["facts"]]

    assert walked() == [out, back, far]
    assert walked(direction="out") == [out, far]
    assert walked(direction="in") == [back]
    assert walked(predicates=["q"]) == []
    assert walked(predicates=["p"]) == [out, back]
    assert walked(predicates=["p", "q"], direction="out") == [out, far]


def test_history_can_be_walked(memory: DatedMemory) -> None:
    (old,) = tell(memory, ("Marta", "vive_en", "Lugo"))
    memory.days(1)
    (new,) = tell(memory, ("Marta", "vive_en", "Gijón"))

    def walked(**given: object) -> list[int]:
        return [fact["id"] for fact in memory.recall_connections("Marta", **given)["facts"]]  # pyright: ignore[reportArgumentType]

    assert (walked(), walked(as_of=day(0)), walked(include_ended=True)) == ([new], [old], [old, new])
    assert memory.find_path("Lugo", "Gijón")["found"] is False
    assert memory.find_path("Lugo", "Gijón", include_ended=True)["path"] == ["Lugo", "Marta", "Gijón"]


def test_pages_list_the_entities_of_their_facts(memory: DatedMemory) -> None:
    known = tell(memory, *CHAIN)
    pages = [memory.recall_connections("N0", depth=5, limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [fact["id"] for page in pages for fact in page["facts"]] == known[:5]
    assert [each["name"] for each in pages[1]["entities"]] == ["N0", "N2", "N3", "N4"]
    assert [page["has_more"] for page in pages] == [True, True, False]
    assert {page["total"] for page in pages} == {5}


def test_an_unknown_entity_has_no_connections(memory: DatedMemory) -> None:
    tell(memory, ("user:maya", "has_skill", "TypeScript"))
    found = memory.recall_connections("user:may")
    assert (found["facts"], found["entities"], found["total"]) == ([], [], 0)
    assert found.get("suggestions") == ["user:maya"]


@pytest.mark.parametrize("given_values", [{"depth": 0}, {"depth": 6}, {"limit": 0}, {"limit": 501}, {"offset": -1}])
def test_values_out_of_range_are_refused_naming_the_field(memory: DatedMemory, given_values: dict[str, int]) -> None:
    with pytest.raises(InvalidInput) as error:
        memory.recall_connections("x", **given_values)  # pyright: ignore[reportArgumentType]
    assert error.value.field in given_values


# -- paths ---------------------------------------------------------------------------------------------


def test_a_shortest_path_is_found_in_either_direction(memory: DatedMemory) -> None:
    known = tell(memory, ("A", "p", "B"), ("B", "p", "C"), ("C", "p", "D"), ("D", "p", "A"))
    found = memory.find_path("A", "C")
    assert (found["found"], found["path"]) == (True, ["A", "B", "C"])
    assert [fact["id"] for fact in found["facts"]] == known[:2]
    assert memory.find_path("a", "d")["path"] == ["A", "D"]
    assert memory.find_path("A", "D", direction="out")["path"] == ["A", "B", "C", "D"]
    assert memory.find_path("A", "D", direction="in")["path"] == ["A", "D"]


def test_no_path_is_no_error(memory: DatedMemory) -> None:
    tell(memory, ("A", "p", "B"), ("C", "p", "D"), *CHAIN)
    assert memory.find_path("A", "C") == {"found": False, "path": [], "facts": []}
    assert memory.find_path("A", "B", predicates=["q"])["found"] is False
    assert memory.find_path("N0", "N6")["found"] is False
    assert len(memory.find_path("N0", "N6", max_depth=6)["path"]) == 7


def test_an_entity_leads_to_itself(memory: DatedMemory) -> None:
    tell(memory, ("A", "p", "B"))
    assert memory.find_path("A", "a") == {"found": True, "path": ["A"], "facts": []}


def test_unknown_ends_are_told(memory: DatedMemory) -> None:
    tell(memory, ("user:maya", "p", "B"))
    with pytest.raises(NotFound, match="Entity not found: user:may") as error:
        memory.find_path("B", "user:may")
    assert error.value.hint == "Spelled alike: user:maya."


# -- graphs that explode when paths are enumerated --------------------------------------------------------


def test_a_dense_graph_is_walked_once(memory: DatedMemory) -> None:
    """Case: a complete graph of 40, a triangle and a self-loop; every depth shows each fact once."""
    names = [f"N-{number:02}" for number in range(1, 41)]
    tell(memory, *((one, "conoce", other) for one in names for other in names if one != other))
    tell(memory, ("A", "p", "B"), ("B", "p", "C"), ("C", "p", "A"), ("A", "p", "A"), ("A", "p", "N-01"))
    for depth, expected in ((1, 79), (2, 1_564), (3, 1_565), (4, 1_565), (5, 1_565)):
        seen: list[tuple[int, int]] = []
        hops: dict[str, int] = {}
        while True:
            page = memory.recall_connections("N-01", depth=depth, limit=500, offset=len(seen))
            seen += [(fact.get("hop", 0), fact["id"]) for fact in page["facts"]]
            hops |= {each["name"]: each["hop"] for each in page["entities"]}
            if not page["has_more"]:
                break
        assert len(seen) == page["total"] == expected
        assert seen == sorted(seen)
        assert len({number for _, number in seen}) == len(seen)
        assert hops["N-40"] == 1
        assert hops.get("B") == (2 if depth > 1 else None)
    assert memory.find_path("C", "N-40")["path"] == ["C", "A", "N-01", "N-40"]
    assert memory.find_path("N-40", "N-02", max_depth=20)["path"] == ["N-40", "N-02"]


def test_a_long_chain_is_followed_as_far_as_allowed(memory: DatedMemory) -> None:
    tell(memory, *((f"K{number}", "sigue", f"K{number + 1}") for number in range(3_000)))
    assert len(memory.find_path("K0", "K20", max_depth=20)["path"]) == 21
    assert memory.find_path("K0", "K21", max_depth=20)["found"] is False
    with pytest.raises(InvalidInput, match="max_depth"):
        memory.find_path("K0", "K21", max_depth=21)
