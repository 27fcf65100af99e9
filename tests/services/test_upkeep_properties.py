"""Whatever is done in whatever order: critical memories stand, and nothing that a process does comes as a surprise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoca.domain.clock import to_iso
from evoca.domain.episodes import NIVELES, Episode, EpisodeLink
from evoca.errors import InvalidInput, NotFound
from tests.services.ageing import Ageing

TEXTS = (
    "El taller abre a las ocho",
    "el taller abre a las ocho ",
    "El taller abre a las ocho",
    "Taller abre a las ocho",
    "El taller abre a las nueve",
)
AUTOMATIC: dict[str, dict[str, object]] = {
    "consolidate_hipocampo": {"min_age_days": 5},
    "review_automatica": {"max_age_days": 5},
    "decay_hipocampo": {"min_age_days": 5},
    "hipocampo_dedup": {},
}

Pick = st.integers(0, 11)
Step = tuple[str, int, int, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "save", "save", "save", "critical", "critical", "update", "delete", "nivel", "critico", "link",
                "unlink", "use", "embed", "wait", "wait", "restore", "undo", "path", *AUTOMATIC, *AUTOMATIC,
            ]
        ),
        Pick,
        Pick,
        st.integers(0, 4),
    ),
    min_size=5,
    max_size=30,
)  # fmt: skip


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ageing]:
    """One store for all examples; each works in a session of its own, automatic processes go through all."""
    with Ageing(tmp_path_factory.mktemp("properties"), embedder="hash:32") as opened:
        yield opened


class World:
    """A session's memories, and what is done to them."""

    def __init__(self, ageing: Ageing, session_id: str) -> None:
        self.ageing = ageing
        self.session_id = session_id
        self.ids: list[int] = []

    def id(self, pick: int) -> int:
        return self.ids[pick % len(self.ids)] if self.ids else 1

    def save(self, pick: int, _other: int, choice: int, critico: bool = False) -> None:
        now = self.ageing.clock.now()
        expires = to_iso(now + pick * 10**11) if pick % 4 == 1 else None
        number = self.ageing.save(
            TEXTS[choice],
            session_id=self.session_id,
            nivel=NIVELES[pick % 3],
            critico=critico,
            expires_at=expires,
        )
        self.ids.append(number)

    def do(self, step: Step) -> None:
        name, one, two, choice = step
        call, first, second = self.ageing.call, self.id(one), self.id(two)
        actions: dict[str, Callable[[], object]] = {
            "save": lambda: self.save(one, two, choice),
            "critical": lambda: self.save(one, two, choice, critico=True),
            "update": lambda: call("update_hipocampo", id=first, content=TEXTS[choice], force=True),
            "delete": lambda: call("delete_hipocampo", id=first),
            "nivel": lambda: call("set_nivel_hipocampo", id=first, nivel=NIVELES[choice % 3]),
            "critico": lambda: call("update_hipocampo", id=first, critico=choice > 1),
            "link": lambda: call("link_hipocampo", source_id=first, target_id=second),
            "unlink": lambda: call("unlink_hipocampo", source_id=first, target_id=second),
            "use": lambda: call("get_hipocampo", id=first),
            "path": lambda: call("path_hipocampo", from_id=first, to_id=second),
            "embed": self.ageing.embed,
            "wait": lambda: self.ageing.days(choice * 2),
            "restore": lambda: call("restaurar_historica", id=first),
            "undo": lambda: call("undo_hipocampo_dedup", id=None if choice else first),
        }
        # Picks may be gone, merged away or the same memory twice: then nothing is done.
        with suppress(NotFound, InvalidInput):
            actions[name]()

    def rows(self) -> dict[int, Episode]:
        return self.ageing.rows(self.ids)

    def critical(self) -> dict[int, Episode]:
        """As they are but for what is found out about them, and how often they are used."""
        return {
            number: replace(row, used_count=0, last_used_at=None, possible_duplicate_of=None)
            for number, row in self.rows().items()
            if row.critico
        }


EXPLICIT = {"update", "nivel", "critico", "restore", "undo"}


@settings(max_examples=60)
@given(STEPS)
def test_no_process_touches_a_critical_memory(shared: Ageing, steps: list[Step]) -> None:
    world = World(shared, f"s{shared.save('marca')}")
    for step in (*steps, *((name, 0, 0, 0) for name in AUTOMATIC)):
        before = world.critical()
        if step[0] in AUTOMATIC:
            shared.both(step[0], **AUTOMATIC[step[0]])
        else:
            world.do(step)
        after = world.rows() if step[0] in EXPLICIT else world.critical()
        assert before.keys() <= after.keys()
        if step[0] not in EXPLICIT:
            assert {number: after[number] for number in before} == before


@settings(max_examples=40)
@given(STEPS)
def test_a_merge_and_its_undoing_leave_everything_as_it_was(shared: Ageing, steps: list[Step]) -> None:
    world = World(shared, f"s{shared.save('marca')}")
    for step in steps:
        if step[0] not in AUTOMATIC:
            world.do(step)
    shared.days(0.01)
    shared.runtime.services().tracking.flush()
    before, links = world.rows(), everything_linked(shared)
    if shared.call("hipocampo_dedup", dry_run=False)["changed"]:
        shared.call("undo_hipocampo_dedup")
    assert world.rows() == before
    assert everything_linked(shared) == links


def everything_linked(ageing: Ageing) -> list[EpisodeLink]:
    return ageing.runtime.store.read(lambda session: session.episode_links.all(ageing.collection))
