"""The OpenAPI document's pieces: what each operation takes and answers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import cast

from evoca.errors import InvalidInput
from evoca.operations.base import Operation
from evoca.operations.inputs import COLLECTION, AtMost
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
    input_shape,
    result_shape,
)
from evoca.settings import Limits

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
_CODE = "^([a-z0-9][a-z0-9-]{0,62})?$"
SECURITY: JsonSchema = {"bearer": {"type": "http", "scheme": "bearer", "description": "A key of `evoca keys create`."}}


def error_responses(*statuses: int) -> dict[int | str, dict[str, object]]:
    """The error answers with these statuses; none named: all of them."""
    content = {"application/json": {"schema": _ERROR_REFERENCE}}
    return {status: {"description": _MEANINGS[status], "content": content} for status in statuses or tuple(_MEANINGS)}


def request_body(operation: Operation, limits: Limits) -> JsonSchema:
    """The `requestBody` of an operation. It may be left out where no argument is required."""
    schema = request_schema(operation, limits)
    content: JsonSchema = {"schema": schema, "example": _example(operation, schema, limits)}
    return {"required": "required" in schema, "content": {"application/json": content}}


def _example(operation: Operation, schema: JsonSchema, limits: Limits) -> object:
    """Arguments that pass the operation's check, as few as possible.

    Rules between fields are not in the schema: where one of several is needed, the first that will do is shown. Pages
    that offer to try a call begin with it; without it they make one up, with every field and impossible values.
    """
    shortest = cast("Mapping[str, object]", _sample(schema))
    fields = cast("Mapping[str, JsonSchema]", schema["properties"])
    further = ({**shortest, name: _sample(field)} for name, field in fields.items() if name != COLLECTION)
    return next((each for each in (shortest, *further) if _passes(operation, each, limits)), shortest)


def _passes(operation: Operation, raw: Mapping[str, object], limits: Limits) -> bool:
    try:
        operation.validator.check(raw, limits)
    except InvalidInput:
        return False
    return True


def _sample(schema: JsonSchema) -> object:
    """A value of `schema`, as short as it can be: what is required, else the first field that may be given."""
    if "enum" in schema:
        return cast("list[object]", schema["enum"])[0]
    if "anyOf" in schema:
        choices = cast("list[JsonSchema]", schema["anyOf"])
        return _sample(next((each for each in choices if each.get("type") == "object"), choices[0]))
    match schema.get("type"):
        case "object":
            fields = cast("Mapping[str, JsonSchema]", schema.get("properties", {}))
            names = cast("list[str]", schema.get("required", []))
            return {
                name: _sample(fields[name]) for name in names or [each for each in fields if each != COLLECTION][:1]
            }
        case "array":
            return [_sample(cast("JsonSchema", schema["items"]))]
        case "boolean":
            return True
        case "integer" | "number":
            return max(1, cast("int", schema.get("minimum", 1)))
        case _:
            return "name"


def request_schema(operation: Operation, limits: Limits) -> JsonSchema:
    """What an operation takes, with all that is refused: here it need not be short, as it must for models."""
    schema = _taken(input_shape(operation.input_model), limits)
    if operation.in_collection:
        code: JsonSchema = {"type": "string", "pattern": _CODE, "description": "Where to work. Default: the key's own."}
        schema["properties"] = {**cast("JsonSchema", schema["properties"]), COLLECTION: code}
    return schema


def _taken(shape: Shape, limits: Limits) -> JsonSchema:
    match shape:
        case NullableShape(of=inner):
            return _taken(inner, limits)
        case ListShape():
            return _taken_list(shape, limits)
        case ObjectShape():
            return _taken_object(shape, limits)
        case TextOrObjectShape(text=text, object=described):
            return {"anyOf": [_taken(text, limits), _taken(described, limits)]}
        case TextShape():
            return _taken_text(shape, limits)
        case NumberShape(whole=whole, least=least, most=most, at_most=mark):
            highest = _limit(limits, mark) if mark is not None else most
            number: JsonSchema = {"type": "integer" if whole else "number", "minimum": least, "maximum": highest}
            return {key: value for key, value in number.items() if value is not None}
        case FlagShape():
            return {"type": "boolean"}
        case ScalarShape(text=text):
            return {"anyOf": [_taken(text, limits), {"type": "number"}, {"type": "boolean"}]}
        case AnythingShape():
            return {}


def _taken_list(shape: ListShape, limits: Limits) -> JsonSchema:
    longest = _limit(limits, shape.at_most) if shape.at_most is not None else shape.longest
    schema: JsonSchema = {"type": "array", "items": _taken(shape.item, limits)}
    schema |= {"minItems": shape.at_least} if shape.at_least else {}
    return schema | ({"maxItems": longest} if longest else {})


def _taken_text(shape: TextShape, limits: Limits) -> JsonSchema:
    if shape.choices:
        return {"type": "string", "enum": list(shape.choices)}
    longest = _limit(limits, shape.at_most) if shape.at_most is not None else shape.longest
    schema: JsonSchema = {"type": "string"}
    schema |= {"maxLength": longest} if longest else {}
    return schema | ({"pattern": r"\S"} if shape.not_blank else {})


def _taken_object(shape: ObjectShape, limits: Limits) -> JsonSchema:
    shown = [each for each in shape.fields if not each.hidden]
    schema: JsonSchema = {
        "type": "object",
        "properties": {each.spellings[0]: _described(each, _taken(each.shape, limits)) for each in shown},
        "additionalProperties": False,
    }
    required = [each.spellings[0] for each in shown if each.required]
    return schema | ({"required": required} if required else {})


def _described(field: FieldShape, schema: JsonSchema) -> JsonSchema:
    schema |= {"description": field.description} if field.description else {}
    return schema | ({"default": field.default} if field.default not in (None, "", False) else {})


def _limit(limits: Limits, mark: AtMost) -> int:
    return {
        "items": limits.items,
        "text": limits.text,
        "query": limits.query,
        "name": limits.name,
        "type": limits.type,
        "limit": limits.limit,
    }[mark.limit]


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
