"""What a process is told from outside reaches the services."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from evoca.errors import InvalidInput
from evoca.operations.catalogue import CATALOGUE
from evoca.runtime import Runtime
from evoca.settings import load_settings

OPERATIONS = {each.name: each for each in CATALOGUE}
NOTE = {"entities": [{"name": "Ada", "observations": ["escribe programas"]}]}


def scoring(folder: Path, **settings: object) -> dict[str, float]:
    runtime = Runtime(load_settings(store=str(folder / "m.db"), embedder="hash", **settings))
    runtime.call(OPERATIONS["create_entities"], NOTE)
    result = runtime.call(OPERATIONS["search_semantic"], {"query": "programas"})
    runtime.close()
    hits = cast("list[dict[str, dict[str, float]]]", result["results"])
    return hits[0]["scoring"]


def test_limbic_constants_are_settings(tmp_path: Path) -> None:
    assert scoring(tmp_path / "a")["multiplier"] == 1.5
    assert scoring(tmp_path / "b", limbic_beta_salience=0.0)["multiplier"] == 1.0


def test_the_clock_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVOCA_NOW", "2031-05-06T07:08:09Z")
    runtime = Runtime(load_settings(store=str(tmp_path / "m.db"), embedder="none"))
    runtime.call(OPERATIONS["create_entities"], NOTE)
    graph = runtime.call(OPERATIONS["open_nodes"], {"names": ["Ada"], "details": True})
    runtime.close()
    (entity,) = cast("list[dict[str, str]]", graph["entities"])
    assert entity["created_at"].startswith("2031-05-06T07:")


def test_time_fades_what_was_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVOCA_NOW", "2031-01-01T00:00:00Z")
    assert scoring(tmp_path)["temporal_factor"] == 1.0
    monkeypatch.setenv("EVOCA_NOW", "2031-01-31T00:00:00Z")
    runtime = Runtime(load_settings(store=str(tmp_path / "m.db"), embedder="hash"))
    result = runtime.call(OPERATIONS["search_semantic"], {"query": "programas", "track": False})
    runtime.close()
    hits = cast("list[dict[str, dict[str, float]]]", result["results"])
    assert hits[0]["scoring"]["temporal_factor"] == 0.9305


@pytest.mark.parametrize("variable", ["EVOCA_LIMBIC_DECAY", "EVOCA_LIMBIC_MAX_DEGREE"])
def test_a_bad_constant_is_named(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "-1")
    with pytest.raises(InvalidInput, match=variable):
        load_settings()


def test_toolsets_choose_what_is_offered() -> None:
    runtime = Runtime(load_settings(toolsets="graph"))
    assert {each.toolset for each in runtime.catalogue} == {"graph"}
