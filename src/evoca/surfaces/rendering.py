"""How results and errors are written."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic_core import PydanticSerializationError, to_json

from evoca.errors import EvocaError, face
from evoca.operations.base import Family

INTERNAL_ERROR = "Internal error: nothing can be said about it here. The server's log (stderr) tells more."


def compact(value: object) -> str:
    """`value` as JSON without white space; every character as itself."""
    try:
        return to_json(value).decode()
    except (PydanticSerializationError, UnicodeEncodeError):
        # A lone surrogate: written as its escape, which is plain JSON.
        return json.dumps(value, separators=(",", ":"))


def sentence(error: EvocaError) -> str:
    """The message, and the hint, if there is one, as a sentence after it."""
    if not error.hint:
        return error.message
    stop = "" if error.message.endswith((".", "!", "?", "…", ":")) else "."
    return f"{error.message}{stop} {error.hint}"


def refusal(error: EvocaError, family: Family) -> Mapping[str, object]:
    """What a caller is shown when nothing was done because of `error`, in the shape of the operation's family."""
    match family:
        case "graph":
            # The contract's sentences stand alone in `error`; the way out has a key of its own.
            hint = {"hint": error.hint} if error.hint else {}
            return {**error.payload, "error": error.message, **hint}
        case "hipocampo":
            return {"result": sentence(error), "status": "error", "error": sentence(error)}
        case "facts":
            return {"error": {"code": face(error).code, "message": error.message, "hint": error.hint}}


class Internal(EvocaError):
    """An unexpected failure, as it may be shown."""

    def __init__(self) -> None:
        super().__init__(INTERNAL_ERROR)
