"""Answers: JSON, and errors in the one shape that every route has."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from evoca.errors import EvocaError, Face, face
from evoca.surfaces.rendering import compact

JSON = "application/json"


class MethodNotAllowed(EvocaError):
    """The path has no such method."""


class WrongHost(EvocaError):
    """The request names a host that is not this server."""


class TooSlow(EvocaError):
    """The request was given up."""


_FACES: Mapping[type[EvocaError], Face] = {
    MethodNotAllowed: Face("method_not_allowed", 405),
    WrongHost: Face("wrong_host", 421),
    TooSlow: Face("timeout", 503, retryable=True),
}
"""What only HTTP knows."""


def http_face(error: EvocaError) -> Face:
    return _FACES.get(type(error)) or face(error)


def json_reply(value: Mapping[str, object], status: int = 200) -> Response:
    return Response(compact(value), status, media_type=JSON)


def error_reply(error: EvocaError, headers: Mapping[str, str] | None = None) -> Response:
    """`{"error": {"code", "message", "hint"}}`, beside what else the error tells."""
    shown = http_face(error)
    body = {**error.payload, "error": {"code": shown.code, "message": error.message, "hint": error.hint}}
    retry = {"Retry-After": "1"} if shown.retryable else {}
    return Response(compact(body), shown.http_status, headers=retry | dict(headers or {}), media_type=JSON)
