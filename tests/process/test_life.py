"""How a server lives and dies with its client: nothing on stdout but JSON-RPC, no process left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.process.support.client import text_at
from tests.process.support.graph import check_integrity, entities, entity, names_in, triple
from tests.process.support.launch import ENDS_WITHIN, PROVING, evoca_command, isolated_env, start_evoca

if TYPE_CHECKING:
    from pathlib import Path

    from tests.process.support.client import JsonObject


ROUNDS = 20 if PROVING else 1

PARENT = """
import json, subprocess, sys
server = subprocess.Popen(json.loads(sys.argv[1]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for message in json.loads(sys.argv[2]):
    server.stdin.write(json.dumps(message).encode() + b"\\n")
    server.stdin.flush()
    if "id" in message and message["id"] < 100:
        server.stdout.readline()
print(server.pid, flush=True)
sys.stdin.readline()
"""


def _call(number: int, tool: str, arguments: JsonObject) -> JsonObject:
    params: JsonObject = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def _greeting() -> list[JsonObject]:
    params: JsonObject = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "parent", "version": "1"},
    }
    return [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_closing_stdin_answers_what_was_sent_and_ends_the_process(home: Path, store: Path, round_: int) -> None:
    with start_evoca(home, store) as server:
        calls = [("create_entities", entities(entity(f"Adiós-{n:02d}"))) for n in range(60)]
        pending = server.post_all(calls)
        server.close_stdin()
        assert not any(call.reply().is_error for call in pending)
        assert server.wait(ENDS_WITHIN) == 0
        assert "Traceback" not in server.stderr()
    with start_evoca(home, store) as again:
        assert len(names_in(again)) == 60


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_a_client_that_no_longer_reads_ends_the_process(home: Path, store: Path, round_: int) -> None:
    with start_evoca(home, store) as server:
        server.ok("create_entities", entities(entity("Antes")))
        server.close_stdout()
        server.post("create_entities", entities(entity("Después")))
        server.wait(ENDS_WITHIN)
    check_integrity(store)
    with start_evoca(home, store) as again:
        assert "Antes" in names_in(again)


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_a_client_that_is_killed_takes_its_server_along(home: Path, store: Path, round_: int) -> None:
    """With a search by meaning under way, as in the case that left hundreds of processes behind."""
    messages = [
        *_greeting(),
        _call(2, "create_entities", entities(entity("Faro", "alumbra la costa"))),
        _call(100, "search_semantic", {"query": "luz del mar"}),
    ]
    command = evoca_command("mcp", "--store", str(store))
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, json.dumps(command), json.dumps(messages)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=isolated_env(home, {"EVOCA_EMBEDDER": "hash"}),
        cwd=home,
        text=True,
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    server = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    try:
        server.wait(ENDS_WITHIN)
    finally:
        if server.is_running() and server.status() != psutil.STATUS_ZOMBIE:
            server.kill()
        parent.stdin.close()
        parent.stdout.close()
    check_integrity(store)
    with start_evoca(home, store) as again:
        assert names_in(again) == {"Faro"}


def test_stdout_carries_json_rpc_and_nothing_else(home: Path, store: Path, tmp_path: Path) -> None:
    """With everything that talks turned up: debug log, Python's warnings, the first load of the real model."""
    memory = tmp_path / "old.jsonl"
    memory.write_text('{"type":"entity","name":"Vieja","entityType":"p","observations":["x"]}\n', encoding="utf-8")
    env = {"EVOCA_EMBEDDER": "auto", "EVOCA_LOG_LEVEL": "debug", "PYTHONWARNINGS": "default", "PYTHONDEVMODE": "1"}
    link = triple("Pozo", "junto_a", "Molino")
    calls: list[tuple[str, JsonObject]] = [
        ("create_entities", entities(entity("Pozo", "está seco"), entity("Molino"))),
        ("create_relations", {"relations": [link]}),
        ("add_observations", {"name": "Molino", "observations": ["muele trigo"]}),
        ("search_semantic", {"query": "¿dónde se hace harina?"}),
        ("search_nodes", {"query": "pozo"}),
        ("open_nodes", {"names": ["Pozo"], "details": True}),
        ("read_graph", {}),
        ("migrate", {"source_path": str(memory)}),
        ("delete_observations", {"name": "Molino", "observations": ["muele trigo"]}),
        ("delete_relations", {"relations": [link]}),
        ("delete_entities", {"entityNames": ["Pozo", "Nadie"]}),
        ("create_entities", {"entities": 7}),
        ("no_such_tool", {}),
    ]
    with start_evoca(home, store, env=env) as server:
        tools = {text_at(tool, "name") for tool in server.tools()}
        calls += [(tool, {}) for tool in sorted(tools - {tool for tool, _ in calls})]
        pending = server.post_all(calls)
        server.send_bytes(b"this is not JSON\n")
        server.close_stdin()
        server.wait()
        lines = list(server.lines)
        answers = {tool: call.reply() for (tool, _), call in zip(calls, pending, strict=True) if tool in tools}
        assert answers["search_semantic"].names("results"), "the model was not loaded"
    assert len(lines) >= len(calls) + 2
    for line in lines:
        message: object = json.loads(line)
        assert isinstance(message, dict), line
        assert message["jsonrpc"] == "2.0", line
        assert "id" in message or "method" in message, line


def test_the_version_is_said_without_a_server() -> None:
    said = subprocess.run(evoca_command("--version"), capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.strip()
