"""The library's faces offer the catalogue, with its arguments and defaults."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import cast

import pytest

import evoca
from evoca import AsyncMemory, Memory
from evoca.operations.base import Operation
from evoca.operations.catalogue import CATALOGUE

LIFE = {"close", "export_to", "import_from", "in_collection"}


def methods(face: type) -> dict[str, inspect.Signature]:
    return {
        name: inspect.signature(member)
        for kind in face.__mro__
        for name, member in vars(kind).items()
        if inspect.isfunction(member) and not name.startswith("_") and name not in LIFE
    }


@pytest.mark.parametrize("face", [Memory, AsyncMemory])
def test_every_operation_is_a_method(face: type) -> None:
    assert list(methods(face)) == [operation.name for operation in CATALOGUE]


@pytest.mark.parametrize("face", [Memory, AsyncMemory])
@pytest.mark.parametrize("operation", CATALOGUE, ids=lambda operation: operation.name)
def test_a_method_has_the_operation_s_arguments(face: type, operation: Operation) -> None:
    signature = methods(face)[operation.name]
    given = {name.rstrip("_"): each for name, each in signature.parameters.items() if name != "self"}
    # The collection is the face's own: `Memory(collection=...)`, `memory.in_collection(...)`.
    assert set(given) == set(cast("dict[str, object]", operation.input_schema["properties"])) - {"collection"}
    required = {name for name, each in given.items() if each.default is inspect.Parameter.empty}
    assert set(cast("list[str]", operation.input_schema.get("required", []))) <= required


def test_exported_names_exist() -> None:
    assert sorted(evoca.__all__) == evoca.__all__
    for name in evoca.__all__:
        assert getattr(evoca, name) is not None
    with pytest.raises(AttributeError):
        evoca.nothing  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  # noqa: B018


@pytest.mark.anyio
async def test_the_asynchronous_face_does_the_same(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path / "m.db", embedder="none") as memory:
        await memory.create_entities([{"name": "Ada", "observations": ["Writes programs"]}])
        found = await memory.search_nodes("programs")
    assert [entity["name"] for entity in found["entities"]] == ["Ada"]


def test_two_memories_share_a_store(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="none") as one, Memory(tmp_path / "m.db", embedder="none") as two:
        one.create_entities([{"name": "Ada"}])
        two.create_entities([{"name": "Bea"}])
        assert one.read_graph() == two.read_graph()
        assert len(one.read_graph()["entities"]) == 2


def test_collections_do_not_see_each_other(tmp_path: Path) -> None:
    with (
        Memory(tmp_path / "m.db", embedder="none", collection="casa") as home,
        Memory(tmp_path / "m.db", embedder="none", collection="obra") as work,
    ):
        home.create_entities([{"name": "Ada"}])
        work.create_entities([{"name": "Bea"}])
        assert [entity["name"] for entity in home.read_graph()["entities"]] == ["Ada"]
        assert [entity["name"] for entity in work.search_nodes("a")["entities"]] == ["Bea"]


def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "m.db", embedder="none")
    memory.create_entities([{"name": "Ada"}])
    memory.close()
    memory.close()
    with pytest.raises(evoca.EvocaError, match="ending"):
        memory.read_graph()
