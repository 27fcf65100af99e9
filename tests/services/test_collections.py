"""Collections: which one a call works in, and what is left of one that was deleted."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from evoca import AsyncMemory, Memory
from evoca.domain.tenancy import LOCAL, Caller, Scope
from evoca.errors import Conflict, EvocaError, Forbidden, InvalidInput, NotFound
from evoca.operations.catalogue import CATALOGUE
from evoca.runtime import Runtime
from evoca.settings import load_settings
from tests.test_isolation import CALLS, Picks

if TYPE_CHECKING:
    from evoca.operations.base import Input
    from evoca.services import Services

TOOLS = {operation.name: operation for operation in CATALOGUE}


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    opened = Runtime(load_settings(store=str(tmp_path / "memory.db"), embedder="none"))
    yield opened
    opened.close()


def call(runtime: Runtime, tool: str, caller: Caller = LOCAL, /, **given: object) -> Mapping[str, object]:
    return runtime.call(TOOLS[tool], given, caller)


def make(runtime: Runtime, code: str) -> int:
    """A new collection with an entity that is called as it is; its id."""
    call(runtime, "create_collection", code=code)
    call(runtime, "create_entities", entities=[{"name": code, "observations": [f"{code} luce"]}], collection=code)
    found = runtime.store.read(lambda session: session.collections.find(code))
    assert found is not None
    return found.id


def names(runtime: Runtime, caller: Caller = LOCAL, **given: object) -> list[str]:
    graph = call(runtime, "read_graph", caller, **given)
    return [each["name"] for each in cast("list[dict[str, str]]", graph["entities"])]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("create_entities", {"entities": [{"name": "Ada"}]}),
        ("save_hipocampo", {"content": "La caldera se revisa en octubre"}),
        ("remember", {"subject": "Ada", "predicate": "vive_en", "value": "Vigo"}),
    ],
)
def test_a_collection_deleted_while_a_call_runs_is_not_found(
    runtime: Runtime, tool: str, given: Mapping[str, object]
) -> None:
    make(runtime, "obra")
    late = TOOLS[tool]

    def deleted_first(services: Services, arguments: Input) -> Mapping[str, object]:
        call(runtime, "delete_collection", code="obra", confirm=True)
        return late.run(services, arguments)

    with pytest.raises(NotFound, match=r"^Collection not found: obra$"):
        runtime.call(replace(late, run=deleted_first), {**given, "collection": "obra"}, LOCAL)


def test_a_call_works_where_it_says(runtime: Runtime) -> None:
    make(runtime, "casa")
    make(runtime, "obra")
    call(runtime, "create_entities", entities=[{"name": "propia"}])
    assert names(runtime) == names(runtime, collection="") == names(runtime, collection="null") == ["propia"]
    assert names(runtime, collection="casa") == ["casa"]
    assert names(runtime, collection="obra") == ["obra"]
    assert call(runtime, "memory_status", collection="casa")["collection"] == "casa"
    with pytest.raises(NotFound, match=r"^Collection not found: nada$"):
        names(runtime, collection="nada")
    with pytest.raises(NotFound, match=r"^Collection not found: nada$"):
        call(runtime, "create_entities", entities=[{"name": "x"}], collection="nada")


def test_a_process_s_own_collection_is_what_none_means(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", embedder="none", collection="casa") as casa:
        casa.create_entities([{"name": "Caldera"}])
        assert [each["code"] for each in casa.list_collections()["collections"]] == ["default", "casa"]
        assert casa.in_collection("").read_graph()["entities"] != []
        assert casa.in_collection("default").in_collection(" ").read_graph()["entities"] != []
        for wrong in ("La Casa", "ñ", "-casa"):
            with pytest.raises(InvalidInput, match=r"^code: "):
                casa.in_collection(wrong)
        assert casa.in_collection("default").read_graph()["entities"] == []
        casa.delete_collection("casa", confirm=True)
        with pytest.raises(NotFound, match="this process's own one has been deleted"):
            casa.read_graph()
        assert casa.in_collection("default").read_graph()["entities"] == []


@pytest.mark.parametrize("scope", list(Scope))
def test_a_key_of_one_collection_works_in_it(runtime: Runtime, scope: Scope) -> None:
    caller = Caller(1, scope, frozenset({make(runtime, "casa")}))
    make(runtime, "obra")
    for named in ({}, {"collection": ""}, {"collection": "casa"}):
        assert names(runtime, caller, **named) == ["casa"]
    for other in ("obra", "default", "nada"):
        with pytest.raises(NotFound, match=rf"^Collection not found: {other}$"):
            names(runtime, caller, collection=other)


def test_a_key_of_several_must_say_which(runtime: Runtime) -> None:
    casa, obra = make(runtime, "casa"), make(runtime, "obra")
    caller = Caller(1, Scope.WRITE, frozenset({casa, obra}))
    for named in ({}, {"collection": ""}):
        with pytest.raises(NotFound, match=r"^Collection not found: the call names none"):
            names(runtime, caller, **named)
    assert names(runtime, caller, collection="obra") == ["obra"]
    with_default = Caller(1, Scope.WRITE, frozenset({casa, 1}))
    assert names(runtime, with_default) == []


def test_a_key_for_no_collection_sees_nothing(runtime: Runtime) -> None:
    make(runtime, "casa")
    caller = Caller(1, Scope.ADMIN, frozenset())
    assert call(runtime, "list_collections", caller)["collections"] == []
    for named in ({}, {"collection": "casa"}, {"collection": "default"}):
        with pytest.raises(NotFound):
            names(runtime, caller, **named)


def test_a_key_sees_its_collections_only(runtime: Runtime) -> None:
    casa = make(runtime, "casa")
    make(runtime, "obra")
    caller = Caller(1, Scope.ADMIN, frozenset({casa}))
    listed = cast("list[dict[str, str]]", call(runtime, "list_collections", caller)["collections"])
    assert [each["code"] for each in listed] == ["casa"]
    for name in ("describe_collection", "delete_collection"):
        with pytest.raises(NotFound, match=r"^Collection not found: obra$"):
            call(runtime, name, caller, code="obra")
    for code in ("obra", "nueva"):
        with pytest.raises(Forbidden, match="bound to its collections"):
            call(runtime, "create_collection", caller, code=code)
    status = call(runtime, "memory_status", caller)
    assert "store" not in status
    assert "bytes" not in status


def test_a_reading_key_reads(runtime: Runtime) -> None:
    """What it may not do is refused before anything is done."""
    make(runtime, "casa")
    caller = Caller(1, Scope.READ)
    before = runtime.graph_version(), names(runtime, collection="casa")
    for name, arguments in CALLS.items():
        refused = ""
        try:
            runtime.call(TOOLS[name], arguments(Picks((0, 1, 2), lambda _pick: 1)), caller)
        except Forbidden as error:
            refused = error.message
        except EvocaError:
            pass  # whatever else is the matter
        assert (refused == "") == TOOLS[name].hints.read_only, name
        assert refused.startswith("" if refused == "" else f"This key may not call {name}: its scope is read, ")
    assert (runtime.graph_version(), names(runtime, collection="casa")) == before


def test_a_collection_is_made_once(runtime: Runtime) -> None:
    made = call(runtime, "create_collection", code="casa", name="La casa", description="Todo lo de casa")
    assert made["collection"] == cast("dict[str, object]", made["collection"]) | {
        "code": "casa",
        "name": "La casa",
        "description": "Todo lo de casa",
    }
    for taken in ("casa", "default", "null"):
        with pytest.raises(Conflict, match=r"^Collection already exists: "):
            call(runtime, "create_collection", code=taken)
    with pytest.raises(InvalidInput, match=r"^code: "):
        call(runtime, "create_collection", code="La Casa")


def test_two_at_once_make_one(runtime: Runtime) -> None:
    outcomes: list[str] = []

    def try_it() -> None:
        try:
            call(runtime, "create_collection", code="casa")
            outcomes.append("made")
        except Conflict:
            outcomes.append("taken")

    threads = [threading.Thread(target=try_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["made", *["taken"] * 5]


def fill(memory: Memory, what: str) -> None:
    """Five memories, two entities with a text each, a relation and two facts (case B036)."""
    for number in range(5):
        memory.save_hipocampo(f"{what}: episodio {number} del zarigüeyómetro", force=True)
    memory.create_entities(
        [{"name": n, "observations": [f"El zarigüeyómetro de {n}"]} for n in (f"{what} A", f"{what} B")]
    )
    memory.create_relations([{"from": f"{what} A", "to": f"{what} B", "relationType": "ve"}])
    memory.remember(f"{what} A", "marca", value=7)
    memory.remember(f"{what} A", "conoce", f"{what} B")
    memory.add_reflection("entity", "zarigüeyómetro pensado", target_name=f"{what} A")


COUNTS = {"entities": 2, "observations": 2, "relations": 2, "facts": 1, "episodes": 5, "reflections": 1}


def found(memory: Memory) -> list[int]:
    return [
        len(memory.search_nodes("zarigüeyómetro")["entities"]),
        memory.search_hipocampo("zarigüeyómetro")["total"],
        memory.recall("zarigüeyómetro")["total"],
    ]


def test_deleting_one_leaves_the_others(memory: Memory) -> None:
    """Case B036: only what is named, and only when confirmed."""
    for code in ("casa", "obra"):
        memory.create_collection(code)
        fill(memory.in_collection(code), code)
    obra, casa = memory.in_collection("obra"), memory.in_collection("casa")
    before, graph = found(casa), casa.read_graph()
    unconfirmed = memory.delete_collection("obra")
    assert (unconfirmed["status"], {key: unconfirmed[key] for key in COUNTS}) == ("unconfirmed", COUNTS)  # pyright: ignore[reportTypedDictNotRequiredAccess]
    assert found(obra) == before

    with pytest.raises(NotFound):
        memory.delete_collection("nada", confirm=True)
    for nothing in ("", " ", "default", "null", "none"):
        with pytest.raises(InvalidInput, match=r"^code: "):
            memory.delete_collection(nothing, confirm=True)
    assert found(obra) == before

    deleted = memory.delete_collection("obra", confirm=True)
    assert (deleted["status"], {key: deleted[key] for key in COUNTS}) == ("deleted", COUNTS)  # pyright: ignore[reportTypedDictNotRequiredAccess]
    with pytest.raises(NotFound):
        obra.read_graph()
    assert found(casa) == before
    assert casa.read_graph() == graph

    memory.create_collection("obra")
    assert obra.read_graph()["entities"] == []
    assert found(obra) == [0, 0, 0]
    assert obra.hipocampo_stats()["total"] == 0


def test_no_table_keeps_a_row_of_a_deleted_collection(tmp_path: Path, engine: str) -> None:
    """Whatever tables there are: those with a collection_id are asked for it."""
    if engine != "sqlite":
        return
    with Memory(tmp_path / "memory.db", embedder="hash:32") as memory:
        memory.create_collection("obra")
        obra = memory.in_collection("obra")
        fill(obra, "obra")
        obra.rename_entity("obra A", "obra C", dry_run=False)
        obra.search_semantic("zarigüeyómetro")
        obra.open_nodes(["obra C", "obra B"])
        told = ("La torre tiene doce pisos", "El puente cruza un río ancho")
        first, second = (obra.save_hipocampo(each).get("id", 0) for each in told)
        obra.link_hipocampo(first, second)
        obra.update_hipocampo(first, content="otra cosa")
        memory.search_semantic("lo que sea")
    with closing(sqlite3.connect(str(tmp_path / "memory.db"))) as store:
        tables = [
            str(name)
            for (name,) in store.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%collection_id%'"
            )
        ]

        def rows() -> dict[str, object]:
            counts = {each: f"SELECT count(*) FROM {each} WHERE collection_id = 2" for each in tables}
            return {each: store.execute(count).fetchall()[0][0] for each, count in counts.items()}

        before = rows()
        assert {"entities", "aliases", "vectors", "access", "co_occurrences", "episode_versions"} <= {
            name for name, count in before.items() if count
        }
        with Memory(tmp_path / "memory.db", embedder="none") as memory:
            memory.delete_collection("obra", confirm=True)
        assert rows() == dict.fromkeys(tables, 0)
        assert store.execute("SELECT count(*) FROM text_index_docsize").fetchall() == [(0,)]


def test_indexes_in_memory_hear_of_a_deletion_elsewhere(tmp_path: Path) -> None:
    """Another process's deletion is seen by one that has searched before."""
    place = tmp_path / "memory.db"
    with Memory(place, embedder="hash:32") as here, Memory(place, embedder="hash:32") as there:
        here.create_collection("obra")
        obra = there.in_collection("obra")
        fill(obra, "obra")
        assert obra.search_semantic("zarigüeyómetro")["results"] != []
        assert found(obra)[1:] != [0, 0]
        here.delete_collection("obra", confirm=True)
        here.create_collection("obra")
        assert found(obra) == [0, 0, 0]
        assert obra.search_semantic("zarigüeyómetro")["results"] == []
        assert obra.search_reflections("zarigüeyómetro")["results"] == []


@pytest.mark.anyio
async def test_the_asynchronous_face_has_collections_too(tmp_path: Path, anyio_backend: str) -> None:
    async with AsyncMemory(tmp_path / "memory.db", embedder="none") as memory:
        await memory.create_collection("casa")
        casa = memory.in_collection("casa")
        await casa.create_entities([{"name": "Caldera"}])
        assert (await memory.read_graph())["entities"] == []
        assert (await memory.describe_collection("casa"))["entities"] == 1
        assert (await memory.delete_collection("casa", confirm=True))["status"] == "deleted"
        assert (await memory.list_collections())["count"] == 1


def test_the_graph_s_version_is_the_caller_s(runtime: Runtime) -> None:
    casa, obra = (Caller(1, Scope.WRITE, frozenset({make(runtime, code)})) for code in ("casa", "obra"))
    before = runtime.graph_version(casa), runtime.graph_version(obra), runtime.graph_version()
    call(runtime, "create_entities", casa, entities=[{"name": "Caldera"}])
    after = runtime.graph_version(casa), runtime.graph_version(obra), runtime.graph_version()
    assert after[0] > before[0]
    assert after[1:] == before[1:]
    with pytest.raises(NotFound):
        runtime.graph_version(Caller(1, Scope.READ, frozenset()))
