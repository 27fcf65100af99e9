"""Ending relations, renaming, merging, changing a text: what is true now changes, what was true is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca import Memory
from evoca.errors import Conflict, EntityNotFound, InvalidInput, NotFound
from tests.services.test_relations import relation

WORKS = relation("Ada", "works_at", "Lab")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", embedder="hash") as opened:
        opened.create_entities(
            [
                {"name": "Ada", "entityType": "Persona", "observations": ["escribe programas", "vive en Lugo"]},
                {"name": "Lab", "observations": ["abre a las nueve"]},
                {"name": "Ada L.", "observations": ["vive en Lugo", "toca el piano"]},
            ]
        )
        opened.create_relations([WORKS])
        yield opened


def edge_id(memory: Memory) -> int:
    return memory.open_nodes(["Lab"], details=True)["relations"][0].get("id", 0)


def observation_id(memory: Memory, name: str, content: str) -> int:
    details = memory.open_nodes([name], details=True)["entities"][0].get("observation_details", [])
    return next(row["id"] for row in details if row["content"] == content)


# -- ending relations -------------------------------------------------------------------------------


def test_ending_keeps_history_and_allows_a_new_beginning(memory: Memory) -> None:
    number = edge_id(memory)
    result = memory.end_relation(number)
    assert result["result"] == f"Relation {number} expired successfully"
    assert result["relation"].get("active") is False
    assert memory.read_graph()["relations"] == []
    assert memory.create_relations([WORKS]) == {"relations": [WORKS]}
    history = memory.open_nodes(["Ada"], details=True, include_ended=True)["relations"]
    assert [edge.get("active") for edge in history] == [False, True]


def test_ending_twice_does_nothing(memory: Memory) -> None:
    number = edge_id(memory)
    ended = memory.end_relation(number)["relation"]
    again = memory.end_relation(number)
    assert again["result"] == f"Relation {number} is already expired"
    assert again["relation"] == ended


def test_ending_by_names(memory: Memory) -> None:
    assert memory.end_relation(from_="Ada", to="Lab", relationType="works_at")["relation"].get("active") is False
    assert "already" in memory.end_relation(from_="Ada", to="Lab", relationType="works_at")["result"]


def test_a_pair_ends_together(memory: Memory) -> None:
    memory.create_relations([relation("Lab", "contiene", "Ada")])
    ended = memory.end_relation(from_="Ada", to="Lab", relationType="parte_de")
    assert ended["inverse_expired_id"] is not None
    assert memory.read_graph()["relations"] == [WORKS]


def test_an_unknown_relation_is_named(memory: Memory) -> None:
    with pytest.raises(NotFound) as error:
        memory.end_relation(4_242)
    assert error.value.message == "Relation with id=4242 not found"
    with pytest.raises(NotFound, match=r"Relation not found: Lab -> Ada \(works_at\)"):
        memory.end_relation(from_="Lab", to="Ada", relationType="works_at")


@pytest.mark.parametrize("arguments", [{}, {"from_": "Ada"}, {"relation_id": 1, "from_": "Ada"}])
def test_ending_takes_an_id_or_names(memory: Memory, arguments: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        memory.end_relation(**arguments)  # pyright: ignore[reportArgumentType]


@given(st.lists(st.sampled_from(["make", "end", "delete"]), max_size=12))
def test_at_most_one_active_relation_of_a_kind(tmp_path_factory: pytest.TempPathFactory, steps: list[str]) -> None:
    pair = relation("A", "contiene", "B")
    with Memory(tmp_path_factory.mktemp("m") / "m.db", embedder="none") as memory:
        memory.create_entities([{"name": "A"}, {"name": "B"}])
        active = ended = 0
        for step in steps:
            if step == "make":
                memory.create_relations([pair])
                active = 1
            elif step == "delete":
                memory.delete_relations([pair])
                active = 0
            elif active or ended:
                memory.end_relation(from_="A", to="B", relationType="contiene")
                ended += active
                active = 0
        rows = memory.open_nodes(["A"], details=True, include_ended=True)["relations"]
        assert sum(row["relationType"] == "contiene" and bool(row.get("active")) for row in rows) == active
        assert sum(bool(row.get("active")) for row in rows) == 2 * active
        assert sum(not row.get("active") for row in rows) == 2 * ended


# -- renaming ---------------------------------------------------------------------------------------


def test_a_rehearsal_changes_nothing_and_tells_the_same(memory: Memory) -> None:
    before = memory.read_graph()
    told = memory.rename_entity("Ada", "Ada Lovelace")
    assert memory.read_graph() == before
    done = memory.rename_entity("Ada", "Ada Lovelace", dry_run=False)
    assert {**done, "dry_run": True, "result": told["result"]} == told
    assert (done["observations"], done["relations"], done["aliases"]) == (2, 1, ["Ada"])


def test_everything_follows_and_the_old_name_leads_there(memory: Memory) -> None:
    memory.rename_entity("Ada", "Ada Lovelace", dry_run=False)
    for name in ("Ada", "Ada Lovelace"):
        entity = memory.open_nodes([name])["entities"][0]
        assert (entity["name"], entity["observations"]) == ("Ada Lovelace", ["escribe programas", "vive en Lugo"])
    assert memory.read_graph()["relations"] == [relation("Ada Lovelace", "works_at", "Lab")]
    memory.add_observations(["nueva"], name="Ada")
    memory.create_entities(
        [{"name": "Ada", "observations": ["otra"]}, {"name": "Ada Lovelace", "observations": ["más"]}]
    )
    assert len(memory.read_graph()["entities"]) == 3
    assert memory.open_nodes(["Ada", "Ada Lovelace"])["entities"][0]["observations"][2:] == ["nueva", "otra", "más"]
    assert memory.create_relations([relation("Lab", "emplea", "Ada")])["relations"] == [
        relation("Lab", "emplea", "Ada Lovelace")
    ]
    assert memory.search_nodes("lovelace")["entities"][0]["name"] == "Ada Lovelace"
    assert memory.delete_relations([WORKS])["deleted"] == [relation("Ada Lovelace", "works_at", "Lab")]


def test_an_entity_named_by_two_of_its_names_is_deleted_once(memory: Memory) -> None:
    memory.rename_entity("Ada", "Ada Lovelace", dry_run=False)
    result = memory.delete_entities(["Ada", "Ada Lovelace", "Nadie"])
    assert result["deleted"] == ["Ada"]
    assert result["message"] == "Deleted 1 of 2 entities. Not found: Nadie"


def test_a_former_name_can_be_taken_back(memory: Memory) -> None:
    memory.rename_entity("Ada", "Ada Lovelace", dry_run=False)
    assert memory.rename_entity("Ada Lovelace", "Ada", dry_run=False)["aliases"] == ["Ada Lovelace"]
    assert memory.open_nodes(["Ada Lovelace"])["entities"][0]["name"] == "Ada"


def test_a_taken_name_is_refused(memory: Memory) -> None:
    with pytest.raises(Conflict) as error:
        memory.rename_entity("Ada", "Lab", dry_run=False)
    assert "merge_entities" in error.value.hint
    memory.rename_entity("Ada", "Ada Lovelace", dry_run=False)
    with pytest.raises(Conflict):
        memory.rename_entity("Lab", "Ada", dry_run=False)
    with pytest.raises(EntityNotFound):
        memory.rename_entity("Nadie", "Alguien")


# -- merging ----------------------------------------------------------------------------------------


def test_two_become_one(memory: Memory) -> None:
    memory.create_relations(
        [relation("Ada L.", "works_at", "Lab"), relation("Ada L.", "conoce", "Ada"), relation("Lab", "paga", "Ada L.")]
    )
    memory.add_reflection("entity", "Es la misma", target_name="Ada L.")
    memory.open_nodes(["Ada L.", "Lab"])
    told = memory.merge_entities(["Ada L."], "Ada")
    assert len(memory.read_graph()["entities"]) == 3
    done = memory.merge_entities(["Ada L."], "Ada", dry_run=False)
    assert {**done, "dry_run": True, "result": told["result"]} == told
    assert (done["moved_observations"], done["dropped_observations"]) == (1, ["vive en Lugo"])
    assert (done["moved_relations"], len(done["dropped_relations"]), done["reflections"]) == (1, 2, 1)
    ada = memory.open_nodes(["Ada L."], details=True)["entities"][0]
    assert ada["name"] == "Ada"
    assert ada["observations"] == ["escribe programas", "vive en Lugo", "toca el piano"]
    assert [row["content"] for row in ada.get("reflections", [])] == ["Es la misma"]
    assert memory.read_graph()["relations"] == [WORKS, relation("Lab", "paga", "Ada")]
    assert memory.search_nodes("piano")["entities"][0]["name"] == "Ada"
    found = memory.search_semantic("toca el piano", limit=1)["results"][0]
    assert found["name"] == "Ada"


def test_facts_with_values_come_along_and_leave_what_the_target_lacks(memory: Memory) -> None:
    memory.remember("Ada L.", "altura", value="170", context="medida", source="ficha")
    memory.remember("Ada L.", "peso", value=60)
    memory.remember("Ada", "altura", value="170", source="visita")
    memory.remember("Ada L.", "conoce", "Lab", context="de paso", source="carta")
    memory.remember("Ada", "conoce", "Lab")
    told = memory.merge_entities(["Ada L."], "Ada")
    done = memory.merge_entities(["Ada L."], "Ada", dry_run=False)
    assert {**done, "dry_run": True, "result": told["result"]} == told
    assert (done["moved_facts"], done["moved_relations"], len(done["dropped_relations"])) == (1, 0, 1)
    assert [(each["predicate"], each.get("context"), each.get("source")) for each in done["dropped_facts"]] == [
        ("altura", "medida", "ficha")
    ]
    kept = {fact["predicate"]: fact for fact in memory.recall("Ada", depth=0)["facts"]}
    assert (kept["altura"].get("context"), kept["altura"].get("source")) == ("medida", "visita")
    assert (kept["conoce"].get("context"), kept["conoce"].get("source")) == ("de paso", "carta")
    assert kept["peso"].get("value") == 60
    assert any(fact["predicate"] == "altura" for fact in memory.recall("medida", depth=0)["facts"])


def test_merging_needs_known_and_different_entities(memory: Memory) -> None:
    with pytest.raises(EntityNotFound):
        memory.merge_entities(["Nadie"], "Ada")
    with pytest.raises(InvalidInput):
        memory.merge_entities(["Ada"], "Ada")


# -- changing a text --------------------------------------------------------------------------------


def test_a_changed_text_keeps_its_id_and_is_found_anew(memory: Memory) -> None:
    number = observation_id(memory, "Ada", "vive en Lugo")
    result = memory.update_observation(number, content="La factura vence el día 12", kind="estado")
    assert (result["entity"], result["previous"]) == ("Ada", "vive en Lugo")
    assert observation_id(memory, "Ada", "La factura vence el día 12") == number
    assert [entity["name"] for entity in memory.search_nodes("lugo")["entities"]] == ["Ada L."]
    assert memory.search_nodes("factura")["entities"][0]["name"] == "Ada"
    assert memory.search_semantic("factura vence")["results"][0]["name"] == "Ada"


@pytest.mark.parametrize("rounds", [("corto", "largo"), ("largo", "corto", "largo", "más largo")])
def test_a_text_may_grow_and_shrink(memory: Memory, rounds: tuple[str, ...]) -> None:
    long = "Las plantas del jardín necesitan agua y sol. " * 40
    number = observation_id(memory, "Ada", "vive en Lugo")
    texts = {"corto": "faro", "largo": long + "zarigüeya", "más largo": long * 3 + "ornitorrinco"}
    for step in rounds:
        memory.update_observation(number, content=texts[step])
        memory.create_entities([{"name": f"después de {step}", "observations": ["algo"]}])
    words = {"corto": "faro", "largo": "zarigüeya", "más largo": "ornitorrinco"}
    for step, word in words.items():
        hits = [hit["name"] for hit in memory.search_semantic(word)["results"] if hit.get("rrf_score")]
        assert ("Ada" in hits and memory.search_nodes(word)["entities"] != []) == (step == rounds[-1])
    assert observation_id(memory, "Ada", texts[rounds[-1]]) == number


def test_what_cannot_be_changed_is_named(memory: Memory) -> None:
    number = observation_id(memory, "Ada", "vive en Lugo")
    with pytest.raises(Conflict):
        memory.update_observation(number, content="escribe programas")
    with pytest.raises(InvalidInput):
        memory.update_observation(number)
    with pytest.raises(NotFound):
        memory.update_observation(99_999, content="x")
    memory.add_observations(["vive en Gijón"], name="Ada", supersedes=number)
    with pytest.raises(Conflict):
        memory.update_observation(number, content="x")


def test_the_status_counts_what_lives(memory: Memory) -> None:
    status = memory.memory_status()
    assert status["counts"] == {"entities": 3, "observations": 5, "relations": 1, "reflections": 0}
    assert status.get("bytes", 0) > 0
    store = status.get("store", "")
    assert store.endswith("memory.db") or store.startswith("postgresql://")
