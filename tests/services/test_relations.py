"""create_relations and delete_relations: existing ends, inverses, no duplicates (contract, Graph 2 and 4)."""

from __future__ import annotations

import pytest

from evoca import Memory
from evoca.errors import NotFound
from evoca.memory import RelationData


def relation(subject: str, kind: str, other: str) -> RelationData:
    return {"from": subject, "to": other, "relationType": kind}


USES = relation("CachorroSpace", "uses", "Astro")


@pytest.fixture
def memory(memory: Memory) -> Memory:
    memory.create_entities([{"name": name} for name in ("CachorroSpace", "Astro", "Casa", "Cocina")])
    return memory


def test_the_contract_s_example(memory: Memory) -> None:
    assert memory.create_relations([USES]) == {"relations": [USES]}
    assert memory.read_graph()["relations"] == [USES]


def test_a_relation_that_exists_is_told_and_no_error(memory: Memory) -> None:
    memory.create_relations([USES])
    assert memory.create_relations([USES]) == {"relations": [{**USES, "error": "Relation already exists"}]}
    assert memory.read_graph()["relations"] == [USES]


def test_the_same_relation_twice_in_a_call_is_one(memory: Memory) -> None:
    result = memory.create_relations([USES, USES])
    assert result["relations"] == [USES, {**USES, "error": "Relation already exists"}]
    assert memory.read_graph()["relations"] == [USES]


def test_a_missing_end_is_told_and_the_others_are_made(memory: Memory) -> None:
    result = memory.create_relations([relation("CachorroSpace", "uses", "Fantasma"), USES])
    assert result == {
        "relations": [{"error": "Entity not found: Fantasma"}, USES],
        "errors": ["Entity not found: Fantasma"],
    }


def test_when_no_relation_could_be_made_the_call_fails(memory: Memory) -> None:
    with pytest.raises(NotFound) as error:
        memory.create_relations([relation("Fantasma 1", "conoce", "Fantasma 2")])
    assert error.value.message == "Entity not found: Fantasma 1"
    assert error.value.payload["errors"] == ["Entity not found: Fantasma 1"]
    assert memory.read_graph()["relations"] == []


@pytest.mark.parametrize(("kind", "inverse"), [("contiene", "parte_de"), ("parte_de", "contiene")])
def test_containment_makes_and_deletes_its_inverse(memory: Memory, kind: str, inverse: str) -> None:
    memory.create_relations([relation("Casa", kind, "Cocina")])
    assert memory.read_graph()["relations"] == [relation("Casa", kind, "Cocina"), relation("Cocina", inverse, "Casa")]
    details = memory.open_nodes(["Casa"], details=True)["relations"]
    assert details[1].get("context") == f"Inversa automática de {kind}"
    memory.delete_relations([relation("Cocina", inverse, "Casa")])
    assert memory.read_graph()["relations"] == []


def test_making_both_halves_of_a_pair_makes_one_pair(memory: Memory) -> None:
    result = memory.create_relations([relation("Casa", "contiene", "Cocina"), relation("Cocina", "parte_de", "Casa")])
    assert result["relations"][1].get("error") == "Relation already exists"
    assert len(memory.read_graph()["relations"]) == 2


def test_an_entity_may_relate_to_itself(memory: Memory) -> None:
    itself = relation("Casa", "vecino_de", "Casa")
    assert memory.create_relations([itself]) == {"relations": [itself]}
    assert memory.open_nodes(["Casa"])["relations"] == [itself]


def test_context_is_kept(memory: Memory) -> None:
    given: RelationData = {**USES, "context": "desde 2024"}
    assert memory.create_relations([given])["relations"] == [given]
    assert memory.open_nodes(["Astro"], details=True)["relations"][0].get("context") == "desde 2024"


def test_relation_of_decomposed_names(memory: Memory) -> None:
    memory.create_entities([{"name": "Lucía"}])
    result = memory.create_relations([relation("Luci\u0301a", "vive_en", "Casa")])
    assert result["relations"] == [relation("Lucía", "vive_en", "Casa")]


def test_deleting_tells_what_was_there(memory: Memory) -> None:
    memory.create_relations([USES])
    assert memory.delete_relations([USES, USES]) == {
        "success": True,
        "message": "Relations deleted successfully",
        "deleted": [USES],
    }
    assert memory.read_graph()["relations"] == []


def test_deleting_what_is_not_there_names_it(memory: Memory) -> None:
    memory.create_relations([USES])
    result = memory.delete_relations(
        [USES, relation("Astro", "uses", "CachorroSpace"), relation("Astro", "uses", "Nadie")]
    )
    assert result["deleted"] == [USES]
    assert result.get("errors") == [
        "Relation not found: Astro -> CachorroSpace (uses)",
        "Entity not found: Astro or Nadie",
    ]
    assert result["message"] == (
        "Deleted 1 of 3 relations. Not found: Astro -> CachorroSpace (uses), Astro -> Nadie (uses)"
    )


def test_a_deleted_relation_can_be_made_again(memory: Memory) -> None:
    memory.create_relations([USES])
    memory.delete_relations([USES])
    assert memory.create_relations([USES]) == {"relations": [USES]}


# -- relations with times, which facts have --------------------------------------------------------


def test_what_begins_later_is_no_relation_yet(memory: Memory) -> None:
    fact = memory.remember("Astro", "uses", object="Casa", valid_from="2999-01-01T00:00:00Z")
    assert memory.read_graph()["relations"] == []
    assert memory.delete_relations([relation("Astro", "uses", "Casa")])["deleted"] == []
    assert memory.create_relations([relation("Astro", "uses", "Casa")]) == {
        "relations": [relation("Astro", "uses", "Casa")]
    }
    assert memory.read_graph()["relations"] == [relation("Astro", "uses", "Casa")]
    (known,) = memory.recall("Astro", include_ended=True)["facts"]
    assert (known["id"], known["active"]) == (fact["id"], True)


def test_what_ends_later_is_a_relation_till_then(memory: Memory) -> None:
    memory.remember("Astro", "vive_en", object="Casa")
    memory.remember("Astro", "vive_en", object="Cocina", valid_from="2999-01-01T00:00:00Z")
    assert memory.read_graph()["relations"] == [relation("Astro", "vive_en", "Casa")]
    assert memory.create_relations([relation("Astro", "vive_en", "Casa")])["relations"][0].get("error") == (
        "Relation already exists"
    )
    ended = memory.end_relation(from_="Astro", to="Casa", relationType="vive_en")
    assert "expired successfully" in ended["result"]
    assert memory.read_graph()["relations"] == []


def test_what_begins_later_can_be_called_off_with_its_inverse(memory: Memory) -> None:
    told = memory.remember("Casa", "contiene", object="Cocina", valid_from="2999-01-01T00:00:00Z")
    ended = memory.end_relation(told["id"])
    assert ("expired successfully" in ended["result"], "inverse_expired_id" in ended) == (True, True)
    assert memory.end_relation(told["id"])["result"].endswith("is already expired")
    assert memory.recall("Casa", as_of="2999-06-01T00:00:00Z")["facts"] == []
