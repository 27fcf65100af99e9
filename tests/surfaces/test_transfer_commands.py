"""`evoca export`, `import`, `backup`, `restore` and `copy`, as a person or a script uses them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import cast

import pytest

from evoca import AsyncMemory, Memory
from tests.process.support.launch import evoca_command, isolated_env
from tests.support.engines import POSTGRES, Servers

GRAPH = '{"type":"entity","name":"Bob","entityType":"person","observations":["old"]}\nnonsense\n'


class Shell:
    """Runs `evoca` in a folder of its own, on the store `memory.db` there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *arguments: str, code: int = 0, given: str = "") -> subprocess.CompletedProcess[str]:
        env = isolated_env(self.folder / "home", {"EVOCA_STORE": "memory.db", "EVOCA_EMBEDDER": "none"})
        done = subprocess.run(
            evoca_command(*arguments),
            input=given,
            capture_output=True,
            encoding="utf-8",
            env=env,
            cwd=self.folder,
            check=False,
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    def answer(self, *arguments: str, given: str = "") -> dict[str, object]:
        return cast("dict[str, object]", json.loads(self.run(*arguments, given=given).stdout))

    def names(self, store: str = "memory.db", collection: str | None = None) -> list[str]:
        with self.memory(store, collection) as memory:
            return [entity["name"] for entity in memory.read_graph()["entities"]]

    def tell(self, name: str, store: str = "memory.db", collection: str | None = None) -> None:
        with self.memory(store, collection) as memory:
            memory.create_entities([{"name": name, "observations": ["Escribe programas"]}])

    def memory(self, store: str, collection: str | None) -> Memory:
        place = store if "://" in store else self.folder / store
        return Memory(place, collection=collection, embedder="none")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    made.tell("Ada 🌱")
    return made


def test_an_export_goes_into_another_store_and_comes_out_the_same(shell: Shell) -> None:
    told = shell.run("export", "out.jsonl").stderr
    assert "exported collection default: 1 entity, 1 observation, 0 edge" in told
    piped = shell.run("export").stdout
    assert piped.splitlines()[1:] == (shell.folder / "out.jsonl").read_text("utf-8").splitlines()[1:]
    report = shell.answer("import", "out.jsonl", "--store", "other.db")
    assert report["format"] == "evoca"
    assert cast("dict[str, int]", report["added"])["observation"] == 1
    again = shell.answer("import", "-", "--store", "other.db", given=piped)
    assert not any(cast("dict[str, int]", again["added"]).values())
    assert cast("dict[str, int]", again["known"])["entity"] == 1
    other = shell.run("export", "--store", "other.db").stdout
    assert other.splitlines()[1:] == piped.splitlines()[1:]


def test_a_collection_is_exported_and_imported_by_name(shell: Shell) -> None:
    shell.tell("Eve", collection="work")
    piped = shell.run("export", "--collection", "work").stdout
    shell.answer("import", "--collection", "play", "-", given=piped)
    assert shell.names(collection="play") == ["Eve"]
    assert shell.names() == ["Ada 🌱"]


def test_an_export_makes_nothing(shell: Shell) -> None:
    assert "Collection not found: wrok" in shell.run("export", "--collection", "wrok", code=1).stderr
    with shell.memory("memory.db", None) as memory:
        assert [each["code"] for each in memory.list_collections()["collections"]] == ["default"]
    assert "There is no store" in shell.run("export", "--store", "none.db", code=1).stderr
    assert not (shell.folder / "none.db").exists()
    assert "out exists" in [shell.run("export", "out"), shell.run("export", "out", code=1)][1].stderr
    shell.run("export", "--force", "out")


def test_a_broken_export_ends_with_code_2_and_names_its_lines(shell: Shell) -> None:
    lines = shell.run("export").stdout.splitlines()
    (shell.folder / "bad.jsonl").write_text("\n".join([*lines[:2], "{", *lines[3:]]), encoding="utf-8")
    told = shell.run("import", "bad.jsonl", "--store", "other.db", code=2).stderr
    assert "bad.jsonl cannot be imported: line 3: not JSON" in told
    assert "Nothing was imported" in told
    assert shell.names("other.db") == []
    assert "nowhere cannot be read" in shell.run("import", "nowhere", code=2).stderr


def test_a_file_of_the_official_server_is_imported_too(shell: Shell) -> None:
    (shell.folder / "graph.jsonl").write_text(GRAPH, encoding="utf-8")
    plan = shell.answer("import", "--dry-run", "graph.jsonl")
    assert plan["dry_run"] is True
    assert shell.names() == ["Ada 🌱"]
    report = shell.answer("import", "graph.jsonl")
    assert report["format"] == "mcp-memory"
    assert report["added"] == {"entity": 1, "relation": 0}
    assert report["details"] == [{"line": 2, "reason": "not JSON"}]
    assert shell.names() == ["Ada 🌱", "Bob"]


def test_a_backup_is_put_back(shell: Shell) -> None:
    done = shell.answer("backup", "copy.db")
    assert done["store"] == str(shell.folder / "memory.db")
    assert done["size"] == (shell.folder / "copy.db").stat().st_size
    shell.tell("Late")
    assert "There is a store at" in shell.run("restore", "copy.db", code=1).stderr
    restored = shell.answer("restore", "--force", "copy.db")
    assert shell.names() == ["Ada 🌱"]
    assert shell.names(cast(str, restored["kept"])) == ["Ada 🌱", "Late"]


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_a_database_server_has_its_own_tools_for_copies(shell: Shell, command: str) -> None:
    told = shell.run(command, "x.db", "--store", "postgresql://ada:secret@nowhere/memory", code=2).stderr
    assert "pg_dump" in told
    assert "evoca copy" in told
    assert "secret" not in told


def test_a_store_is_copied_and_compared(shell: Shell) -> None:
    done = shell.run("copy", "--from", "memory.db", "--to", "new/copy.db")
    table = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    assert table["entities"][:2] == ["1", "1"]
    assert len(table["entities"][2]) == 32
    assert "copying the comparison" in done.stderr
    assert shell.names("new/copy.db") == ["Ada 🌱"]
    assert "holds something already" in shell.run("copy", "--from", "memory.db", "--to", "new/copy.db", code=1).stderr
    assert "the same store" in shell.run("copy", "--from", "memory.db", "--to", "./memory.db", code=2).stderr
    assert "There is no store" in shell.run("copy", "--from", "none.db", "--to", "x.db", code=1).stderr


def test_a_store_moves_to_a_server_and_back(shell: Shell, servers: Servers) -> None:
    with servers.place(POSTGRES, shell.folder) as url:
        shell.run("copy", "--from", "memory.db", "--to", url)
        shell.tell("Bob", url)
        shell.run("copy", "--from", url, "--to", "back.db")
        assert shell.names(url) == ["Ada 🌱", "Bob"]
    assert shell.names("back.db") == ["Ada 🌱", "Bob"]


@pytest.mark.anyio
async def test_the_library_moves_memory_too(tmp_path: Path) -> None:
    with Memory(tmp_path / "one.db", embedder="none") as memory:
        memory.create_entities([{"name": "Ada", "observations": ["x"]}])
        assert memory.export_to(tmp_path / "out.jsonl")["counts"]["entity"] == 1
    async with AsyncMemory(tmp_path / "two.db", embedder="none") as other:
        assert (await other.import_from(tmp_path / "out.jsonl"))["added"]["entity"] == 1
        assert [entity["name"] for entity in (await other.read_graph())["entities"]] == ["Ada"]
        counts = (await other.export_to(tmp_path / "out.jsonl", overwrite=True))["counts"]
        assert counts["observation"] == 1
        await other.create_collection("work")
        work = other.in_collection("work")
        assert (await work.import_from(tmp_path / "out.jsonl", dry_run=True))["dry_run"]
        assert (await work.export_to(tmp_path / "work.jsonl"))["counts"]["entity"] == 0
