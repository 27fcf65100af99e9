"""What an operation's input model is made of: the base class, the usual field types, their markers.

Supported annotations: `str`, `int`, `float`, `bool`, `Scalar` (any of these), `Literal` of strings, `list[...]`, an
`Input` class, `TextOr[an Input class]`, each also as `... | None`. A field that may be left out has a default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

COLLECTION = "collection"
"""The argument of every operation on a collection; it is taken out before the input model sees the rest."""

LimitName = Literal["items", "text", "query", "name", "type", "limit"]
"""Which of `settings.Limits` a marker means."""


class Input(BaseModel):
    """Base of all input models and of the objects inside them. Unknown keys are refused, null means omitted.

    A key that is no Python name is an alias: `from_: Name = Field(alias="from")`; further spellings:
    `Field(validation_alias=AliasChoices("from", "from_entity"))` (the first one is published).
    A rule over several fields is a `@model_validator(mode="after")` that raises `InvalidInput`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


@dataclass(frozen=True, slots=True)
class AtMost:
    """Marks a list, text or number that may not exceed the named limit.

    `sentence` is the error's text; `{n}` is what was given, `{most}` the limit, `{0}`, `{1}` … the indexes on the
    way to it: `Entity {0}, observation {1} too long: {n} > {most} characters.` Without one a sentence is made.
    """

    limit: LimitName
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Longest:
    """Marks a text or list with a length that the contract fixes: characters or items at most."""

    most: int


@dataclass(frozen=True, slots=True)
class AsText:
    """Marks a scalar that is published as a text; numbers and booleans are taken too."""


@dataclass(frozen=True, slots=True)
class EveryItem:
    """Marks a list of objects of which every bad one is named in one error, not just the first."""


@dataclass(frozen=True, slots=True)
class NotBlank:
    """Marks a text that must hold something besides white space."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Marks a key that is accepted and not published."""


Name = Annotated[str, NotBlank(), AtMost("name")]
"""The name of an entity: not blank, at most `max_name` characters."""
TypeName = Annotated[str, NotBlank(), AtMost("type")]
"""A type, predicate, kind or status: not blank, at most `max_type` characters."""
Text = Annotated[str, AtMost("text")]
"""A content: at most `max_text` characters."""
Query = Annotated[str, AtMost("query")]
"""What is sought: at most `max_query` characters."""
Id = Annotated[int, Field(ge=1, le=2**63 - 1)]
"""The id of a stored row."""
Limit = Annotated[int, Field(ge=1), AtMost("limit")]
"""How many results at most: 1 to `max_limit`."""
Offset = Annotated[int, Field(ge=0, le=2**63 - 1)]
"""How many results to skip: 0 or more."""


def _text_or_object(value: object) -> str:
    return "text" if isinstance(value, str) else "object"


ObjectT = TypeVar("ObjectT", bound=Input)
TextOr = Annotated[
    Annotated[str, Tag("text")] | Annotated[ObjectT, Tag("object")],
    Discriminator(_text_or_object),
]
"""An item of a two-form list: `list[TextOr[Group]]` holds strings and `Group`s, told apart by their JSON type."""
