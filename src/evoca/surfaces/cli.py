"""The command line: `evoca mcp`, `evoca serve`, `evoca doctor`, and every operation of the catalogue as a command.

Exit codes: 0 done, 1 not done, 2 wrong settings or arguments. Whatever a command does not need is not imported.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

import click
from click.exceptions import NoSuchCommand

from evoca import __version__
from evoca.errors import EvocaError, InvalidInput
from evoca.surfaces import transfer_commands
from evoca.surfaces.console import announce, print_json, settings_of, store_options, with_runtime
from evoca.surfaces.http.command import serve
from evoca.surfaces.key_commands import keys
from evoca.surfaces.maintenance import compact

if TYPE_CHECKING:
    from evoca.operations.base import Operation, Toolset
    from evoca.operations.shapes import FieldShape, Shape

WRONG_ARGUMENTS = 2
_TITLES: dict[Toolset, str] = {
    "graph": "Graph",
    "graph-upkeep": "Upkeep of the graph",
    "hipocampo": "Memories (hipocampo)",
    "hipocampo-upkeep": "Upkeep of memories",
    "facts": "Facts and collections",
}


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:
            # Click knows only the commands written below.
            raise NoSuchCommand(error.command_name, possibilities=self.list_commands(ctx), ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The server's commands first, then the memory's, by toolset."""
        titles = {"Server and store": sorted(super().list_commands(ctx))}
        for each in _catalogue():
            if each.listed:
                titles.setdefault(_TITLES[each.toolset], []).append(each.cli)
        for title, names in titles.items():
            room = formatter.width - 6 - max(map(len, names))
            commands = ((name, self.get_command(ctx, name)) for name in names)
            with formatter.section(title):
                formatter.write_dl([(name, found.get_short_help_str(room)) for name, found in commands if found])


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", prog_name="evoca", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Evoca, a memory for AI agents. Without a command: MCP over stdin and stdout."""
    if context.invoked_subcommand is None:
        context.invoke(mcp)


@cli.command()
@store_options
@click.option("--toolsets", metavar="A,B", help="Which tools are offered. Default: all.")
def mcp(store: str | None = None, collection: str | None = None, toolsets: str | None = None) -> None:
    """Serve MCP over stdin and stdout."""
    settings = settings_of(store=store, collection=collection, toolsets=toolsets)
    announce(f"store {settings.shown_location}")
    if sys.stdin is not None and sys.stdin.isatty():
        announce("this is a server for MCP clients and waits for one on stdin; Ctrl-C ends it")
    from evoca.runtime import Runtime
    from evoca.surfaces.mcp.stdio import serve

    serve(Runtime(settings))


cli.add_command(serve)
cli.add_command(keys)
cli.add_command(compact)


@cli.command()
@store_options
def doctor(store: str | None, collection: str | None) -> None:
    """Check the store and the model, and tell what is there. Exit code 1 when something is wrong."""
    from evoca.surfaces.doctor import examine

    findings = with_runtime(settings_of(store=store, collection=collection, indexer="false"), examine)
    print_json(findings.report)
    for problem in findings.problems:
        announce(problem)
    if findings.problems:
        raise SystemExit(1)


for _command in transfer_commands.COMMANDS:
    cli.add_command(_command)


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

    announce(sentence(error))
    raise SystemExit(code)


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

    @store_options
    @click.option(
        "--input", "given", metavar="JSON|@FILE|-", help="Arguments as a JSON object, a file of it, or stdin."
    )
    def run(store: str | None, collection: str | None, given: str | None, **scalars: object) -> None:
        raw = _input(given)
        raw.update({keys[name]: value for name, value in scalars.items() if value is not None})
        settings = settings_of(store=store, collection=collection)
        from evoca.surfaces.backend import answer

        print_json(with_runtime(settings, lambda runtime: answer(runtime, operation, raw)))

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
    from evoca.operations.shapes import FlagShape, NullableShape, NumberShape, ScalarShape, TextShape

    match shape:
        case NullableShape(of=inner):
            return _kind(inner)
        case TextShape() | ScalarShape():
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
