"""The MCP server: the catalogue as tools, the graph as a resource. Fed to any transport of the SDK."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Protocol, cast

import mcp_types as types
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from evoca import __version__
from evoca.domain.tenancy import LOCAL, Caller
from evoca.errors import EvocaError, NotFound
from evoca.operations.base import Operation
from evoca.operations.validation import shown
from evoca.surfaces.backend import Backend, Workers, answer, guarded
from evoca.surfaces.mcp.updates import GRAPH_URI, GraphUpdates
from evoca.surfaces.rendering import compact, refusal, sentence

Context = ServerRequestContext[None]

# What 2026-07-28 wants in results; the SDK leaves it out for older clients.
_COMPLETE: Mapping[str, object] = {"resultType": "complete"}
_FRESH: Mapping[str, object] = {**_COMPLETE, "ttlMs": 0, "cacheScope": "private"}

_OPENING = "Evoca is this user's long-term memory; it outlives the conversation."
_WHEN_TO_RECALL = "Recall first, when a task begins or a person, project, preference or earlier work is named: "
_RECALL: Mapping[str, str] = {
    "graph": (
        "search_semantic with the question in your own words (any language), open_nodes for known names, read_graph "
        "only for small memories"
    ),
    "facts": "recall for facts about an entity or a topic",
    "hipocampo": "search_hipocampo for what happened",
}
_WHEN_TO_SAVE = (
    "Save at once what will matter later: who people are, preferences, decisions and reasons, state of projects, "
    "corrections. Search before creating."
)
_SAVE: Mapping[str, str] = {
    "graph": (
        "create_entities: one entity per person, project or thing, one short, dated statement per observation; "
        "relations in the active voice; supersede or delete what no longer holds."
    ),
    "facts": (
        "remember: one fact as subject, predicate, object (names, or type:id such as user:maya); a change is simply "
        "told."
    ),
    "hipocampo": "save_hipocampo: what happened or was decided, in a sentence or two.",
}
_CLOSING = "Do not guess what may be remembered. Save no secrets and no small talk."


def instructions(toolsets: Collection[str]) -> str:
    """What clients put before a model, at most 1 KB; it names tools of these toolsets only."""
    recall = "; ".join(text for name, text in _RECALL.items() if name in toolsets)
    save = " ".join(text for name, text in _SAVE.items() if name in toolsets)
    if not recall:
        return f"{_OPENING}\n\n{_CLOSING}"
    return f"{_OPENING}\n\n{_WHEN_TO_RECALL}{recall}.\n\n{_WHEN_TO_SAVE} {save}\n\n{_CLOSING}"


def build_server(backend: Backend, workers: Workers) -> tuple[Server[None], GraphUpdates]:
    """The server and its publisher, over the backend's catalogue."""
    tools = _Tools(backend, workers)

    async def version(caller: Caller) -> int:
        return await workers.run(lambda: guarded(lambda: backend.graph_version(caller), "version"), read_only=True)

    updates = GraphUpdates(version)

    @asynccontextmanager
    async def lifespan(_server: Server[None]) -> AsyncGenerator[None]:
        async with updates.running():
            yield

    server: Server[None] = Server(
        "evoca",
        version=__version__,
        title="Evoca memory",
        instructions=instructions({each.toolset for each in backend.catalogue}),
        lifespan=lifespan,
        # Else the SDK lists all tools before each call over HTTP, which took longer than the call.
        get_tool_input_schema=tools.input_schema,
    )
    server.add_request_handler("server/discover", types.RequestParams, _Discovery(server))
    server.add_request_handler("tools/list", types.PaginatedRequestParams, tools.listing)
    server.add_request_handler("tools/call", types.CallToolRequestParams, _CallTool(tools, updates))
    graph = tools.get("read_graph")
    if graph is not None:
        _Resource(graph, backend, workers, updates).register(server)
    return server, updates


class _Discovery:
    """The handler of `server/discover`. The SDK says that lists may change, of whoever serves streams of notices."""

    def __init__(self, server: Server[None]) -> None:
        self._server = server

    async def __call__(self, context: Context, _params: types.RequestParams) -> HandlerResult:
        offered = self._server.get_capabilities(protocol_version=context.protocol_version)
        for listed in (offered.tools, offered.resources):
            if listed is not None:
                listed.list_changed = False
        return types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=offered,
            instructions=self._server.instructions,
        )


class _Tools:
    """The catalogue's operations as tools, by name and alias."""

    def __init__(self, backend: Backend, workers: Workers) -> None:
        self.backend = backend
        self.workers = workers
        self._by_name = {name: each for each in backend.catalogue for name in (*each.aliases, each.name)}
        self._listing: dict[str, object] | None = None

    def get(self, name: str) -> Operation | None:
        return self._by_name.get(name)

    def input_schema(self, name: str) -> Mapping[str, object] | None:
        operation = self.get(name)
        return None if operation is None else operation.input_schema

    async def listing(self, _context: Context, params: types.PaginatedRequestParams) -> HandlerResult:
        _refuse_cursor(params)
        if self._listing is None:
            self._listing = {"tools": [tool(each) for each in self.backend.catalogue if each.listed], **_FRESH}
        return self._listing


def tool(operation: Operation) -> dict[str, object]:
    """The operation as `tools/list` shows it."""
    return {
        "name": operation.name,
        "title": operation.title,
        "description": operation.doc,
        "inputSchema": operation.input_schema,
        "outputSchema": operation.output_schema,
        "annotations": _annotations(operation),
    }


def _annotations(operation: Operation) -> dict[str, object]:
    hints = operation.hints
    if hints.read_only and not operation.drop_in:
        # The two others have no meaning for what only reads; the official server gives them all the same.
        return {"readOnlyHint": True, "openWorldHint": False}
    return {
        "readOnlyHint": hints.read_only,
        "destructiveHint": hints.destructive,
        "idempotentHint": hints.idempotent,
        "openWorldHint": False,
    }


class _CallTool:
    """The handler of `tools/call`."""

    def __init__(self, tools: _Tools, updates: GraphUpdates) -> None:
        self._tools = tools
        self._updates = updates

    async def __call__(self, context: Context, params: types.CallToolRequestParams) -> HandlerResult:
        operation = self._tools.get(params.name)
        if operation is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {shown(params.name)}")
        arguments: Mapping[str, object] = params.arguments or {}
        backend, read_only, caller = self._tools.backend, operation.hints.read_only, caller_of(context)
        try:
            return await self._tools.workers.run(
                lambda: _reply(answer(backend, operation, arguments, caller)), read_only=read_only
            )
        except EvocaError as error:
            return _reply(refusal(error, operation.family)) | {"isError": True}
        finally:
            if not read_only:
                self._updates.changed()


class _Request(Protocol):
    """What HTTP gives with a message."""

    @property
    def scope(self) -> Mapping[str, object]: ...


def caller_of(context: ServerRequestContext[None, _Request]) -> Caller:
    """Who sends the message: whom the HTTP surface let in, or the process's own user."""
    if context.request is None:
        return LOCAL
    state = context.request.scope.get("state")
    caller = cast("Mapping[str, object]", state).get("caller") if isinstance(state, dict) else None
    return caller if isinstance(caller, Caller) else LOCAL


def _reply(result: Mapping[str, object]) -> dict[str, object]:
    return {"content": [{"type": "text", "text": compact(result)}], "structuredContent": result, **_COMPLETE}


class _Resource:
    """`memory://knowledge-graph`: what `read_graph` answers, subscribable."""

    def __init__(self, graph: Operation, backend: Backend, workers: Workers, updates: GraphUpdates) -> None:
        self._graph = graph
        self._backend = backend
        self._workers = workers
        self._updates = updates

    def register(self, server: Server[None]) -> None:
        server.add_request_handler("resources/list", types.PaginatedRequestParams, self.listing)
        server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, self.templates)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, self.read)
        server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, self.subscribe)
        server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, self.unsubscribe)
        server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, self.listen)

    async def listing(self, _context: Context, params: types.PaginatedRequestParams) -> HandlerResult:
        _refuse_cursor(params)
        described = {
            "uri": GRAPH_URI,
            "name": "knowledge-graph",
            "title": "Knowledge Graph",
            "description": "All entities, their observations and the relations between them",
            "mimeType": "application/json",
        }
        return {"resources": [described], **_FRESH}

    async def templates(self, _context: Context, params: types.PaginatedRequestParams) -> HandlerResult:
        _refuse_cursor(params)
        return {"resourceTemplates": [], **_FRESH}

    async def read(self, context: Context, params: types.ReadResourceRequestParams) -> HandlerResult:
        _known(str(params.uri), context)
        caller = caller_of(context)
        try:
            text = await self._workers.run(
                lambda: compact(answer(self._backend, self._graph, {}, caller)), read_only=True
            )
        except EvocaError as error:
            raise MCPError(types.INTERNAL_ERROR, sentence(error)) from None
        return {"contents": [{"uri": GRAPH_URI, "mimeType": "application/json", "text": text}], **_FRESH}

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> HandlerResult:
        _known(str(params.uri), context)
        session = context.session
        # The SDK names a connection nowhere in public; a subscription must end with its connection.
        connection = session._connection  # pyright: ignore[reportPrivateUsage]
        try:
            await self._updates.subscribe(connection, session, caller_of(context))
        except NotFound as error:
            raise _not_there(sentence(error), context) from None
        return {}

    async def listen(self, context: Context, params: types.SubscriptionsListenRequestParams) -> HandlerResult:
        try:
            return await self._updates.listen(context, params, caller_of(context))
        except NotFound as error:
            raise _not_there(sentence(error), context) from None

    async def unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> HandlerResult:
        _known(str(params.uri), context)
        self._updates.unsubscribe(context.session._connection)  # pyright: ignore[reportPrivateUsage]
        return {}


def _known(uri: str, context: Context) -> None:
    if uri != GRAPH_URI:
        raise _not_there(f"Resource not found: {shown(uri)}. There is {GRAPH_URI}.", context, uri)


def _not_there(message: str, context: Context, uri: str = GRAPH_URI) -> MCPError:
    code = _RESOURCE_NOT_FOUND if context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS else types.INVALID_PARAMS
    return MCPError(code, message, {"uri": uri})


_RESOURCE_NOT_FOUND = -32002
"""The specification's code up to 2025-11-25."""


def _refuse_cursor(params: types.PaginatedRequestParams) -> None:
    if params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor: the list has one page")
