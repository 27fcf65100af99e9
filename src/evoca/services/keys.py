"""API keys: made, listed, revoked, and recognised at the door of the HTTP server."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evoca.domain.clock import HOUR, Clock, Instant
from evoca.domain.tenancy import Caller, Key, NewKey, Scope
from evoca.errors import Conflict, InvalidInput, NotFound
from evoca.services.collections import unknown_collection
from evoca.settings import collection_code
from evoca.storage.contract import Session, Store

PREFIX = "evoca_"
"""Every secret begins so, for scanners that look for secrets in places where none should be."""
_RANDOM_BYTES = 32
_LONGEST_NAME = 128
_NOTED_EVERY = HOUR // 60
"""A key's last use is written once in so long at most."""


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A new key and its secret, which is kept nowhere. `codes`: its collections; None: all."""

    key: Key
    secret: str
    codes: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A key with the codes of its collections, in their order; None: all."""

    key: Key
    codes: tuple[str, ...] | None


class KeyService:
    """Thread-safe. Other processes' new and revoked keys count from their commit on."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        used: Callable[[int], None],
        random: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        """`used`: told a key's id now and then when it was shown. `random`: gives so many unpredictable bytes."""
        self._store = store
        self._clock = clock
        self._used = used
        self._random = random
        self._lock = threading.Lock()
        self._version = -1
        self._live: list[tuple[bytes, Key]] = []
        self._noted: dict[int, Instant] = {}

    def create(self, name: str, scope: Scope, codes: Sequence[str] | None = None) -> MadeKey:
        """A new key for these collections; None: for all, also those to come.

        Raises InvalidInput for a name or code that is none, NotFound for an unknown collection, Conflict when a key in
        force has the name.
        """
        _check_name(name)
        codes = None if codes is None else [_code(each) for each in codes]
        secret = PREFIX + base64.urlsafe_b64encode(self._random(_RANDOM_BYTES)).rstrip(b"=").decode()
        at = self._clock.now()

        def work(session: Session) -> Key:
            if any(key.name == name for _, key in session.keys.live()):
                raise Conflict(f"Key already exists: {name}", "Choose another name, or revoke that key first.")
            seen = None if codes is None else frozenset(_ids(session, codes))
            made = session.keys.insert(NewKey(name, _digest(secret), scope, seen), at)
            return Key(made, name, scope, seen, at)

        return MadeKey(self._store.write(work), secret, None if codes is None else tuple(dict.fromkeys(codes)))

    def all(self) -> list[ListedKey]:
        """Every key, revoked ones too, oldest first."""

        def work(session: Session) -> list[ListedKey]:
            codes = {each.id: each.code for each in session.collections.all()}
            return [ListedKey(key, _codes(key, codes)) for key in session.keys.all()]

        return self._store.read(work)

    def revoke(self, named: str) -> Key:
        """End the key in force that has this name, or this id. Raises NotFound, Conflict for one that is ended."""
        at = self._clock.now()

        def work(session: Session) -> Key:
            keys = session.keys.all()
            found = next((key for key in keys if key.name == named and key.revoked_at is None), None)
            found = found or next((key for key in keys if str(key.id) == named), None)
            if found is None:
                raise NotFound(f"Key not found: {named}", "evoca keys list shows them.")
            if found.revoked_at is not None:
                raise Conflict(f"Key already revoked: {named}.")
            session.keys.revoke(found.id, at)
            return found

        return self._store.write(work)

    def in_place(self) -> bool:
        """Whether a key was ever made: from then on nobody comes in without one, even when all are revoked."""
        return self._store.read(lambda session: session.keys.any())

    def authenticate(self, secret: str) -> Caller | None:
        """Whose secret it is; None for one that is no key's. The time it takes does not tell how near a guess was."""
        digest, found = _digest(secret), None
        for known, key in self._current():
            if hmac.compare_digest(known, digest):
                found = key
        if found is None:
            return None
        self._note_use(found.id)
        return Caller(found.id, found.scope, found.collections)

    def _current(self) -> list[tuple[bytes, Key]]:
        """The keys in force; read again only when the keys' version has moved."""

        def work(session: Session) -> tuple[int, list[tuple[bytes, Key]] | None]:
            version = session.keys.version()
            return version, None if version == self._version else session.keys.live()

        version, live = self._store.read(work)
        with self._lock:
            if live is not None and version >= self._version:
                self._version, self._live = version, live
            return self._live if live is None else live

    def _note_use(self, key: int) -> None:
        now = self._clock.now()
        with self._lock:
            due = now - self._noted.get(key, now - _NOTED_EVERY) >= _NOTED_EVERY
            if due:
                self._noted[key] = now
        if due:
            self._used(key)


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InvalidInput(
            f"A key's name is 1 to {_LONGEST_NAME} printable characters.", "Name who will use it: laptop.", field="name"
        )


def _code(text: str) -> str:
    try:
        return collection_code(text)
    except ValueError as error:
        raise InvalidInput(f"collection: {error}", field="collection") from None


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _ids(session: Session, codes: Sequence[str]) -> list[int]:
    ids: list[int] = []
    for code in codes:
        found = session.collections.find(code)
        if found is None:
            raise unknown_collection(code)
        ids.append(found.id)
    return ids


def _codes(key: Key, codes: dict[int, str]) -> tuple[str, ...] | None:
    return None if key.collections is None else tuple(codes[each] for each in sorted(key.collections) if each in codes)
