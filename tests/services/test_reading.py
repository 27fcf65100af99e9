"""read_graph, search_nodes, open_nodes and delete_entities (contract, Graph 4 and 5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca import Memory
from evoca.errors import InvalidInput
from evoca.memory import EntityData
from tests.services.test_relations import relation

GREENHOUSE: list[EntityData] = [
    {"name": "Orquídea", "entityType": "planta", "observations": ["florece en marzo"]},
    {"name": "Invernadero", "entityType": "lugar", "observations": ["ÚLTIMO PISO", "100% vidrio"]},
    {"name": "plan_a", "entityType": "ORGANIZACIÓN", "observations": []},
    {"name": "planXa", "entityType": "Generic", "observations": ["1000 lanas"]},
]
GROWS = relation("Orquídea", "crece_en", "Invernadero")


@pytest.fixture
def memory(memory: Memory) -> Memory:
    memory.create_entities(GREENHOUSE)
    memory.create_relations([GROWS])
    return memory


def found(memory: Memory, query: str) -> list[str]:
    return [entity["name"] for entity in memory.search_nodes(query)["entities"]]


def test_read_graph_is_everything_in_order(memory: Memory) -> None:
    assert memory.read_graph() == {"entities": GREENHOUSE, "relations": [GROWS]}


def test_relations_show_from_either_end(memory: Memory) -> None:
    for graph in (
        memory.open_nodes(["Orquídea"]),
        memory.open_nodes(["Invernadero"]),
        memory.search_nodes("orquídea"),
    ):
        assert len(graph["entities"]) == 1
        assert graph["relations"] == [GROWS]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("orquídea", ["Orquídea"]),
        ("ORQUÍDEA", ["Orquídea"]),
        ("orquidea", []),
        ("último piso", ["Invernadero"]),
        ("organización", ["plan_a"]),
        ("plan_", ["plan_a"]),
        ("_", ["plan_a"]),
        ("%", ["Invernadero"]),
        ("100%", ["Invernadero"]),
        ("plan", ["Orquídea", "plan_a", "planXa"]),
        ("r", ["Orquídea", "Invernadero", "plan_a", "planXa"]),
        ("marzo florece", []),
        ("zz", []),
        ('"', []),
    ],
)
def test_search_nodes_is_a_substring_in_any_case(memory: Memory, query: str, names: list[str]) -> None:
    assert found(memory, query) == names


def test_an_empty_query_is_everything(memory: Memory) -> None:
    assert memory.search_nodes("") == memory.read_graph()


def test_case_folds_in_every_script(memory: Memory) -> None:
    memory.create_entities([{"name": "ΣΙΓΜΑΣ"}, {"name": "Straße"}, {"name": "Кофе"}])
    assert found(memory, "σιγμας") == ["ΣΙΓΜΑΣ"]
    assert found(memory, "STRASSE") == ["Straße"]
    assert found(memory, "КОФЕ") == ["Кофе"]


@given(
    text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12),
    start=st.integers(0, 11),
    size=st.integers(1, 12),
)
def test_any_part_of_a_text_finds_it(
    tmp_path_factory: pytest.TempPathFactory, text: str, start: int, size: int
) -> None:
    part = text[start : start + size]
    with Memory(tmp_path_factory.mktemp("m") / "m.db", embedder="none") as memory:
        memory.create_entities([{"name": "ficha", "entityType": "t", "observations": [f"..{text}.."]}])
        assert found(memory, part) == ["ficha"]


def test_open_nodes_keeps_the_order_asked_for_and_leaves_out_unknown_names(memory: Memory) -> None:
    graph = memory.open_nodes(["plan_a", "Nadie", "Orquídea", "plan_a"])
    assert [entity["name"] for entity in graph["entities"]] == ["plan_a", "Orquídea"]
    assert memory.open_nodes([]) == {"entities": [], "relations": []}


def test_open_nodes_finds_a_decomposed_name(memory: Memory) -> None:
    assert memory.open_nodes(["Orqui\u0301dea"])["entities"][0]["name"] == "Orquídea"


def test_details_add_ids_times_and_kinds(memory: Memory) -> None:
    graph = memory.open_nodes(["Orquídea"], details=True)
    entity, edge = graph["entities"][0], graph["relations"][0]
    assert set(entity) == {
        "name", "entityType", "observations", "id", "status", "created_at", "updated_at", "observation_details",
        "reflections",
    }  # fmt: skip
    assert set(entity.get("observation_details", [])[0]) == {
        "id", "content", "kind", "similarity_flag", "supersedes", "superseded_at", "created_at",
    }  # fmt: skip
    assert set(edge) == {"from", "to", "relationType", "id", "context", "active", "created_at", "ended_at"}
    assert str(entity.get("created_at")).endswith("Z")
    assert (edge.get("active"), edge.get("ended_at")) == (True, None)


def test_kinds_choose_observations(memory: Memory) -> None:
    memory.add_observations(["pH 6"], name="Orquídea", kind="metrica")
    assert memory.open_nodes(["Orquídea"], kinds=["metrica"])["entities"][0]["observations"] == ["pH 6"]


def test_pages_tell_totals_and_cover_everything_once(memory: Memory) -> None:
    seen: list[str] = []
    offset = 0
    while True:
        page = memory.read_graph(limit=3, offset=offset)
        assert page.get("total") == 4
        seen += [entity["name"] for entity in page["entities"]]
        offset += 3
        if not page.get("has_more"):
            break
    assert seen == [entity["name"] for entity in GREENHOUSE]


def test_a_page_walk_survives_inserts(memory: Memory) -> None:
    first = memory.read_graph(limit=2)
    memory.create_entities([{"name": "Nueva"}])
    second = memory.read_graph(limit=10, offset=2)
    walked = [entity["name"] for page in (first, second) for entity in page["entities"]]
    assert walked == [*(entity["name"] for entity in GREENHOUSE), "Nueva"]


def test_search_and_open_have_pages_too(memory: Memory) -> None:
    page = memory.search_nodes("plan", limit=1, offset=1)
    assert [entity["name"] for entity in page["entities"]] == ["plan_a"]
    assert (page.get("total"), page.get("has_more")) == (3, True)
    page = memory.open_nodes(["Orquídea", "plan_a"], limit=1)
    assert (page.get("total"), page.get("has_more")) == (2, True)


@pytest.mark.parametrize("arguments", [{"limit": 0}, {"limit": 201}, {"offset": -1}, {"limit": 1.5}, {"limit": True}])
def test_numbers_out_of_range_are_refused(memory: Memory, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput) as error:
        memory.read_graph(**arguments)  # pyright: ignore[reportArgumentType]
    assert error.value.field == next(iter(arguments))


def test_deleted_entities_are_gone_everywhere(memory: Memory) -> None:
    assert memory.delete_entities(["Orquídea", "Alomdra", "Orquídea"]) == {
        "success": True,
        "message": "Deleted 1 of 2 entities. Not found: Alomdra",
        "deleted": ["Orquídea"],
        "errors": ["Entity not found: Alomdra"],
    }
    assert memory.read_graph() == {"entities": GREENHOUSE[1:], "relations": []}
    assert found(memory, "florece") == []


def test_deleting_what_is_there_has_the_official_sentence(memory: Memory) -> None:
    assert memory.delete_entities(["Orquídea"]) == {
        "success": True,
        "message": "Entities deleted successfully",
        "deleted": ["Orquídea"],
    }
