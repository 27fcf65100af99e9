"""Whatever is done, in whatever groups: the indexes, documents, vectors and feeds agree with the live contents."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from evoca.domain.clock import FrozenClock
from evoca.domain.graph import NewEntity, NewObservation
from evoca.domain.text import analyse, passages
from evoca.storage import open_store
from evoca.storage.contract import DocumentRow, NewVector, OwnerKind, Session, Store
from tests.support.engines import Servers

MODEL = "m"
NAMES = st.sampled_from(["Ana", "Bea", "Caño", "Duna", "Éfeso"])
TYPES = st.sampled_from(["Generic", "perro", "gato"])
TEXTS = st.sampled_from(["vive en Lugo", "tiene un perro", "", "¡!", "Los faros. " * 90, "猫と犬", "lugo lugo"])
FAIL = st.sampled_from([False, False, True])


@dataclass
class Owner:
    text: str
    kind: OwnerKind
    entity: int


@dataclass
class World:
    """What should be there."""

    names: dict[str, int] = field(default_factory=dict[str, int])
    types: dict[int, str] = field(default_factory=dict[int, str])
    notes: dict[int, tuple[int, str]] = field(default_factory=dict[int, tuple[int, str]])

    def owners(self) -> dict[int, Owner]:
        names = {number: name for name, number in self.names.items()}
        found = {
            number: Owner(names[number] if each == "Generic" else f"{names[number]} ({each})", OwnerKind.ENTITY, number)
            for number, each in self.types.items()
        }
        found |= {number: Owner(text, OwnerKind.OBSERVATION, owner) for number, (owner, text) in self.notes.items()}
        return found


class Failed(Exception):
    """Raised by a unit of work on purpose."""


class Agreement(RuleBasedStateMachine):
    """Each rule is one unit of work; some fail at their end and must leave nothing."""

    place: Callable[[Path], AbstractContextManager[str]]
    store: Store

    @initialize(model=st.booleans())
    def begin(self, model: bool) -> None:
        self.opened = ExitStack()
        folder = Path(self.opened.enter_context(TemporaryDirectory()))
        place = self.opened.enter_context(type(self).place(folder))
        self.store = self.opened.enter_context(closing(open_store(place, FrozenClock(1_000_000))))
        self.world = World()
        self.follower: dict[int, DocumentRow] = {}
        self.since = 0
        if model:
            self.store.write(lambda s: s.documents.register_model(MODEL, 1))

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.opened.close()

    def do(self, work: Callable[[Session, World], None], fail: bool) -> None:
        def unit(session: Session) -> World:
            world = World(dict(self.world.names), dict(self.world.types), dict(self.world.notes))
            work(session, world)
            if fail:
                raise Failed
            return world

        if fail:
            with pytest.raises(Failed):
                self.store.write(unit)
        else:
            self.world = self.store.write(unit)

    @rule(name=NAMES, entity_type=TYPES, fail=FAIL)
    def put_entity(self, name: str, entity_type: str, fail: bool) -> None:
        def work(session: Session, world: World) -> None:
            number = world.names.get(name)
            if number is None:
                (number,) = session.entities.insert(1, [NewEntity(name, entity_type)], 1)
                world.names[name] = number
            else:
                session.entities.update(number, entity_type, "activo", 1)
            world.types[number] = entity_type

        self.do(work, fail)

    @rule(name=NAMES, texts=st.lists(TEXTS, min_size=1, max_size=3), fail=FAIL)
    def add_notes(self, name: str, texts: list[str], fail: bool) -> None:
        def work(session: Session, world: World) -> None:
            if name in world.names:
                owner = world.names[name]
                ids = session.observations.insert(1, [NewObservation(owner, text) for text in texts], 1)
                world.notes |= {number: (owner, text) for number, text in zip(ids, texts, strict=True)}

        self.do(work, fail)

    @rule(pick=st.integers(0, 20), supersede=st.booleans(), fail=FAIL)
    def remove_note(self, pick: int, supersede: bool, fail: bool) -> None:
        def work(session: Session, world: World) -> None:
            if world.notes:
                number = sorted(world.notes)[pick % len(world.notes)]
                del world.notes[number]
                if supersede:
                    session.observations.supersede(number, 1)
                else:
                    session.observations.delete([number])

        self.do(work, fail)

    @rule(name=NAMES, again=st.booleans(), fail=FAIL)
    def delete_entity(self, name: str, again: bool, fail: bool) -> None:
        """Made again in the same unit, the name must be found once."""

        def work(session: Session, world: World) -> None:
            if name in world.names:
                number = world.names.pop(name)
                session.entities.delete([number])
                del world.types[number]
                world.notes = {key: note for key, note in world.notes.items() if note[0] != number}
            if again and name not in world.names:
                (number,) = session.entities.insert(1, [NewEntity(name)], 1)
                session.substrings.entities(1, name)
                world.names[name], world.types[number] = number, "Generic"

        self.do(work, fail)

    @rule(limit=st.integers(1, 5), fail=FAIL)
    def embed(self, limit: int, fail: bool) -> None:
        def work(session: Session, world: World) -> None:
            rows = session.documents.claim(MODEL, limit, "me", 1, 1)
            session.documents.store_vectors(
                MODEL, [NewVector(row.id, row.content_hash, row.text.encode()[:8]) for row in rows]
            )

        self.do(work, fail)

    @rule(many=st.integers(20, 60))
    def add_a_lot(self, many: int) -> None:
        """Enough to make the substring index take new texts in."""

        def work(session: Session, world: World) -> None:
            for owner in list(world.types)[:1]:
                ids = session.observations.insert(1, [NewObservation(owner, f"nota{n}") for n in range(many)], 1)
                world.notes |= {number: (owner, f"nota{n}") for n, number in enumerate(ids)}

        self.do(work, fail=False)

    @invariant()
    def documents_agree(self) -> None:
        if not hasattr(self, "store"):
            return
        changes = self.store.read(lambda s: s.documents.changes(self.since, MODEL))
        if changes.complete:
            self.follower.clear()
        for gone in changes.removed:
            self.follower.pop(gone, None)
        self.follower |= {row.id: row for row in changes.rows}
        self.since = changes.counter
        everything = self.store.read(lambda s: s.documents.changes(0, MODEL)).rows
        assert sorted(self.follower.values(), key=lambda row: row.id) == everything

        expected = {
            number + part: (owner, piece.text)
            for number, owner in self.world.owners().items()
            for part, piece in enumerate(passages(owner.text))
        }
        texts = self.store.read(lambda s: s.documents.texts(self.follower))
        assert texts == {number: text for number, (_owner, text) in expected.items()}
        for row in everything:
            owner, text = expected[row.id]
            assert (row.owner_kind, row.entity_id) == (owner.kind, owner.entity)
            assert (row.language, row.length) == (analyse(text).language, analyse(text).length)
            assert row.vector in (None, text.encode()[:8])
        waiting = self.store.read(lambda s: s.documents.pending(None, MODEL))
        assert waiting in (0, sum(row.vector is None for row in everything))

        terms = ["lug", "perr", "far", "猫", "ana", "nota7"]
        found = self.store.read(lambda s: s.documents.postings(1, [[term] for term in terms]))
        for term, ids in zip(terms, found, strict=True):
            assert ids.tolist() == sorted(n for n, (_o, text) in expected.items() if term in analyse(text).terms)

    @invariant()
    def substrings_agree(self) -> None:
        if not hasattr(self, "store"):
            return
        names = {number: name for name, number in self.world.names.items()}
        for needle in ("lugo", "perro", "faros. los", "ño", "nota1", "猫と犬"):
            expected = {number for number, name in names.items() if needle in name.lower()}
            expected |= {number for number, each in self.world.types.items() if needle in each}
            expected |= {owner for owner, text in self.world.notes.values() if needle in text.lower()}
            assert self.store.read(lambda s, needle=needle: s.substrings.entities(1, needle)) == sorted(expected)
        assert self.store.check()["integrity"] == "ok"


def test_indexes_and_contents_agree_after_any_operations(engine: str, servers: Servers) -> None:
    machine = type("Machine", (Agreement,), {"place": staticmethod(partial(servers.place, engine))})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25, stateful_step_count=20, suppress_health_check=[HealthCheck.too_slow], deadline=None
        ),
    )
