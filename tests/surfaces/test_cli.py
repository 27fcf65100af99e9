"""The command line, as a person or a script uses it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from evoca import __version__
from evoca.operations.catalogue import CATALOGUE
from tests.process.support.client import Server
from tests.process.support.launch import evoca_command, isolated_env

ADA = {"entities": [{"name": "Ada", "observations": ["Escribe programas"]}]}


class Shell:
    """Runs `evoca` in a folder of its own, on the store `memory.db` there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {"EVOCA_STORE": "memory.db"}

    def run(
        self, *arguments: str, code: int = 0, given: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        surroundings = isolated_env(self.folder / "home", self.env | dict(env or {}))
        done = subprocess.run(
            evoca_command(*arguments),
            input=given,
            capture_output=True,
            encoding="utf-8",
            env=surroundings,
            cwd=self.folder,
            check=False,
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    def answer(self, *arguments: str, given: str = "") -> dict[str, object]:
        return cast("dict[str, object]", json.loads(self.run(*arguments, given=given).stdout))


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_every_listed_operation_is_a_command(shell: Shell) -> None:
    told = shell.run("--help").stdout
    for operation in CATALOGUE:
        assert (f"\n  {operation.cli} " in told) == operation.listed


def test_a_mistyped_command_is_told_the_nearest(shell: Shell) -> None:
    assert "Did you mean 'search-semantic'?" in shell.run("serch-semantic", code=2).stderr


def test_the_help_of_a_command_shows_its_scalars_as_options(shell: Shell) -> None:
    told = shell.run("search-semantic", "--help").stdout
    for option in ("--query TEXT", "--limit INTEGER", "--track / --no-track", "--input JSON|@FILE|-", "--store"):
        assert option in told


def test_arguments_come_as_json_as_a_file_or_over_stdin(shell: Shell) -> None:
    assert shell.answer("create-entities", "--input", json.dumps(ADA))["created"] == ["Ada"]
    (shell.folder / "bob.json").write_text('{"entities": [{"name": "Böb"}]}', encoding="utf-8")
    assert shell.answer("create-entities", "--input", "@bob.json")["created"] == ["Böb"]
    opened = shell.answer("open_nodes", "--input", "-", given='{"names": ["Böb"]}')
    assert [entity["name"] for entity in cast("list[dict[str, str]]", opened["entities"])] == ["Böb"]


def test_options_win_over_the_input(shell: Shell) -> None:
    shell.answer("create-entities", "--input", json.dumps(ADA))
    found = shell.answer("search-nodes", "--input", '{"query": "nobody"}', "--query", "ADA", "--limit", "1")
    assert found["total"] == 1


def test_commands_may_name_the_store_and_the_collection(shell: Shell) -> None:
    shell.answer("create-entities", "--store", "other.db", "--collection", "work", "--input", json.dumps(ADA))
    assert shell.answer("read-graph", "--store", "other.db")["entities"] == []
    assert shell.answer("read-graph", "--store", "other.db", "--collection", "work")["entities"] != []
    assert not (shell.folder / "memory.db").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["read-graph", "--limit", "0"], "evoca: limit: must be at least 1, got 0"),
        (["open-nodes"], 'evoca: Missing argument: names. Example: {"names": ["…"]}'),
        (["open-nodes", "--input", "{names"], "evoca: --input: not JSON"),
        (["open-nodes", "--input", "[]"], "evoca: --input: a JSON object is expected"),
        (["open-nodes", "--input", "@none.json"], "evoca: --input: none.json cannot be read: No such file"),
        (["read-graph", "--collection", "Ñ"], "evoca: --collection: 'Ñ' is not a collection code"),
        (["mcp", "--collection", "a b"], "evoca: --collection: 'a b' is not a collection code"),
        (
            ["mcp", "--toolsets", "graph,grpah"],
            "evoca: --toolsets: unknown toolset 'grpah'; known: graph, graph-upkeep",
        ),
        (["nothing"], "No such command 'nothing'"),
    ],
)
def test_wrong_arguments_end_with_code_2_and_say_why(shell: Shell, arguments: list[str], message: str) -> None:
    done = shell.run(*arguments, code=2)
    assert message in done.stderr
    assert done.stdout == ""
    assert not (shell.folder / "memory.db").exists() or arguments[0] != "mcp"


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("EVOCA_LOG_LEVEL", "loud", "evoca: EVOCA_LOG_LEVEL: "),
        ("EVOCA_NOW", "yesterday", "evoca: EVOCA_NOW: 'yesterday' is not an ISO 8601 time"),
        ("EVOCA_COLLECTION", "-", "evoca: EVOCA_COLLECTION: '-' is not a collection code"),
        ("EVOCA_LOG_FILE", "home", "evoca: EVOCA_LOG_FILE: "),
    ],
)
def test_wrong_settings_end_with_code_2_and_name_the_variable(
    shell: Shell, variable: str, value: str, message: str
) -> None:
    assert shell.run("mcp", code=2, env={variable: value}).stderr.startswith(message)


def test_a_store_that_cannot_be_used_ends_with_code_1(shell: Shell) -> None:
    (shell.folder / "memory.db").write_text("not a database, " * 100, encoding="utf-8")
    assert "is not an Evoca store" in shell.run("read-graph", code=1).stderr
    assert "is not an Evoca store" in shell.run("doctor", code=1).stderr


def test_a_misspelt_variable_is_pointed_out(shell: Shell) -> None:
    assert "EVOCA_STOER is not a setting and has no effect" in shell.run("doctor", env={"EVOCA_STOER": "x"}).stderr


def test_the_doctor_tells_what_is_there(shell: Shell) -> None:
    shell.answer("create-entities", "--input", json.dumps(ADA))
    told = shell.answer("doctor")
    assert told["version"] == __version__
    assert told["store"] == str(shell.folder / "memory.db")
    assert told["counts"] == {"entities": 1, "observations": 1, "relations": 0, "pending": 0}
    assert cast("dict[str, str]", told["health"])["integrity"] == "ok"


def test_the_doctor_says_what_is_missing(shell: Shell) -> None:
    done = shell.run("doctor", code=1, env={"EVOCA_EMBEDDER": "onnx:nowhere"})
    assert json.loads(done.stdout)["model"] is None
    assert done.stderr.startswith("evoca: ")


@pytest.mark.parametrize("arguments", [[], ["mcp"]])
def test_without_a_command_mcp_is_served_and_the_store_is_named(shell: Shell, arguments: list[str]) -> None:
    env = isolated_env(shell.folder / "home", shell.env)
    with Server(evoca_command(*arguments), env, shell.folder) as server:
        server.initialize()
        assert [tool["name"] for tool in server.tools()] == [each.name for each in CATALOGUE if each.listed]
        assert server.stop() == 0
        assert f"evoca: store {shell.folder / 'memory.db'}\n" in server.stderr()
    assert not (shell.folder / "memory.db").exists()


def test_only_the_wanted_toolsets_are_offered(shell: Shell) -> None:
    env = isolated_env(shell.folder / "home", shell.env)
    with Server(evoca_command("mcp", "--toolsets", "facts"), env, shell.folder) as server:
        server.initialize()
        assert [tool["name"] for tool in server.tools()] == [each.name for each in CATALOGUE if each.toolset == "facts"]
