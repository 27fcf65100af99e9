"""Tools that ask the client for input in their result and go on when they are called again (2026-07-28)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mcp_types as types
from mcp.shared.exceptions import MCPError

from tests.conformance.content import ROOTS, Json, elicitation, form, sampling, text

Round = Callable[[types.ClientCapabilities, types.CallToolRequestParams], Json]
"""What a call answers, by what its client can do and what it was called with."""

_NAME = elicitation("What is your name?", form(name={"type": "string"}))
_CONFIRM = elicitation("Please confirm", form(ok={"type": "boolean"}))


def _ask(state: str | None = None, /, **requests: Json) -> Json:
    asked: Json = {"resultType": "input_required", "inputRequests": requests}
    return asked if state is None else {**asked, "requestState": state}


def _done(words: str) -> Json:
    return {"content": [text(words)], "resultType": "complete"}


def _field(params: types.CallToolRequestParams, key: str, name: str) -> str | None:
    """One field of a form that was filled in."""
    answer = (params.input_responses or {}).get(key)
    if isinstance(answer, types.ElicitResult) and answer.action == "accept" and answer.content is not None:
        value = answer.content.get(name)
        return None if value is None else str(value)
    return None


def _elicitation(_able: types.ClientCapabilities, params: types.CallToolRequestParams) -> Json:
    name = _field(params, "user_name", "name")
    return _ask(user_name=_NAME) if name is None else _done(f"Hello, {name}!")


def _sampling(_able: types.ClientCapabilities, params: types.CallToolRequestParams) -> Json:
    answer = (params.input_responses or {}).get("capital_question")
    if isinstance(answer, types.CreateMessageResult) and isinstance(answer.content, types.TextContent):
        return _done(answer.content.text)
    return _ask(capital_question=sampling("What is the capital of France?", 100))


def _list_roots(_able: types.ClientCapabilities, params: types.CallToolRequestParams) -> Json:
    answer = (params.input_responses or {}).get("client_roots")
    if isinstance(answer, types.ListRootsResult):
        return _done("Roots: " + ", ".join(str(root.uri) for root in answer.roots))
    return _ask(client_roots=ROOTS)


def _request_state(_able: types.ClientCapabilities, params: types.CallToolRequestParams) -> Json:
    if params.request_state is None:
        return _ask("asked", confirm=_CONFIRM)
    if params.request_state != "asked":
        raise MCPError(types.INVALID_PARAMS, "Unknown requestState")
    return _done("state-ok")


def _multiple_inputs(_able: types.ClientCapabilities, params: types.CallToolRequestParams) -> Json:
    wanted: dict[str, Json] = {
        "user_name": _NAME,
        "greeting": sampling("Generate a greeting", 50),
        "client_roots": ROOTS,
    }
    missing = {key: each for key, each in wanted.items() if key not in (params.input_responses or {})}
    return _ask("three", **missing) if missing else _done("All three were answered.")


def _multi_round(_able: types.ClientCapabilities, params: types.CallToolRequestParams) -> Json:
    if params.request_state is None:
        return _ask("1", step1=elicitation("Step 1: What is your name?", form(name={"type": "string"})))
    name = _field(params, "step1", "name")
    if name is not None:
        color = elicitation("Step 2: What is your favorite color?", form(color={"type": "string"}))
        return _ask(f"2 {name}", step2=color)
    return _done(f"{params.request_state.removeprefix('2 ')} likes {_field(params, 'step2', 'color')}.")


def _capabilities(able: types.ClientCapabilities, _params: types.CallToolRequestParams) -> Json:
    possible = {
        "question": sampling("Say something", 50) if able.sampling is not None else None,
        "name": _NAME if able.elicitation is not None else None,
    }
    asked = {key: each for key, each in possible.items() if each is not None}
    return _ask(**asked) if asked else _done("This client cannot be asked.")


ROUNDS: Mapping[str, Round] = {
    "test_input_required_result_elicitation": _elicitation,
    "test_input_required_result_sampling": _sampling,
    "test_input_required_result_list_roots": _list_roots,
    "test_input_required_result_request_state": _request_state,
    "test_input_required_result_tampered_state": _request_state,
    "test_input_required_result_multiple_inputs": _multiple_inputs,
    "test_input_required_result_multi_round": _multi_round,
    "test_input_required_result_capabilities": _capabilities,
    "test_streaming_elicitation": _elicitation,
}
