"""Where a sorted list goes on: an opaque text, bound to the list that it was made for."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import cast

from evoca.domain.text import unusable_character
from evoca.errors import InvalidInput
from evoca.storage.fact_contract import After

_HINT = "Pass next_cursor as it came, with the same filters and order; without a cursor the list begins anew."


def list_mark(*what: object) -> str:
    """A short mark of a list: what is sought, filtered and how it is ordered. Values are JSON."""
    return hashlib.sha256(json.dumps(what, ensure_ascii=True, sort_keys=True).encode()).hexdigest()[:12]


def write_cursor(mark: str, after: After) -> str:
    text = json.dumps([mark, after.key, after.id], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(cursor: str, mark: str) -> After:
    """Raises InvalidInput when it is none, or another list's."""
    try:
        padded = cursor.encode() + b"=" * (-len(cursor) % 4)
        read: object = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        raise InvalidInput("cursor: not a cursor", _HINT, "cursor") from None
    parts = cast("list[object]", read) if isinstance(read, list) else []
    match parts:
        case [str(made_for), None | str() | int() | float() as key, int(number)] if _usable(key) and _usable(number):
            if made_for != mark:
                raise InvalidInput("cursor: it belongs to another list", _HINT, "cursor")
            return After(key, number)
        case _:
            raise InvalidInput("cursor: not a cursor", _HINT, "cursor")


def _usable(key: str | float | None) -> bool:
    """Whether it can have come from a store: a cursor may be forged."""
    match key:
        case str():
            return unusable_character(key) is None
        case int():
            return -(2**63) <= key < 2**63
        case _:
            return True
