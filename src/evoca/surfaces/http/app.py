"""The whole HTTP application: the guard, and behind it MCP and the routes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evoca import __version__
from evoca.errors import EvocaError, Forbidden, NotFound
from evoca.operations.base import Operation
from evoca.surfaces.backend import Backend, Workers, guarded
from evoca.surfaces.http.gate import Gate
from evoca.surfaces.http.guard import Guard, GuardRules
from evoca.surfaces.http.health import Condition, Insight, Live, Look, Readiness, Ready
from evoca.surfaces.http.hosts import Hosts, Origins
from evoca.surfaces.http.limits import RateLimit
from evoca.surfaces.http.mcp import McpEndpoint, McpRules
from evoca.surfaces.http.metrics import CONTENT_TYPE, CountedBackend, Metrics
from evoca.surfaces.http.openapi import ERROR_SCHEMA, SECURITY, error_responses, result_schema
from evoca.surfaces.http.pages import PAGE_ROUTES, add_pages
from evoca.surfaces.http.replies import JSON, MethodNotAllowed, error_reply, json_reply
from evoca.surfaces.http.rest import add_operations, caller_of, paths
from evoca.surfaces.mcp.server import build_server
from evoca.surfaces.rendering import compact

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.types import Receive, Scope, Send

    from evoca.settings import Limits, Settings

MCP_ROUTE = "/mcp"
HEALTH, READY, METRICS, OPENAPI = "/healthz", "/readyz", "/metrics", "/openapi.json"
OPEN_ROUTES = PAGE_ROUTES | {HEALTH, READY, OPENAPI}
"""What needs no key."""
LAST_WORDS = 0.2
"""Seconds for streams to say that they end, before they are ended."""
_ABOUT = (
    "Every operation of Evoca's catalogue. Arguments are one JSON object; unknown names are refused, null means "
    "omitted. Every error is `{error: {code, message, hint}}`."
)

_TEXT: Mapping[str, object] = {"text/plain": {}}


class HttpApp:
    """The ASGI application. Serves while `running()`; `stop` ends its streams.

    `server`: another MCP server in the place of Evoca's own, and then with answers as streams; for tests.
    `closed`: a key is needed even while there is none.
    """

    def __init__(
        self,
        backend: Backend,
        insight: Insight,
        settings: Settings,
        *,
        closed: bool = False,
        server: Server[None] | None = None,
    ) -> None:
        self._workers = Workers()
        self._metrics = Metrics()
        own, self._updates = build_server(CountedBackend(backend, self._metrics, "mcp"), self._workers)
        rules = McpRules(settings.max_sessions, settings.session_idle, settings.max_body, json_replies=server is None)
        self._mcp = McpEndpoint(server or own, rules)
        self._metrics.watch_sessions(self._mcp.sessions)
        self._insight = insight
        self._readiness = Readiness(insight)
        self._condition = Look(self._find_condition)
        self._routes = self._rest(CountedBackend(backend, self._metrics, "rest"), settings.limits)
        self._guard = Guard(
            self._dispatch,
            _guard_rules(settings, backend.catalogue),
            Gate(backend, self._workers, closed),
            RateLimit(settings.rate_limit),
            self._metrics,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._guard(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        async with self._mcp.running():
            yield
        for each in (self._workers, self._readiness, self._condition):
            each.close()

    async def stop(self) -> None:
        """Take no more requests, and end the streams; calls go on."""
        self._updates.close()
        await anyio.sleep(LAST_WORDS)
        self._guard.stop()

    def abandon(self) -> None:
        """Ask every running call to leave nothing."""
        self._workers.abandon()

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._mcp if scope["path"] == MCP_ROUTE else self._routes)(scope, receive, send)

    def _rest(self, backend: Backend, limits: Limits) -> FastAPI:
        app = FastAPI(
            title="Evoca",
            version=__version__,
            description=_ABOUT,
            openapi_url=None,
            docs_url=None,
            redoc_url=None,
            redirect_slashes=False,
        )
        app.add_exception_handler(HTTPException, _routing_error)
        add_operations(app, backend, self._workers, limits, self._updates.changed)
        self._add_own(app)
        add_pages(app)
        document = compact(_document(app))

        async def openapi(_request: Request) -> Response:
            return Response(document, media_type=JSON)

        app.add_api_route(OPENAPI, openapi, methods=["GET", "HEAD"], include_in_schema=False)
        return app

    def _add_own(self, app: FastAPI) -> None:
        async def live(_request: Request) -> Response:
            return json_reply({"status": "ok"})

        async def ready(_request: Request) -> Response:
            found = await self._readiness.ask()
            return json_reply(found, 503 if "error" in found else 200)

        async def metrics(request: Request) -> Response:
            if caller_of(request).collections is not None:
                return error_reply(Forbidden("These numbers are the whole server's", "Use a key of every collection."))
            return Response(self._metrics.exposition(await self._condition.ask()), media_type=CONTENT_TYPE)

        for path, endpoint, name, content, errors in (
            (HEALTH, live, "Whether the server lives", _json_of(Live), (413, 421)),
            (READY, ready, "Whether it can work", _json_of(Ready), (413, 421, 503)),
            (METRICS, metrics, "What Prometheus reads", _TEXT, (401, 403, 413, 421, 429, 503)),
        ):
            app.add_api_route(
                path,
                endpoint,
                methods=["GET"],
                name=name,
                operation_id=path[1:],
                tags=["server"],
                responses={200: {"description": "Done.", "content": content}, **error_responses(*errors)},
                openapi_extra={"security": []} if path in OPEN_ROUTES else None,
                response_model=None,
            )
            app.add_api_route(path, endpoint, methods=["HEAD"], include_in_schema=False)

    def _find_condition(self) -> Condition | None:
        try:
            return guarded(self._insight.condition, "condition")
        except EvocaError:
            return None


def _json_of(result: type[Mapping[str, object]]) -> Mapping[str, object]:
    return {JSON: {"schema": result_schema(result)}}


def _guard_rules(settings: Settings, catalogue: Iterable[Operation]) -> GuardRules:
    operations = frozenset(path for operation in catalogue for path in paths(operation))
    return GuardRules(
        hosts=Hosts(settings.allowed_hosts),
        origins=Origins(settings.allowed_origins),
        routes=operations | OPEN_ROUTES | {MCP_ROUTE, METRICS},
        open_routes=OPEN_ROUTES,
        max_body=settings.max_body,
        request_timeout=settings.request_timeout,
    )


def _document(app: FastAPI) -> Mapping[str, object]:
    """The OpenAPI document, with what its routes refer to."""
    document: dict[str, object] = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    document["components"] = {"schemas": {"Error": ERROR_SCHEMA}, "securitySchemes": SECURITY}
    document["security"] = [{"bearer": []}, {}]
    return document


async def _routing_error(request: Request, error: Exception) -> Response:
    """What the router refuses, in the shape of every error."""
    if isinstance(error, HTTPException) and error.status_code == 405:
        allowed = sorted({method for route in _routes_at(request) for method in route.methods or ()})
        return error_reply(
            MethodNotAllowed("This path has no such method", f"Use {' or '.join(allowed)}."),
            {"Allow": ", ".join(allowed)},
        )
    return error_reply(NotFound("There is no such path", "/openapi.json lists them all."))


def _routes_at(request: Request) -> list[Route]:
    app: FastAPI = request.app
    return [route for route in app.routes if isinstance(route, Route) and route.path == request.scope["path"]]
