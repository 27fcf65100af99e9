"""The one check of raw arguments, for every surface.

Raw arguments are JSON values. The rules: unknown keys are refused with the list of the valid ones; null means
omitted at every level; a JSON text where a list or an object is declared is parsed; numbers must fit and are
never clamped; text holds neither NUL nor a lone surrogate. Every refusal names its field, `entities[1].name`,
and is one of Evoca's own sentences. The cost grows with what is declared, never with the depth of what is sent.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import cast

from pydantic import ValidationError

from evoca.errors import InvalidInput, LimitExceeded
from evoca.operations.inputs import COLLECTION, AtMost, Input, LimitName
from evoca.operations.shapes import (
    AnythingShape,
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
)
from evoca.settings import Limits, collection_code

Step = str | int
Check = Callable[[object, Limits], object]
_LARGEST = 10**300
_TELLING = 2**53
"""Bounds from here on are told only to who exceeds them."""
_SHOWN = 80
"""How much of an unknown name an error repeats."""


class _Fault(Exception):
    """A refusal on its way up: each container adds the step that leads to it."""

    def __init__(self, make: Callable[[tuple[Step, ...]], InvalidInput]) -> None:
        self.make = make
        self.steps: list[Step] = []

    def error(self) -> InvalidInput:
        return self.make(tuple(reversed(self.steps)))


class Validator:
    """Checks raw arguments against one input model. Thread-safe."""

    def __init__(self, model: type[Input], in_collection: bool = False) -> None:
        """`in_collection`: the argument `collection`, which `split_collection` takes out, is named among the valid."""
        self._model = model
        self._check = _object_check(input_shape(model), root=True, further=(COLLECTION,) if in_collection else ())

    def check(self, raw: Mapping[str, object], limits: Limits) -> Input:
        """The checked input. Raises InvalidInput or LimitExceeded naming the field."""
        try:
            return self._model.model_validate(self._check(raw, limits))
        except _Fault as fault:
            raise fault.error() from None
        except ValidationError as error:
            raise _left_over(error) from None


def split_collection(raw: Mapping[str, object]) -> tuple[Mapping[str, object], str | None]:
    """`raw` without the argument `collection`, and the code that it names; None: none (omitted, null or blank).

    Raises InvalidInput for what is no code.
    """
    if COLLECTION not in raw:
        return raw, None
    rest = {key: value for key, value in raw.items() if key != COLLECTION}
    given = raw[COLLECTION]
    if given is None:
        return rest, None
    if not isinstance(given, str):
        raise InvalidInput(f"{COLLECTION}: expected a text, got {_kind(given)}", field=COLLECTION)
    return rest, named_collection(given, COLLECTION) if given.strip() else None


def named_collection(text: str, field: str) -> str:
    """The code that `text` means. Raises InvalidInput naming `field`."""
    try:
        return collection_code(text)
    except ValueError as error:
        raise InvalidInput(f"{field}: {error}", field=field) from None


def shown(text: str) -> str:
    """`text` as an error may repeat it: short, and printable whatever it holds."""
    short = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return short.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")


def path_of(steps: tuple[Step, ...]) -> str:
    """`entities[1].name`."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            path += f".{step}" if path else step
    return path


def _refuse(what: str, hint: str = "") -> _Fault:
    """A fault whose sentence is the field's path and `what`."""

    def make(steps: tuple[Step, ...]) -> InvalidInput:
        path = path_of(steps)
        return InvalidInput(f"{path}: {what}" if path else what, hint, field=path)

    return _Fault(make)


def _exceeded(mark: AtMost, given: int | str, most: int) -> _Fault:
    def make(steps: tuple[Step, ...]) -> InvalidInput:
        path = path_of(steps)
        indexes = [step for step in steps if isinstance(step, int)]
        sentence = mark.sentence or _SENTENCES[mark.limit]
        return LimitExceeded(sentence.format(*indexes, n=given, most=most, path=path), field=path)

    return _Fault(make)


def _too_long(how: str) -> _Fault:
    def make(steps: tuple[Step, ...]) -> InvalidInput:
        path = path_of(steps)
        return LimitExceeded(f"{path} too long: {how}", field=path)

    return _Fault(make)


def _together(faults: list[_Fault]) -> _Fault:
    """Several refusals as one that names them all."""

    def make(steps: tuple[Step, ...]) -> InvalidInput:
        errors = [fault.make((*steps, *reversed(fault.steps))) for fault in faults]
        return InvalidInput("; ".join(error.message for error in errors), errors[0].hint, field=errors[0].field)

    return faults[0] if len(faults) == 1 else _Fault(make)


_SENTENCES: dict[LimitName, str] = {
    "items": "Too many items in {path}: {n} > {most}. Split the call.",
    "text": "{path} too long: {n} > {most} characters. Shorten or split it.",
    "query": "Query too long: {n} > {most} characters. Use a more concise search query.",
    "name": "{path} too long: {n} > {most} characters. Use a shorter name.",
    "type": "{path} too long: {n} > {most} characters. Use a shorter one.",
    "limit": "Limit too high: {n} > {most}. Request fewer results.",
}


def _compile(shape: Shape) -> Check:
    match shape:
        case TextShape():
            return _text_check(shape)
        case NumberShape():
            return _number_check(shape)
        case FlagShape():
            return _flag
        case ScalarShape(text=text):
            return _scalar_check(text)
        case ListShape():
            return _list_check(shape)
        case ObjectShape():
            return _object_check(shape)
        case TextOrObjectShape():
            return _text_or_object_check(shape)
        case NullableShape(of=inner):
            return _compile(inner)
        case AnythingShape():
            raise TypeError("an input declares what it takes")


def _text_check(shape: TextShape) -> Check:
    mark, choices, not_blank, longest = shape.at_most, frozenset(shape.choices), shape.not_blank, shape.longest

    def check(value: object, limits: Limits) -> object:
        if not isinstance(value, str):
            raise _refuse(f"expected a text, got {_kind(value)}")
        if longest is not None and len(value) > longest:
            raise _too_long(f"{len(value)} > {longest} characters. Shorten it.")
        if mark is not None and len(value) > (most := _limit(limits, mark.limit)):
            raise _exceeded(mark, len(value), most)
        if "\0" in value:
            raise _refuse("holds a NUL character", "Remove it.")
        if not value.isascii() and _has_surrogate(value):
            raise _refuse("holds a lone surrogate, which is no character", "Send the text as valid Unicode.")
        if not_blank and not value.strip():
            raise _refuse("must not be blank")
        if choices and value not in choices:
            raise _refuse(f"{shown(value)!r} is not one of {', '.join(shape.choices)}")
        return value

    return check


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _number_check(shape: NumberShape) -> Check:
    expected = "a whole number" if shape.whole else "a number"
    mark, least, most = shape.at_most, shape.least, shape.most

    def check(value: object, limits: Limits) -> object:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _refuse(f"expected {expected}, got {_kind(value)}")
        if isinstance(value, float) and not (math.isfinite(value) and (value.is_integer() or not shape.whole)):
            raise _refuse(f"expected {expected}, got {value}")
        if (least is not None and value < least) or (most is not None and value > most):
            raise _refuse(f"must be {_range(least, most, value)}, got {_short(value)}")
        if mark is not None and value > (highest := _limit(limits, mark.limit)):
            raise _exceeded(mark, _short(value), highest)
        if abs(value) > _LARGEST:
            raise _refuse(f"expected {expected} of at most 300 digits")
        return int(value) if shape.whole else float(value)

    return check


def _range(least: float | None, most: float | None, given: float) -> str:
    if least is None:
        return f"at most {most}"
    told = most is not None and (most < _TELLING or given > most)
    return f"between {least} and {most}" if told else f"at least {least}"


def _short(value: float) -> str:
    return str(value) if abs(value) < 10**20 else "a number of more than 20 digits"


def _flag(value: object, _limits: Limits) -> object:
    if not isinstance(value, bool):
        raise _refuse(f"expected true or false, got {_kind(value)}")
    return value


def _scalar_check(shape: TextShape) -> Check:
    text, number = _text_check(shape), _number_check(NumberShape(whole=False))

    def check(value: object, limits: Limits) -> object:
        if isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            number(value, limits)
            # JSON knows one kind of number: 5.0 is 5.
            return int(value) if isinstance(value, float) and value.is_integer() else value
        if not isinstance(value, str):
            raise _refuse(f"expected a text, a number or true or false, got {_kind(value)}")
        return text(value, limits)

    return check


def _list_check(shape: ListShape) -> Check:
    mark, at_least, longest = shape.at_most, shape.at_least, shape.longest
    item = _row_check(shape.item) if shape.every_fault else _compile(shape.item)
    example = _example_text(shape)

    def check(value: object, limits: Limits) -> object:
        if isinstance(value, str):
            value = _parsed(value, "a list", example)
        if not isinstance(value, list | tuple):
            raise _refuse(f"expected a list, got {_kind(value)}", f"Example: {example}")
        items = cast("list[object]", value)
        if mark is not None and len(items) > (most := _limit(limits, mark.limit)):
            raise _exceeded(mark, len(items), most)
        if longest is not None and len(items) > longest:
            raise _too_long(f"{len(items)} > {longest} items. Split the call.")
        if len(items) < at_least:
            raise _refuse(f"needs at least {at_least} item{'s' if at_least > 1 else ''}", f"Example: {example}")
        checked: list[object] = []
        faults: list[_Fault] = []
        for index, each in enumerate(items):
            try:
                checked.append(item(each, limits))
            except _Fault as fault:
                fault.steps.append(index)
                if not shape.every_fault:
                    raise
                faults.append(fault)
        if faults:
            raise _together(faults)
        return checked

    return check


def _row_check(shape: Shape) -> Check:
    """As the shape's check, and by the model's own rules too: what they refuse is told with the other rows' faults."""
    rows = isinstance(shape, ObjectShape)
    check, model = _object_check(shape, row=True) if rows else _compile(shape), shape.model if rows else None

    def check_row(value: object, limits: Limits) -> object:
        checked = check(value, limits)
        try:
            if model is not None:
                model.model_validate(checked)
        except InvalidInput as error:
            raise _inside(error) from None
        return checked

    return check_row


def _inside(error: InvalidInput) -> _Fault:
    """A model's refusal of an item: its sentence begins with its field, which stands behind the item's path."""

    def make(steps: tuple[Step, ...]) -> InvalidInput:
        path = path_of(steps)
        joint = "." if error.field and error.message.startswith(error.field) else ": "
        field = f"{path}.{error.field}" if error.field else path
        return InvalidInput(f"{path}{joint}{error.message}", error.hint, field=field)

    return _Fault(make)


def _object_check(shape: ObjectShape, root: bool = False, further: tuple[str, ...] = (), row: bool = False) -> Check:
    """`row`: in a list of which every bad item is told, in one sentence each."""
    fields = {
        spelling: (each.spellings[0], _compile(each.shape)) for each in shape.fields for spelling in each.spellings
    }
    required = [each.spellings[0] for each in shape.fields if each.required]
    valid = ", ".join([*(each.spellings[0] for each in shape.fields if not each.hidden), *further]) or "none"
    example = _example_text(shape)

    def check(value: object, limits: Limits) -> object:
        if isinstance(value, str):
            value = _parsed(value, "an object", example)
        if not isinstance(value, Mapping):
            raise _refuse(f"expected an object, got {_kind(value)}", f"Example: {example}")
        checked: dict[str, object] = {}
        for spelling, each in cast("Mapping[str, object]", value).items():
            if spelling not in fields:
                raise _unknown(spelling, valid, root)
            if each is None:
                continue
            key, field = fields[spelling]
            if key in checked:
                raise _refuse(f"{spelling} and {key} are the same: give one of them")
            try:
                checked[key] = field(each, limits)
            except _Fault as fault:
                fault.steps.append(spelling)
                raise
        for key in required:
            if key not in checked:
                raise _at(key, "is missing") if row else _missing(key, shape, root)
        return checked

    return check


def _unknown(spelling: str, valid: str, root: bool) -> _Fault:
    def make(steps: tuple[Step, ...]) -> InvalidInput:
        path = path_of((*steps, shown(spelling)))
        sentence = f"Unknown argument: {path}" if root else f"Unknown key: {path}"
        return InvalidInput(f"{sentence}. Valid {'arguments' if root else 'keys'}: {valid}.", field=path)

    return _Fault(make)


def _at(key: str, what: str) -> _Fault:
    fault = _refuse(what)
    fault.steps.append(key)
    return fault


def _missing(key: str, shape: ObjectShape, root: bool) -> _Fault:
    """Inside an item the sentence begins as the seed quotes it (000, `create_entities`)."""

    def make(steps: tuple[Step, ...]) -> InvalidInput:
        path = path_of((*steps, key))
        example = f"Example: {_example_text(shape)}"
        if root:
            return InvalidInput(f"Missing argument: {key}.", example, field=path)
        sentence = f"1 validation error for {shape.title}\n{key}\n  Field required: {path_of(steps)} has no {key!r}."
        return InvalidInput(sentence, example, field=path)

    return _Fault(make)


def _text_or_object_check(shape: TextOrObjectShape) -> Check:
    text, described = _compile(shape.text), _compile(shape.object)

    def check(value: object, limits: Limits) -> object:
        if isinstance(value, str):
            return text(value, limits)
        if not isinstance(value, Mapping):
            raise _refuse(f"expected a text or an object, got {_kind(value)}")
        return described(cast("object", value), limits)

    return check


def _parsed(text: str, expected: str, example: str) -> object:
    """Some clients send a list or an object as JSON text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise _refuse(f"expected {expected}, got a text that is not JSON", f"Example: {example}") from None


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list() | tuple():
            return "a list"
        case _:
            return "an object"


def _limit(limits: Limits, name: LimitName) -> int:
    match name:
        case "items":
            return limits.items
        case "text":
            return limits.text
        case "query":
            return limits.query
        case "name":
            return limits.name
        case "type":
            return limits.type
        case "limit":
            return limits.limit


def _example_text(shape: Shape) -> str:
    return json.dumps(_example(shape), ensure_ascii=False)


def _example(shape: Shape) -> object:
    match shape:
        case TextShape(choices=choices):
            return choices[0] if choices else "…"
        case NumberShape(least=least):
            return int(least or 1)
        case FlagShape():
            return True
        case ScalarShape():
            return "…"
        case ListShape(item=item):
            return [_example(item)]
        case ObjectShape(fields=fields):
            shown_fields = [each for each in fields if each.required] or [each for each in fields if not each.hidden][
                :1
            ]
            return {each.spellings[0]: _example(each.shape) for each in shown_fields}
        case TextOrObjectShape(text=text):
            return _example(text)
        case NullableShape(of=inner):
            return _example(inner)
        case AnythingShape():
            return {}


def _left_over(error: ValidationError) -> InvalidInput:
    """What only pydantic could see: a pattern or a validator of the model's own."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = path_of(tuple(step for step in first["loc"] if step not in ("text", "object")))
    what = first["msg"].removeprefix("Value error, ")
    return InvalidInput(f"{path}: {what}" if path else what, field=path)
