"""The operation's record, and the catalogue as a whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict, cast

import pytest

from evoca.domain.tenancy import LOCAL, Caller, Scope
from evoca.errors import Forbidden, InvalidInput
from evoca.operations.base import TOOLSETS, Hints, Input, Limit, Operation, Text, operation, select
from evoca.operations.catalogue import CATALOGUE
from evoca.settings import TOOLSETS as SETTABLE_TOOLSETS
from evoca.settings import Limits

if TYPE_CHECKING:
    from evoca.services import Services

HINTS = Hints(read_only=True, destructive=False, idempotent=True)


@dataclass(frozen=True)
class Kept:
    limits: Limits
    prefix: str = ">"
    caller: Caller = LOCAL

    def within(self, code: str | None) -> Kept:
        return self if code is None else replace(self, prefix=f"{code}>")


class SayInput(Input):
    text: Text
    times: Limit = 1


class SayResult(TypedDict):
    said: str


def _say(services: Services, given: SayInput) -> SayResult:
    return {"said": cast("Kept", services).prefix + given.text * given.times}


SAY = operation(
    _say, input=SayInput, result=SayResult, name="say_it", title="Say It", doc="Says it.", toolset="graph", hints=HINTS
)
SERVICES = cast("Services", Kept(Limits(limit=2)))


def test_a_call_checks_its_arguments_with_the_limits_of_the_services() -> None:
    assert SAY.call(SERVICES, {"text": "ab", "times": 2}) == {"said": ">abab"}
    with pytest.raises(InvalidInput, match=r"^Limit too high: 3 > 2\."):
        SAY.call(SERVICES, {"text": "ab", "times": 3})


@pytest.mark.parametrize(
    ("code", "prefix"),
    [
        (None, ">"),
        ("", ">"),
        (" ", ">"),
        ("casa", "casa>"),
        ("default", "default>"),
        ("none", "default>"),
        ("null", "default>"),
        ("Nil", "default>"),
        ("undefined", "default>"),
    ],
)
def test_the_collection_is_taken_out_of_the_arguments(code: str | None, prefix: str) -> None:
    assert SAY.call(SERVICES, {"text": "ab", "collection": code}) == {"said": f"{prefix}ab"}


@pytest.mark.parametrize("code", ["Casa", "-casa", "a_b", "ñ", "x" * 64, "a\0b", "casa/obra", 7, ["casa"], True])
def test_what_is_no_code_is_refused(code: object) -> None:
    with pytest.raises(InvalidInput, match=r"^collection: ") as refused:
        SAY.call(SERVICES, {"text": "ab", "collection": code})
    assert refused.value.field == "collection"
    assert len(refused.value.message) < 300


def test_the_collection_is_among_the_valid_arguments() -> None:
    with pytest.raises(InvalidInput, match=r"Unknown argument: colection\. Valid arguments: text, times, collection\."):
        SAY.call(SERVICES, {"text": "ab", "colection": "casa"})
    assert "collection" in cast("dict[str, object]", SAY.input_schema["properties"])


def test_an_operation_on_no_collection_does_not_take_one() -> None:
    whole = replace(SAY, in_collection=False)
    assert whole.call(SERVICES, {"text": "ab"}) == {"said": ">ab"}
    assert "collection" not in cast("dict[str, object]", whole.input_schema["properties"])
    with pytest.raises(InvalidInput, match="Unknown argument: collection"):
        whole.call(SERVICES, {"text": "ab", "collection": "casa"})


@pytest.mark.parametrize(
    ("hints", "needed"),
    [
        (Hints(read_only=True, destructive=False, idempotent=True), Scope.READ),
        (Hints(read_only=False, destructive=False, idempotent=True), Scope.WRITE),
        (Hints(read_only=False, destructive=True, idempotent=True, admin=True), Scope.ADMIN),
    ],
)
def test_a_key_does_what_its_scope_allows(hints: Hints, needed: Scope) -> None:
    guarded = replace(SAY, hints=hints)
    for scope in Scope:
        services = cast("Services", Kept(Limits(), caller=Caller(1, scope)))
        if scope >= needed:
            assert guarded.call(services, {"text": "ab"}) == {"said": ">ab"}
            continue
        with pytest.raises(Forbidden, match=f"its scope is {scope.name.lower()}, {needed.name.lower()} is needed"):
            guarded.call(services, {"text": "ab"})
        with pytest.raises(InvalidInput):
            guarded.call(services, {"text": 7})


def test_what_is_not_said_follows_from_the_name_and_the_toolset() -> None:
    assert (SAY.family, SAY.rest_path, SAY.cli, SAY.aliases, SAY.listed) == ("graph", "/v1/say_it", "say-it", (), True)


def test_toolsets_are_selected_in_the_catalogue_s_order() -> None:
    facts = operation(
        _say, input=SayInput, result=SayResult, name="b", title="B", doc="B.", toolset="facts", hints=HINTS
    )
    assert select((facts, SAY), ("graph", "facts")) == (facts, SAY)
    assert select((facts, SAY), ("graph",)) == (SAY,)


def test_settings_and_operations_know_the_same_toolsets() -> None:
    assert SETTABLE_TOOLSETS == TOOLSETS


def test_no_two_operations_share_a_name_a_path_or_a_command() -> None:
    names = [name for each in CATALOGUE for name in (each.name, *each.aliases)]
    paths = [each.rest_path for each in CATALOGUE]
    commands = [each.cli for each in CATALOGUE]
    for what in (names, paths, commands):
        assert len(what) == len(set(what))


@pytest.mark.parametrize("each", CATALOGUE, ids=lambda each: each.name)
def test_every_operation_can_be_checked_and_published(each: Operation) -> None:
    assert each.doc
    assert each.title
    assert each.input_schema["type"] == each.output_schema["type"] == "object"
    with pytest.raises(InvalidInput, match=r"^Unknown argument: no_such_argument"):
        each.validator.check({"no_such_argument": 1}, Limits())
