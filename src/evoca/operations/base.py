"""The record that describes one operation, and the factory that makes it.

An `Operation` is what every surface works from: its name and documentation, its input and result, and `call`,
the one place where raw arguments are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar

from evoca.domain.tenancy import Caller, Scope
from evoca.errors import Conflict, Forbidden
from evoca.operations.inputs import (
    AtMost,
    Hidden,
    Id,
    Input,
    Limit,
    Name,
    NotBlank,
    Offset,
    Query,
    Text,
    TextOr,
    TypeName,
)
from evoca.operations.schema import JsonSchema, input_schema, output_schema
from evoca.operations.validation import Validator, split_collection

if TYPE_CHECKING:
    from evoca.services import Services

__all__ = [
    "TOOLSETS",
    "AtMost",
    "Family",
    "Hidden",
    "Hints",
    "Id",
    "Input",
    "Limit",
    "Name",
    "NotBlank",
    "Offset",
    "Operation",
    "Query",
    "RestMethod",
    "Text",
    "TextOr",
    "Toolset",
    "TypeName",
    "operation",
    "select",
]

Toolset = Literal["graph", "graph-upkeep", "hipocampo", "hipocampo-upkeep", "facts"]
Family = Literal["graph", "hipocampo", "facts"]
"""How errors look: see `surfaces.rendering`."""
RestMethod = Literal["GET", "POST"]

TOOLSETS: tuple[Toolset, ...] = ("graph", "graph-upkeep", "hipocampo", "hipocampo-upkeep", "facts")
_FAMILIES: dict[Toolset, Family] = {
    "graph": "graph",
    "graph-upkeep": "graph",
    "hipocampo": "hipocampo",
    "hipocampo-upkeep": "hipocampo",
    "facts": "facts",
}

InputT = TypeVar("InputT", bound=Input)
ResultT = TypeVar("ResultT", bound=Mapping[str, object])


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client may assume of an operation. `admin`: more than a key that writes may do."""

    read_only: bool
    destructive: bool
    idempotent: bool
    admin: bool = False

    @property
    def scope(self) -> Scope:
        """What a key must have for it."""
        return Scope.ADMIN if self.admin else Scope.READ if self.read_only else Scope.WRITE


@dataclass(frozen=True)
class Operation:
    """One thing Evoca can do. Made by `operation`.

    `listed`: shown in listings (an unlisted one can still be called). `drop_in`: the official memory server has it.
    `aliases`: further names it is called by. `cli`: the command's name, default the operation's with hyphens.
    `rest_path`: default `/v1/<name>`. `rest_method`: GET only for what takes no arguments. `in_collection`: it works in
    one collection, and takes the argument `collection`.
    """

    name: str
    title: str
    doc: str
    toolset: Toolset
    family: Family
    hints: Hints
    input_model: type[Input]
    result_type: type[Mapping[str, object]]
    rest_path: str
    rest_method: RestMethod
    cli: str
    aliases: tuple[str, ...]
    listed: bool
    drop_in: bool
    in_collection: bool
    run: Callable[[Services, Input], Mapping[str, object]]

    def call(self, services: Services, raw: Mapping[str, object]) -> Mapping[str, object]:
        """Check `raw` (JSON values by argument name), do the work, return the JSON-shaped result.

        In this order it raises InvalidInput or LimitExceeded naming the field, Forbidden for a key that may not do
        this, NotFound for a collection that is not there or not for the caller, and whatever the work raises.
        """
        rest, code = split_collection(raw) if self.in_collection else (raw, None)
        arguments = self.validator.check(rest, services.limits)
        _admit(services.caller, self)
        if not self.in_collection:
            return self.run(services, arguments)
        try:
            return self.run(services.within(code), arguments)
        except Conflict:
            services.within(code)  # deleted meanwhile: then what was in the way is that it is gone
            raise

    @cached_property
    def validator(self) -> Validator:
        return Validator(self.input_model, in_collection=self.in_collection)

    @cached_property
    def input_schema(self) -> JsonSchema:
        """JSON Schema 2020-12 of the arguments: inlined, an object at the root, no titles, no null."""
        return input_schema(self.input_model, in_collection=self.in_collection)

    @cached_property
    def output_schema(self) -> JsonSchema:
        """JSON Schema 2020-12 of the result; permissive: nothing is required, further keys are allowed.

        Only what clients may be written for has its keys in it, the official server's tools: lists of tools are read
        by models, and every key costs them.
        """
        return output_schema(self.result_type) if self.drop_in else {"type": "object"}


def operation(
    run: Callable[[Services, InputT], ResultT],
    *,
    input: type[InputT],
    result: type[ResultT],
    name: str,
    title: str,
    doc: str,
    toolset: Toolset,
    hints: Hints,
    rest_path: str | None = None,
    rest_method: RestMethod = "POST",
    cli: str | None = None,
    aliases: tuple[str, ...] = (),
    listed: bool = True,
    drop_in: bool = False,
    family: Family | None = None,
    in_collection: bool = True,
) -> Operation:
    """Make the record of one operation. `result` is a TypedDict; `run` gets the checked input."""

    def invoke(services: Services, arguments: Input) -> Mapping[str, object]:
        assert isinstance(arguments, input)  # noqa: S101 - narrows the erased type
        return run(services, arguments)

    return Operation(
        name=name,
        title=title,
        doc=doc,
        toolset=toolset,
        family=family or _FAMILIES[toolset],
        hints=hints,
        input_model=input,
        result_type=result,
        rest_path=rest_path or f"/v1/{name}",
        rest_method=rest_method,
        cli=cli or name.replace("_", "-"),
        aliases=aliases,
        listed=listed,
        drop_in=drop_in,
        in_collection=in_collection,
        run=invoke,
    )


def _admit(caller: Caller, wanted: Operation) -> None:
    """Raises Forbidden when the caller's key may not do this."""
    needed = wanted.hints.scope
    if caller.scope < needed:
        raise Forbidden(
            f"This key may not call {wanted.name}: its scope is {caller.scope.name.lower()}, "
            f"{needed.name.lower()} is needed",
            "Use another key; evoca keys create NAME --scope SCOPE makes one.",
        )


def select(catalogue: Iterable[Operation], toolsets: Iterable[str]) -> tuple[Operation, ...]:
    """The operations of these toolsets, in the catalogue's order."""
    wanted = frozenset(toolsets)
    return tuple(each for each in catalogue if each.toolset in wanted)
