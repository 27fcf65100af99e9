"""What the server tells a model at the start: short, and of the tools that it offers."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from evoca.operations.base import TOOLSETS, Toolset
from evoca.operations.catalogue import CATALOGUE
from evoca.surfaces.mcp.server import instructions

NAMES = {each.name: each.toolset for each in CATALOGUE}
SETS = [chosen for count in range(len(TOOLSETS) + 1) for chosen in combinations(TOOLSETS, count)]


@pytest.mark.parametrize("toolsets", SETS, ids="+".join)
def test_they_are_short_and_name_tools_that_are_on(toolsets: tuple[Toolset, ...]) -> None:
    text = instructions(toolsets)
    assert len(text.encode()) <= 1024
    assert {NAMES[word] for word in re.findall(r"\w+", text) if word in NAMES} <= set(toolsets)


@pytest.mark.parametrize(
    ("toolset", "recalls", "saves"),
    [
        ("graph", "search_semantic", "create_entities"),
        ("facts", "recall", "remember"),
        ("hipocampo", "search_hipocampo", "save_hipocampo"),
    ],
)
def test_they_say_when_to_recall_and_when_to_save(toolset: Toolset, recalls: str, saves: str) -> None:
    for toolsets in ({toolset}, set(TOOLSETS)):
        words = re.findall(r"\w+", instructions(toolsets))
        assert {recalls, saves} <= set(words)
