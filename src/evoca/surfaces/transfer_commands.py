"""`evoca export`, `import`, `backup`, `restore`, `copy`: moving memory in and out (docs/moving.md)."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from evoca.errors import InvalidInput, NotFound
from evoca.surfaces.console import announce, expect_store, print_json, settings_of, store_options, with_runtime

if TYPE_CHECKING:
    from evoca.runtime import Runtime
    from evoca.services.exporting import Exported
    from evoca.services.importing import Imported
    from evoca.services.transfer import ImportReport
    from evoca.settings import Settings
    from evoca.storage.copying import Copied

_STREAM = "-"
_FORCE = click.option("--force", is_flag=True, help="Replace what is there.")
_STORE = click.option("--store", metavar="PATH", help="Where the memory is. Default: the user's data folder.")


@click.command(name="export")
@store_options
@_FORCE
@click.argument("file", default=_STREAM)
def export_command(store: str | None, collection: str | None, force: bool, file: str) -> None:
    """Write a collection to FILE (- is stdout). It holds everything that was told, as JSON lines."""
    settings = settings_of(store=store, collection=collection)
    expect_store(settings)
    exported = _exported(settings, file, force)
    counts = ", ".join(f"{count} {kind}" for kind, count in exported.counts.items())
    announce(f"exported collection {exported.collection}: {counts}")


def _exported(settings: Settings, file: str, force: bool) -> Exported:
    """Without a `Runtime`: that would make a collection that does not exist."""
    import shutil
    import tempfile

    from evoca.domain.clock import ShiftedClock, SystemClock
    from evoca.services.exporting import ExportService
    from evoca.storage import open_store
    from evoca.storage.copying import refuse_unfinished

    clock = SystemClock() if settings.now is None else ShiftedClock(settings.now)
    opened = open_store(settings.store_location, clock=clock, busy_timeout=settings.busy_timeout)
    try:
        refuse_unfinished(opened)
        found = opened.read(lambda session: session.collections.find(settings.collection))
        if found is None:
            raise NotFound(f"Collection not found: {settings.collection}", "list-collections tells which there are.")
        service = ExportService(opened, clock)
        if file != _STREAM:
            return service.export_to(found.id, Path(file), force)
        with tempfile.TemporaryFile() as whole:
            exported = service.export(found.id, cast(BinaryIO, whole))
            whole.seek(0)
            shutil.copyfileobj(whole, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return exported
    finally:
        opened.close()


@click.command(name="import")
@store_options
@click.option("--dry-run", is_flag=True, help="Tell what would be imported, and change nothing.")
@click.argument("file")
def import_command(store: str | None, collection: str | None, dry_run: bool, file: str) -> None:
    """Import FILE (- is stdin). It is an export, or a JSONL file of the official memory server.

    What is there already is not added twice. A bad line in an export stops all of it; in a file of the official server
    it is told and passed over.
    """
    import shutil
    import tempfile

    from evoca.operations.moving import import_result

    settings = settings_of(store=store, collection=collection, indexer="false")

    def work(runtime: Runtime) -> Imported | ImportReport:
        services = runtime.services()
        if file != _STREAM:
            return services.importing.import_from(services.collection, Path(file), dry_run)
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as whole:
            shutil.copyfileobj(sys.stdin.buffer, whole)
            whole.flush()
            return services.importing.import_from(services.collection, Path(whole.name), dry_run)

    result = import_result(with_runtime(settings, work))
    print_json(result)
    if result.get("errors"):
        raise SystemExit(1)


@click.command(name="backup")
@_STORE
@_FORCE
@click.argument("file", type=click.Path(path_type=Path))
def backup_command(store: str | None, force: bool, file: Path) -> None:
    """Copy the whole store to FILE while it is in use. That is every collection, keys and vectors too."""
    from evoca.storage.sqlite.backup import back_up

    done = back_up(_store_file(settings_of(store=store)), file, force)
    print_json({"store": str(done.store), "copy": str(done.copy), "size": done.size, "schema": done.schema})


@click.command(name="restore")
@_STORE
@_FORCE
@click.argument("file", type=click.Path(path_type=Path))
def restore_command(store: str | None, force: bool, file: Path) -> None:
    """Put back the store that `evoca backup` copied to FILE. End the programs that use it before."""
    from evoca.storage.sqlite.backup import restore

    done = restore(file, _store_file(settings_of(store=store)), force)
    kept = None if done.kept is None else str(done.kept)
    print_json({"store": str(done.store), "copy": str(done.copy), "schema": done.schema, "kept": kept})


@click.command(name="copy")
@click.option("--from", "source", required=True, metavar="PATH|URL", help="The store to copy; it is only read.")
@click.option("--to", "target", required=True, metavar="PATH|URL", help="Where to: an empty store, made when missing.")
def copy_command(source: str, target: str) -> None:
    """Copy a whole store to another place or database. Every table is compared then.

    Called again, it goes on with a copy that was interrupted. What is written to the source meanwhile is not copied.
    """
    from evoca.domain.clock import SystemClock
    from evoca.settings import load_settings
    from evoca.storage import open_store
    from evoca.storage.copying import copy_store

    settings = settings_of(store=source)
    to = load_settings(store=target)
    if to.store_location == settings.store_location:
        raise InvalidInput("--from and --to are the same store.", "Name another place to copy to.", "to")
    expect_store(settings)
    with (
        closing(open_store(settings.store_location, SystemClock(), settings.busy_timeout)) as one,
        closing(open_store(to.store_location, SystemClock(), to.busy_timeout)) as other,
    ):
        result = copy_store(one, other, lambda what: announce(f"copying {what}"))
    click.echo(_comparison(result))
    if not result.good:
        announce(f"the copy differs from its source; integrity: {result.integrity}")
        raise SystemExit(1)


def _comparison(result: Copied) -> str:
    """A line for each table: its rows on both sides, and the sum of their hashes."""
    lines = [f"{'table':<20} {'source':>9} {'copy':>9}  rows' hash"]
    for each in result.tables:
        verdict = each.source.digest if each.same else f"{each.source.digest} differs from {each.target.digest}"
        lines.append(f"{each.table:<20} {each.source.rows:>9} {each.target.rows:>9}  {verdict}")
    return "\n".join(lines)


def _store_file(settings: Settings) -> Path:
    """The store's file. Raises InvalidInput for a database server, which has tools of its own for this."""
    if "://" in settings.store_location:
        raise InvalidInput(
            f"{settings.shown_location} is a database server: pg_dump makes its copies, pg_restore puts them back.",
            "`evoca copy` moves a store between a server and a file.",
            "store",
        )
    return Path(settings.store_location)


COMMANDS = (export_command, import_command, backup_command, restore_command, copy_command)
