"""Published schemas are what the strictest client can read, and say the same as the check."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, NotRequired, TypedDict, cast

import jsonschema
import pytest
from pydantic import AliasChoices, Field

from evoca.operations.base import Hidden, Id, Input, Limit, Name, TextOr
from evoca.operations.schema import input_schema, output_schema


class Item(Input):
    name: Name
    from_: str | None = Field(
        default=None, validation_alias=AliasChoices("from", "from_item"), description="The start."
    )
    secret: Annotated[str | None, Hidden()] = None


class Arguments(Input):
    items: list[Item]
    mixed: list[TextOr[Item]] | None = None
    limit: Limit = 10
    id: Id | None = None
    track: bool = True


class Row(TypedDict):
    id: int
    score: float | None
    note: NotRequired[Annotated[str, Field(description="What is to say.")]]


class Failure(TypedDict):
    error: str


class Result(TypedDict):
    rows: list[Row | Failure]
    total: NotRequired[int]


def _parts(schema: object) -> Iterator[dict[str, object]]:
    if isinstance(schema, dict):
        part = cast("dict[str, object]", schema)
        yield part
        for value in part.values():
            yield from _parts(value)
    if isinstance(schema, list):
        for value in cast("list[object]", schema):
            yield from _parts(value)


@pytest.mark.parametrize("schema", [input_schema(Arguments), output_schema(Result)])
def test_schemas_are_plain(schema: dict[str, object]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert not {"$ref", "$defs", "title", "nullable"} & {key for part in _parts(schema) for key in part}
    assert "null" not in json.dumps(schema)


def test_an_input_schema_says_what_is_taken() -> None:
    item = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "from": {"type": "string", "description": "The start."},
        },
        "required": ["name"],
    }
    assert input_schema(Arguments) == {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": item},
            "mixed": {"type": "array", "items": {"anyOf": [{"type": "string"}, item]}},
            "limit": {"type": "integer", "minimum": 1, "default": 10},
            "id": {"type": "integer", "minimum": 1},
            "track": {"type": "boolean", "default": True},
        },
        "required": ["items"],
    }


def test_a_result_schema_refuses_nothing_that_an_error_or_a_later_version_may_add() -> None:
    schema = output_schema(Result)
    jsonschema.validate({"error": "no"}, schema)
    jsonschema.validate({"rows": [{"id": 1, "score": None, "new": 1}, {"error": "x"}], "more": []}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"rows": {}}, schema)


def test_annotations_that_have_no_shape_are_refused() -> None:
    class Odd(Input):
        when: complex

    with pytest.raises(TypeError, match="no shape for the class complex"):
        input_schema(Odd)
