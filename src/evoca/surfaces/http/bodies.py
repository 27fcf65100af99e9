"""A request's body as arguments: strict JSON, one object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from evoca.errors import InvalidInput
from evoca.operations.validation import shown

_EXAMPLE = 'Send a JSON object with Content-Type: application/json, for example {"query": "Ada"}.'


def arguments(body: bytes, content_type: str) -> Mapping[str, object]:
    """The arguments that a body holds; an empty body holds none. Raises InvalidInput.

    Refused: another content type, another encoding than UTF-8, a key that is there twice, NaN and infinities, and what
    is nested too deep to be read.
    """
    if not body:
        return {}
    if not _is_json(content_type):
        raise InvalidInput("Content-Type: application/json is expected", _EXAMPLE)
    try:
        value: object = json.loads(body.decode(), parse_constant=_refuse, object_pairs_hook=_object)
    except UnicodeDecodeError:
        raise InvalidInput("The body is not UTF-8", _EXAMPLE) from None
    except RecursionError:
        raise InvalidInput("The body is nested too deep", _EXAMPLE) from None
    except ValueError as error:
        # The decoder's own words say where; they repeat nothing of the body.
        where = f": {error}" if isinstance(error, json.JSONDecodeError) else ""
        raise InvalidInput(f"The body is not JSON{where}", _EXAMPLE) from None
    if not isinstance(value, dict):
        raise InvalidInput("The body must be a JSON object", _EXAMPLE)
    return cast("Mapping[str, object]", value)


def _is_json(content_type: str) -> bool:
    kind, _, rest = content_type.partition(";")
    charset = rest.strip().lower()
    plain = kind.strip().lower() == "application/json"
    return plain and (not charset.startswith("charset=") or charset[8:].strip('" ') in ("utf-8", "utf8"))


def _refuse(name: str) -> object:
    raise ValueError(name)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise InvalidInput(f"The body has the key {shown(name)!r} twice", "Name every key once.")
            seen.add(name)
    return made
