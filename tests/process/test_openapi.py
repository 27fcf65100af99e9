"""The OpenAPI document is true: whatever is sent, answers are as it says, and never a fault of the server's."""

# The tool's own types are open in places.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeArgument=false, reportArgumentType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from evoca.operations.catalogue import CATALOGUE
from tests.process.support.http import HttpServer
from tests.process.support.launch import PROVING

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = 200 if PROVING else 5
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    allow_header_conformance,
    unsupported_method,
]
OWN = ["/healthz", "/readyz", "/metrics"]
ROUTES = [(each.rest_method, each.rest_path) for each in CATALOGUE if each.listed] + [("GET", path) for path in OWN]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    folder = tmp_path_factory.mktemp("openapi")
    (folder / "home").mkdir()
    env = {"EVOCA_EMBEDDER": "hash", "EVOCA_LOG_LEVEL": "warning"}
    with HttpServer(folder / "home", folder / "memory.db", env=env) as running:
        yield running
        assert '"level": "error"' not in running.log


@pytest.fixture(scope="module")
def schema(server: HttpServer) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


def test_every_route_is_described(schema: schemathesis.BaseSchema) -> None:
    described = {found.ok().label for found in schema.get_all_operations() if isinstance(found, Ok)}
    assert {f"{method} {path}" for method, path in ROUTES} <= described


@pytest.mark.timeout(3600 if PROVING else 120)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value)
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_answers_are_as_described(
    schema: schemathesis.BaseSchema, method: str, path: str, mode: GenerationMode
) -> None:
    operation = schema[path][method]
    if mode is GenerationMode.NEGATIVE and not operation.body:
        return  # nothing can be wrong about nothing

    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, derandomize=not PROVING, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(operation.as_strategy(generation_mode=mode))
    def ask(case: Case) -> None:
        case.call_and_validate(checks=CHECKS)

    ask()
