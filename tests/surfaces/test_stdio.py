"""The stdio transport: what is on the wire, and how the process ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import cast

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.surfaces.mcp.stdio import Malformed, Wire, decode, encode
from tests.process.support.client import JsonObject, Server, number_at, object_at
from tests.process.support.launch import ROOT, isolated_env
from tests.surfaces.conftest import toy_command
from tests.surfaces.waiting import until

ENDS_WITHIN = 15.0
"""The promise is 5 s; a busy machine gets three times that before a test calls it broken."""
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def errors(server: Server) -> list[JsonObject]:
    """The error answers so far that name no request."""
    answers = [cast("JsonObject", json.loads(line)) for line in server.lines]
    return [object_at(answer, "error") for answer in answers if "error" in answer and answer["id"] is None]


# -- lines ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{nonsense", types.PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}', types.PARSE_ERROR),
        (b'"\xff"', types.PARSE_ERROR),
        (b"[" * 100_000, types.PARSE_ERROR),
        (b"1" * 10_000, types.PARSE_ERROR),
        (b"[]", types.INVALID_REQUEST),
        (b"null", types.INVALID_REQUEST),
        (b"{}", types.INVALID_REQUEST),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', types.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', types.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', types.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', types.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', types.INVALID_REQUEST),
    ],
)
def test_a_line_that_is_no_message_says_why(line: bytes, code: int) -> None:
    with pytest.raises(Malformed) as caught:
        decode(line)
    assert caught.value.answer.error.code == code
    assert json.loads(encode(caught.value.answer))["error"]["code"] == code


def test_a_malformed_request_is_answered_by_its_id_if_it_has_one() -> None:
    with pytest.raises(Malformed) as caught:
        decode(b'{"jsonrpc":"2.0","id":"a","method":3}')
    assert caught.value.answer.id == "a"
    assert caught.value.answer.error.message == "Invalid request: method"


def test_a_byte_order_mark_and_windows_line_ends_are_no_matter() -> None:
    assert decode(b"\xef\xbb\xbf" + json.dumps(PING).encode() + b"\r") == types.JSONRPCRequest(
        jsonrpc="2.0", id=1, method="ping"
    )


TEXT = st.text(st.characters(exclude_categories=[]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)


@given(number=st.integers() | st.text(), result=st.dictionaries(st.text(), VALUES, max_size=4))
def test_an_answer_is_one_line_of_json_whatever_it_holds(number: int | str, result: dict[str, object]) -> None:
    line = encode(types.JSONRPCResponse(jsonrpc="2.0", id=number, result=result))
    assert line.endswith(b"\n")
    assert b"\n" not in line[:-1]
    assert json.loads(line) == {"jsonrpc": "2.0", "id": number, "result": result}


@given(
    lines=st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b" ")), max_size=6),
    ended=st.booleans(),
)
def test_lines_come_whole_however_the_bytes_arrive(lines: list[bytes], ended: bool) -> None:
    incoming, client = os.pipe()
    try:
        os.write(client, b"\n".join(lines) + (b"\n" if ended and lines else b""))
        os.close(client)
        read = list(Wire(incoming, -1).lines())
    finally:
        os.close(incoming)
    expected = lines if ended or not lines or lines[-1] else lines[:-1]
    assert read == expected


# -- the conversation -----------------------------------------------------------------------------


def test_bad_lines_are_answered_and_the_server_lives(toy: Server) -> None:
    toy.send_bytes(b"{nonsense\n\n  \n[1]\n")
    toy.send_bytes(b'{"jsonrpc":"2.0","id":"\\ud800","method":"\\udfff"}\n')
    assert toy.ok("echo", {"text": "a"}).data == {"text": "a"}
    assert [error["code"] for error in errors(toy)] == [types.PARSE_ERROR, types.INVALID_REQUEST]


def test_a_line_of_sixteen_megabytes_is_read_and_one_is_written(shared: Server) -> None:
    text = "ñ" * 8_000_000
    assert shared.call("echo", {"text": text}).error.startswith("text too long: 8000000 > 100000 characters")
    assert shared.ok("big", {"size": 8_000_000}).data == {"text": text}


def test_whatever_prints_stdout_carries_json_rpc_only(toy: Server) -> None:
    assert toy.ok("shout", {"text": "LOUD"}).data == {"text": ""}
    assert toy.stop() == 0
    for line in toy.lines:
        assert json.loads(line)["jsonrpc"] == "2.0"
    assert b"LOUD" not in b"".join(toy.lines)
    assert toy.stderr().count("LOUD") == 3


def test_a_client_that_does_not_read_stops_only_itself(toy: Server, folder: Path) -> None:
    """Answers that nobody reads fill the pipe; the calls behind them are done all the same."""
    incoming, outgoing = os.pipe()
    silent = subprocess.Popen(
        toy_command(folder), stdin=subprocess.PIPE, stdout=outgoing, stderr=subprocess.DEVNULL, cwd=ROOT
    )
    os.close(outgoing)
    assert silent.stdin is not None
    start: JsonObject = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    requests: list[JsonObject] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "big", "arguments": {"size": 500_000}}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "save", "arguments": {"text": "done"}}},
    ]
    try:
        silent.stdin.write(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
        silent.stdin.flush()
        until(lambda: "done" in (folder / "graph").read_text("utf-8"), "the last call is done")
        os.close(incoming)
        incoming = -1
        assert silent.wait(ENDS_WITHIN) == 0
    finally:
        silent.kill()
        silent.wait()
        silent.stdin.close()
        if incoming >= 0:
            os.close(incoming)


# -- the end --------------------------------------------------------------------------------------


@pytest.mark.parametrize("modern", [False, True])
def test_every_call_received_is_answered_after_the_end_of_input(start: Callable[[], Server], modern: bool) -> None:
    server = start()
    if not modern:
        server.initialize()
    meta: JsonObject = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    for number in range(200):
        tool = "save" if number % 2 else "echo"
        params: JsonObject = {"name": tool, "arguments": {"text": str(number)}} | ({"_meta": meta} if modern else {})
        server.send({"jsonrpc": "2.0", "id": number + 1_000, "method": "tools/call", "params": params})
    assert server.stop(ENDS_WITHIN) == 0
    answers = [cast("JsonObject", json.loads(line)) for line in server.lines]
    done = {number_at(answer, "id") for answer in answers if number_at(answer, "id") >= 1_000 and "result" in answer}
    assert done == set(range(1_000, 1_200))


def test_an_end_of_input_before_the_handshake_is_a_quiet_end(start: Callable[[], Server]) -> None:
    server = start()
    assert server.stop(ENDS_WITHIN) == 0
    assert server.lines == []


def test_the_backend_is_closed_at_the_end(toy: Server, folder: Path) -> None:
    assert toy.stop() == 0
    assert (folder / "closed").exists()


def test_calls_that_hold_on_are_told_to_stop_and_do_not_keep_the_process(toy: Server, folder: Path) -> None:
    held, hung = toy.post("hold", {"text": "a"}), toy.post("hang")
    until((folder / "holding-a").exists, "the call that listens runs")
    until((folder / "hanging").exists, "the call that hears nothing runs")
    assert toy.stop(ENDS_WITHIN) == 0
    assert (folder / "dropped-a").exists()
    for reply in (held.reply(), hung.reply()):
        assert reply.is_error
        assert reply.error.startswith("The server is ending: nothing was done.")


@pytest.mark.skipif(os.name != "posix", reason="signals to another process")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_calls_finish_and_ends_the_process(toy: Server, folder: Path, number: int) -> None:
    call = toy.post("hold", {"text": "a"})
    until((folder / "holding-a").exists, "the call runs")
    toy.process.send_signal(number)
    until(lambda: '"ending"' in toy.stderr(), "the signal has come")
    (folder / "release").touch()
    assert toy.wait(ENDS_WITHIN) == 0
    assert not call.reply().is_error
    assert (folder / "graph").read_text("utf-8") == "a\n"


@pytest.mark.skipif(os.name != "posix", reason="signals to another process")
def test_a_second_signal_ends_the_process_at_once(toy: Server, folder: Path) -> None:
    toy.post("hang")
    until((folder / "hanging").exists, "the call runs")
    toy.process.send_signal(signal.SIGTERM)
    until(lambda: '"ending"' in toy.stderr(), "the signal has come")
    toy.process.send_signal(signal.SIGTERM)
    assert toy.wait(ENDS_WITHIN) == 1


def test_a_stdout_that_cannot_be_written_ends_the_process(toy: Server) -> None:
    toy.close_stdout()
    toy.post("echo", {"text": "a"})
    assert toy.wait(ENDS_WITHIN) == 0


@pytest.mark.skipif(os.name != "posix", reason="closed standard descriptors")
def test_a_process_without_stderr_serves(folder: Path, tmp_path: Path) -> None:
    command = ["sh", "-c", 'exec 2>&-; exec "$@"', "sh", *toy_command(folder)]
    with Server(command, isolated_env(tmp_path / "home"), ROOT) as server:
        server.initialize()
        assert server.ok("shout", {"text": "x"}).data == {"text": ""}
        assert server.stop() == 0
