"""The OpenAPI document's pieces: what each operation takes and answers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from evoca.operations.base import Operation
from evoca.operations.schema import JsonSchema
from evoca.operations.shapes import (
    AnythingShape,
    FieldShape,
    FlagShape,
    ListShape,
    NullableShape,
    NumberShape,
    ObjectShape,
    ScalarShape,
    Shape,
    TextOrObjectShape,
    TextShape,
    result_shape,
)

ERROR_SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string", "description": "What is wrong, and where."},
                "hint": {"type": "string", "description": "The way out; may be empty."},
            },
            "required": ["code", "message", "hint"],
        }
    },
    "required": ["error"],
}
_ERROR_REFERENCE: JsonSchema = {"$ref": "#/components/schemas/Error"}
_MEANINGS: Mapping[int, str] = {
    400: "The call is wrong; the message names the field.",
    401: "No key, or one that is not known.",
    403: "The key may not do this, or the page's origin may not.",
    404: "What the call names does not exist, or is not visible for the key.",
    409: "What the call names exists already, or is in use.",
    413: "The body is too large.",
    421: "The host is not served here.",
    429: "Too many requests for this key.",
    500: "A fault of the server; its log tells more.",
    503: "Not now: busy, ending, or without a model. The code says which, and whether to try again.",
}
SECURITY: JsonSchema = {"bearer": {"type": "http", "scheme": "bearer", "description": "A key of `evoca keys create`."}}


def error_responses(*statuses: int) -> dict[int | str, dict[str, object]]:
    """The error answers with these statuses; none named: all of them."""
    content = {"application/json": {"schema": _ERROR_REFERENCE}}
    return {status: {"description": _MEANINGS[status], "content": content} for status in statuses or tuple(_MEANINGS)}


def request_body(operation: Operation) -> JsonSchema:
    """The `requestBody` of an operation. It may be left out where no argument is required."""
    schema = operation.input_schema
    return {"required": "required" in schema, "content": {"application/json": {"schema": schema}}}


@cache
def result_schema(result: type[Mapping[str, object]]) -> JsonSchema:
    """The whole schema of a result; further keys are allowed."""
    return _of(result_shape(result))


def _of(shape: Shape) -> JsonSchema:
    match shape:
        case NullableShape(of=inner):
            return {"anyOf": [_of(inner), {"type": "null"}]}
        case ListShape(item=item):
            return {"type": "array", "items": _of(item)}
        case ObjectShape(fields=fields):
            return _object(fields)
        case TextOrObjectShape(text=text, object=described):
            return {"anyOf": [_of(text), _of(described)]}
        case TextShape(choices=choices):
            return {"type": "string", "enum": list(choices)} if choices else {"type": "string"}
        case NumberShape(whole=whole):
            return {"type": "integer" if whole else "number"}
        case FlagShape():
            return {"type": "boolean"}
        case ScalarShape():
            return {"type": ["string", "number", "boolean"]}
        case AnythingShape():
            return {}


def _object(fields: tuple[FieldShape, ...]) -> JsonSchema:
    schema: JsonSchema = {"type": "object", "properties": {each.spellings[0]: _of(each.shape) for each in fields}}
    required = [each.spellings[0] for each in fields if each.required]
    return schema | ({"required": required} if required else {})
