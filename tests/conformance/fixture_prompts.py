"""The prompts that the conformance suites get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import mcp_types as types
from mcp.shared.exceptions import MCPError

from tests.conformance.content import FRESH, Json, elicitation, embedded, form, image, text

if TYPE_CHECKING:
    from mcp.server.context import HandlerResult, ServerRequestContext

PromptMaker = Callable[[types.GetPromptRequestParams], Json]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and the names of its arguments, all required."""

    description: str
    make: PromptMaker
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])

    def shown(self, name: str) -> Json:
        arguments = [{"name": each, "description": what, "required": True} for each, what in self.arguments.items()]
        return {"name": name, "description": self.description, "arguments": arguments}


async def listing(_context: ServerRequestContext[None], _params: types.PaginatedRequestParams) -> HandlerResult:
    return {"prompts": [prompt.shown(name) for name, prompt in _PROMPTS.items()], **FRESH}


async def get(_context: ServerRequestContext[None], params: types.GetPromptRequestParams) -> HandlerResult:
    prompt = _PROMPTS.get(params.name)
    if prompt is None:
        raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")
    missing = sorted(set(prompt.arguments) - set(params.arguments or {}))
    if missing:
        raise MCPError(types.INVALID_PARAMS, f"Missing arguments: {', '.join(missing)}")
    return prompt.make(params)


async def complete(_context: ServerRequestContext[None], params: types.CompleteRequestParams) -> HandlerResult:
    found = [each for each in ("paris", "park", "party", "test") if each.startswith(params.argument.value)]
    return {"completion": {"values": found, "total": len(found), "hasMore": False}, "resultType": "complete"}


def _simple(_params: types.GetPromptRequestParams) -> Json:
    return _messages(text("This is a simple prompt for testing."))


def _with_arguments(params: types.GetPromptRequestParams) -> Json:
    given = params.arguments or {}
    return _messages(text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"))


def _with_resource(params: types.GetPromptRequestParams) -> Json:
    uri = (params.arguments or {})["resourceUri"]
    return _messages(
        embedded(uri, "Embedded resource content for testing."), text("Please process the embedded resource above.")
    )


def _with_image(_params: types.GetPromptRequestParams) -> Json:
    return _messages(image(), text("Please analyze the image above."))


def _needs_input(params: types.GetPromptRequestParams) -> Json:
    answer = (params.input_responses or {}).get("user_context")
    if isinstance(answer, types.ElicitResult) and answer.content is not None:
        return _messages(text(f"Use this context: {answer.content.get('context')}"))
    asked = elicitation("What context should the prompt use?", form(context={"type": "string"}))
    return {"resultType": "input_required", "inputRequests": {"user_context": asked}}


def _messages(*content: Json) -> Json:
    return {"messages": [{"role": "user", "content": each} for each in content], "resultType": "complete"}


_PROMPTS: Mapping[str, Prompt] = {
    "test_simple_prompt": Prompt("No arguments, one message", _simple),
    "test_prompt_with_arguments": Prompt(
        "Puts its arguments into its message", _with_arguments, {"arg1": "The first", "arg2": "The second"}
    ),
    "test_prompt_with_embedded_resource": Prompt(
        "Holds a resource", _with_resource, {"resourceUri": "The URI of the resource"}
    ),
    "test_prompt_with_image": Prompt("Holds an image", _with_image),
    "test_input_required_result_prompt": Prompt("Asks for context first", _needs_input),
}
