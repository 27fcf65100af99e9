"""analyze, propose and execute_entity_split, find_split_candidates (seed 000, tools 11 to 14; contract, Graph 8)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evoca import Memory
from evoca.errors import Conflict, EntityNotFound, InvalidInput, NotFound
from evoca.memory import SplitData
from evoca.operations.catalogue import CATALOGUE
from evoca.runtime import Runtime
from evoca.settings import load_settings

ARCHITECTURE = [
    "La arquitectura usa SQLite",
    "Arquitectura en capas sobre SQLite",
    "La arquitectura se revisa cada mes",
    *(f"La arquitectura del módulo {name} está escrita" for name in "alfa beta gama delta épsilon zeta".split()),
]
TESTS = [
    "97 tests passing",
    "Los tests corren en dos minutos",
    *(f"Faltan tests de {name}" for name in "importar exportar buscar borrar".split()),
]
DEPLOY = [
    "Deploy: Vercel",
    "URL: cachorro.space en Vercel",
    *(
        f"Vercel avisa por {name}"
        for name in "correo teléfono radio carta paloma telegrama fax megáfono bandera humo campana".split()
    ),
]
OBSERVATIONS = [*ARCHITECTURE, *TESTS, *DEPLOY]
ORIGINAL = "Proyecto cachorrites"
PART: dict[str, object] = {
    "name": f"{ORIGINAL} - Arquitectura",
    "entity_type": "Proyecto",
    "observations": ARCHITECTURE[:2],
}


@pytest.fixture
def memory(memory: Memory) -> Memory:
    assert len(OBSERVATIONS) == 28
    memory.create_entities(
        [
            {"name": ORIGINAL, "entityType": "Proyecto", "observations": OBSERVATIONS},
            {"name": "Pequeño", "entityType": "Proyecto", "observations": ["uno", "dos"]},
        ]
    )
    return memory


def texts(memory: Memory, name: str) -> list[str]:
    return memory.open_nodes([name])["entities"][0]["observations"]


def parts(*splits: Mapping[str, object]) -> list[SplitData]:
    return cast("list[SplitData]", list(splits))


# -- analyze ----------------------------------------------------------------------------------------


def test_an_analysis_has_the_contract_s_keys_and_numbers(memory: Memory) -> None:
    analysis = memory.analyze_entity_split(ORIGINAL)["analysis"]
    topics = analysis["topics"]
    assert analysis | {"topics": {}} == {
        "entity_name": ORIGINAL,
        "entity_type": "Proyecto",
        "observation_count": 28,
        "threshold": 25,
        "needs_split": True,
        "topics": {},
        "split_score": 1.12,
    }
    assert topics == {"Arquitectura": ARCHITECTURE, "Tests": TESTS, "Vercel": DEPLOY}
    assert texts(memory, ORIGINAL) == OBSERVATIONS


def test_within_the_threshold_there_are_no_topics(memory: Memory) -> None:
    analysis = memory.analyze_entity_split("Pequeño")["analysis"]
    assert (analysis["needs_split"], analysis["topics"], analysis["split_score"]) == (False, {}, 0.08)


@pytest.mark.parametrize(("count", "needs"), [(15, False), (16, True)])
def test_exactly_the_threshold_is_not_too_much(memory: Memory, count: int, needs: bool) -> None:
    memory.create_entities(
        [{"name": "S", "entityType": "Sesión", "observations": [f"nota {number}" for number in range(count)]}]
    )
    assert memory.analyze_entity_split("S")["analysis"]["needs_split"] is needs


def test_superseded_observations_do_not_count(memory: Memory) -> None:
    details = memory.open_nodes([ORIGINAL], details=True)["entities"][0].get("observation_details", [])
    memory.add_observations(["Deploy: Netlify"], name=ORIGINAL, supersedes=details[-1]["id"])
    assert memory.analyze_entity_split(ORIGINAL)["analysis"]["observation_count"] == 28


@pytest.mark.parametrize("call", ["analyze_entity_split", "propose_entity_split"])
def test_an_unknown_entity_is_named(memory: Memory, call: str) -> None:
    with pytest.raises(EntityNotFound) as error:
        getattr(memory, call)("Nadie")
    assert error.value.message == "Entity not found: Nadie"


# -- propose ----------------------------------------------------------------------------------------


def test_a_proposal_has_the_contract_s_shape(memory: Memory) -> None:
    proposal = memory.propose_entity_split(ORIGINAL)["proposal"]
    assert proposal is not None
    children = [f"{ORIGINAL} - {topic}" for topic in ("Arquitectura", "Tests", "Vercel")]
    assert proposal == {
        "original_entity": {"name": ORIGINAL, "entity_type": "Proyecto"},
        "suggested_splits": [
            {"name": name, "entity_type": "Proyecto", "observations": observations}
            for name, observations in zip(children, (ARCHITECTURE, TESTS, DEPLOY), strict=True)
        ],
        "relations_to_create": [
            relation
            for name in children
            for relation in (
                {"from": ORIGINAL, "to": name, "type": "contiene"},
                {"from": name, "to": ORIGINAL, "type": "parte_de"},
            )
        ],
        "analysis": {"observation_count": 28, "threshold": 25, "split_score": 1.12, "num_topics": 3},
    }


def test_no_proposal_where_none_is_needed(memory: Memory) -> None:
    assert memory.propose_entity_split("Pequeño") == {
        "proposal": None,
        "message": "Entity does not need splitting",
    }


def test_a_proposed_name_is_nobody_s(memory: Memory) -> None:
    memory.create_entities([{"name": f"{ORIGINAL} - Tests"}])
    proposal = memory.propose_entity_split(ORIGINAL)["proposal"]
    assert proposal is not None
    assert [split["name"] for split in proposal["suggested_splits"]] == [
        f"{ORIGINAL} - Arquitectura",
        f"{ORIGINAL} - Tests 2",
        f"{ORIGINAL} - Vercel",
    ]


def test_the_other_spellings_are_the_same_operations() -> None:
    aliases = {operation.name: operation.aliases for operation in CATALOGUE if operation.aliases}
    assert aliases["propose_entity_split"] == ("propose_entity_split_tool",)
    assert aliases["execute_entity_split"] == ("execute_entity_split_tool",)


# -- execute ----------------------------------------------------------------------------------------


def test_an_approved_part_is_made(memory: Memory) -> None:
    assert memory.execute_entity_split(ORIGINAL, parts(PART)) == {
        "result": {
            "new_entities": [f"{ORIGINAL} - Arquitectura"],
            "moved_observations": 2,
            "relations_created": 2,
            "original_observations_remaining": 26,
        }
    }
    graph = memory.open_nodes([f"{ORIGINAL} - Arquitectura"])
    assert graph["entities"][0] == {
        "name": f"{ORIGINAL} - Arquitectura",
        "entityType": "Proyecto",
        "observations": ARCHITECTURE[:2],
    }
    assert graph["relations"] == [
        {"from": ORIGINAL, "to": f"{ORIGINAL} - Arquitectura", "relationType": "contiene"},
        {"from": f"{ORIGINAL} - Arquitectura", "to": ORIGINAL, "relationType": "parte_de"},
    ]
    assert texts(memory, ORIGINAL) == OBSERVATIONS[2:]


def test_what_moves_stays_what_it_is(memory: Memory) -> None:
    before = memory.open_nodes([ORIGINAL], details=True)["entities"][0].get("observation_details", [])
    memory.add_observations(["Arquitectura nueva"], name=ORIGINAL, kind="decision", supersedes=before[0]["id"])
    rows = memory.open_nodes([ORIGINAL], details=True, include_superseded=True)["entities"][0].get(
        "observation_details", []
    )
    history = [row for row in rows if row["content"] in (ARCHITECTURE[0], "Arquitectura nueva")]
    memory.execute_entity_split(ORIGINAL, parts({"name": "Nueva", "observations": ["Arquitectura nueva"]}))
    moved = memory.open_nodes(["Nueva"], details=True, include_superseded=True)["entities"][0]
    assert moved["entityType"] == "Proyecto"
    assert moved.get("observation_details") == history
    assert [row["kind"] for row in history] == ["generic", "decision"]


def test_a_part_is_found_at_once(memory: Memory) -> None:
    memory.execute_entity_split(ORIGINAL, parts(PART))
    assert [entity["name"] for entity in memory.search_nodes("capas sobre")["entities"]] == [PART["name"]]


def test_a_part_is_found_by_meaning_at_once(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hash") as memory:
        memory.create_entities([{"name": ORIGINAL, "entityType": "Proyecto", "observations": OBSERVATIONS}])
        assert memory.search_semantic("capas sobre SQLite", limit=1)["results"][0]["name"] == ORIGINAL
        memory.execute_entity_split(ORIGINAL, parts(PART))
        (hit,) = memory.search_semantic("Arquitectura en capas sobre SQLite", limit=1)["results"]
        assert hit["name"] == PART["name"]
        assert hit["distance"] is not None


def test_a_given_parent_gets_the_parts(memory: Memory) -> None:
    memory.create_entities([{"name": "Casa"}])
    result = memory.execute_entity_split(ORIGINAL, parts(PART), parent_entity_name="Casa")
    assert result["result"]["relations_created"] == 2
    relations = memory.open_nodes([cast("str", PART["name"])])["relations"]
    assert {(each["from"], each["to"]) for each in relations} == {("Casa", PART["name"]), (PART["name"], "Casa")}


def test_a_second_split_adds_to_a_part(memory: Memory) -> None:
    memory.execute_entity_split(ORIGINAL, parts(PART))
    again = PART | {"observations": ARCHITECTURE[2:4]}
    assert memory.execute_entity_split(ORIGINAL, parts(again))["result"] == {
        "new_entities": [],
        "moved_observations": 2,
        "relations_created": 0,
        "original_observations_remaining": 24,
    }
    assert texts(memory, cast("str", PART["name"])) == ARCHITECTURE[:4]


def test_an_entity_that_is_no_part_is_not_touched(memory: Memory) -> None:
    with pytest.raises(Conflict) as error:
        memory.execute_entity_split(ORIGINAL, parts(PART | {"name": "Pequeño"}))
    assert error.value.message.startswith("approved_splits[0].name: Pequeño is an entity already")
    assert texts(memory, "Pequeño") == ["uno", "dos"]


def test_a_text_that_the_part_has_already_is_not_moved(memory: Memory) -> None:
    memory.execute_entity_split(ORIGINAL, parts(PART))
    memory.add_observations([ARCHITECTURE[0]], name=ORIGINAL)
    with pytest.raises(Conflict):
        memory.execute_entity_split(ORIGINAL, parts(PART | {"observations": [ARCHITECTURE[0]]}))


IMPOSSIBLE: list[tuple[list[dict[str, object]], str]] = [
    ([PART | {"observations": ["Nunca dicho"]}], "approved_splits[0].observations[0]"),
    ([PART | {"observations": [ARCHITECTURE[0], ARCHITECTURE[0]]}], "approved_splits[0].observations[1]"),
    ([PART, PART | {"name": "Otra"}], "approved_splits[1].observations[0]"),
    ([PART, PART | {"observations": [TESTS[0]]}], "approved_splits[1].name"),
    ([PART | {"name": ORIGINAL}], "approved_splits[0].name"),
    ([PART | {"name": "  "}], "approved_splits[0].name"),
    ([PART | {"observations": []}], "approved_splits[0].observations"),
    ([PART | {"observaciones": []}], "approved_splits[0]"),
    ([], "approved_splits"),
]


@pytest.mark.parametrize(("splits", "field"), IMPOSSIBLE)
def test_a_split_that_cannot_be_is_refused_whole(memory: Memory, splits: list[dict[str, object]], field: str) -> None:
    before = memory.read_graph()
    with pytest.raises(InvalidInput) as error:
        memory.execute_entity_split(ORIGINAL, parts(*splits))
    assert field in error.value.message
    assert memory.read_graph() == before


def test_a_superseded_text_is_not_the_original_s(memory: Memory) -> None:
    details = memory.open_nodes([ORIGINAL], details=True)["entities"][0].get("observation_details", [])
    memory.add_observations(["Nueva"], name=ORIGINAL, supersedes=details[0]["id"])
    with pytest.raises(InvalidInput):
        memory.execute_entity_split(ORIGINAL, parts(PART))


def test_an_unknown_original_or_parent_is_named(memory: Memory) -> None:
    with pytest.raises(NotFound) as error:
        memory.execute_entity_split("Nadie", parts(PART))
    assert error.value.message == "Original entity 'Nadie' not found"
    with pytest.raises(EntityNotFound) as error:
        memory.execute_entity_split(ORIGINAL, parts(PART), parent_entity_name="Nadie")
    assert error.value.message == "Entity not found: Nadie"
    assert texts(memory, ORIGINAL) == OBSERVATIONS


def test_a_former_name_leads_to_the_original(memory: Memory) -> None:
    memory.rename_entity(ORIGINAL, "Evoca", dry_run=False)
    assert memory.analyze_entity_split(ORIGINAL)["analysis"]["entity_name"] == "Evoca"
    assert memory.execute_entity_split(ORIGINAL, parts(PART))["result"]["moved_observations"] == 2


words = st.text("ab ñ1.", min_size=1, max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.data())
def test_no_split_loses_doubles_or_invents_an_observation(memory: Memory, data: st.DataObject) -> None:
    name = f"E{len(memory.read_graph()['entities'])}"
    observations = data.draw(st.lists(words, unique=True, min_size=1, max_size=60))
    memory.create_entities([{"name": name, "observations": observations}])
    if data.draw(st.booleans()):
        proposal = memory.propose_entity_split(name)["proposal"]
        splits = [] if proposal is None else [dict(split) for split in proposal["suggested_splits"]]
    else:
        pool = data.draw(st.permutations(observations))
        sizes = data.draw(st.lists(st.integers(1, 8), max_size=5))
        bounds = [sum(sizes[:at]) for at in range(len(sizes) + 1)]
        drawn = [pool[begin:end] for begin, end in pairwise(bounds)]
        splits = [{"name": f"{name} {at}", "observations": each} for at, each in enumerate(drawn) if each]
    if not splits:
        return
    result = memory.execute_entity_split(name, parts(*splits))["result"]
    held = [texts(memory, each) for each in [name, *(cast("str", split["name"]) for split in splits)]]
    assert sorted(text for each in held for text in each) == sorted(observations)
    assert [sorted(each) for each in held[1:]] == [sorted(cast("list[str]", split["observations"])) for split in splits]
    assert result["moved_observations"] + result["original_observations_remaining"] == len(observations)
    assert result["original_observations_remaining"] == len(held[0])
    assert result["relations_created"] == 2 * len(splits)


# -- candidates -------------------------------------------------------------------------------------


def test_every_entity_above_its_threshold_is_a_candidate(memory: Memory) -> None:
    memory.create_entities(
        [{"name": "Sesión 2026-03-31", "entityType": "Sesion", "observations": [*ARCHITECTURE, *DEPLOY[:9]]}]
    )
    candidates = memory.find_split_candidates()["candidates"]
    assert candidates == [
        memory.analyze_entity_split(ORIGINAL)["analysis"],
        memory.analyze_entity_split("Sesión 2026-03-31")["analysis"],
    ]
    assert [(each["entity_type"], each["split_score"]) for each in candidates] == [("Proyecto", 1.12), ("Sesion", 1.2)]
    assert memory.find_split_candidates()["candidates"] == candidates


def test_without_any_the_list_is_empty(tmp_path: Path) -> None:
    with Memory(tmp_path / "other.db", embedder="none") as memory:
        memory.create_entities([{"name": "Ada", "observations": ["uno"]}])
        assert memory.find_split_candidates() == {"candidates": []}


def test_topics_are_found_by_meaning_once_all_is_embedded(tmp_path: Path) -> None:
    opened = Runtime(load_settings(store=str(tmp_path / "m.db"), embedder="hash"))
    services = opened.services()
    operations = {operation.name: operation for operation in CATALOGUE}
    entity = {"name": ORIGINAL, "entityType": "Proyecto", "observations": OBSERVATIONS}
    opened.call(operations["create_entities"], {"entities": [entity]})
    assert services.indexing.catch_up(services.collection, timeout=30) == 0
    analyses = [services.splitting.analyse(services.collection, ORIGINAL) for _ in range(2)]
    opened.close()
    assert analyses[0] == analyses[1]
    assert sorted(at for topic in analyses[0].topics for at in topic.members) == list(range(28))
