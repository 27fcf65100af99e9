"""JSON Schema (draft 2020-12) for inputs and results.

Made for what clients can read: everything inlined, an object at the root, no titles, no unions with null.
Result schemas are permissive: a client checks replies against them, and an error is a reply too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from evoca.operations.inputs import COLLECTION, Input
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

JsonSchema = dict[str, object]
_EXACT = 2**53
"""From here on not every client's numbers are exact: such a bound is checked and not published."""


def input_schema(model: type[Input], in_collection: bool = False) -> JsonSchema:
    """The published schema of an input model. Lists of tools are read by models, so it is short.

    `in_collection`: with the argument `collection`, which every operation on one takes. Hidden keys, the limits from
    the settings, and what is refused whatever the schema says (unknown keys, blank names) are left out.
    """
    schema = _of_input(input_shape(model))
    if in_collection:
        schema["properties"] = {**cast("JsonSchema", schema["properties"]), COLLECTION: {"type": "string"}}
    return schema


def output_schema(result: type[Mapping[str, object]]) -> JsonSchema:
    """The published schema of a TypedDict: nothing is required, further keys are allowed, what may be null is open.

    Only the root's keys are published: lists of tools are read by models, and what a list holds is in the documents.
    """
    fields = result_shape(result).fields
    return {"type": "object", "properties": {each.spellings[0]: _of_result(each.shape) for each in fields}}


def _of_input(shape: Shape) -> JsonSchema:
    match shape:
        case NullableShape(of=inner):
            return _of_input(inner)
        case ListShape(item=item, at_least=at_least):
            array: JsonSchema = {"type": "array", "items": _of_input(item)}
            return array | ({"minItems": at_least} if at_least else {})
        case ObjectShape(fields=fields):
            return _object(fields)
        case TextOrObjectShape(text=text, object=described):
            return {"anyOf": [_of_input(text), _of_input(described)]}
        case _:
            return _of_scalar(shape)


def _object(fields: tuple[FieldShape, ...]) -> JsonSchema:
    shown = [each for each in fields if not each.hidden]
    schema: JsonSchema = {
        "type": "object",
        "properties": {each.spellings[0]: _described(each, _of_input(each.shape)) for each in shown},
    }
    required = [each.spellings[0] for each in shown if each.required]
    if required:
        schema["required"] = required
    return schema


def _described(field: FieldShape, schema: JsonSchema) -> JsonSchema:
    if field.description:
        schema["description"] = field.description
    if field.default not in (None, "", False):
        schema["default"] = field.default
    return schema


def _of_scalar(shape: Shape) -> JsonSchema:
    match shape:
        case TextShape(choices=choices):
            return {"type": "string", "enum": list(choices)} if choices else {"type": "string"}
        case ScalarShape(as_text=as_text):
            kinds: list[JsonSchema] = [{"type": kind} for kind in ("string", "number", "boolean")]
            return kinds[0] if as_text else {"anyOf": kinds}
        case NumberShape(whole=whole, least=least, most=most):
            number: JsonSchema = {"type": "integer" if whole else "number"}
            if least is not None and least > -_EXACT:
                number["minimum"] = least
            if most is not None and most < _EXACT:
                number["maximum"] = most
            return number
        case FlagShape():
            return {"type": "boolean"}
        case _:
            return {}


def _of_result(shape: Shape) -> JsonSchema:
    match shape:
        case NullableShape() | AnythingShape() | TextOrObjectShape():
            return {}
        case ListShape():
            return {"type": "array"}
        case ObjectShape():
            return {"type": "object"}
        case _:
            return _of_scalar(shape)
