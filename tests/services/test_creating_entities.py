"""create_entities: merging by name, nothing overwritten, all or nothing (contract, Graph 1)."""

from __future__ import annotations

import pytest

from evoca import Memory
from evoca.errors import InvalidInput
from evoca.memory import EntityData

STACK, DEPLOYED = "Stack: Astro 6.x + Starlight 0.38.x", "Deployed on Vercel at cachorro.space"
SPACE: EntityData = {
    "name": "CachorroSpace",
    "entityType": "Project",
    "observations": [STACK, DEPLOYED],
}


def names(memory: Memory) -> list[str]:
    return [entity["name"] for entity in memory.read_graph()["entities"]]


def test_the_contract_s_example(memory: Memory) -> None:
    assert memory.create_entities([SPACE]) == {"entities": [SPACE], "created": ["CachorroSpace"], "updated": []}


def test_observations_are_merged_into_an_existing_entity(memory: Memory) -> None:
    memory.create_entities([SPACE])
    again = memory.create_entities([{"name": "CachorroSpace", "observations": [STACK, "Nuevo"]}])
    assert again["entities"][0]["observations"] == [STACK, DEPLOYED, "Nuevo"]
    assert (again["created"], again["updated"]) == ([], ["CachorroSpace"])


def test_nothing_new_is_no_update(memory: Memory) -> None:
    memory.create_entities([SPACE])
    again = memory.create_entities([SPACE])
    assert (again["created"], again["updated"]) == ([], [])
    assert again["entities"] == [SPACE]


def test_a_type_and_status_left_out_are_kept(memory: Memory) -> None:
    memory.create_entities([{"name": "Faro", "entityType": "Proyecto", "status": "pausado"}])
    memory.create_entities([{"name": "Faro", "observations": ["x"]}])
    faro = memory.open_nodes(["Faro"], details=True)["entities"][0]
    assert (faro["entityType"], faro.get("status")) == ("Proyecto", "pausado")


def test_a_given_type_and_status_are_taken(memory: Memory) -> None:
    memory.create_entities([{"name": "Faro"}])
    result = memory.create_entities([{"name": "Faro", "entityType": "Proyecto", "status": "archivado"}])
    assert result["updated"] == ["Faro"]
    faro = memory.open_nodes(["Faro"], details=True)["entities"][0]
    assert (faro["entityType"], faro.get("status")) == ("Proyecto", "archivado")


def test_a_new_entity_gets_the_default_type(memory: Memory) -> None:
    assert memory.create_entities([{"name": "Ada"}])["entities"][0] == {
        "name": "Ada",
        "entityType": "Generic",
        "observations": [],
    }


@pytest.mark.parametrize(
    ("name", "entity_type"),
    [
        ("user:maya", "user"),
        ("pull-request:17", "pull-request"),
        ("Reunión: lunes", "Generic"),
        ("https://cachorro.space", "Generic"),
        ("std::vector", "Generic"),
        ("10:30", "Generic"),
        (":", "Generic"),
    ],
)
def test_a_typed_name_gives_the_type_when_none_is_said(memory: Memory, name: str, entity_type: str) -> None:
    assert memory.create_entities([{"name": name}])["entities"][0]["entityType"] == entity_type
    assert memory.create_entities([{"name": name, "entityType": "X"}])["entities"][0]["entityType"] == "X"


def test_a_name_given_twice_in_a_call_is_one_entity(memory: Memory) -> None:
    result = memory.create_entities(
        [
            {"name": "Cometa", "entityType": "barco", "observations": ["a"]},
            {"name": "Cometa", "entityType": "perro", "observations": ["b", "a"]},
        ]
    )
    assert result["entities"] == [{"name": "Cometa", "entityType": "barco", "observations": ["a", "b"]}]
    assert result["created"] == ["Cometa"]


def test_composed_and_decomposed_names_are_one_entity(memory: Memory) -> None:
    memory.create_entities([{"name": "Lucía", "observations": ["a"]}])
    memory.create_entities([{"name": "Luci\u0301a", "observations": ["b"]}])
    assert memory.read_graph()["entities"] == [{"name": "Lucía", "entityType": "Generic", "observations": ["a", "b"]}]


def test_case_and_accents_distinguish_names(memory: Memory) -> None:
    memory.create_entities([{"name": "Lucía"}, {"name": "Lucia"}, {"name": "lucía"}])
    assert names(memory) == ["Lucía", "Lucia", "lucía"]


def test_texts_are_kept_to_the_byte(memory: Memory) -> None:
    text = "  El código: «4471-K»\n\tcafe\u0301 🛰️  "
    memory.create_entities([{"name": "Taller", "observations": [text]}])
    assert memory.open_nodes(["Taller"])["entities"][0]["observations"] == [text]


def test_an_unknown_status_is_stored_and_named(memory: Memory) -> None:
    result = memory.create_entities([{"name": "Faro", "status": "dormido"}])
    assert "dormido" in result.get("warnings", [""])[0]
    assert memory.open_nodes(["Faro"], details=True)["entities"][0].get("status") == "dormido"


def test_a_missing_name_says_which_item(memory: Memory) -> None:
    with pytest.raises(InvalidInput) as error:
        memory.create_entities([{"name": "Ada"}, {"entityType": "Project"}])  # pyright: ignore[reportArgumentType]
    assert error.value.message.startswith("1 validation error for EntityInput\nname\n  Field required")
    assert "entities[1]" in error.value.message
    assert names(memory) == []


def test_a_blank_name_is_refused_and_nothing_is_saved(memory: Memory) -> None:
    with pytest.raises(InvalidInput) as error:
        memory.create_entities([{"name": "Ada"}, {"name": "  "}])
    assert error.value.field == "entities[1].name"
    assert names(memory) == []


def test_pasted_jsonl_records_are_taken(memory: Memory) -> None:
    record = {"type": "entity", "name": "Ada", "entityType": "Person", "observations": ["x"]}
    assert memory.create_entities([record])["created"] == ["Ada"]  # pyright: ignore[reportArgumentType]


def test_no_entities_is_no_error(memory: Memory) -> None:
    assert memory.create_entities([]) == {"entities": [], "created": [], "updated": []}
