"""REST: every operation of the catalogue as a route."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from evoca.domain.tenancy import LOCAL, Caller
from evoca.errors import EvocaError, InvalidInput
from evoca.operations.base import Operation
from evoca.settings import Limits
from evoca.surfaces.backend import Backend, Workers, answer
from evoca.surfaces.http.bodies import arguments
from evoca.surfaces.http.openapi import error_responses, request_body, result_schema
from evoca.surfaces.http.replies import JSON, error_reply
from evoca.surfaces.rendering import compact

if TYPE_CHECKING:
    from fastapi import FastAPI


def caller_of(request: Request) -> Caller:
    """Who the guard let in."""
    caller = request.scope.get("state", {}).get("caller")
    return caller if isinstance(caller, Caller) else LOCAL


def add_operations(
    app: FastAPI, backend: Backend, workers: Workers, limits: Limits, changed: Callable[[], None]
) -> None:
    """A route for each operation and alias. `changed` is called after everything that may have written."""
    for operation in backend.catalogue:
        endpoint = _endpoint(operation, backend, workers, changed)
        for path in paths(operation):
            shown = operation.listed and path == operation.rest_path
            for method in sorted({"POST", operation.rest_method}):
                app.add_api_route(
                    path,
                    endpoint,
                    methods=[method],
                    name=operation.title,
                    operation_id=operation.name if method == operation.rest_method else f"post_{operation.name}",
                    description=operation.doc,
                    tags=[operation.toolset],
                    responses=_responses(operation),
                    openapi_extra={"requestBody": request_body(operation, limits)} if method == "POST" else None,
                    response_model=None,
                    include_in_schema=shown,
                )


def paths(operation: Operation) -> Iterable[str]:
    """The operation's path, then one for each further name that it is called by."""
    return dict.fromkeys((operation.rest_path, *(f"/v1/{name}" for name in (operation.name, *operation.aliases))))


def _endpoint(
    operation: Operation, backend: Backend, workers: Workers, changed: Callable[[], None]
) -> Callable[[Request], object]:
    async def respond(request: Request) -> Response:
        body, kind, caller = await request.body(), request.headers.get("content-type", ""), caller_of(request)

        def work() -> str:
            # Reading and writing JSON may take long for large bodies, and belongs to the thread.
            return compact(answer(backend, operation, arguments(body, kind), caller))

        try:
            if request.scope.get("query_string"):
                raise InvalidInput("Arguments in the address are not read", "Send them in the body, as a JSON object.")
            return Response(await workers.run(work, read_only=operation.hints.read_only), media_type=JSON)
        except EvocaError as error:
            return error_reply(error)
        finally:
            if not operation.hints.read_only:
                changed()

    return respond


def _responses(operation: Operation) -> dict[int | str, dict[str, object]]:
    success: dict[str, object] = {
        "description": "Done.",
        "content": {JSON: {"schema": result_schema(operation.result_type)}},
    }
    return {200: success, **error_responses()}
