"""The pages and what they are made of: files of the package, read once. Nothing comes from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

if TYPE_CHECKING:
    from fastapi import FastAPI

_HTML = "text/html; charset=utf-8"
_CSS = "text/css; charset=utf-8"
_SCRIPT = "text/javascript; charset=utf-8"
_ALLOWED = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HOUR = "public, max-age=3600"


@dataclass(frozen=True, slots=True)
class _Page:
    file: str
    kind: str
    cached: bool


_PAGES: Mapping[str, _Page] = {
    "/": _Page("home.html", _HTML, cached=False),
    "/docs": _Page("docs.html", _HTML, cached=False),
    "/assets/home.css": _Page("home.css", _CSS, cached=True),
    "/assets/docs.js": _Page("docs.js", _SCRIPT, cached=True),
    "/assets/swagger-ui.css": _Page("swagger-ui.css", _CSS, cached=True),
    "/assets/swagger-ui-bundle.js": _Page("swagger-ui-bundle.js", _SCRIPT, cached=True),
}
PAGE_ROUTES = frozenset(_PAGES)


def add_pages(app: FastAPI) -> None:
    for path, page in _PAGES.items():
        app.add_api_route(path, _endpoint(page), methods=["GET", "HEAD"], include_in_schema=False)


def _endpoint(page: _Page) -> Callable[[Request], object]:
    content = files("evoca.surfaces.http").joinpath("assets", page.file).read_bytes()
    headers = {"Content-Security-Policy": _ALLOWED} | ({"Cache-Control": _HOUR} if page.cached else {})

    async def show(_request: Request) -> Response:
        return Response(content, media_type=page.kind, headers=headers)

    return show
