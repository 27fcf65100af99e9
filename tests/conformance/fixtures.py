"""What the public conformance suites expect a server to offer, on the SDK's own server class.

Evoca has no prompts, asks its client for nothing and needs no input half-way, so most scenarios cannot be tried on it.
These tools, resources and prompts exist to try them on Evoca's HTTP stack. The names and texts are those that the
scenarios of `@modelcontextprotocol/conformance` describe.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError

from tests.conformance import fixture_prompts
from tests.conformance.content import FRESH, IMAGE, Json
from tests.conformance.fixture_tools import Toolbox

if TYPE_CHECKING:
    from mcp.server.context import HandlerResult, ServerRequestContext

_WATCHED = "test://watched-resource"
_RESOURCES: Mapping[str, Json] = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": IMAGE},
    _WATCHED: {"mimeType": "text/plain", "text": "Nothing has happened yet."},
}
_TEMPLATE = "test://template/{id}/data"


def build_fixtures() -> Server[None]:
    """A server with all of the fixtures."""
    bus = InMemorySubscriptionBus()
    tools = Toolbox(bus)
    server: Server[None] = Server("conformance-fixtures", version="1.0.0", lifespan=_nothing)
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=server.name))
    add = server.add_request_handler
    add("tools/list", types.PaginatedRequestParams, tools.listing)
    add("tools/call", types.CallToolRequestParams, tools.call)
    add("prompts/list", types.PaginatedRequestParams, fixture_prompts.listing)
    add("prompts/get", types.GetPromptRequestParams, fixture_prompts.get)
    add("completion/complete", types.CompleteRequestParams, fixture_prompts.complete)
    add("resources/list", types.PaginatedRequestParams, _resources)
    add("resources/templates/list", types.PaginatedRequestParams, _templates)
    add("resources/read", types.ReadResourceRequestParams, _read)
    add("resources/subscribe", types.SubscribeRequestParams, _subscribe)
    add("resources/unsubscribe", types.UnsubscribeRequestParams, _subscribe)
    add("subscriptions/listen", types.SubscriptionsListenRequestParams, ListenHandler(bus))
    add("logging/setLevel", types.SetLevelRequestParams, _set_level)
    return server


@asynccontextmanager
async def _nothing(_server: Server[None]) -> AsyncGenerator[None]:
    yield


async def _resources(_context: ServerRequestContext[None], _params: types.PaginatedRequestParams) -> HandlerResult:
    listed = [
        {"uri": uri, "name": uri.rpartition("/")[2], "mimeType": each["mimeType"]} for uri, each in _RESOURCES.items()
    ]
    return {"resources": listed, **FRESH}


async def _templates(_context: ServerRequestContext[None], _params: types.PaginatedRequestParams) -> HandlerResult:
    return {"resourceTemplates": [{"uriTemplate": _TEMPLATE, "name": "template"}], **FRESH}


async def _read(_context: ServerRequestContext[None], params: types.ReadResourceRequestParams) -> HandlerResult:
    return {"contents": [{"uri": params.uri, **_resource(params.uri)}], **FRESH}


def _resource(uri: str) -> Json:
    if uri in _RESOURCES:
        return _RESOURCES[uri]
    before, _, after = _TEMPLATE.partition("{id}")
    if uri.startswith(before) and uri.endswith(after):
        name = uri.removeprefix(before).removesuffix(after)
        return {
            "mimeType": "application/json",
            "text": f'{{"id":"{name}","templateTest":true,"data":"Data for {name}"}}',
        }
    raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})


async def _subscribe(
    _context: ServerRequestContext[None], params: types.SubscribeRequestParams | types.UnsubscribeRequestParams
) -> HandlerResult:
    _resource(params.uri)
    return {}


async def _set_level(_context: ServerRequestContext[None], _params: types.SetLevelRequestParams) -> HandlerResult:
    return {}
