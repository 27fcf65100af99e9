"""Telling facts: the same once, single values in time, corrections, forgetting (contract, Facts 1 to 3)."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca import Memory
from evoca.domain.facts import SINGLE_VALUED, Scalar
from evoca.errors import Conflict, EntityNotFound, InvalidInput, LimitExceeded, NotFound
from evoca.memory_facts import FactData
from evoca.operations.fact_results import FactJson
from tests.services.dated import DatedMemory, day


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[DatedMemory]:
    with DatedMemory(tmp_path) as opened:
        yield opened


def said(facts: Sequence[FactJson]) -> list[tuple[str, str, Scalar | None]]:
    return [(fact["subject"], fact["predicate"], fact.get("object", fact.get("value"))) for fact in facts]


def history(memory: Memory, subject: str, predicate: str) -> list[tuple[Scalar | None, str, str | None]]:
    facts = memory.recall(subject, predicate=predicate, include_ended=True, depth=0)["facts"]
    spans = [(fact.get("object", fact.get("value")), fact["valid_from"], fact.get("ended_at")) for fact in facts]
    return sorted(spans, key=lambda span: span[1])


def current(memory: Memory, subject: str, predicate: str, as_of: str | None = None) -> list[Scalar | None]:
    facts = memory.recall(subject, predicate=predicate, as_of=as_of, depth=0)["facts"]
    return [fact.get("object", fact.get("value")) for fact in facts]


def test_a_fact_is_told_whole(memory: DatedMemory) -> None:
    fact = memory.remember("user:maya", "has_skill", "TypeScript", context="Since 2024", source="chat", confidence=0.9)
    assert fact == {
        "id": fact["id"],
        "subject": "user:maya",
        "predicate": "has_skill",
        "object": "TypeScript",
        "context": "Since 2024",
        "source": "chat",
        "confidence": 0.9,
        "active": True,
        "created_at": day(0),
        "valid_from": day(0),
        "created": True,
        "closed": [],
    }


def test_keys_without_a_value_are_left_out(memory: DatedMemory) -> None:
    fact = memory.remember("user:maya", "age", value=33)
    assert set(fact) == {
        "id", "subject", "predicate", "value", "confidence", "active", "created_at", "valid_from", "created", "closed",
    }  # fmt: skip


# -- subjects and objects ------------------------------------------------------------------------------


def test_entities_are_made_with_the_type_that_their_name_says(memory: DatedMemory) -> None:
    memory.remember("user:maya", "has_skill", "TypeScript")
    entities = {each["name"]: each["entityType"] for each in memory.read_graph()["entities"]}
    assert entities == {"user:maya": "user", "TypeScript": "Generic"}


def test_names_mean_the_exact_entity_else_a_former_name_else_the_one_that_differs_in_case(memory: DatedMemory) -> None:
    memory.create_entities([{"name": "Lucía"}, {"name": "ANA"}, {"name": "Ana"}, {"name": "Vieja"}])
    memory.rename_entity("Vieja", "Nueva", dry_run=False)
    assert memory.remember("LUCÍA", "conoce", "Ana")["subject"] == "Lucía"
    assert memory.remember("Lucía", "conoce", "Vieja").get("object") == "Nueva"
    assert memory.remember("Luci\u0301a", "conoce", "ANA").get("object") == "ANA"
    assert len(memory.read_graph()["entities"]) == 4


def test_a_former_name_in_another_case_means_its_entity(memory: DatedMemory) -> None:
    memory.create_entities([{"name": "Zoe"}, {"name": "ZOE"}, {"name": "Ánxela"}])
    memory.rename_entity("Ánxela", "Uxía", dry_run=False)
    memory.rename_entity("Zoe", "Zoraida", dry_run=False)
    assert memory.remember("ÁNXELA", "conoce", "zoe")["subject"] == "Uxía"
    assert memory.recall("ánxela", depth=0)["facts"][0].get("object") == "ZOE"
    memory.rename_entity("ZOE", "Zulema", dry_run=False)
    with pytest.raises(InvalidInput, match="object: zoe may mean Zoraida, Zulema"):
        memory.remember("Uxía", "conoce", "zoe")
    assert memory.remember("Uxía", "conoce", "Zoe").get("object") == "Zoraida"
    memory.merge_entities(["Zulema"], "Zoraida", dry_run=False)
    assert memory.remember("Uxía", "conoce", "zoe").get("object") == "Zoraida"
    assert [each["name"] for each in memory.read_graph()["entities"]] == ["Zoraida", "Uxía"]


def test_a_name_that_may_mean_several_is_refused_naming_them(memory: DatedMemory) -> None:
    memory.create_entities([{"name": "ANA"}, {"name": "Ana"}])
    with pytest.raises(InvalidInput, match="subject: ana may mean ANA, Ana"):
        memory.remember("ana", "conoce", "Bea")
    assert [each["name"] for each in memory.read_graph()["entities"]] == ["ANA", "Ana"]


def test_new_names_that_differ_in_case_alone_are_one_entity(memory: DatedMemory) -> None:
    facts = memory.remember_many(
        [
            {"subject": "Marta", "predicate": "conoce", "object": "Bea"},
            {"subject": "MARTA", "predicate": "conoce", "object": "bea"},
        ]
    )["facts"]
    assert said(facts) == [("Marta", "conoce", "Bea")] * 2
    assert facts[0]["id"] == facts[1]["id"]


@pytest.mark.parametrize("value", ["1990-02-01", 33, 1.5, True, False, "33", "true", 0])
def test_literals_keep_their_kind(memory: DatedMemory, value: Scalar) -> None:
    memory.remember("Iria", "dato", value=value)
    (fact,) = memory.recall("Iria")["facts"]
    assert (fact.get("value"), type(fact.get("value"))) == (value, type(value))
    assert "object" not in fact


def test_a_scalar_sent_as_object_is_a_literal(memory: DatedMemory) -> None:
    assert memory.remember("Iria", "edad", 33).get("value") == 33
    assert [each["name"] for each in memory.read_graph()["entities"]] == ["Iria"]


def test_literals_of_different_kinds_are_different_facts(memory: DatedMemory) -> None:
    facts = [memory.remember("Iria", "dato", value=value) for value in (1, "1", True, 1.0)]
    assert [fact["created"] for fact in facts] == [True, True, True, False]
    assert facts[3]["id"] == facts[0]["id"]


def test_exactly_one_of_object_and_value_is_told(memory: DatedMemory) -> None:
    with pytest.raises(InvalidInput, match="exactly one of object"):
        memory.remember("Iria", "dato")
    with pytest.raises(InvalidInput, match="exactly one of object"):
        memory.remember("Iria", "dato", "a", value="b")
    assert memory.read_graph()["entities"] == []


# -- one graph -----------------------------------------------------------------------------------------


def test_a_fact_is_a_relation_and_a_relation_a_fact(memory: DatedMemory) -> None:
    memory.remember("Ada", "works_at", "Lab")
    memory.create_relations([{"from": "Lab", "to": "Ada", "relationType": "emplea"}])
    assert memory.read_graph()["relations"] == [
        {"from": "Ada", "to": "Lab", "relationType": "works_at"},
        {"from": "Lab", "to": "Ada", "relationType": "emplea"},
    ]
    assert said(memory.recall("Ada")["facts"]) == [("Ada", "works_at", "Lab"), ("Lab", "emplea", "Ada")]


@pytest.mark.parametrize(("kind", "inverse"), [("contiene", "parte_de"), ("parte_de", "contiene")])
def test_containment_is_told_ended_and_forgotten_both_ways(memory: DatedMemory, kind: str, inverse: str) -> None:
    fact = memory.remember("Casa", kind, "Cocina")
    pair = [("Casa", kind, "Cocina"), ("Cocina", inverse, "Casa")]
    assert said(memory.recall("Casa")["facts"]) == pair
    memory.days(1)
    memory.update_fact(fact["id"], ended_at=day(1))
    assert memory.recall("Casa")["facts"] == []
    assert [each.get("ended_at") for each in memory.recall("Casa", include_ended=True)["facts"]] == [day(1)] * 2
    memory.remember("Cocina", inverse, "Casa")
    assert len(memory.recall("Casa", include_ended=True)["facts"]) == 4
    memory.forget(fact["id"])
    assert len(memory.recall("Casa", include_ended=True)["facts"]) == 2
    memory.forget(subject="Casa", predicate=kind, object="Cocina")
    assert memory.recall("Casa", include_ended=True)["facts"] == []


def test_ending_a_relation_ends_the_fact(memory: DatedMemory) -> None:
    fact = memory.remember("Ada", "habla", "inglés")
    memory.days(1)
    memory.end_relation(fact["id"])
    assert memory.recall("Ada")["facts"] == []
    assert history(memory, "Ada", "habla") == [("inglés", day(0), day(1))]
    again = memory.remember("Ada", "habla", "inglés")
    assert (again["created"], again["id"] == fact["id"]) == (True, False)


# -- truth in time -------------------------------------------------------------------------------------


def test_another_home_closes_the_earlier_one(memory: DatedMemory) -> None:
    """Case: Marta moves from Lugo to Gijón. Nothing is deleted, and one answer is current."""
    lugo = memory.remember("Marta", "vive_en", "Lugo")
    memory.days(10)
    gijon = memory.remember("Marta", "vive_en", "Gijón")
    assert [(each["id"], each["active"], each.get("ended_at")) for each in gijon["closed"]] == [
        (lugo["id"], False, day(10))
    ]
    assert current(memory, "Marta", "vive_en") == ["Gijón"]
    assert current(memory, "Marta", "vive_en", as_of=day(9)) == ["Lugo"]
    assert current(memory, "Marta", "vive_en", as_of=day(10)) == ["Gijón"]
    assert current(memory, "Marta", "vive_en", as_of=day(-1)) == []
    assert history(memory, "Marta", "vive_en") == [("Lugo", day(0), day(10)), ("Gijón", day(10), None)]
    assert memory.read_graph()["relations"] == [{"from": "Marta", "to": "Gijón", "relationType": "vive_en"}]


def test_a_single_value_closes_the_earlier_one_however_its_predicate_is_spelled(memory: DatedMemory) -> None:
    lugo = memory.remember("Marta", "vive_en", "Lugo")
    memory.days(1)
    gijon = memory.remember("Marta", "Vive_en", "Gijón")
    assert [each["id"] for each in gijon["closed"]] == [lugo["id"]]
    assert memory.remember("Marta", "VIVE_EN", "Gijón")["id"] == gijon["id"]
    for predicate in ("vive_en", "Vive_en", "VIVE_EN"):
        assert current(memory, "Marta", predicate) == ["Gijón"]
        assert history(memory, "Marta", predicate) == [("Lugo", day(0), day(1)), ("Gijón", day(1), None)]
    assert memory.recall(predicate="VIVE_EN")["total"] == 1
    assert memory.recall(predicate="VIVE_EN", sort_by="id", include_ended=True)["total"] == 2
    assert memory.recall(predicate="VIVIA_EN")["total"] == 0
    assert memory.recall_connections("Marta", predicates=["VIVE_EN"])["total"] == 1
    assert memory.find_path("Marta", "Gijón", predicates=["VIVE_EN"])["found"]


def test_what_may_have_several_objects_keeps_them(memory: DatedMemory) -> None:
    """Case: knowing Bea does not wipe knowing Luis; a birth date has one value."""
    for predicate, other in (("habla", "gallego"), ("habla", "inglés"), ("conoce", "Bea"), ("conoce", "Luis")):
        memory.remember("Iria", predicate, other)
    memory.remember("Iria", "fecha_nacimiento", value="1990-02-01")
    memory.days(1)
    closed = memory.remember("Iria", "fecha_nacimiento", value="1991-02-01")["closed"]
    assert current(memory, "Iria", "habla") == ["gallego", "inglés"]
    assert current(memory, "Iria", "conoce") == ["Bea", "Luis"]
    assert current(memory, "Iria", "fecha_nacimiento") == ["1991-02-01"]
    assert [each.get("value") for each in closed] == ["1990-02-01"]


def test_a_back_dated_fact_ends_where_the_next_begins(memory: DatedMemory) -> None:
    memory.remember("Marta", "vive_en", "Gijón")
    fact = memory.remember("Marta", "vive_en", "Lugo", valid_from=day(-100))
    assert (fact["active"], fact.get("ended_at"), fact["closed"]) == (False, day(0), [])
    memory.remember("Marta", "vive_en", "Vigo", valid_from=day(-50))
    assert history(memory, "Marta", "vive_en") == [
        ("Lugo", day(-100), day(-50)),
        ("Vigo", day(-50), day(0)),
        ("Gijón", day(0), None),
    ]


def test_a_fact_of_the_future_is_not_current_yet(memory: DatedMemory) -> None:
    memory.remember("Marta", "vive_en", "Lugo")
    fact = memory.remember("Marta", "vive_en", "Gijón", valid_from=day(5))
    assert (fact["active"], [each["active"] for each in fact["closed"]]) == (False, [True])
    assert current(memory, "Marta", "vive_en") == ["Lugo"]
    assert memory.read_graph()["relations"] == [{"from": "Marta", "to": "Lugo", "relationType": "vive_en"}]
    memory.days(5)
    assert current(memory, "Marta", "vive_en") == ["Gijón"]
    assert memory.read_graph()["relations"] == [{"from": "Marta", "to": "Gijón", "relationType": "vive_en"}]


def test_a_whole_life_can_be_told_in_advance(memory: DatedMemory) -> None:
    for place, when in (("Lugo", 0), ("Gijón", 4), ("Lugo", 6)):
        memory.remember("Marta", "vive_en", place, valid_from=day(when))
    assert [current(memory, "Marta", "vive_en", as_of=day(when)) for when in (0, 3, 4, 5, 6, 100)] == [
        ["Lugo"], ["Lugo"], ["Gijón"], ["Gijón"], ["Lugo"], ["Lugo"],
    ]  # fmt: skip
    memory.days(7)
    assert memory.remember("Marta", "vive_en", "Lugo")["created"] is False


def test_the_same_fact_again_is_the_same_and_what_is_newer_wins(memory: DatedMemory) -> None:
    first = memory.remember("Ada", "habla", "inglés", context="curso", source="chat", confidence=0.5)
    memory.days(1)
    again = memory.remember("ADA", "habla", "Inglés", context="nativa")
    assert (again["id"], again["created"], again["created_at"]) == (first["id"], False, first["created_at"])
    assert (again.get("context"), again.get("source"), again["confidence"]) == ("nativa", "chat", 0.5)
    assert memory.recall("Ada")["count"] == 1


def test_the_same_fact_from_earlier_on_begins_earlier(memory: DatedMemory) -> None:
    first = memory.remember("Ada", "habla", "inglés")
    again = memory.remember("Ada", "habla", "inglés", valid_from=day(-30))
    assert (again["id"], again["created"], again["valid_from"]) == (first["id"], False, day(-30))
    assert current(memory, "Ada", "habla", as_of=day(-10)) == ["inglés"]


def test_times_with_and_without_offset_are_one_order(memory: DatedMemory) -> None:
    """Case: 10:00+02:00 is earlier than 09:30Z; a time without offset is UTC."""
    times = ["2026-01-01T10:00:00+02:00", "2026-01-01T09:30:00Z", "2026-01-01", "2026-01-01T09:45:00"]
    for number, when in enumerate(times):
        memory.remember("Ada", "status", value=number, valid_from=when)
    assert [value for value, _, _ in history(memory, "Ada", "status")] == [2, 0, 1, 3]
    assert current(memory, "Ada", "status", as_of="2026-01-01T08:30:00Z") == [0]
    assert current(memory, "Ada", "status", as_of="2026-01-01T11:40:00+02:00") == [1]


def test_a_fact_holds_at_the_time_that_is_shown_for_its_begin(memory: DatedMemory) -> None:
    memory.clock.advance(500_000)
    fact = memory.remember("Marta", "vive_en", "Lugo")
    memory.clock.advance(2_000_000)
    closed = memory.remember("Marta", "vive_en", "Gijón")["closed"]
    assert current(memory, "Marta", "vive_en", as_of=fact["valid_from"]) == ["Lugo"]
    assert current(memory, "Marta", "vive_en", as_of=closed[0].get("ended_at")) == ["Gijón"]


def test_single_valued_predicates_are_a_setting(tmp_path: Path) -> None:
    with DatedMemory(tmp_path, single_valued="Mascota, jefe") as memory:
        for place in ("Lugo", "Gijón"):
            memory.remember("Marta", "vive_en", place)
            memory.remember("Marta", "MASCOTA", place)
        assert current(memory, "Marta", "vive_en") == ["Lugo", "Gijón"]
        assert current(memory, "Marta", "MASCOTA") == ["Gijón"]
        assert memory.predicates() == {
            "single_valued": ["Mascota", "jefe"],
            "predicates": [
                {"predicate": "MASCOTA", "facts": 2, "single_valued": True},
                {"predicate": "vive_en", "facts": 2, "single_valued": False},
            ],
        }


def test_the_default_predicates_are_the_contract_s(memory: DatedMemory) -> None:
    assert memory.predicates() == {"single_valued": list(SINGLE_VALUED), "predicates": []}
    assert len(SINGLE_VALUED) == 20


PLACES = ("Lugo", "Gijón", "Vigo")


@given(tellings=st.lists(st.tuples(st.sampled_from(PLACES), st.integers(-5, 5)), max_size=8), steps=st.integers(0, 3))
def test_there_is_one_home_at_a_time_whatever_is_told(
    tmp_path_factory: pytest.TempPathFactory, tellings: list[tuple[str, int]], steps: int
) -> None:
    with DatedMemory(tmp_path_factory.mktemp("homes")) as memory:
        known: set[int] = set()
        for place, when in tellings:
            fact = memory.remember("Marta", "vive_en", place, valid_from=day(when))
            assert current(memory, "Marta", "vive_en", as_of=day(when)) == [place]
            facts = memory.recall("Marta", include_ended=True, depth=0)["facts"]
            assert known <= {each["id"] for each in facts}
            known = {each["id"] for each in facts}
            assert fact["id"] in known
            memory.days(steps)
        for when in range(-6, 40):
            assert len(current(memory, "Marta", "vive_en", as_of=day(when))) <= 1


# -- many ----------------------------------------------------------------------------------------------


def test_many_are_told_in_order(memory: DatedMemory) -> None:
    outcome = memory.remember_many(
        [
            {"subject": "Marta", "predicate": "vive_en", "object": "Lugo", "valid_from": day(-9)},
            {"subject": "Marta", "predicate": "vive_en", "object": "Gijón", "source": "carta"},
        ],
        source="chat",
    )
    assert outcome["count"] == 2
    assert [fact.get("source") for fact in outcome["facts"]] == ["chat", "carta"]
    assert [fact["active"] for fact in outcome["facts"]] == [False, True]
    assert said(outcome["facts"][1]["closed"]) == [("Marta", "vive_en", "Lugo")]


def test_every_bad_row_is_named_and_nothing_is_saved(memory: DatedMemory) -> None:
    memory.create_entities([{"name": "ANA"}, {"name": "Ana"}])
    good: FactData = {"subject": "Ada", "predicate": "habla", "object": "inglés"}
    rows = [good, {**good, "subject": " "}, {**good, "value": "x"}, {**good, "valid_from": "ayer"}, good]
    with pytest.raises(InvalidInput) as error:
        memory.remember_many(cast("Sequence[FactData]", rows))
    assert error.value.message == (
        "facts[1].subject: must not be blank; "
        "facts[2].object: give exactly one of object (an entity) and value (a literal); "
        "facts[3].valid_from: 'ayer' is not an ISO 8601 time such as 2026-04-14T22:47:23Z"
    )
    with pytest.raises(InvalidInput, match=r"facts\[1\].subject: ana may mean ANA, Ana; facts\[2\].object: ana may"):
        memory.remember_many([good, {**good, "subject": "ana"}, {**good, "object": "ana"}])
    assert [each["name"] for each in memory.read_graph()["entities"]] == ["ANA", "Ana"]


def test_more_than_a_hundred_are_refused(memory: DatedMemory) -> None:
    row: FactData = {"subject": "Ada", "predicate": "dato", "value": 1}
    assert memory.remember_many([{**row, "value": number} for number in range(100)])["count"] == 100
    with pytest.raises(LimitExceeded, match="facts too long: 101 > 100 items"):
        memory.remember_many([row] * 101)


@pytest.mark.parametrize(
    ("fact", "field"),
    [
        ({"subject": "s" * 501}, "subject"),
        ({"predicate": "p" * 129}, "predicate"),
        ({"object": "o" * 501}, "object"),
        ({"context": "c" * 2_001}, "context"),
        ({"confidence": 1.01}, "confidence"),
        ({"confidence": -0.01}, "confidence"),
        ({"subject": " "}, "subject"),
        ({"valid_from": "mañana"}, "valid_from"),
    ],
)
def test_limits_are_named(memory: DatedMemory, fact: dict[str, object], field: str) -> None:
    row = cast("FactData", {"subject": "Ada", "predicate": "habla", "object": "inglés", **fact})
    with pytest.raises(InvalidInput) as error:
        memory.remember(**row)
    assert error.value.field == field
    assert memory.read_graph()["entities"] == []


def test_what_is_as_long_as_may_be_is_taken(memory: DatedMemory) -> None:
    fact = memory.remember("s" * 500, "p" * 128, value="v" * 2_000, context="c" * 2_000)
    assert memory.recall("s" * 500)["facts"][0].get("value") == "v" * 2_000
    assert fact.get("context") == "c" * 2_000


# -- corrections ---------------------------------------------------------------------------------------


def test_a_correction_keeps_the_id(memory: DatedMemory) -> None:
    fact = memory.remember("Ada", "habla", "ingles", context="curso")
    changed = memory.update_fact(fact["id"], new_object="inglés", confidence=0.4)
    assert (changed["id"], changed.get("object"), changed.get("context")) == (fact["id"], "inglés", "curso")
    assert changed["confidence"] == 0.4
    assert said(memory.recall("Ada")["facts"]) == [("Ada", "habla", "inglés")]
    by_triple = memory.update_fact(
        subject="ada", predicate="habla", object="Inglés", new_subject="Bea", new_predicate="conoce", new_value="algo"
    )
    assert (by_triple["id"], by_triple.get("value"), "object" in by_triple) == (fact["id"], "algo", False)
    assert memory.recall("Ada")["facts"] == []


def test_a_correction_obeys_the_rules_of_single_values(memory: DatedMemory) -> None:
    lugo = memory.remember("Marta", "vive_en", "Lugo")
    memory.days(5)
    fact = memory.remember("Marta", "visita", "Gijón")
    changed = memory.update_fact(fact["id"], new_predicate="vive_en")
    assert [(each["id"], each.get("ended_at")) for each in changed["closed"]] == [(lugo["id"], day(5))]
    assert current(memory, "Marta", "vive_en") == ["Gijón"]


def test_a_correction_into_what_is_known_is_a_conflict(memory: DatedMemory) -> None:
    known = memory.remember("Ada", "habla", "inglés")
    fact = memory.remember("Ada", "habla", "ingles")
    with pytest.raises(Conflict, match=f"Ada -> inglés .habla. is known for that time already, as fact {known['id']}"):
        memory.update_fact(fact["id"], new_object="inglés")
    assert memory.recall("Ada", depth=0)["count"] == 2


def test_an_end_can_be_told(memory: DatedMemory) -> None:
    fact = memory.remember("Ada", "habla", "inglés")
    assert memory.update_fact(fact["id"], ended_at=day(3))["active"] is True
    memory.days(3)
    assert memory.recall("Ada")["facts"] == []
    with pytest.raises(InvalidInput, match="ended_at: lies before valid_from"):
        memory.update_fact(fact["id"], ended_at=day(-1))
    assert memory.update_fact(fact["id"], valid_from=day(-2), ended_at=day(-1)).get("ended_at") == day(-1)


def test_a_correction_of_containment_takes_its_inverse_along(memory: DatedMemory) -> None:
    fact = memory.remember("Casa", "contiene", "Cocina")
    memory.update_fact(fact["id"], new_object="Baño")
    assert said(memory.recall(related_to="Casa", depth=0)["facts"]) == [
        ("Casa", "contiene", "Baño"),
        ("Baño", "parte_de", "Casa"),
    ]
    memory.update_fact(fact["id"], new_predicate="tiene")
    assert said(memory.recall("Casa")["facts"]) == [("Casa", "tiene", "Baño")]


def test_an_inverse_corrected_into_another_fact_is_not_called_an_inverse(memory: DatedMemory) -> None:
    memory.remember("Casa", "contiene", "Cocina")
    part = memory.recall("Casa", predicate="parte_de", depth=0)["facts"][0]
    assert part.get("context") == "Inversa automática de contiene"
    assert "context" not in memory.update_fact(part["id"], new_predicate="da_a")
    assert said(memory.recall("Casa", depth=0)["facts"]) == [("Cocina", "da_a", "Casa")]
    assert memory.recall("automática", depth=0)["facts"] == []
    own = memory.remember("Baño", "parte_de", "Casa", context="planta alta")
    assert memory.update_fact(own["id"], new_predicate="da_a").get("context") == "planta alta"


def test_nothing_to_change_and_unknown_facts_are_told(memory: DatedMemory) -> None:
    fact = memory.remember("Ada", "habla", "inglés")
    with pytest.raises(InvalidInput, match="Nothing to change"):
        memory.update_fact(fact["id"])
    unknown: list[dict[str, object]] = [{"id": 999}, {"subject": "Ada", "predicate": "habla", "object": "ruso"}]
    for which in unknown:
        with pytest.raises(NotFound, match="Fact not found"):
            memory.ask("forget", **which)
        with pytest.raises(NotFound, match="Fact not found"):
            memory.ask("update_fact", context="x", **which)
    unclear: list[dict[str, object]] = [{}, {"subject": "Ada", "predicate": "habla"}, {"id": 1, "subject": "Ada"}]
    for which in unclear:
        with pytest.raises(InvalidInput):
            memory.ask("forget", **which)


# -- forgetting ----------------------------------------------------------------------------------------


def test_a_fact_is_forgotten_by_id_or_with_all_its_history_by_what_it_says(memory: DatedMemory) -> None:
    for place in ("Lugo", "Gijón", "Lugo"):
        memory.days(1)
        memory.remember("Marta", "vive_en", place)
    gone = memory.forget(subject="MARTA", predicate="vive_en", object="lugo")
    assert (gone["status"], gone["count"], said(gone["facts"])) == ("deleted", 2, [("Marta", "vive_en", "Lugo")] * 2)
    (left,) = memory.recall("Marta", include_ended=True)["facts"]
    assert memory.forget(left["id"])["count"] == 1
    assert memory.recall("Marta", include_ended=True)["facts"] == []
    assert memory.recall(predicate="vive_en", include_ended=True)["total"] == 0


def test_a_literal_is_found_by_object_too(memory: DatedMemory) -> None:
    memory.remember("Ada", "lema", value="sin prisa")
    assert memory.forget(subject="Ada", predicate="lema", object="sin prisa")["count"] == 1


def test_what_was_said_of_a_forgotten_fact_stays(tmp_path: Path) -> None:
    with DatedMemory(tmp_path, embedder="hash") as memory:
        fact = memory.remember("Ada", "works_at", "Lab")
        memory.add_reflection("relation", "Le gusta mucho", target_id=fact["id"])
        memory.forget(fact["id"])
        (kept,) = memory.search_reflections("Le gusta mucho")["results"]
    assert (kept["target_type"], kept.get("former_target")) == ("global", "Ada -> Lab (works_at)")


def test_an_entity_is_forgotten_when_confirmed(memory: DatedMemory) -> None:
    memory.create_entities([{"name": "Ada", "observations": ["Escribe programas", "Vive sola"]}])
    memory.remember("Ada", "works_at", "Lab")
    memory.remember("Bea", "conoce", "Ada")
    memory.remember("Ada", "edad", value=36)
    told = memory.forget_entity("ada")
    assert (told["status"], told["facts"], told["relations"], told["observations"]) == ("unconfirmed", 1, 2, 2)
    assert memory.recall("Ada")["count"] == 3
    done = memory.forget_entity("ada", confirm=True)
    assert (done["status"], done["entity"], done["facts"], done["relations"]) == ("deleted", "Ada", 1, 2)
    assert [each["name"] for each in memory.read_graph()["entities"]] == ["Lab", "Bea"]
    assert memory.recall(predicate="conoce", include_ended=True)["total"] == 0
    with pytest.raises(EntityNotFound):
        memory.forget_entity("Ada", confirm=True)


def test_facts_of_another_collection_are_unknown(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory(path, embedder="none") as home, Memory(path, embedder="none", collection="obra") as work:
        fact = home.remember("Ada", "habla", "inglés")
        with pytest.raises(NotFound):
            work.forget(fact["id"])
        with pytest.raises(NotFound):
            work.update_fact(fact["id"], context="x")
        assert work.recall("Ada", include_ended=True)["facts"] == []
        assert work.recall(predicate="habla")["total"] == work.recall_connections("Ada")["total"] == 0
        assert home.recall("Ada")["count"] == 1


def test_parallel_tellings_of_one_fact_make_one(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        places = ("Lugo", "Gijón", "Vigo", "Lugo")
        threads = [threading.Thread(target=memory.remember, args=("Marta", "vive_en", place)) for place in places * 5]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert memory.recall("Marta", depth=0)["count"] == 1
        now_and_then = memory.recall("Marta", include_ended=True, depth=0)["facts"]
        assert {fact.get("object") for fact in now_and_then} == set(places)
