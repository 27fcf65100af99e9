"""Statements of the repositories as PostgreSQL takes them.

A list is one array. What a parameter is compared with tells PostgreSQL its type, and `:kind IS NULL` tells nothing:
that test becomes a parameter of its own. Every unique key of a table with a `collection_id` holds it too (so that the
tables can be cut by it), and so must the target of an upsert.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from evoca.storage.connection import Value

_MARK = re.compile(
    r"""
      '(?:[^']|'')*'                                                # a text: left alone
    | (?P<cast>::)
    | \bIN\s+(?P<in_type>INTS|TEXTS)\(:(?P<in_list>\w+)\)
    | \b(?P<from_type>INTS|TEXTS)\(:(?P<from_list>\w+)\)
    | :(?P<missing>\w+)\s+IS\s+(?P<not>NOT\s+)?NULL\b
    | :(?P<name>[a-z_]\w*)
    | (?P<place>\?)
    | (?P<percent>%)
    | \bON\s+CONFLICT\s*\((?P<target>[^)]*)\)
    """,
    re.VERBOSE,
)
_INSERT = re.compile(r"\s*INSERT\s+INTO\s+(\w+)\s*\(([\w\s,]+)\)\s*(VALUES\s*\(\s*\?(?:\s*,\s*\?)*\s*\)\s*$)?")
_BYTES = re.compile(r"\b(?:vector|signature|digest|int8send)\b")
_ARRAYS = {"INTS": "bigint[]", "TEXTS": "text[]"}
_MISSING = "__missing"


class Untyped(str):
    """A value as PostgreSQL writes it, such as the array `{1,2}`; what it is, the statement tells."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """`copy`: the same rows by COPY, where the statement does nothing but insert them."""

    text: bytes
    lists: tuple[tuple[str, bool], ...]
    """Parameters that are lists, and whether of texts."""
    tested: tuple[str, ...]
    """Parameters that are asked whether they are NULL."""
    copy: bytes | None
    binary: bool
    """Whether it gives bytes, which as text would be twice as long."""

    def bound(self, values: Mapping[str, Value]) -> Mapping[str, Value]:
        """The parameters as PostgreSQL takes them."""
        if not self.lists and not self.tested:
            return values
        bound = dict(values)
        for name in self.tested:
            bound[name + _MISSING] = values[name] is None
        for name, texts in self.lists:
            bound[name] = _array(values[name], texts)
        return bound


@cache
def statement(sql: str) -> Statement:
    """The statements of the project are constants, so each is looked at once."""
    lists: dict[str, bool] = {}
    tested: dict[str, None] = {}
    insert = _INSERT.match(sql)
    columns = [] if insert is None else [column.strip() for column in insert[2].split(",")]

    def put(found: re.Match[str]) -> str:
        if name := found["in_list"]:
            lists[name] = found["in_type"] == "TEXTS"
            return f"= ANY(%({name})s::{_ARRAYS[found['in_type']]})"
        if name := found["from_list"]:
            lists[name] = found["from_type"] == "TEXTS"
            return f"(SELECT unnest(%({name})s::{_ARRAYS[found['from_type']]}) AS value)"
        if name := found["missing"]:
            tested[name] = None
            return f"{'NOT ' if found['not'] else ''}%({name}{_MISSING})s"
        if name := found["name"]:
            return f"%({name})s"
        if found["place"]:
            return "%s"
        if found["percent"]:
            return "%%"
        if found["target"]:
            target = found["target"]
            led = "collection_id" in columns and "collection_id" not in target
            return f"ON CONFLICT ({'collection_id, ' if led else ''}{target})"
        return found[0].replace("%", "%%")

    text = _MARK.sub(put, sql)
    copied = insert is not None and insert[3] is not None
    copy = f"COPY {insert[1]} ({', '.join(columns)}) FROM STDIN".encode() if insert and copied else None
    return Statement(text.encode(), tuple(lists.items()), tuple(tested), copy, bool(_BYTES.search(sql)))


def _array(items: Value, texts: bool) -> Untyped | None:
    """A list as an array. A text with a NUL is in no table of PostgreSQL's, so it is not asked for."""
    match items:
        case None:
            return None
        case int() | float() | str() | bytes():
            raise TypeError("a list was expected")
        case _ if texts:
            wanted = [text for item in items if "\0" not in (text := str(item))]
            return Untyped("{" + ",".join(f'"{_ESCAPED.sub(_escape, text)}"' for text in wanted) + "}")
        case _:
            return Untyped("{" + ",".join(map(str, items)) + "}")


_ESCAPED = re.compile(r'["\\]')


def _escape(found: re.Match[str]) -> str:
    return "\\" + found[0]
