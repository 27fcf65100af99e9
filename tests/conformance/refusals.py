"""A server that refuses whatever is asked of it: what passes here passes on an error reply."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NoReturn

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

_METHODS: dict[str, type[types.RequestParams]] = {
    "tools/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "prompts/get": types.GetPromptRequestParams,
    "completion/complete": types.CompleteRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "resources/subscribe": types.SubscribeRequestParams,
    "resources/unsubscribe": types.UnsubscribeRequestParams,
    "subscriptions/listen": types.SubscriptionsListenRequestParams,
    "logging/setLevel": types.SetLevelRequestParams,
}


def build_refusals() -> Server[None]:
    server: Server[None] = Server("conformance-refusals", version="1.0.0", lifespan=_nothing)
    for method, params in _METHODS.items():
        server.add_request_handler(method, params, _refuse)
    return server


@asynccontextmanager
async def _nothing(_server: Server[None]) -> AsyncGenerator[None]:
    yield


async def _refuse(context: ServerRequestContext[None], _params: types.RequestParams) -> NoReturn:
    raise MCPError(types.INVALID_PARAMS, f"{context.method} is refused here")
