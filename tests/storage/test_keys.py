"""API keys as the store keeps them."""

from __future__ import annotations

import pytest

from evoca.domain.tenancy import Key, NewKey, Scope
from evoca.errors import Conflict
from evoca.storage.contract import Store


def given(store: Store, name: str, *collections: int, scope: Scope = Scope.WRITE, at: int = 5) -> int:
    """A new key for these collections; none: for all."""
    seen = frozenset(collections) or None
    return store.write(lambda s: s.keys.insert(NewKey(name, f"digest of {name}".encode(), scope, seen), at))


def test_keys_are_kept_as_given(store: Store, home: int) -> None:
    assert not store.read(lambda s: s.keys.any())
    first = given(store, "uno")
    second = given(store, "dos", home, scope=Scope.READ, at=7)
    expected = [
        Key(first, "uno", Scope.WRITE, None, 5),
        Key(second, "dos", Scope.READ, frozenset({home}), 7),
    ]
    assert store.read(lambda s: s.keys.all()) == expected
    assert store.read(lambda s: s.keys.live()) == [(f"digest of {key.name}".encode(), key) for key in expected]
    assert store.read(lambda s: s.keys.any())


def test_a_name_is_taken_until_its_key_is_revoked(store: Store) -> None:
    first = given(store, "uno")
    with pytest.raises(Conflict, match="Key already exists: uno"):
        given(store, "uno")
    store.write(lambda s: s.keys.revoke(first, 9))
    store.write(lambda s: s.keys.revoke(first, 11))
    assert [key.revoked_at for key in store.read(lambda s: s.keys.all())] == [9]
    assert store.read(lambda s: s.keys.live()) == []
    assert store.read(lambda s: s.keys.any())
    assert given_again(store) > first


def given_again(store: Store) -> int:
    return store.write(lambda s: s.keys.insert(NewKey("uno", b"another", Scope.READ, None), 12))


def test_the_version_grows_with_what_lets_in_or_out(store: Store) -> None:
    def version() -> int:
        return store.read(lambda s: s.keys.version())

    seen = [version()]
    other = store.write(lambda s: s.collections.create("obra", "", "", 1)).id
    for change in (
        lambda: given(store, "uno", other),
        lambda: store.write(lambda s: s.keys.revoke(1, 9)),
        lambda: store.write(lambda s: s.collections.delete(other)),
    ):
        change()
        seen.append(version())
    assert seen == sorted(set(seen))
    store.write(lambda s: s.keys.used(1, 30))
    assert version() == seen[-1]


def test_the_last_use_never_goes_back(store: Store) -> None:
    key = given(store, "uno")
    for at in (30, 20):
        store.write(lambda s, at=at: s.keys.used(key, at))
    assert store.read(lambda s: s.keys.all())[0].last_used_at == 30


def test_a_key_whose_collections_are_gone_sees_none(store: Store) -> None:
    made = store.write(lambda s: s.collections.create("obra", "", "", 1))
    given(store, "uno", made.id)
    store.write(lambda s: s.collections.delete(made.id))
    assert store.read(lambda s: s.keys.all())[0].collections == frozenset()
