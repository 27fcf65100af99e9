"""API keys: secrets that are kept nowhere, and callers that are known by them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from evoca.domain.clock import HOUR, FrozenClock
from evoca.domain.tenancy import Caller, Scope
from evoca.errors import Conflict, InvalidInput, NotFound
from evoca.runtime import Runtime
from evoca.services.keys import KeyService
from evoca.settings import load_settings

MINUTE = HOUR // 60


class Keys:
    """The keys of one process on a store."""

    def __init__(self, store: Path, clock: FrozenClock) -> None:
        self.runtime = Runtime(load_settings(store=str(store), embedder="none"), clock=clock)
        self.service = self.runtime.services().keys

    def last_used(self) -> list[int | None]:
        self.runtime.services().tracking.flush()
        return [each.key.last_used_at for each in self.service.all()]


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(10 * HOUR)


@pytest.fixture
def two(tmp_path: Path, clock: FrozenClock) -> Iterator[tuple[Keys, Keys]]:
    """Two processes on one store."""
    with ExitStack() as stack:
        opened = [Keys(tmp_path / "memory.db", clock) for _ in range(2)]
        for each in opened:
            stack.callback(each.runtime.close)
        yield opened[0], opened[1]


def test_a_secret_is_random_and_leads_to_its_key(two: tuple[Keys, Keys]) -> None:
    here, there = two
    made = [here.service.create(name, Scope.WRITE) for name in ("uno", "dos")]
    assert all(re.fullmatch(r"evoca_[A-Za-z0-9_-]{43}", each.secret) for each in made)
    assert made[0].secret != made[1].secret
    for keys in two:
        assert [keys.service.authenticate(each.secret) for each in made] == [
            Caller(each.key.id, Scope.WRITE, None) for each in made
        ]
    for wrong in ("", "evoca_", made[0].secret[:-1], made[0].secret + "x", made[0].secret.upper(), "ñ\ud800"):
        assert there.service.authenticate(wrong) is None


def test_the_randomness_is_asked_for_32_bytes(two: tuple[Keys, Keys], clock: FrozenClock) -> None:
    asked: list[int] = []

    def random(count: int) -> bytes:
        asked.append(count)
        return bytes(range(count))

    service = KeyService(two[0].runtime.store, clock, lambda _key: None, random)
    made = service.create("uno", Scope.READ)
    assert made.secret.split("_") == ["evoca", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"]
    assert asked == [32]


def test_the_store_holds_no_secret(two: tuple[Keys, Keys], tmp_path: Path, engine: str) -> None:
    made = two[0].service.create("uno", Scope.ADMIN)
    assert made.secret not in repr(two[0].service.all())
    if engine == "sqlite":
        for file in tmp_path.glob("memory.db*"):
            assert made.secret.removeprefix("evoca_").encode() not in file.read_bytes()


def test_a_revoked_key_is_refused_at_once_everywhere(two: tuple[Keys, Keys]) -> None:
    here, there = two
    made = here.service.create("uno", Scope.READ)
    assert there.service.authenticate(made.secret) is not None
    assert here.service.revoke("uno").id == made.key.id
    assert there.service.authenticate(made.secret) is None
    with pytest.raises(NotFound, match=r"^Key not found: uno"):
        here.service.revoke("uno")
    with pytest.raises(Conflict, match=r"^Key already revoked: "):
        here.service.revoke(str(made.key.id))
    again = here.service.create("uno", Scope.WRITE)
    assert there.service.authenticate(again.secret) == Caller(again.key.id, Scope.WRITE, None)
    assert here.service.revoke(str(again.key.id)).name == "uno"


def test_keys_are_in_place_from_the_first_on(two: tuple[Keys, Keys]) -> None:
    here, there = two
    assert not here.service.in_place()
    here.service.create("uno", Scope.READ)
    assert there.runtime.keys_in_place()
    here.service.revoke("uno")
    assert there.runtime.keys_in_place()


def test_a_key_sees_the_collections_that_it_was_given(two: tuple[Keys, Keys]) -> None:
    here, there = two
    collections = here.runtime.services().collections
    ids = [collections.create(Caller(), code, "", "").id for code in ("casa", "obra")]
    made = here.service.create("uno", Scope.WRITE, ["obra", "casa", "obra"])
    assert made.codes == ("obra", "casa")
    assert there.service.authenticate(made.secret) == Caller(made.key.id, Scope.WRITE, frozenset(ids))
    assert [each.codes for each in there.service.all()] == [("casa", "obra")]
    collections.delete(Caller(), "casa", confirmed=True)
    assert there.service.authenticate(made.secret) == Caller(made.key.id, Scope.WRITE, frozenset(ids[1:]))
    with pytest.raises(NotFound, match=r"^Collection not found: casa$"):
        here.service.create("dos", Scope.READ, ["obra", "casa"])
    assert [each.key.name for each in here.service.all()] == ["uno"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 129, "a\nb", "a\0b", "\ud800"])
def test_a_name_can_be_shown(two: tuple[Keys, Keys], name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        two[0].service.create(name, Scope.READ)
    assert refused.value.field == "name"


def test_a_name_is_taken_once(two: tuple[Keys, Keys]) -> None:
    two[0].service.create("uno", Scope.READ)
    with pytest.raises(Conflict, match=r"^Key already exists: uno"):
        two[1].service.create("uno", Scope.READ)


def test_the_last_use_is_written_once_a_minute(two: tuple[Keys, Keys], clock: FrozenClock) -> None:
    here, there = two
    made = here.service.create("uno", Scope.READ)
    assert here.last_used() == [None]
    start = clock.now()
    here.service.authenticate(made.secret)
    assert there.last_used() == [None]
    assert here.last_used() == [start]
    clock.advance(MINUTE - 1)
    here.service.authenticate(made.secret)
    assert here.last_used() == [start]
    clock.advance(1)
    here.service.authenticate(made.secret)
    assert here.last_used() == [start + MINUTE]
    there.service.authenticate("evoca_wrong")
    assert there.last_used() == [start + MINUTE]
