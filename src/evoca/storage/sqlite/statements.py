"""Statements of the repositories as SQLite takes them: a list is a JSON array, taken apart by `json_each`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from evoca.storage.connection import Value

_LIST = re.compile(r"\b(?:INTS|TEXTS)\(:(\w+)\)")


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    lists: tuple[str, ...]
    """The parameters that are lists."""

    def bound(self, values: Mapping[str, Value]) -> Mapping[str, Value]:
        """The parameters, lists as JSON."""
        if not self.lists:
            return values
        encoded = dict(values)
        for name in self.lists:
            if encoded[name] is not None:
                encoded[name] = json.dumps(encoded[name], ensure_ascii=False)
        return encoded


@cache
def statement(sql: str) -> Statement:
    """The statements of the project are constants, so each is looked at once."""
    lists = tuple(dict.fromkeys(_LIST.findall(sql)))
    return Statement(_LIST.sub(r"(SELECT value FROM json_each(:\1))", sql), lists)
