"""What a store's URL says: where the server is, and what is Evoca's own in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from evoca.errors import InvalidInput

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_PASSWORD = re.compile(r"(?<=://)([^/@:]*):[^/@]*@")
_SECRET = re.compile(r"(?<=[?&])(password|sslpassword|passfile)=[^&]*")
MOST_PARTITIONS = 1_024


@dataclass(frozen=True, slots=True)
class Location:
    """`url`: what libpq gets, with its password. `shown`: the same without. `schema`: where the tables are.

    `partitions`: into how many parts a new store's tables are cut by collection; 0: not cut. `vectors`: `arrays` keeps
    to the index in memory even where pgvector is there.
    """

    url: str
    shown: str
    schema: str = "evoca"
    partitions: int = 0
    vectors: Literal["auto", "arrays"] = "auto"


def parse(url: str) -> Location:
    """Take Evoca's own parameters (`schema`, `partitions`, `vectors`) out of a URL.

    Raises InvalidInput; the message does not hold the password.
    """
    shown = _SECRET.sub(r"\1=…", _PASSWORD.sub(r"\1@", url))
    parts = urlsplit(url)
    if parts.scheme.lower() not in {"postgresql", "postgres"}:
        raise InvalidInput(f"{shown} is neither a path nor a postgresql:// URL")
    asked = parse_qsl(parts.query, keep_blank_values=True)
    own = {name: value for name, value in asked if name in {"schema", "partitions", "vectors"}}
    rest = [(name, value) for name, value in asked if name not in own]
    schema = own.get("schema", "evoca")
    if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
        raise InvalidInput(f"{shown}: {schema!r} is no name for a schema", "Use lower-case letters, digits and _.")
    partitions = own.get("partitions", "0")
    if not partitions.isdecimal() or not 0 <= int(partitions) <= MOST_PARTITIONS:
        raise InvalidInput(f"{shown}: partitions must be a number from 0 to {MOST_PARTITIONS}")
    vectors = own.get("vectors", "auto")
    if vectors not in {"auto", "arrays"}:
        raise InvalidInput(f"{shown}: vectors must be auto or arrays")
    kept = urlunsplit(parts._replace(query=urlencode(rest)))
    return Location(kept, shown, schema, int(partitions), "arrays" if vectors == "arrays" else "auto")
