"""consolidation_report (seed 000, tool 16; contract, Graph 10)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from evoca.domain.clock import DAY, FrozenClock, to_iso
from evoca.errors import InvalidInput
from evoca.operations.catalogue import CATALOGUE
from evoca.operations.upkeep_results import ConsolidationResult
from evoca.runtime import Runtime
from evoca.settings import load_settings

OPERATIONS = {operation.name: operation for operation in CATALOGUE}
START = 20_000 * DAY
TOPICS = [
    f"El {what} de la casa está {how}" for what in ("tejado", "jardín") for how in "roto sano viejo mojado".split()
]
SAME = [f"Copia de seguridad número {number}" for number in range(40)]


class Process:
    """A process without a model, whose clock is set by hand."""

    def __init__(self, path: Path) -> None:
        self.clock = FrozenClock(START)
        self.runtime = Runtime(load_settings(store=str(path), embedder="none"), self.clock)

    def call(self, operation: str, /, **arguments: object) -> object:
        return self.runtime.call(OPERATIONS[operation], arguments)

    def create(self, name: str, *observations: str, **more: str) -> None:
        self.call("create_entities", entities=[{"name": name, "observations": list(observations), **more}])

    def report(self, **arguments: object) -> ConsolidationResult:
        return cast("ConsolidationResult", self.call("consolidation_report", **arguments))

    def stale(self, **arguments: object) -> list[str]:
        return [each["entity_name"] for each in self.report(**arguments)["stale_entities"]]


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    opened = Process(tmp_path / "m.db")
    yield opened
    opened.runtime.close()


def test_an_empty_graph_has_an_empty_report(process: Process) -> None:
    assert process.report() == {
        "summary": {
            "total_entities": 0,
            "total_observations": 0,
            "split_candidates_count": 0,
            "flagged_observations_count": 0,
            "stale_entities_count": 0,
            "large_entities_count": 0,
        },
        "split_candidates": [],
        "flagged_observations": [],
        "stale_entities": [],
        "large_entities": [],
    }


def test_the_report_has_the_contract_s_shape(process: Process) -> None:
    process.create(
        "Sesión 2026-03-31", *TOPICS, *(f"{text} hoy" for text in TOPICS), "Nota", "Otra", entityType="Sesion"
    )
    process.create("Experimento Antiguo", "uno", "dos", "tres")
    process.clock.advance(145 * DAY)
    process.create("Proyecto cachorritos", *SAME[:35], entityType="Proyecto")
    report = process.report(stale_days=90)
    assert report["summary"] == {
        "total_entities": 3,
        "total_observations": 56,
        "split_candidates_count": 1,
        "flagged_observations_count": 0,
        "stale_entities_count": 2,
        "large_entities_count": 2,
    }
    (candidate,) = report["split_candidates"]
    wanted = {
        "entity_name": "Sesión 2026-03-31",
        "entity_type": "Sesion",
        "observation_count": 18,
        "threshold": 15,
        "split_score": 1.2,
    }
    assert candidate.items() >= wanted.items()
    wanted = {
        "entity_name": "Experimento Antiguo",
        "entity_type": "Generic",
        "last_accessed_days_ago": 145,
        "access_count": 1,
        "observation_count": 3,
        "status": "activo",
        "days_since_access": 145,
        "last_access": to_iso(START),
    }
    assert report["stale_entities"][1].items() >= wanted.items()
    assert [
        (each["entity_name"], each["entity_type"], each["observation_count"]) for each in report["large_entities"]
    ] == [("Sesión 2026-03-31", "Sesion", 18), ("Proyecto cachorritos", "Proyecto", 35)]


def test_an_entity_without_topics_is_large_and_no_candidate(process: Process) -> None:
    process.create("Registro", *SAME)
    report = process.report()
    assert report["split_candidates"] == []
    assert report["large_entities"][0].get("threshold") == 20


def test_superseded_observations_count_nowhere(process: Process) -> None:
    process.create("E", "uno")
    details = cast(
        "dict[str, list[dict[str, list[dict[str, int]]]]]", process.call("open_nodes", names=["E"], details=True)
    )
    old = details["entities"][0]["observation_details"][0]["id"]
    process.call("add_observations", name="E", observations=["dos"], supersedes=old)
    assert process.report()["summary"]["total_observations"] == 1


@pytest.mark.parametrize(("age", "stale"), [(89, []), (90, []), (91, ["E"])])
def test_stale_is_older_than_the_days(process: Process, age: int, stale: list[str]) -> None:
    process.create("E", "uno")
    process.clock.advance(age * DAY)
    assert process.stale() == stale


def test_what_is_used_or_over_is_not_stale(process: Process) -> None:
    process.create("Nunca leída", "uno")
    process.create("Archivada", "uno", status="archivado")
    process.create("Sin nada")
    process.create("Leída", "uno")
    process.create("Muy leída", "uno")
    for _ in range(2):
        process.call("open_nodes", names=["Muy leída"])
    process.clock.advance(50 * DAY)
    process.call("open_nodes", names=["Leída"])
    process.clock.advance(50 * DAY)
    assert process.stale() == ["Nunca leída"]
    assert process.stale(stale_days=49) == ["Nunca leída", "Leída"]
    assert process.stale(stale_days=49) == ["Nunca leída", "Leída"]


def test_what_was_changed_lately_is_not_stale(process: Process) -> None:
    process.create("E", "uno")
    process.clock.advance(100 * DAY)
    process.create("E", "dos")
    assert process.stale() == []


def test_the_parts_of_a_split_are_not_stale_at_once(process: Process) -> None:
    process.create("E", *SAME)
    process.clock.advance(200 * DAY)
    process.call("execute_entity_split", entity_name="E", approved_splits=[{"name": "Parte", "observations": SAME[:9]}])
    assert process.stale() == []


def test_a_limit_cuts_the_lists_and_not_the_counts(process: Process) -> None:
    for number in range(5):
        process.create(f"E{number}", "uno")
        process.clock.advance(DAY)
    process.clock.advance(100 * DAY)
    report = process.report(limit=2)
    assert report["summary"]["stale_entities_count"] == 5
    assert [each["entity_name"] for each in report["stale_entities"]] == ["E0", "E1"]


@pytest.mark.parametrize("days", [0, -1, float("nan"), float("inf"), "90", True])
def test_days_that_cannot_be_are_refused(process: Process, days: object) -> None:
    with pytest.raises(InvalidInput) as error:
        process.report(stale_days=days)
    assert "stale_days" in error.value.message


def test_a_fraction_of_a_day_counts(process: Process) -> None:
    process.create("E", "uno")
    process.clock.advance(DAY // 2)
    assert (process.stale(stale_days=0.4), process.stale(stale_days=0.6)) == (["E"], [])
