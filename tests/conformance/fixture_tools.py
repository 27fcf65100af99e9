"""The tools that the conformance suites call: content of every kind, notices, and questions to the client."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
import mcp_types as types
from mcp.server.subscriptions import PromptsListChanged, ServerEvent, SubscriptionBus, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata

from tests.conformance.content import FRESH, Json, audio, embedded, form, image, text
from tests.conformance.fixture_rounds import ROUNDS, Round

if TYPE_CHECKING:
    from mcp.server.context import HandlerResult, ServerRequestContext

Run = Callable[["ServerRequestContext[None]", types.CallToolRequestParams], Awaitable[Json]]

PAUSE = 0.05
"""Seconds between two notices, as the scenarios ask."""
_NO_ARGUMENTS: Json = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is listed, and what it does."""

    description: str
    run: Run
    schema: Json = field(default_factory=lambda: _NO_ARGUMENTS)

    def shown(self, name: str) -> Json:
        return {"name": name, "description": self.description, "inputSchema": self.schema}


class Toolbox:
    """`tools/list` and `tools/call`. `bus` carries notices to those who listen."""

    def __init__(self, bus: SubscriptionBus) -> None:
        self._tools: Mapping[str, Tool] = {
            **_TOOLS,
            **{name: Tool("Goes on when the client has answered", _rounds(each)) for name, each in ROUNDS.items()},
            "test_trigger_tool_change": Tool("Says that the tools have changed", _tells(bus, ToolsListChanged())),
            "test_trigger_prompt_change": Tool("Says that the prompts have changed", _tells(bus, PromptsListChanged())),
        }

    async def listing(
        self, _context: ServerRequestContext[None], _params: types.PaginatedRequestParams
    ) -> HandlerResult:
        return {"tools": [tool.shown(name) for name, tool in self._tools.items()], **FRESH}

    async def call(self, context: ServerRequestContext[None], params: types.CallToolRequestParams) -> HandlerResult:
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        return await tool.run(context, params)


def _content(*blocks: Json) -> Json:
    return {"content": list(blocks), "resultType": "complete"}


def _always(*blocks: Json) -> Run:
    async def run(_context: ServerRequestContext[None], _params: types.CallToolRequestParams) -> Json:
        return _content(*blocks)

    return run


def _rounds(make: Round) -> Run:
    async def run(context: ServerRequestContext[None], params: types.CallToolRequestParams) -> Json:
        return make(context.session.client_capabilities or types.ClientCapabilities(), params)

    return run


def _tells(bus: SubscriptionBus, event: ServerEvent) -> Run:
    async def run(_context: ServerRequestContext[None], _params: types.CallToolRequestParams) -> Json:
        await bus.publish(event)
        return _content(text("Whoever listens was told."))

    return run


async def _fails(_context: ServerRequestContext[None], _params: types.CallToolRequestParams) -> Json:
    return {**_content(text("This tool intentionally returns an error for testing")), "isError": True}


async def _logs(context: ServerRequestContext[None], _params: types.CallToolRequestParams) -> Json:
    for number, said in enumerate(("Tool execution started", "Tool processing data", "Tool execution completed")):
        if number:
            await anyio.sleep(PAUSE)
        # Deprecated by 2026-07-28, and still what it forbids to send unasked.
        await context.session.send_log_message(  # pyright: ignore[reportDeprecated]
            "info", said, related_request_id=context.request_id
        )
    return _content(text("Three messages were logged."))


async def _reports_progress(context: ServerRequestContext[None], _params: types.CallToolRequestParams) -> Json:
    for done in (0, 50, 100):
        if done:
            await anyio.sleep(PAUSE)
        await context.session.report_progress(done, 100)
    return _content(text("All of it is done."))


async def _samples(context: ServerRequestContext[None], params: types.CallToolRequestParams) -> Json:
    prompt = str((params.arguments or {})["prompt"])
    asked = types.CreateMessageRequestParams(
        messages=[types.SamplingMessage(role="user", content=types.TextContent(type="text", text=prompt))],
        max_tokens=100,
    )
    answer = await context.session.send_request(
        types.CreateMessageRequest(params=asked),
        types.CreateMessageResult,
        metadata=ServerMessageMetadata(related_request_id=context.request_id),
    )
    said = answer.content.text if isinstance(answer.content, types.TextContent) else answer.content.type
    return _content(text(f"LLM response: {said}"))


def _elicits(schema: Json, message: str | None = None) -> Run:
    async def run(context: ServerRequestContext[None], params: types.CallToolRequestParams) -> Json:
        asked = message or str((params.arguments or {})["message"])
        answer = await context.session.elicit_form(asked, schema, related_request_id=context.request_id)
        return _content(text(f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content)}"))

    return run


async def _reconnects(context: ServerRequestContext[None], _params: types.CallToolRequestParams) -> Json:
    """Close the stream of the call half-way; the client comes back for the answer."""
    if context.close_sse_stream is not None:
        await context.close_sse_stream()
    await anyio.sleep(2 * PAUSE)
    return _content(text("Reconnection test completed."))


async def _needs_sampling(context: ServerRequestContext[None], _params: types.CallToolRequestParams) -> Json:
    able = context.session.client_capabilities
    if able is None or able.sampling is None:
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "This tool needs a client that can sample",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return _content(text("The client can sample."))


_TITLED: list[Json] = [{"const": f"value{n}", "title": title} for n, title in enumerate(("One", "Two", "Three"), 1)]
_OPTIONS: Json = {"type": "string", "enum": ["option1", "option2", "option3"]}
_DEFAULTS = form(
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    verified={"type": "boolean", "default": True},
)
_ENUMS = form(
    untitledSingle=_OPTIONS,
    titledSingle={"type": "string", "oneOf": _TITLED},
    legacyEnum={"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
    untitledMulti={"type": "array", "items": _OPTIONS},
    titledMulti={"type": "array", "items": {"anyOf": _TITLED}},
)
_SCHEMA_2020_12: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
_TOOLS: Mapping[str, Tool] = {
    # The suite calls the first tool of the list without arguments.
    "test_simple_text": Tool("Text", _always(text("This is a simple text response for testing."))),
    "test_image_content": Tool("An image", _always(image())),
    "test_audio_content": Tool("A sound", _always(audio())),
    "test_embedded_resource": Tool(
        "A resource", _always(embedded("test://embedded-resource", "This is an embedded resource content."))
    ),
    "test_multiple_content_types": Tool(
        "Text, an image and a resource",
        _always(
            text("Multiple content types test:"),
            image(),
            embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
        ),
    ),
    "test_error_handling": Tool("Always fails", _fails),
    "test_tool_with_logging": Tool("Logs three messages", _logs),
    "test_logging_tool": Tool("Logs three messages", _logs),
    "test_tool_with_progress": Tool("Reports progress", _reports_progress),
    "test_sampling": Tool("Asks the client's model", _samples, form(prompt={"type": "string"})),
    "test_elicitation": Tool(
        "Asks the client's person",
        _elicits(form(username={"type": "string"}, email={"type": "string"})),
        form(message={"type": "string"}),
    ),
    "test_elicitation_sep1034_defaults": Tool("A form with defaults", _elicits(_DEFAULTS, "Please check")),
    "test_elicitation_sep1330_enums": Tool("A form with choices", _elicits(_ENUMS, "Please choose")),
    "test_reconnection": Tool("Closes its stream half-way", _reconnects),
    "test_missing_capability": Tool("Needs a client that can sample", _needs_sampling),
    "json_schema_2020_12_tool": Tool("Has a schema of many keywords", _always(text("Fine.")), _SCHEMA_2020_12),
    "test_custom_header": Tool(
        "Repeats an argument in a header",
        _always(text("Fine.")),
        {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}},
    ),
}
