"""The shapes of inputs and results, read once from their annotations; checks and schemas are made from them."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import (
    Annotated,
    Literal,
    NotRequired,
    Required,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from annotated_types import Ge, Le, MinLen
from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from evoca.operations.inputs import AsText, AtMost, EveryItem, Hidden, Input, Longest, NotBlank


@dataclass(frozen=True, slots=True)
class TextShape:
    """A string. `choices`: the only values, when there are any. `longest`: as the contract fixes it."""

    choices: tuple[str, ...] = ()
    not_blank: bool = False
    at_most: AtMost | None = None
    longest: int | None = None


@dataclass(frozen=True, slots=True)
class NumberShape:
    """A number between `least` and `most`, both allowed."""

    whole: bool
    least: float | None = None
    most: float | None = None
    at_most: AtMost | None = None


@dataclass(frozen=True, slots=True)
class FlagShape:
    """A boolean."""


@dataclass(frozen=True, slots=True)
class ScalarShape:
    """A text, a number or a boolean. `as_text`: published as a text."""

    text: TextShape
    as_text: bool = False


@dataclass(frozen=True, slots=True)
class ListShape:
    """`every_fault`: all bad items are told, not just the first."""

    item: Shape
    at_least: int = 0
    at_most: AtMost | None = None
    longest: int | None = None
    every_fault: bool = False


@dataclass(frozen=True, slots=True)
class FieldShape:
    """A key of an object. `spellings` are the names it is accepted by; the first is published."""

    spellings: tuple[str, ...]
    shape: Shape
    required: bool
    description: str = ""
    default: str | int | float | bool | None = None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """An object with these keys. `title`: the class that it was read from; `model`: the same, if it is an input."""

    title: str
    fields: tuple[FieldShape, ...]
    model: type[Input] | None = None


@dataclass(frozen=True, slots=True)
class TextOrObjectShape:
    """A string or an object, told apart by the JSON type."""

    text: TextShape
    object: ObjectShape


@dataclass(frozen=True, slots=True)
class AnythingShape:
    """Any value; in results only."""


@dataclass(frozen=True, slots=True)
class NullableShape:
    """`of`, or null. In an argument null means omitted."""

    of: Shape


Shape = (
    TextShape
    | NumberShape
    | FlagShape
    | ScalarShape
    | ListShape
    | ObjectShape
    | TextOrObjectShape
    | AnythingShape
    | NullableShape
)


def input_shape(model: type[Input]) -> ObjectShape:
    """The shape of an input model. Raises TypeError for an annotation that inputs do not support."""
    fields = tuple(_input_field(name, info) for name, info in model.model_fields.items())
    return ObjectShape(model.__name__, fields, model)


def _input_field(name: str, info: FieldInfo) -> FieldShape:
    shape = _read(info.annotation, tuple(info.metadata))
    default = info.get_default()
    return FieldShape(
        spellings=_spellings(name, info),
        shape=shape,
        required=info.is_required(),
        description=info.description or "",
        default=default if isinstance(default, str | int | float | bool) else None,
        hidden=any(isinstance(mark, Hidden) for mark in info.metadata),
    )


def _spellings(name: str, info: FieldInfo) -> tuple[str, ...]:
    match info.validation_alias:
        case str(alias):
            return (alias,)
        case AliasChoices(choices=choices):
            return tuple(choice for choice in choices if isinstance(choice, str))
        case _:
            return (name,)


def result_shape(result: type[Mapping[str, object]]) -> ObjectShape:
    """The shape of a TypedDict. Members of a union of objects are merged; other unions may be anything."""
    fields = tuple(
        FieldShape((key,), _read(hint, ()), get_origin(hint) is not NotRequired, _description(hint))
        for key, hint in get_type_hints(result, include_extras=True).items()
    )
    return ObjectShape(result.__name__, fields)


def _description(hint: object) -> str:
    marks = cast("tuple[object, ...]", getattr(hint, "__metadata__", ()))
    return next((mark.description for mark in marks if isinstance(mark, FieldInfo) and mark.description), "")


def _read(annotation: object, marks: tuple[object, ...]) -> Shape:
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin in (NotRequired, Required):
        return _read(arguments[0], marks)
    if origin is Annotated:
        return _read(arguments[0], (*marks, *_flattened(arguments[1:])))
    if origin in (Union, types.UnionType):
        return _union(arguments, marks)
    if origin is Literal:
        return TextShape(choices=tuple(str(choice) for choice in arguments))
    if origin is dict:
        return AnythingShape()
    if origin in (list, tuple):
        return _with_marks(ListShape(_read(arguments[0], ())), marks)
    if isinstance(annotation, type):
        return _with_marks(_of_class(annotation), marks)
    raise TypeError(f"no shape for the annotation {annotation!r}")


def _of_class(kind: type) -> Shape:
    if issubclass(kind, Input):
        return input_shape(kind)
    if is_typeddict(cast("object", kind)):
        return result_shape(cast("type[Mapping[str, object]]", kind))
    plain: dict[type, Shape] = {
        str: TextShape(),
        int: NumberShape(whole=True),
        float: NumberShape(whole=False),
        bool: FlagShape(),
        object: AnythingShape(),
        dict: AnythingShape(),
    }
    if kind not in plain:
        raise TypeError(f"no shape for the class {kind.__name__}")
    return plain[kind]


def _union(arguments: tuple[object, ...], marks: tuple[object, ...]) -> Shape:
    members = [_read(each, marks) for each in arguments if each is not type(None)]
    shape = members[0] if len(members) == 1 else _one_of(members)
    if isinstance(shape, ScalarShape):
        shape = _with_marks(shape, marks)
    return NullableShape(shape) if type(None) in arguments else shape


def _one_of(members: list[Shape]) -> Shape:
    match members:
        case [TextShape() as text, ObjectShape() as described]:
            return TextOrObjectShape(text, described)
        case [TextShape() as text, NumberShape(), NumberShape(), FlagShape()]:
            return ScalarShape(text)
        case _:
            objects = [each for each in members if isinstance(each, ObjectShape)]
            return _merged(objects) if len(objects) == len(members) else AnythingShape()


def _merged(objects: Iterable[ObjectShape]) -> ObjectShape:
    members = tuple(objects)
    fields = {each.spellings[0]: each for described in members for each in described.fields}
    shared = frozenset[str].intersection(*(_required(described) for described in members))
    return ObjectShape("", tuple(replace(each, required=name in shared) for name, each in fields.items()))


def _required(described: ObjectShape) -> frozenset[str]:
    return frozenset(each.spellings[0] for each in described.fields if each.required)


def _flattened(marks: Iterable[object]) -> tuple[object, ...]:
    return tuple(
        inner for mark in marks for inner in (tuple(mark.metadata) if isinstance(mark, FieldInfo) else (mark,))
    )


def _with_marks(shape: Shape, marks: tuple[object, ...]) -> Shape:
    if isinstance(shape, NullableShape):
        return NullableShape(_with_marks(shape.of, marks))
    for mark in marks:
        match shape, mark:
            case ((TextShape() | NumberShape() | ListShape()), AtMost()):
                shape = replace(shape, at_most=mark)
            case ((TextShape() | ListShape()), Longest(most=longest)):
                shape = replace(shape, longest=longest)
            case ScalarShape(), AsText():
                shape = replace(shape, as_text=True)
            case ListShape(), EveryItem():
                shape = replace(shape, every_fault=True)
            case TextShape(), NotBlank():
                shape = replace(shape, not_blank=True)
            case NumberShape(), Ge(ge=int() | float() as least):
                shape = replace(shape, least=least)
            case NumberShape(), Le(le=int() | float() as most):
                shape = replace(shape, most=most)
            case ListShape(), MinLen(min_length=at_least):
                shape = replace(shape, at_least=at_least)
            case _:
                pass
    return shape
