"""`evoca keys create`, `list`, `revoke`: who may come in over HTTP (docs/collections.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from evoca.surfaces.console import announce, expect_store, print_json, settings_of

if TYPE_CHECKING:
    from evoca.domain.clock import Instant
    from evoca.services.keys import KeyService, ListedKey
    from evoca.settings import Settings

Found = TypeVar("Found")
_SCOPES = ("read", "write", "admin")
_STORE = click.option("--store", metavar="PATH|URL", help="Where the memory is. Default: the user's data folder.")


@click.group()
def keys() -> None:
    """API keys of `evoca serve`."""


@keys.command()
@_STORE
@click.option("--scope", type=click.Choice(_SCOPES), default="write", show_default=True, help="What it may do.")
@click.option(
    "--collection", metavar="CODE", multiple=True, help="A collection that it sees. Default: all. Repeatable."
)
@click.argument("name")
def create(store: str | None, scope: str, collection: tuple[str, ...], name: str) -> None:
    """Make a key and print its secret, once, on stdout."""
    from evoca.domain.tenancy import Scope

    settings = settings_of(store=store)
    made = _with_keys(settings, lambda service: service.create(name, Scope[scope.upper()], collection or None))
    seen = "every collection" if made.codes is None else f"collection {', '.join(made.codes)}"
    announce(f"key {made.key.id} {name}: {scope}, {seen}. Keep the secret: it is shown only now")
    click.echo(made.secret)


@keys.command(name="list")
@_STORE
def list_keys(store: str | None) -> None:
    """List all keys, revoked ones too; secrets are kept nowhere."""
    settings = settings_of(store=store)
    expect_store(settings)
    listed = _with_keys(settings, lambda service: service.all())
    print_json({"keys": [_key_json(each) for each in listed], "count": len(listed)})


@keys.command()
@_STORE
@click.argument("key", metavar="NAME|ID")
def revoke(store: str | None, key: str) -> None:
    """End a key; it is refused from the next request on."""
    settings = settings_of(store=store)
    expect_store(settings)
    ended = _with_keys(settings, lambda service: service.revoke(key))
    announce(f"key {ended.id} {ended.name} is revoked")


def _with_keys(settings: Settings, work: Callable[[KeyService], Found]) -> Found:
    """Without a `Runtime`: that would import a memory file and make the process's collection."""
    from evoca.domain.clock import ShiftedClock, SystemClock
    from evoca.services.keys import KeyService
    from evoca.storage import open_store

    clock = SystemClock() if settings.now is None else ShiftedClock(settings.now)
    opened = open_store(settings.store_location, clock=clock, busy_timeout=settings.busy_timeout)
    try:
        return work(KeyService(opened, clock, used=lambda _key: None))
    finally:
        opened.close()


def _key_json(listed: ListedKey) -> dict[str, object]:
    key = listed.key
    return {
        "id": key.id,
        "name": key.name,
        "scope": key.scope.name.lower(),
        "collections": "all" if listed.codes is None else list(listed.codes),
        "created_at": _time(key.created_at),
        "last_used_at": _time(key.last_used_at),
        "revoked_at": _time(key.revoked_at),
    }


def _time(at: Instant | None) -> str | None:
    from evoca.domain.clock import to_iso

    return None if at is None else to_iso(at)
