"""Tools over MCP: listing, calling, refusing, cancelling."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from tests.process.support.client import JsonObject, RpcError, Server, ServerGone, object_at, objects_at
from tests.surfaces.waiting import until


def cancel(server: Server, request: int | str) -> None:
    server.notify("notifications/cancelled", {"requestId": request, "reason": "changed my mind"})


def saved(folder: Path) -> list[str]:
    return (folder / "graph").read_text("utf-8").split()


def test_tools_are_listed_as_the_catalogue_has_them(shared: Server) -> None:
    tools = shared.tools()
    assert [tool["name"] for tool in tools] == [
        "echo", "big", "save", "hold", "hang", "shout", "explode", "busy", "read_graph",
    ]  # fmt: skip
    assert tools == shared.tools()
    assert tools[0] == {
        "name": "echo",
        "title": "Echo",
        "description": "What echo does.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}, "collection": {"type": "string"}},
            "required": ["text"],
        },
        "outputSchema": {"type": "object"},
        "annotations": {
            "readOnlyHint": True,
            "openWorldHint": False,
        },
    }


def test_a_list_has_one_page(shared: Server) -> None:
    with pytest.raises(RpcError, match="Invalid cursor"):
        shared.request("tools/list", {"cursor": "2"})


def test_text_and_structure_are_the_same_compact_json(shared: Server) -> None:
    reply = shared.ok("echo", {"text": 'ñandú 🦩 \u2028 " \\ \x1f'})
    assert reply.data == {"text": 'ñandú 🦩 \u2028 " \\ \x1f'}
    assert json.loads(reply.text) == reply.data
    assert shared.ok("echo", {"text": "ñ"}).text == '{"text":"ñ"}'


def test_missing_arguments_object_is_an_empty_one(shared: Server) -> None:
    result = shared.request("tools/call", {"name": "read_graph"})
    assert object_at(result, "structuredContent") == {"names": []}


def test_aliases_and_unlisted_tools_can_be_called(shared: Server) -> None:
    assert shared.ok("repeat", {"text": "a"}).data == {"text": "a"}
    assert shared.ok("unlisted").data == {"text": "here"}


def test_a_refusal_is_an_error_result_with_text_and_structure(shared: Server) -> None:
    for reply in (shared.call("echo", {"txt": "a"}), shared.call("busy")):
        assert reply.is_error
        assert json.loads(reply.text) == reply.data
    assert shared.call("echo", {"txt": "a"}).error == "Unknown argument: txt. Valid arguments: text, collection."


def test_an_unknown_tool_is_a_protocol_error(shared: Server) -> None:
    with pytest.raises(RpcError, match="Unknown tool: nope") as caught:
        shared.call("nope")
    assert caught.value.code == -32602


def test_a_lone_surrogate_is_refused_and_the_connection_lives(shared: Server) -> None:
    reply = shared.call("echo", {"text": "a\ud800"})
    assert reply.is_error
    assert reply.error.startswith("text: holds a lone surrogate")
    assert shared.ok("echo", {"text": "b"}).data == {"text": "b"}


def test_an_unexpected_failure_is_logged_and_shows_nothing(toy: Server) -> None:
    reply = toy.call("explode", {"text": "treasure"})
    assert reply.is_error
    assert reply.error.startswith("Internal error")
    toy.stop()
    log = [json.loads(line) for line in toy.stderr().splitlines()]
    failure = next(line for line in log if line["event"] == "operation failed")
    assert (failure["operation"], failure["error"], failure["level"]) == ("explode", "RuntimeError", "error")
    assert "_explode" in failure["exception"]
    assert "treasure" not in toy.stderr()


def test_reads_are_answered_while_more_writes_wait_than_there_are_threads(toy: Server, folder: Path) -> None:
    writes = [toy.post("hold", {"text": str(n)}) for n in range(80)]
    assert [toy.ok("echo", {"text": str(n)}).data["text"] for n in range(20)] == [str(n) for n in range(20)]
    assert saved(folder) == []
    (folder / "release").touch()
    assert all(not write.reply().is_error for write in writes)
    assert sorted(saved(folder), key=int) == [str(n) for n in range(80)]


def test_a_cancelled_call_leaves_nothing_and_is_not_answered(toy: Server, folder: Path) -> None:
    call = toy.post("hold", {"text": "a"})
    until((folder / "holding-a").exists, "the call runs")
    cancel(toy, call.id)
    until((folder / "dropped-a").exists, "the work is dropped")
    (folder / "release").touch()
    assert toy.ok("save", {"text": "b"}).data == {"text": "b"}
    assert toy.stop() == 0
    assert saved(folder) == ["b"]
    with pytest.raises(ServerGone):
        call.reply()


def test_a_call_that_is_cancelled_while_it_waits_for_a_thread_never_runs(toy: Server, folder: Path) -> None:
    for n in range(64):
        toy.post("hold", {"text": str(n)})
    until(lambda: len(list(folder.glob("holding-*"))) == 64, "every thread is taken")
    waiting = toy.post("hold", {"text": "late"})
    cancel(toy, waiting.id)
    toy.ok("echo", {"text": "the notice has been read"})
    (folder / "release").touch()
    assert toy.stop() == 0
    assert "late" not in saved(folder)
    assert not (folder / "holding-late").exists()


def test_a_call_that_is_done_cannot_be_cancelled(toy: Server, folder: Path) -> None:
    call = toy.post("save", {"text": "a"})
    assert not call.reply().is_error
    cancel(toy, call.id)
    assert toy.ok("echo", {"text": "b"}).data == {"text": "b"}
    assert saved(folder) == ["a"]


def test_ids_may_be_odd_and_repeated(start: Callable[[], Server]) -> None:
    server = start()
    server.initialize()
    odd: list[int | str] = ["", "a b", "ñ", -1, 0, 2**60, "7", 7, 7]
    for number in odd:
        params: JsonObject = {"name": "echo", "arguments": {"text": "x"}}
        server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    assert server.stop() == 0
    answers = [cast("JsonObject", json.loads(line)) for line in server.lines[1:]]
    assert sorted(str(answer["id"]) for answer in answers) == sorted(str(number) for number in odd)
    assert all("result" in answer for answer in answers)


def test_resources_are_listed_and_read(shared: Server) -> None:
    (resource,) = objects_at(shared.request("resources/list"), "resources")
    assert (resource["uri"], resource["mimeType"]) == ("memory://knowledge-graph", "application/json")
    assert objects_at(shared.request("resources/templates/list"), "resourceTemplates") == []
    (content,) = objects_at(shared.request("resources/read", {"uri": "memory://knowledge-graph"}), "contents")
    assert content == {"uri": "memory://knowledge-graph", "mimeType": "application/json", "text": '{"names":[]}'}


@pytest.mark.parametrize("method", ["resources/read", "resources/subscribe", "resources/unsubscribe"])
def test_an_unknown_resource_is_named(shared: Server, method: str) -> None:
    with pytest.raises(RpcError, match="Resource not found: memory://other"):
        shared.request(method, {"uri": "memory://other"})
