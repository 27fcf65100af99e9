"""Who may come in: keys, and which paths need none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol
from urllib.parse import parse_qsl

from evoca.domain.tenancy import LOCAL, Caller
from evoca.errors import EvocaError, Unauthorized
from evoca.surfaces.backend import Workers, guarded

_SECRET_NAMES = frozenset({
    "access_token", "accesstoken", "api-key", "api_key", "apikey", "auth", "authorization", "bearer", "key", "secret",
    "token",
})  # fmt: skip
_SECRET_PREFIX = "evoca_"  # noqa: S105 - how every secret begins
_HOW = "Send the header Authorization: Bearer KEY; `evoca keys create` makes one."


class Keys(Protocol):
    """What the gate needs of the store's keys. Thread-safe; both may block."""

    def authenticate(self, secret: str) -> Caller | None:
        """Who has this secret, if it is a live key's."""
        ...

    def keys_in_place(self) -> bool:
        """Whether a key was ever made."""
        ...


class Gate:
    """Lets callers in. `closed`: a key is needed even while there is none.

    Once there was a key, the gate stays closed until the process ends: revoking the last key must not open it.
    """

    def __init__(self, keys: Keys, workers: Workers, closed: bool = False) -> None:
        self._keys = keys
        self._workers = workers
        self._closed = closed

    async def caller(self, headers: Mapping[str, str]) -> Caller:
        """Who sends these headers. Raises Unauthorized."""
        given = headers.get("authorization")
        if given is None:
            if await self._key_needed():
                raise Unauthorized("A key is needed", _HOW)
            return LOCAL
        scheme, _, secret = given.partition(" ")
        known = await self._known(secret.strip()) if scheme.lower() == "bearer" else None
        if known is not None:
            self._closed = True
            return known
        if await self._key_needed():
            raise Unauthorized("The key is not known", _HOW)
        return LOCAL

    async def still_known(self, headers: Mapping[str, str]) -> bool:
        """Whether these headers would still be let in, as far as the store can tell it now."""
        try:
            await self.caller(headers)
        except Unauthorized:
            return False
        except EvocaError:
            return True  # a store that is away for a moment revokes no key
        return True

    async def _known(self, secret: str) -> Caller | None:
        return await self._workers.run(
            lambda: guarded(lambda: self._keys.authenticate(secret), "authenticate"), read_only=True
        )

    async def _key_needed(self) -> bool:
        if not self._closed:
            self._closed = await self._workers.run(lambda: guarded(self._keys.keys_in_place, "keys"), read_only=True)
        return self._closed


def refuse_secrets(query: bytes) -> None:
    """Raise Unauthorized when a query string holds what looks like a key: it would stand in logs and histories."""
    if not query:
        return
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name.strip().lower() in _SECRET_NAMES or value.startswith(_SECRET_PREFIX):
            raise Unauthorized("A key in the address is refused; treat it as known to others", _HOW)
