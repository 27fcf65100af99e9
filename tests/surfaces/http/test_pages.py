"""The pages, and what they are made of."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from tests.process.support.launch import ROOT
from tests.surfaces.http.asgi import client
from tests.surfaces.toy import Toy

ASSETS = files("evoca.surfaces.http").joinpath("assets")
PACKAGE = ROOT / "node_modules/swagger-ui-dist"
COPIES = {
    "swagger-ui.css": "swagger-ui.css",
    "swagger-ui-bundle.js": "swagger-ui-bundle.js",
    "swagger-ui-bundle.js.LICENSE.txt": "swagger-ui-bundle.js.LICENSE.txt",
    "swagger-ui.LICENSE": "LICENSE",
    "swagger-ui.NOTICE": "NOTICE",
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(("copy", "original"), COPIES.items())
def test_the_copies_are_those_of_the_pinned_package(copy: str, original: str) -> None:
    if not PACKAGE.exists():
        pytest.skip("swagger-ui-dist is not installed (npm ci)")
    assert ASSETS.joinpath(copy).read_bytes() == (PACKAGE / original).read_bytes()


@pytest.mark.anyio
@pytest.mark.parametrize("page", ["/", "/docs"])
async def test_a_page_needs_nothing_from_elsewhere(tmp_path: Path, page: str) -> None:
    async with client(Toy(tmp_path)) as http:
        answer = await http.ask("GET", page)
        text = answer.body.decode()
        assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", text)
        assert "<script>" not in text
        assert " style=" not in text
        for name in re.findall(r"(?:src|href)=\"((?!data:)[^\"]+)\"", text):
            found = await http.ask("GET", f"/{name}")
            assert found.status == 200, name
            assert found.body
        assert answer.headers["content-type"].startswith("text/html")
        assert (await http.ask("HEAD", page)).status == 200


@pytest.mark.anyio
async def test_assets_may_be_kept_and_have_their_types(tmp_path: Path) -> None:
    async with client(Toy(tmp_path)) as http:
        script = await http.ask("GET", "/assets/swagger-ui-bundle.js")
        assert script.headers["content-type"].startswith("text/javascript")
        assert script.headers["cache-control"].startswith("public")
        for path in ("/assets/", "/assets/docs.html", "/assets/../app.py", "/assets/%2e%2e/app.py"):
            assert (await http.ask("GET", path)).status == 404
