"""Operations as routes, and the document that describes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

import pytest

from evoca import errors
from evoca.operations.base import Input, operation
from evoca.operations.catalogue import CATALOGUE
from evoca.settings import load_settings
from evoca.surfaces.http.app import HttpApp
from evoca.surfaces.http.replies import error_reply
from tests.surfaces.http.asgi import JSON, Client, Well, client
from tests.surfaces.toy import READ, Toy

if TYPE_CHECKING:
    from evoca.services import Services

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)


async def test_arguments_come_in_the_body(toy: Toy) -> None:
    async with client(toy) as http:
        assert (await http.call("echo", {"text": "ñandú\u2028"})).json == {"text": "ñandú\u2028"}
        assert (await http.ask("POST", "/v1/read_graph")).json == {"names": []}
        assert (await http.call("repeat", {"text": "alias"})).json == {"text": "alias"}
        assert (await http.call("unlisted", {})).json == {"text": "here"}


async def test_a_large_answer_is_whole(toy: Toy) -> None:
    async with client(toy) as http:
        assert (await http.call("big", {"size": 100_000})).json == {"text": "ñ" * 100_000}


async def test_wrong_arguments_are_told_as_such(toy: Toy) -> None:
    async with client(toy) as http:
        for body in (b"{", b"[]", b'{"text": 1}', b'{"text": "a", "texto": "b"}', b"{}", b'{"text": "\\u0000"}'):
            answer = await http.ask("POST", "/v1/echo", JSON, body)
            assert (answer.status, answer.code) == (400, "invalid_request")
        in_address = await http.ask("POST", "/v1/echo?text=a", JSON, b'{"text": "a"}')
        assert (in_address.status, in_address.code) == (400, "invalid_request")


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "HEAD"])
async def test_other_methods_are_refused(toy: Toy, method: str) -> None:
    async with client(toy) as http:
        answer = await http.ask(method, "/v1/echo")
        assert (answer.status, answer.headers["allow"]) == (405, "POST")
        assert (await http.ask(method if method != "GET" else "POST", "/")).status in {405, 200}


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nothing", "/v1/echo/", "/V1/echo", "/v1//echo", "/mcp/x", "//"])
async def test_unknown_paths_are_not_found(toy: Toy, path: str) -> None:
    async with client(toy) as http:
        answer = await http.ask("POST", path)
        assert (answer.status, answer.code) == (404, "not_found")


async def test_failures_have_the_one_shape(toy: Toy) -> None:
    async with client(toy) as http:
        busy = await http.call("busy", {})
        assert (busy.status, busy.code, busy.headers["retry-after"]) == (503, "store_busy", "1")
        broken = await http.call("explode", {"text": "secreto"})
        assert (broken.status, broken.code) == (500, "internal")
        assert b"secreto" not in broken.body


KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.EvocaError)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_has_a_documented_status(kind: type[errors.EvocaError]) -> None:
    error = kind.__new__(kind)
    errors.EvocaError.__init__(error, "What.", "How.", {"errors": ["beside"]})
    reply = error_reply(error)
    assert reply.status_code in {400, 401, 403, 404, 409, 413, 429, 500, 503}
    shown = errors.face(error)
    expected = {"errors": ["beside"], "error": {"code": shown.code, "message": "What.", "hint": "How."}}
    assert json.loads(bytes(reply.body)) == expected


class _Nothing(Input):
    pass


class _Result(TypedDict):
    text: str


class Listing(Toy):
    """The toy with an operation that is a GET route."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)

        def run(_services: Services, _arguments: _Nothing) -> _Result:
            return {"text": "listed"}

        listed = operation(
            run,
            input=_Nothing,
            result=_Result,
            name="predicates",
            title="Predicates",
            doc="What there is.",
            toolset="facts",
            hints=READ,
            rest_method="GET",
        )
        self.catalogue = (*self.catalogue, listed)


async def test_an_operation_may_be_a_get_route(tmp_path: Path) -> None:
    async with client(Listing(tmp_path)) as http:
        assert (await http.ask("GET", "/v1/predicates")).json == {"text": "listed"}
        assert (await http.ask("POST", "/v1/predicates")).json == {"text": "listed"}
        assert (await http.ask("GET", "/v1/predicates?limit=1")).status == 400
        assert (await http.ask("PUT", "/v1/predicates")).headers["allow"] == "GET, POST"


def _part(value: object, *steps: str | int) -> dict[str, object]:
    for step in steps:
        value = cast("dict[str | int, object]", value)[step]
    return cast("dict[str, object]", value)


@pytest.fixture
def full(tmp_path: Path) -> Client:
    """The whole catalogue's application; nothing is called."""
    toy = Toy(tmp_path)
    toy.catalogue = CATALOGUE
    return Client(HttpApp(toy, Well(), load_settings()))


async def test_the_document_describes_the_whole_catalogue(full: Client) -> None:
    document = (await full.ask("GET", "/openapi.json")).json
    assert str(document["openapi"]).startswith("3.1")
    paths = _part(document, "paths")
    listed = [each for each in CATALOGUE if each.listed]
    assert set(paths) == {each.rest_path for each in listed} | {"/healthz", "/readyz", "/metrics"}
    for each in listed:
        described = _part(paths, each.rest_path, each.rest_method.lower())
        assert described["operationId"] == each.name
        statuses = set(_part(described, "responses"))
        assert statuses == {"200", "400", "401", "403", "404", "409", "413", "421", "429", "500", "503"}
        body = _part(paths, each.rest_path, "post", "requestBody")
        taken = _part(body, "content", "application/json", "schema")
        assert taken["additionalProperties"] is False
        assert set(_part(taken, "properties")) == set(_part(each.input_schema, "properties"))
        assert taken.get("required") == each.input_schema.get("required")
        result = _part(described, "responses", "200", "content", "application/json", "schema")
        assert result["type"] == "object"
        assert result["properties"]


async def test_the_document_shows_a_body_to_begin_with(full: Client) -> None:
    paths = _part((await full.ask("GET", "/openapi.json")).json, "paths")
    for each in CATALOGUE:
        if each.listed:
            example = _part(paths, each.rest_path, "post", "requestBody", "content", "application/json", "example")
            assert set(example) >= set(cast("list[str]", each.input_schema.get("required", [])))
            assert not example.get("confirm")
            assert example.get("dry_run", True)
    body = _part(paths, "/v1/recall", "post", "requestBody", "content", "application/json")
    assert body["example"] == {"query": "name"}
    told = _part(paths, "/v1/remember", "post", "requestBody", "content", "application/json", "example")
    assert told == {"subject": "name", "predicate": "name", "object": "name"}


async def test_the_document_refers_to_nothing_outside(full: Client) -> None:
    document = (await full.ask("GET", "/openapi.json")).json
    references = _references(document)
    assert references == {"#/components/schemas/Error"}
    assert _part(document, "components", "securitySchemes", "bearer")["scheme"] == "bearer"
    assert b"422" not in json.dumps(document).encode()


def _references(value: object) -> set[str]:
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        own = {str(entries["$ref"])} if "$ref" in entries else set[str]()
        return own.union(*(_references(each) for each in entries.values()))
    if isinstance(value, list):
        return set[str]().union(*(_references(each) for each in cast("list[object]", value)))
    return set()


async def test_an_operation_that_needs_nothing_may_be_sent_nothing(full: Client) -> None:
    document = (await full.ask("GET", "/openapi.json")).json
    assert not _part(document, "paths", "/v1/read_graph", "post", "requestBody")["required"]
    assert _part(document, "paths", "/v1/open_nodes", "post", "requestBody")["required"]
