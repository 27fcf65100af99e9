"""Raw arguments are refused with a sentence that names the field, or pass unchanged."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AliasChoices, Field, model_validator

from evoca.errors import InvalidInput, LimitExceeded
from evoca.operations.base import AtMost, Hidden, Id, Input, Limit, Name, NotBlank, Offset, Query, Text, TextOr
from evoca.operations.inputs import AsText, EveryItem, Longest
from evoca.operations.schema import input_schema
from evoca.operations.validation import Validator
from evoca.settings import Limits

LIMITS = Limits(items=3, text=10, query=8, name=6, type=4, limit=20)


class Item(Input):
    name: Name
    texts: Annotated[
        list[Annotated[str, AtMost("text", "Item {0}, text {1} too long: {n} > {most}.")]],
        AtMost("items", "Item {0} has too many texts: {n} > {most}."),
    ] = Field(default=[])
    from_: Annotated[str | None, Field(validation_alias=AliasChoices("from", "from_item"))] = None
    type: Annotated[Literal["item"] | None, Hidden()] = None


class Arguments(Input):
    items: Annotated[list[Item], AtMost("items")] = Field(default=[])
    mixed: list[TextOr[Item]] | None = None
    query: Query = ""
    limit: Limit = 5
    offset: Offset = 0
    id: Id | None = None
    weight: Annotated[float, Field(ge=0, le=1)] | None = None
    track: bool = True
    text: Text | None = None

    @model_validator(mode="after")
    def _not_both(self) -> Arguments:
        if self.items and self.mixed:
            raise InvalidInput("items and mixed exclude each other", field="mixed")
        return self


class Needs(Input):
    items: list[Item]


VALIDATOR = Validator(Arguments)


def check(**raw: object) -> Arguments:
    checked = VALIDATOR.check(raw, LIMITS)
    assert isinstance(checked, Arguments)
    return checked


def refusal(**raw: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        check(**raw)
    return caught.value


def test_what_is_valid_passes_unchanged() -> None:
    checked = check(items=[{"name": "Ñandú", "texts": ["a", ""], "from": "b"}], limit=20, offset=3, weight=0.5)
    assert checked.items == [Item.model_validate({"name": "Ñandú", "texts": ["a", ""], "from": "b"})]
    assert (checked.limit, checked.offset, checked.weight, checked.track) == (20, 3, 0.5, True)


def test_null_means_omitted_at_every_level() -> None:
    checked = check(items=[{"name": "a", "texts": None, "from": None}], limit=None, mixed=None, track=None)
    assert checked == check(items=[{"name": "a"}])


def test_a_null_where_a_value_is_needed_is_a_missing_one() -> None:
    assert refusal(items=[{"name": None}]).message.startswith("1 validation error for Item\nname\n  Field required")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"itms": []}, "Unknown argument: itms. Valid arguments: items, mixed, query, limit, offset, id, weight,"),
        ({"items": [{"name": "a"}, {"name": "b", "nmae": 1}]}, "Unknown key: items[1].nmae. Valid keys: name, texts, "),
        ({"mixed": ["a", {"name": "b", "x": 1}]}, "Unknown key: mixed[1].x. Valid keys: name, texts, from."),
    ],
)
def test_unknown_keys_are_refused_with_the_valid_ones(raw: dict[str, object], message: str) -> None:
    assert refusal(**raw).message.startswith(message)


REFUSALS: list[tuple[dict[str, object], str, str]] = [
    ({"limit": 0}, "limit", "limit: must be at least 1, got 0"),
    ({"limit": True}, "limit", "limit: expected a whole number, got true or false"),
    ({"limit": "5"}, "limit", "limit: expected a whole number, got a text"),
    ({"limit": 1.5}, "limit", "limit: expected a whole number, got 1.5"),
    ({"limit": float("nan")}, "limit", "limit: expected a whole number, got nan"),
    ({"limit": 10**300}, "limit", "Limit too high: a number of more than 20 digits > 20. Request fewer results."),
    ({"limit": 21}, "limit", "Limit too high: 21 > 20. Request fewer results."),
    ({"offset": -1}, "offset", "offset: must be at least 0, got -1"),
    ({"id": 2**63}, "id", f"id: must be between 1 and {2**63 - 1}, got {2**63}"),
    ({"weight": 1.01}, "weight", "weight: must be between 0 and 1, got 1.01"),
    ({"weight": float("inf")}, "weight", "weight: expected a number, got inf"),
    ({"track": 1}, "track", "track: expected true or false, got a number"),
    ({"query": ["a"]}, "query", "query: expected a text, got a list"),
    ({"items": {"name": "a"}}, "items", "items: expected a list, got an object"),
    ({"items": ["a"]}, "items[0]", "items[0]: expected an object, got a text that is not JSON"),
    ({"items": [{"name": "a", "texts": [None]}]}, "items[0].texts[0]", "items[0].texts[0]: expected a text, got"),
    ({"items": [{"name": " \t"}]}, "items[0].name", "items[0].name: must not be blank"),
    ({"items": [{"name": "a", "type": "x"}]}, "items[0].type", "items[0].type: 'x' is not one of item"),
    ({"mixed": [3]}, "mixed[0]", "mixed[0]: expected a text or an object, got a number"),
    ({"mixed": [{"texts": []}]}, "mixed[0].name", "1 validation error for Item\nname\n  Field required: mixed[0]"),
    ({"text": "a\0"}, "text", "text: holds a NUL character"),
    ({"items": [{"name": "a", "texts": ["b", "\ud800"]}]}, "items[0].texts[1]", "items[0].texts[1]: holds a lone"),
    ({"items": [{"name": "a", "from": "b", "from_item": "c"}]}, "items[0]", "items[0]: from_item and from are"),
]


@pytest.mark.parametrize(("raw", "field", "message"), REFUSALS)
def test_refusals_name_the_field(raw: dict[str, object], field: str, message: str) -> None:
    error = refusal(**raw)
    assert error.message.startswith(message)
    assert error.field == field


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"items": [{"name": "a"}] * 4}, "Too many items in items: 4 > 3. Split the call."),
        ({"items": [{"name": "a", "texts": ["b"] * 4}]}, "Item 0 has too many texts: 4 > 3."),
        ({"items": [{"name": "a"}, {"name": "b", "texts": ["c", "d" * 11]}]}, "Item 1, text 1 too long: 11 > 10."),
        ({"items": [{"name": "a" * 7}]}, "items[0].name too long: 7 > 6 characters. Use a shorter name."),
        ({"query": "a" * 9}, "Query too long: 9 > 8 characters. Use a more concise search query."),
    ],
)
def test_limits_have_their_sentences(raw: dict[str, object], message: str) -> None:
    error = refusal(**raw)
    assert isinstance(error, LimitExceeded)
    assert error.message == message


def test_a_list_or_object_may_come_as_json_text() -> None:
    item = {"name": "a", "texts": ["b"]}
    assert check(items=json.dumps([item])) == check(items=[item])
    assert check(items=[json.dumps(item)]) == check(items=[item])
    assert check(items=[{"name": "a", "texts": '["b"]'}]) == check(items=[item])


@pytest.mark.parametrize("broken", ["[Pozo", "Pozo", "", "[" * 100_000, '{"a":' * 50_000, "1" * 5_000])
def test_broken_json_text_is_answered_with_an_example(broken: str) -> None:
    error = refusal(items=broken)
    assert error.message in (
        "items: expected a list, got a text that is not JSON",
        "items: expected a list, got a number",
    )
    assert error.hint == 'Example: [{"name": "…"}]'


def test_a_text_that_is_json_stays_a_text_where_both_are_taken() -> None:
    assert check(mixed=['{"name": "a"}']).mixed == ['{"name": "a"}']


def test_missing_arguments_are_named_with_an_example() -> None:
    with pytest.raises(InvalidInput, match=r"^Missing argument: items\.$") as caught:
        Validator(Needs).check({}, LIMITS)
    assert caught.value.hint == 'Example: {"items": [{"name": "…"}]}'


def test_whole_numbers_may_be_written_as_fractions() -> None:
    limit = check(limit=3.0).limit
    assert limit == 3
    assert isinstance(limit, int)


def test_a_rule_over_several_fields_speaks_for_itself() -> None:
    assert refusal(items=[{"name": "a"}], mixed=["b"]).message == "items and mixed exclude each other"


def test_depth_and_size_of_what_is_not_declared_cost_nothing() -> None:
    deep: object = "end"
    for _ in range(100_000):
        deep = [deep]
    assert refusal(items=[{"name": "a", "x": deep}]).field == "items[0].x"
    assert refusal(query=deep).message == "query: expected a text, got a list"


def test_an_unknown_name_is_repeated_short_and_printable() -> None:
    message = refusal(**{"\ud800\0" + "x" * 500: 1}).message
    assert message.encode().decode() == message
    assert "\0" not in message
    assert len(message) < 300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["items", "mixed", "query", "limit", "offset", "id", "weight", "track", "text", "name", "x"])


ITEMS = st.lists(st.dictionaries(st.sampled_from(["name", "texts", "from", "type", "x"]), JSON, max_size=3), max_size=3)


@given(raw=st.dictionaries(KEYS, JSON | ITEMS, max_size=3))
def test_whatever_comes_is_checked_or_refused_in_our_words(raw: dict[str, object]) -> None:
    refused, checked = None, None
    try:
        checked = check(**raw)
    except InvalidInput as error:
        refused = error.message
    if checked is None:
        assert refused
        assert refused.encode()
        assert "pydantic" not in refused
    else:
        assert len(checked.query) <= LIMITS.query
        assert 1 <= checked.limit <= LIMITS.limit
        assert "\0" not in checked.query


class Row(Input):
    name: Name
    value: Annotated[str | int | float | bool, NotBlank(), Longest(5)] | None = None
    other: Annotated[str | int | float | bool, AsText()] | None = None
    weight: Annotated[float, Field(ge=0, le=1)] | None = None

    @model_validator(mode="after")
    def _something(self) -> Row:
        if self.value == "no":
            raise InvalidInput("value: no is not taken", "Say yes.", "value")
        if self.value is None and self.weight is None:
            raise InvalidInput("needs a value or a weight")
        return self


class Rows(Input):
    rows: Annotated[list[Row], Longest(5), EveryItem()]


ROWS = Validator(Rows)


def test_every_bad_row_is_named_in_one_error() -> None:
    rows: list[object] = [
        {"name": "a", "value": "yes"},
        {"name": " ", "value": "yes"},
        {"name": "b", "value": "no"},
        {"name": "c"},
        {"value": 1},
    ]
    with pytest.raises(InvalidInput) as error:
        ROWS.check({"rows": rows}, LIMITS)
    assert error.value.message == (
        "rows[1].name: must not be blank; rows[2].value: no is not taken; rows[3]: needs a value or a weight; "
        "rows[4].name: is missing"
    )
    assert error.value.field == "rows[1].name"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"name": "a", "value": "sixsix"}, "rows[0].value too long: 6 > 5 characters. Shorten it."),
        ({"name": "a", "value": " "}, "rows[0].value: must not be blank"),
        ({"name": "a", "value": ["x"]}, "rows[0].value: expected a text, a number or true or false, got a list"),
        ({"name": "a", "value": float("nan")}, "rows[0].value: expected a number, got nan"),
        ({"name": "a", "value": 10**400}, "rows[0].value: expected a number of at most 300 digits"),
    ],
)
def test_values_that_do_not_fit_are_refused(row: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput) as error:
        ROWS.check({"rows": [row]}, LIMITS)
    assert error.value.message == message


def test_a_list_of_a_fixed_length_is_not_exceeded() -> None:
    with pytest.raises(LimitExceeded, match=r"rows too long: 6 > 5 items\. Split the call\."):
        ROWS.check({"rows": [{"name": "a", "value": 1}] * 6}, LIMITS)


@pytest.mark.parametrize(("given_value", "kept"), [("x", "x"), (5, 5), (5.0, 5), (1.5, 1.5), (True, True), ("5", "5")])
def test_a_value_keeps_its_kind(given_value: object, kept: object) -> None:
    checked = ROWS.check({"rows": [{"name": "a", "value": given_value}]}, LIMITS)
    assert isinstance(checked, Rows)
    assert (checked.rows[0].value, type(checked.rows[0].value)) == (kept, type(kept))


def test_kinds_of_values_are_published() -> None:
    assert input_schema(Rows)["properties"] == {
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "value": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]},
                    "other": {"type": "string"},
                    "weight": {"type": "number", "minimum": 0, "maximum": 1},
                },
                "required": ["name"],
            },
        }
    }
