"""The command line: `evoca mcp`, `evoca doctor`, and every operation of the catalogue as a command.

Exit codes: 0 done, 1 not done, 2 wrong settings or arguments. Whatever a command does not need is not imported.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar, cast

import click

from evoca import __version__
from evoca.errors import EvocaError, InvalidInput

if TYPE_CHECKING:
    from evoca.operations.base import Operation
    from evoca.operations.shapes import FieldShape, Shape
    from evoca.runtime import Runtime
    from evoca.settings import Settings

Command = TypeVar("Command", bound=Callable[..., object])
WRONG_ARGUMENTS = 2


def _common(command: Command) -> Command:
    """The options of every command that works on a store."""
    command = click.option("--collection", metavar="CODE", help="The collection to work in; made when missing.")(
        command
    )
    return click.option("--store", metavar="PATH|URL", help="Where the memory is. Default: the user's data folder.")(
        command
    )


class _Commands(click.Group):
    """The commands written below, and those of the catalogue, which is read when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *(each.cli for each in _catalogue() if each.listed)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = super().get_command(ctx, cmd_name)
        if known is not None:
            return known
        name = cmd_name.replace("_", "-")
        found = next((each for each in _catalogue() if name in _command_names(each)), None)
        return None if found is None else _operation_command(found)


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", prog_name="evoca", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Evoca, a memory for AI agents. Without a command: MCP over stdin and stdout."""
    if context.invoked_subcommand is None:
        context.invoke(mcp)


@cli.command()
@_common
@click.option("--toolsets", metavar="A,B", help="Which tools are offered. Default: all.")
def mcp(store: str | None = None, collection: str | None = None, toolsets: str | None = None) -> None:
    """Serve MCP over stdin and stdout."""
    settings = _settings(store=store, collection=collection, toolsets=toolsets)
    _announce(f"store {settings.shown_location}")
    if sys.stdin is not None and sys.stdin.isatty():
        _announce("this is a server for MCP clients and waits for one on stdin; Ctrl-C ends it")
    from evoca.runtime import Runtime
    from evoca.surfaces.mcp.stdio import serve

    serve(Runtime(settings))


@cli.command()
@_common
def doctor(store: str | None, collection: str | None) -> None:
    """Check the store and the model, and tell what is there. Exit code 1 when something is wrong."""
    from evoca.surfaces.doctor import examine

    findings = _with_runtime(_settings(store=store, collection=collection, indexer="false"), examine)
    _print(findings.report)
    for problem in findings.problems:
        _announce(problem)
    if findings.problems:
        raise SystemExit(1)


def main() -> None:
    """The entry point. Ends the process."""
    # numpy's products are too small for more threads: on two busy cores a search took 55 ms of CPU instead of 7.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        cli(prog_name="evoca")
    except InvalidInput as error:
        _fail(error, WRONG_ARGUMENTS)
    except EvocaError as error:
        _fail(error, 1)


def _fail(error: EvocaError, code: int) -> NoReturn:
    from evoca.surfaces.rendering import sentence

    _announce(sentence(error))
    raise SystemExit(code)


def _announce(message: str) -> None:
    click.echo(f"evoca: {message}", err=True)


def _print(value: Mapping[str, object]) -> None:
    """As JSON on stdout; indented for a person."""
    text = json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)
    click.echo(text.encode("utf-8", "backslashreplace"))


def _settings(**given: str | None) -> Settings:
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
        _announce(f"{name} is not a setting and has no effect")
    return settings


Found = TypeVar("Found")


def _with_runtime(settings: Settings, work: Callable[[Runtime], Found]) -> Found:
    from evoca.runtime import Runtime

    runtime = Runtime(settings)
    try:
        return work(runtime)
    finally:
        runtime.close()


def _catalogue() -> tuple[Operation, ...]:
    from evoca.operations.catalogue import CATALOGUE

    return CATALOGUE


def _command_names(operation: Operation) -> tuple[str, ...]:
    return (operation.cli, *(name.replace("_", "-") for name in (operation.name, *operation.aliases)))


def _operation_command(operation: Operation) -> click.Command:
    """Scalars are options; `--input` takes the rest, or everything."""
    from evoca.operations.shapes import input_shape

    options = [option for field in input_shape(operation.input_model).fields if (option := _option(field)) is not None]
    keys = {option.name: field for option, field in options}

    @_common
    @click.option(
        "--input", "given", metavar="JSON|@FILE|-", help="Arguments as a JSON object, a file of it, or stdin."
    )
    def run(store: str | None, collection: str | None, given: str | None, **scalars: object) -> None:
        raw = _input(given)
        raw.update({keys[name]: value for name, value in scalars.items() if value is not None})
        settings = _settings(store=store, collection=collection)
        from evoca.surfaces.backend import answer

        _print(_with_runtime(settings, lambda runtime: answer(runtime, operation, raw)))

    command = click.command(name=operation.cli, help=operation.doc, short_help=operation.title)(run)
    command.params[:0] = [option for option, _ in options]
    return command


def _option(field: FieldShape) -> tuple[click.Option, str] | None:
    """The option of a scalar argument and the argument's name; None for lists and objects."""
    key = field.spellings[0]
    flag = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in key).replace("_", "-")
    kind = _kind(field.shape)
    if field.hidden or kind is None:
        return None
    name = f"argument_{flag.replace('-', '_')}"
    declared = f"--{flag}/--no-{flag}" if kind is bool else f"--{flag}"
    option = click.Option([declared, name], type=None if kind is bool else kind, default=None, help=field.description)
    return option, key


def _kind(shape: Shape) -> type[str | int | float | bool] | None:
    from evoca.operations.shapes import FlagShape, NullableShape, NumberShape, TextShape

    match shape:
        case NullableShape(of=inner):
            return _kind(inner)
        case TextShape():
            return str
        case NumberShape(whole=whole):
            return int if whole else float
        case FlagShape():
            return bool
        case _:
            return None


def _input(given: str | None) -> dict[str, object]:
    if given is None:
        return {}
    try:
        text = sys.stdin.read() if given == "-" else Path(given[1:]).read_text("utf-8") if given[:1] == "@" else given
        value: object = json.loads(text)
    except OSError as error:
        raise InvalidInput(f"--input: {given[1:]} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InvalidInput("--input: not JSON", 'Example: --input \'{"names": ["Ada"]}\'') from None
    if not isinstance(value, dict):
        raise InvalidInput("--input: a JSON object is expected", 'Example: --input \'{"names": ["Ada"]}\'')
    return cast("dict[str, object]", value)
