"""What every command of the command line shares: its options, its settings, and how it speaks."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from evoca.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from evoca.runtime import Runtime
    from evoca.settings import Settings

Command = TypeVar("Command", bound=Callable[..., object])
Found = TypeVar("Found")


def store_options(command: Command) -> Command:
    """The options of every command that works on a store."""
    command = click.option("--collection", metavar="CODE", help="The collection to work in; made when missing.")(
        command
    )
    return click.option("--store", metavar="PATH|URL", help="Where the memory is. Default: the user's data folder.")(
        command
    )


def announce(message: str) -> None:
    """Tell the person, on stderr."""
    click.echo(f"evoca: {message}", err=True)


def print_json(value: Mapping[str, object]) -> None:
    """As JSON on stdout; indented for a person."""
    text = json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)
    click.echo(text.encode("utf-8", "backslashreplace"))


def settings_of(**given: str | None) -> Settings:
    """The process's settings, with its logs configured. Raises InvalidInput."""
    from evoca.logs import configure
    from evoca.settings import load_settings, unknown_variables

    settings = load_settings(**given)
    try:
        configure(settings.log_level, settings.log_format, settings.log_path)
    except OSError as error:
        raise InvalidInput(
            f"EVOCA_LOG_FILE: {settings.log_path} cannot be opened: {error.strerror}",
            "Name a file that can be written.",
        ) from None
    for name in unknown_variables(os.environ):
        announce(f"{name} is not a setting and has no effect")
    return settings


def expect_store(settings: Settings) -> None:
    """Raises NotFound where there is no store: a command that reads would make one, and say that it is empty."""
    if "://" not in settings.store_location and not Path(settings.store_location).is_file():
        raise NotFound(f"There is no store at {settings.store_location}.", "Check EVOCA_STORE or --store.")


def with_runtime(settings: Settings, work: Callable[[Runtime], Found]) -> Found:
    """Do `work` with a memory that is open for its time."""
    from evoca.runtime import Runtime

    runtime = Runtime(settings)
    try:
        return work(runtime)
    finally:
        runtime.close()
