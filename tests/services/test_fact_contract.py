"""The facts tools as a client sees them: the contract's examples, shapes of answers and errors (Facts 1 to 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest

from evoca.domain.clock import from_iso, to_iso
from evoca.errors import EvocaError, face
from evoca.operations.base import Operation
from evoca.operations.catalogue import CATALOGUE
from evoca.operations.facts import FACT_OPERATIONS
from evoca.runtime import Runtime
from evoca.settings import load_settings
from evoca.surfaces.mcp.server import tool
from evoca.surfaces.rendering import compact, refusal

OPERATIONS: dict[str, Operation] = {each.name: each for each in CATALOGUE}
Json = Mapping[str, object]
MOST_BYTES = 7_250


class Server:
    """Calls as a client sees them: errors are answers."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def __call__(self, name: str, arguments: Json) -> Json:
        try:
            return dict(self._runtime.call(OPERATIONS[name], arguments))
        except EvocaError as error:
            return {**refusal(error, OPERATIONS[name].family), "http": face(error).http_status}


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Server]:
    runtime = Runtime(load_settings(store=str(tmp_path / "m.db"), embedder="hash"))
    yield Server(runtime)
    runtime.close()


@pytest.fixture
def maya(call: Server) -> Server:
    call("remember", {"subject": "user:maya", "predicate": "has_skill", "object": "TypeScript"})
    return call


def facts_of(reply: Json) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", reply["facts"])


def test_recall_as_in_the_seed(maya: Server) -> None:
    reply = maya("recall", {"query": "user:maya", "collection": ""})
    (fact,) = facts_of(reply)
    expected = {"subject": "user:maya", "predicate": "has_skill", "object": "TypeScript"}
    assert {key: fact[key] for key in expected} == expected
    assert {key: reply[key] for key in ("count", "total", "has_more")} == {"count": 1, "total": 1, "has_more": False}
    assert set(fact) == {*expected, "id", "confidence", "active", "created_at", "valid_from"}
    created = str(fact["created_at"])
    assert to_iso(from_iso(created)) == created
    assert created.endswith("Z")


def test_recall_connections_as_in_the_seed(maya: Server) -> None:
    reply = maya("recall_connections", {"entity": "user:maya", "depth": 2})
    (fact,) = facts_of(reply)
    assert (fact["object"], fact["hop"], reply["count"], reply["entity"]) == ("TypeScript", 1, 1, "user:maya")


@pytest.mark.parametrize(
    ("name", "arguments", "status", "code", "message"),
    [
        ("recall", {}, 400, "invalid_request", "At least one of query, predicate or related_to is required"),
        ("recall", {"entity_type": "user"}, 400, "invalid_request", "At least one of query, predicate or related_to"),
        ("recall", {"query": "x", "limit": 201}, 400, "invalid_request", "limit: must be between 1 and 200, got 201"),
        ("recall", {"query": "x", "limit": 0}, 400, "invalid_request", "limit: must be between 1 and 200, got 0"),
        ("recall", {"query": "x", "depth": 6}, 400, "invalid_request", "depth: must be between 0 and 5, got 6"),
        ("recall", {"query": "x" * 2_001}, 400, "limit_exceeded", "query too long: 2001 > 2000 characters"),
        ("recall", {"qery": "x"}, 400, "invalid_request", "Unknown argument: qery. Valid arguments: "),
        (
            "recall_connections",
            {"entity": "x", "limit": 501},
            400,
            "invalid_request",
            "limit: must be between 1 and 500",
        ),
        ("recall_connections", {}, 400, "invalid_request", "Missing argument: entity."),
        ("find_path", {"from": "user:maya", "to": "x"}, 404, "not_found", "Entity not found: x"),
        ("forget", {"id": 99}, 404, "not_found", "Fact not found: 99"),
        ("update_fact", {"id": 99, "context": "x"}, 404, "not_found", "Fact not found: 99"),
        ("forget_entity", {"entity": "x"}, 404, "not_found", "Entity not found: x"),
        ("remember", {"subject": "a", "predicate": "b", "object": ["c"]}, 400, "invalid_request", "object: expected"),
        ("remember_many", {"facts": "no"}, 400, "invalid_request", "facts: expected a list"),
        ("recall", {"query": "x", "collection": "nowhere"}, 404, "not_found", "Collection not found: nowhere"),
    ],
)
def test_errors_have_one_shape(maya: Server, name: str, arguments: Json, status: int, code: str, message: str) -> None:
    reply = maya(name, arguments)
    error = cast("dict[str, str]", reply["error"])
    assert set(error) == {"code", "message", "hint"}
    assert (reply["http"], error["code"]) == (status, code)
    assert error["message"].startswith(message)


def test_null_is_as_if_left_out_and_lists_may_be_text(maya: Server) -> None:
    given = {"query": "user:maya", "predicates": '["has_skill"]', "sort_by": None, "as_of": None}
    assert maya("recall", given)["count"] == 1


def test_the_tools_are_few_bytes() -> None:
    listed = compact([tool(each) for each in FACT_OPERATIONS])
    assert len(listed.encode()) <= MOST_BYTES


def test_predicates_is_a_get_route() -> None:
    assert {each.name: (each.rest_method, each.rest_path) for each in FACT_OPERATIONS}["predicates"] == (
        "GET",
        "/v1/predicates",
    )
    assert {each.rest_method for each in FACT_OPERATIONS if each.name != "predicates"} == {"POST"}
