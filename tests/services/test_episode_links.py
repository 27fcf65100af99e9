"""Links between memories: made once, walked both ways, weaker with time and never rewritten."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoca.domain.episodes import NewEpisodeLink
from evoca.errors import InvalidInput, NotFound
from tests.services.ageing import Ageing


@pytest.fixture
def ageing(tmp_path: Path) -> Iterator[Ageing]:
    with Ageing(tmp_path) as opened:
        yield opened


def saved(ageing: Ageing, count: int) -> list[int]:
    return [ageing.save(f"Nota número {number}") for number in range(count)]


def link(ageing: Ageing, source: int, target: int, **rest: object) -> Mapping[str, object]:
    return ageing.call("link_hipocampo", source_id=source, target_id=target, **rest)


def nodes(reply: Mapping[str, object]) -> list[tuple[int, int]]:
    return [(node["id"], node["depth"]) for node in cast("list[dict[str, int]]", reply["nodes"])]


def edges(reply: Mapping[str, object]) -> list[dict[str, float]]:
    return cast("list[dict[str, float]]", reply["edges"])


# -- linking -------------------------------------------------------------------------------------


def test_a_link_is_made_once(ageing: Ageing) -> None:
    one, two = saved(ageing, 2)
    reply = link(ageing, one, two, relation_type="follow_up", weight=0.5)
    number = reply["id"]
    assert reply["status"] == "linked"
    assert reply["result"] == f"✅ Enlace #{number} creado: [{one}] --follow_up--> [{two}] (peso=0.5)"
    assert reply["link"] == {
        "id": number, "source_id": one, "target_id": two, "relation_type": "follow_up", "weight": 0.5,
    }  # fmt: skip
    again = link(ageing, one, two, relation_type="follow_up", weight=1.0)
    assert (again["status"], again["link"]) == ("exists", reply["link"])
    assert again["result"] == f"⚠️ Ya existe un enlace follow_up entre {one} y {two}."
    assert link(ageing, two, one, relation_type="follow_up")["status"] == "linked"
    assert link(ageing, one, two)["status"] == "linked"


def test_a_memory_is_not_linked_to_itself(ageing: Ageing) -> None:
    (one,) = saved(ageing, 1)
    with pytest.raises(InvalidInput, match="No se puede enlazar un recuerdo consigo mismo"):
        link(ageing, one, one)


def test_unknown_ends_are_not_found(ageing: Ageing) -> None:
    (one,) = saved(ageing, 1)
    for ends in ((one, 999), (999, one)):
        with pytest.raises(NotFound, match="id=999"):
            link(ageing, *ends)


@pytest.mark.parametrize(("field", "value"), [("weight", 1.1), ("weight", -0.1), ("relation_type", " ")])
def test_what_is_out_of_range_is_refused(ageing: Ageing, field: str, value: object) -> None:
    one, two = saved(ageing, 2)
    with pytest.raises(InvalidInput) as error:
        link(ageing, one, two, **{field: value})
    assert error.value.field == field


def test_links_are_removed_by_id_or_by_ends(ageing: Ageing) -> None:
    one, two = saved(ageing, 2)
    first = link(ageing, one, two)["id"]
    others = [link(ageing, one, two, relation_type=each)["id"] for each in ("chain", "validates")]
    back = link(ageing, two, one)["id"]
    assert ageing.call("unlink_hipocampo", id=first)["result"] == f"✅ Enlace #{first} eliminado."
    reply = ageing.call("unlink_hipocampo", source_id=one, target_id=two, relation_type="chain")
    assert [each["id"] for each in cast("list[dict[str, int]]", reply["removed"])] == others[:1]
    reply = ageing.call("unlink_hipocampo", source_id=one, target_id=two)
    assert reply["result"] == f"✅ 1 enlace(s) eliminado(s): [{others[1]}]."
    left = cast("list[dict[str, int]]", ageing.call("get_hipocampo", id=one)["links"])
    assert [each["id"] for each in left] == [back]


def test_links_that_are_not_there(ageing: Ageing) -> None:
    one, two = saved(ageing, 2)
    with pytest.raises(NotFound, match="No existe enlace con id=999"):
        ageing.call("unlink_hipocampo", id=999)
    with pytest.raises(NotFound, match=f"No se encontró enlace entre {one} y {two}"):
        ageing.call("unlink_hipocampo", source_id=one, target_id=two)


@pytest.mark.parametrize("arguments", [{}, {"source_id": 1}, {"id": 1, "source_id": 1, "target_id": 2}])
def test_a_link_is_named_in_one_way(ageing: Ageing, arguments: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match="Debes proveer id, o source_id"):
        ageing.call("unlink_hipocampo", **arguments)


# -- the graph -----------------------------------------------------------------------------------


def test_the_graph_follows_links_both_ways(ageing: Ageing) -> None:
    one, two, three, four, alone = saved(ageing, 5)
    link(ageing, two, one)
    link(ageing, two, three)
    link(ageing, four, three)
    reply = ageing.call("graph_hipocampo", node_id=one, depth=2)
    assert nodes(reply) == [(one, 0), (two, 1), (three, 2)]
    assert [(edge["source_id"], edge["target_id"]) for edge in edges(reply)] == [(two, one), (two, three)]
    assert set(edges(reply)[0]) == {"source_id", "target_id", "relation_type", "weight", "effective_weight"}
    assert reply["truncated"] is False
    assert nodes(ageing.call("graph_hipocampo", node_id=alone)) == [(alone, 0)]


def test_weights_fade_and_are_never_written_back(ageing: Ageing) -> None:
    one, two = saved(ageing, 2)
    link(ageing, one, two, weight=0.8)
    ageing.days(90)
    for _ in range(3):
        (edge,) = edges(ageing.call("graph_hipocampo", node_id=one))
        assert (edge["weight"], edge["effective_weight"]) == (0.8, 0.4)
    ageing.days(90)
    assert edges(ageing.call("graph_hipocampo", node_id=two))[0]["effective_weight"] == 0.2


def test_a_path_that_was_walked_counts_as_use(ageing: Ageing) -> None:
    one, two = saved(ageing, 2)
    link(ageing, one, two)
    ageing.days(90)
    ageing.call("path_hipocampo", from_id=one, to_id=two)
    ageing.runtime.services().tracking.flush()
    (edge,) = edges(ageing.call("graph_hipocampo", node_id=one))
    assert (edge["weight"], edge["effective_weight"]) == (1.0, 1.0)


def test_the_nearest_and_strongest_are_kept(ageing: Ageing) -> None:
    hub, *rest = saved(ageing, 6)
    for place, each in enumerate(rest):
        link(ageing, hub, each, weight=0.1 * place)
    link(ageing, rest[4], saved(ageing, 1)[0])
    reply = ageing.call("graph_hipocampo", node_id=hub, max_nodes=3)
    assert nodes(reply) == [(hub, 0), (rest[4], 1), (rest[3], 1)]
    assert reply["truncated"] is True


def test_an_overview_shows_the_most_linked(ageing: Ageing) -> None:
    one, two, three, _ = saved(ageing, 4)
    link(ageing, one, two)
    link(ageing, three, one)
    reply = ageing.call("graph_hipocampo", max_nodes=2)
    assert nodes(reply) == [(one, 0), (two, 0)]
    assert (reply["total_nodes"], reply["total_edges"], reply["truncated"]) == (3, 2, True)
    assert [(edge["source_id"], edge["target_id"]) for edge in edges(reply)] == [(one, two)]


# -- paths ---------------------------------------------------------------------------------------


def test_a_path_goes_against_links_too(ageing: Ageing) -> None:
    one, two, three, four = saved(ageing, 4)
    link(ageing, two, one)
    link(ageing, two, three)
    link(ageing, four, three)
    reply = ageing.call("path_hipocampo", from_id=one, to_id=four)
    assert (reply["found"], reply["path"]) == (True, [one, two, three, four])
    reply = ageing.call("path_hipocampo", from_id=one, to_id=four, max_depth=2)
    assert (reply["found"], reply["path"]) == (False, [])
    assert reply["result"] == f"❌ No se encontró camino entre [{one}] y [{four}] (hasta depth=2)."
    assert ageing.call("path_hipocampo", from_id=one, to_id=one)["path"] == [one]


def test_ends_of_a_path_are_known(ageing: Ageing) -> None:
    (one,) = saved(ageing, 1)
    with pytest.raises(NotFound, match="id=999"):
        ageing.call("path_hipocampo", from_id=one, to_id=999)


PAIRS = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda ends: ends[0] != ends[1]), max_size=14)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ageing]:
    """One store for all examples; each makes memories of its own."""
    with Ageing(tmp_path_factory.mktemp("paths")) as opened:
        yield opened


@settings(max_examples=40)
@given(PAIRS)
def test_paths_are_shortest(shared: Ageing, pairs: set[tuple[int, int]]) -> None:
    ids = saved(shared, 8)
    for source, target in sorted(pairs):
        link(shared, ids[source], ids[target])
    steps = distances(8, pairs)
    for goal in range(1, 8):
        reply = shared.call("path_hipocampo", from_id=ids[0], to_id=ids[goal], max_depth=10)
        path = [ids.index(each) for each in cast("list[int]", reply["path"])]
        assert (len(path) - 1 if path else None) == steps.get(goal)
        assert all((a, b) in pairs or (b, a) in pairs for a, b in pairwise(path))


def distances(count: int, pairs: set[tuple[int, int]]) -> dict[int, int]:
    """From node 0, by relaxing every pair as often as there are nodes."""
    found = {0: 0}
    for _ in range(count):
        for a, b in pairs | {(b, a) for a, b in pairs}:
            if a in found:
                found[b] = min(found.get(b, count), found[a] + 1)
    return found


# -- contradictions ------------------------------------------------------------------------------


def test_contradictions_are_shown_from_both_sides(ageing: Ageing) -> None:
    old = ageing.save("Marta vive en Lugo")
    ageing.days(1)
    new = ageing.save("Marta vive en Gijón")
    details = json.dumps({"confidence": 0.91, "kind": "value", "differs_in": ["name"]})
    ageing.runtime.store.write(
        lambda session: session.episode_links.insert(
            ageing.collection, NewEpisodeLink(new, old, "contradicts", 0.91, details), ageing.clock.now()
        )
    )
    shown = {"confidence": 0.91, "kind": "value", "differs_in": ["name"]}
    assert ageing.call("contradicciones_hipocampo", memory_id=old)["contradictions"] == [
        {"id": new, "newer": True, **shown}
    ]
    assert ageing.call("contradicciones_hipocampo", memory_id=new)["contradictions"] == [
        {"id": old, "newer": False, **shown}
    ]


def test_without_contradictions_it_says_so(ageing: Ageing) -> None:
    (one,) = saved(ageing, 1)
    reply = ageing.call("contradicciones_hipocampo", memory_id=one)
    assert reply["contradictions"] == []
    assert reply["result"] == f"✅ Sin contradicciones detectadas para memoria #{one}."
    with pytest.raises(NotFound):
        ageing.call("contradicciones_hipocampo", memory_id=999)


@pytest.mark.parametrize("embedder", ["none", "hash"])
def test_contradictions_are_seen_before_the_background_has_looked(tmp_path: Path, embedder: str) -> None:
    with Ageing(tmp_path, embedder) as ageing:
        for number in range(20):
            ageing.save(f"Iria vive en la calle {number} y tiene {number} gatos")
        old = ageing.save("Marta vive en Lugo", session_id="s")
        ageing.days(1)
        new = ageing.save("Marta vive en Gijón", session_id="s")
        ageing.save("Marta vive en Vigo", session_id="otra")
        reply = ageing.call("contradicciones_hipocampo", memory_id=old)
        (found,) = cast("list[dict[str, object]]", reply["contradictions"])
        assert (found["id"], found["newer"]) == (new, True)
        assert found["differs_in"]
        (back,) = cast(
            "list[dict[str, object]]", ageing.call("contradicciones_hipocampo", memory_id=new)["contradictions"]
        )
        assert back == {**found, "id": old, "newer": False}
