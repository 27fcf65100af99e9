"""MCP over streamable HTTP, on the SDK's session manager.

Host, Origin, size and key are the guard's; the SDK is only told whose session it is, so that a session's id is of no
use with another key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from evoca.domain.tenancy import Caller

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from starlette.types import Receive, Scope, Send


@dataclass(frozen=True, slots=True)
class McpRules:
    """`session_idle` in seconds, `max_body` in bytes. `json_replies`: a call is answered with one JSON body.

    Without them each call is answered with a stream, which servers need that send messages of their own meanwhile.
    """

    max_sessions: int
    session_idle: float
    max_body: int
    json_replies: bool = True


class McpEndpoint:
    """The ASGI application behind `/mcp`. Serves while `running()`."""

    def __init__(self, server: Server[None], rules: McpRules) -> None:
        self._manager = StreamableHTTPSessionManager(
            server,
            json_response=rules.json_replies,
            session_idle_timeout=rules.session_idle,
            max_sessions=rules.max_sessions,
            max_request_body_size=rules.max_body,
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        return self._manager.run()

    def sessions(self) -> int:
        """How many are open. The SDK tells it nowhere in public."""
        return len(self._manager._server_instances)  # pyright: ignore[reportPrivateUsage]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = scope.get("state", {}).get("caller")
        if isinstance(caller, Caller) and caller.key_id:
            scope = {**scope, "user": AuthenticatedUser(_token(caller))}
        await self._manager.handle_request(scope, receive, send)


def _token(caller: Caller) -> AccessToken:
    """The key by its number; the secret stays with the guard."""
    return AccessToken(token="", client_id=str(caller.key_id), scopes=[caller.scope.name.lower()])
