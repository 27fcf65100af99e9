"""add_observations and delete_observations in both their forms (contract, Graph 3 and 4)."""

from __future__ import annotations

import pytest

from evoca import Memory
from evoca.errors import InvalidInput, NotFound


@pytest.fixture
def memory(memory: Memory) -> Memory:
    memory.create_entities(
        [
            {"name": "Molino", "entityType": "lugar", "observations": ["uno", "dos"]},
            {"name": "Río", "entityType": "lugar"},
        ]
    )
    return memory


def texts(memory: Memory, name: str) -> list[str]:
    return memory.open_nodes([name])["entities"][0]["observations"]


def test_the_plain_form_answers_the_whole_entity(memory: Memory) -> None:
    assert memory.add_observations(["dos", "tres", "tres"], name="Molino") == {
        "entity": {"name": "Molino", "entityType": "lugar", "observations": ["uno", "dos", "tres"]},
        "results": [{"entityName": "Molino", "addedObservations": ["tres"]}],
    }


def test_the_official_form_answers_what_was_added(memory: Memory) -> None:
    result = memory.add_observations(
        [
            {"entityName": "Molino", "contents": ["azul", "azul"]},
            {"entityName": "Río", "contents": ["hondo"]},
            {"entityName": "Molino", "contents": ["azul", "rojo"]},
        ]
    )
    assert result["results"] == [
        {"entityName": "Molino", "addedObservations": ["azul"]},
        {"entityName": "Río", "addedObservations": ["hondo"]},
        {"entityName": "Molino", "addedObservations": ["rojo"]},
    ]
    assert [entity["name"] for entity in result.get("entities", [])] == ["Molino", "Río"]
    assert texts(memory, "Molino") == ["uno", "dos", "azul", "rojo"]


def test_one_unknown_entity_fails_the_call_and_saves_nothing(memory: Memory) -> None:
    items = [{"entityName": name, "contents": ["nuevo"]} for name in ("Molino", "Molimo", "Río")]
    with pytest.raises(NotFound) as error:
        memory.add_observations(items)  # pyright: ignore[reportArgumentType]
    assert error.value.message == "Entity with name Molimo not found"
    assert (texts(memory, "Molino"), texts(memory, "Río")) == (["uno", "dos"], [])


def test_the_plain_form_has_the_contract_s_sentence(memory: Memory) -> None:
    with pytest.raises(NotFound) as error:
        memory.add_observations(["x"], name="NonExistentEntity")
    assert error.value.message == "Entity not found: NonExistentEntity"


@pytest.mark.parametrize(
    "arguments",
    [
        {"observations": ["x"]},
        {"observations": ["x", {"entityName": "Molino", "contents": ["y"]}], "name": "Molino"},
        {"observations": [{"entityName": "Molino", "contents": ["y"]}], "name": "Molino"},
        {"observations": [{"entityName": "Molino", "contents": ["y"]}], "kind": "spec"},
    ],
)
def test_forms_are_not_mixed(memory: Memory, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput) as error:
        memory.add_observations(**arguments)  # pyright: ignore[reportArgumentType]
    assert "entityName" in error.value.hint
    assert texts(memory, "Molino") == ["uno", "dos"]


def test_a_kind_is_kept_and_an_unknown_one_is_named(memory: Memory) -> None:
    memory.add_observations(["x"], name="Río", kind="spec")
    result = memory.add_observations(["y"], name="Río", kind="rumor")
    assert "rumor" in result.get("warnings", [""])[0]
    details = memory.open_nodes(["Río"], details=True)["entities"][0].get("observation_details", [])
    assert [row["kind"] for row in details] == ["spec", "rumor"]


def superseded(memory: Memory) -> int:
    details = memory.open_nodes(["Molino"], details=True)["entities"][0].get("observation_details", [])
    memory.add_observations(["uno bis"], name="Molino", supersedes=details[0]["id"])
    return details[0]["id"]


def test_a_superseded_observation_is_hidden_everywhere(memory: Memory) -> None:
    superseded(memory)
    assert texts(memory, "Molino") == ["dos", "uno bis"]
    assert memory.read_graph()["entities"][0]["observations"] == ["dos", "uno bis"]
    assert memory.search_nodes("uno")["entities"][0]["name"] == "Molino"
    memory.delete_observations(name="Molino", observations=["uno bis"])
    assert memory.search_nodes("uno")["entities"] == []


def test_history_can_be_read(memory: Memory) -> None:
    old = superseded(memory)
    entity = memory.open_nodes(["Molino"], details=True, include_superseded=True)["entities"][0]
    rows = {row["content"]: row for row in entity.get("observation_details", [])}
    assert rows["uno"]["superseded_at"] is not None
    assert rows["uno bis"]["supersedes"] == old


def test_a_superseded_text_can_be_added_again(memory: Memory) -> None:
    superseded(memory)
    assert memory.add_observations(["uno"], name="Molino")["results"][0]["addedObservations"] == ["uno"]
    assert texts(memory, "Molino") == ["dos", "uno bis", "uno"]


def test_only_a_live_observation_of_the_entity_can_be_superseded(memory: Memory) -> None:
    old = superseded(memory)
    for entity, id_ in (("Molino", old), ("Molino", 10_000), ("Río", old)):
        with pytest.raises(InvalidInput) as error:
            memory.add_observations(["z"], name=entity, supersedes=id_)
        assert error.value.field == "supersedes"
    assert texts(memory, "Molino") == ["dos", "uno bis"]


def test_deleting_by_exact_text(memory: Memory) -> None:
    result = memory.delete_observations(name="Molino", observations=["uno"])
    assert result == {
        "success": True,
        "message": "Observations deleted successfully",
        "deleted": [{"entityName": "Molino", "observations": ["uno"]}],
        "entity": {"name": "Molino", "entityType": "lugar", "observations": ["dos"]},
    }


def test_a_text_that_differs_by_a_period_is_not_deleted_and_said_so(memory: Memory) -> None:
    result = memory.delete_observations(name="Molino", observations=["uno.", "dos"])
    assert result["message"] == "Deleted 1 of 2 observations. Not found: uno."
    assert texts(memory, "Molino") == ["uno"]


def test_a_superseded_text_is_deleted_too(memory: Memory) -> None:
    superseded(memory)
    memory.delete_observations(name="Molino", observations=["uno"])
    entity = memory.open_nodes(["Molino"], details=True, include_superseded=True)["entities"][0]
    assert [row["content"] for row in entity.get("observation_details", [])] == ["dos", "uno bis"]


def test_unknown_entities_in_either_form(memory: Memory) -> None:
    with pytest.raises(NotFound) as error:
        memory.delete_observations(name="Molimo", observations=["uno"])
    assert error.value.message == "Entity not found: Molimo"
    result = memory.delete_observations(
        deletions=[
            {"entityName": "Molimo", "observations": ["uno"]},
            {"entityName": "Molino", "observations": ["uno"]},
        ]
    )
    assert result["success"] is True
    assert result.get("errors") == ["Entity not found: Molimo"]
    assert texts(memory, "Molino") == ["dos"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"name": "Molino"},
        {"observations": ["uno"]},
        {"name": "Molino", "observations": ["uno"], "deletions": []},
    ],
)
def test_exactly_one_form_of_deletion(memory: Memory, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput) as error:
        memory.delete_observations(**arguments)  # pyright: ignore[reportArgumentType]
    assert "deletions" in error.value.hint
    assert texts(memory, "Molino") == ["uno", "dos"]


def test_nothing_is_superseded_by_nothing(memory: Memory) -> None:
    details = memory.open_nodes(["Molino"], details=True)["entities"][0].get("observation_details", [])
    with pytest.raises(InvalidInput) as error:
        memory.add_observations([], name="Molino", supersedes=details[0]["id"])
    assert error.value.field == "observations"
    assert texts(memory, "Molino") == ["uno", "dos"]
