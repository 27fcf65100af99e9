"""The table of memories: followed step by step it is what it would be read afresh."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evoca.domain.clock import FrozenClock
from evoca.domain.episodes import NewEpisode
from evoca.retrieval.traits import TraitFilter, TraitIndex, TraitView
from evoca.storage import open_store
from evoca.storage.contract import Session

HOME = 1
STEPS = ("save", "save", "save", "move", "delete", "archive", "restore", "supersede", "hide", "relabel")
FILTERS = (
    TraitFilter(now=50),
    TraitFilter(now=50, past=True),
    TraitFilter(now=0, session_id=""),
    TraitFilter(now=0, session_id="a"),
    TraitFilter(now=0, session_id="nobody's"),
    TraitFilter(now=0, memory_type="decision", code="x"),
    TraitFilter(now=0, nivel="semantica", critico=True),
    TraitFilter(now=0, since=3, until=6),
    TraitFilter(now=0, categories=("uno", "dos")),
    TraitFilter(now=0, categories=("uno", "dos"), every_category=True),
    TraitFilter(now=0, categories=("nada",)),
)


def step(session: Session, kind: str, pick: int, at: int) -> None:
    """One change to the store. `pick` chooses among what is there."""
    known = [row.id for row in session.episodes.changes(0).rows]
    if kind == "save" or not known:
        row = NewEpisode(
            f"texto {pick}",
            bytes([pick % 3]) * 16,
            memory_type=("event", "Decisión", "decision")[pick % 3],
            code=("", "X")[pick % 2],
            categories=((), ("Uno",), ("uno", "Dos"))[pick % 3],
            session_id=("", "a", "b")[pick % 3],
            nivel=("episodica", "semantica")[pick % 2],
            critico=not pick % 4,
            expires_at=(None, 30, 90)[pick % 3],
        )
        session.episodes.insert(HOME, row, at)
        return
    number = known[pick % len(known)]
    episode = session.episodes.by_ids(HOME, [number])[number]
    match kind:
        case "move":
            session.episodes.update(HOME, episode, replace(episode, session_id="b"), b"0" * 16, at)
        case "delete":
            session.episodes.delete([number])
        case "archive":
            session.episodes.archive([number], "old", at)
        case "restore":
            if episode.archived_at is not None:
                session.episodes.restore(HOME, [number])
        case "supersede":
            session.episodes.supersede(number, known[0] if known[0] != number else None)
        case "hide":
            if episode.merged_into is None and number != known[0]:
                session.episodes.hide([number], known[0])
        case _:
            session.episodes.set_categories(HOME, number, ["dos"])


def shown(view: TraitView, wanted: TraitFilter) -> list[int]:
    return view.ids[view.allowed(wanted)].tolist()


def beside(view: TraitView) -> dict[int, tuple[int, int]]:
    """id → the ids before and after it in its session, of the living."""

    def name(row: int) -> int:
        return int(view.ids[row]) if row >= 0 and view.alive[row] else 0

    return {
        int(view.ids[row]): (name(int(view.before[row])), name(int(view.after[row])))
        for row in range(len(view.ids))
        if view.alive[row]
    }


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 11)), min_size=1, max_size=25))
def test_followed_it_is_as_read_afresh(tmp_path: Path, steps: list[tuple[str, int]]) -> None:
    path = tmp_path / "m.db"
    path.unlink(missing_ok=True)
    store = open_store(path, FrozenClock(1))
    try:
        followed = TraitIndex()
        for at, (kind, pick) in enumerate(steps, 1):
            store.write(lambda session, kind=kind, pick=pick, at=at: step(session, kind, pick, at))
            followed_view = store.read(lambda session: followed.view(session, HOME))
            fresh_view = store.read(lambda session: TraitIndex().view(session, HOME))
            for wanted in FILTERS:
                assert shown(followed_view, wanted) == shown(fresh_view, wanted), wanted
    finally:
        store.close()
        for left in tmp_path.glob("m.db*"):
            left.unlink()


def test_a_view_does_not_change_when_the_table_does(tmp_path: Path) -> None:
    store = open_store(tmp_path / "m.db", FrozenClock(1))
    index = TraitIndex()
    store.write(lambda session: step(session, "save", 2, 1))
    before = store.read(lambda session: index.view(session, HOME))
    ids = before.ids.tolist()
    for pick in range(300):
        store.write(lambda session, pick=pick: step(session, "save", pick, 2))
    store.write(lambda session: step(session, "relabel", 0, 2))
    after = store.read(lambda session: index.view(session, HOME))
    assert before.ids.tolist() == ids
    assert shown(before, TraitFilter(now=0, categories=("uno",))) == ids
    assert ids[0] not in shown(after, TraitFilter(now=0, categories=("uno",)))
    assert len(after.ids) == 301
    store.close()


def test_neighbours_are_those_of_the_same_session_in_order(tmp_path: Path) -> None:
    store = open_store(tmp_path / "m.db", FrozenClock(1))
    index = TraitIndex()
    for pick in (1, 2, 4, 5, 7, 0):
        store.write(lambda session, pick=pick: step(session, "save", pick, 1))
        store.read(lambda session: index.view(session, HOME))
    view = store.read(lambda session: index.view(session, HOME))
    first, second, third, fourth, fifth, alone = view.ids.tolist()
    assert beside(view) == {
        first: (0, third),
        third: (first, fifth),
        fifth: (third, 0),
        second: (0, fourth),
        fourth: (second, 0),
        alone: (0, 0),
    }
    assert view.positions.tolist() == [0, 0, 1, 1, 2, 0]
    store.close()


def test_rows_of_unknown_ids_are_none(tmp_path: Path) -> None:
    store = open_store(tmp_path / "m.db", FrozenClock(1))
    index = TraitIndex()
    empty = store.read(lambda session: index.view(session, HOME))
    assert empty.rows_of(np.array([1, 2], np.int64)).tolist() == [-1, -1]
    store.write(lambda session: step(session, "save", 2, 1))
    view = store.read(lambda session: index.view(session, HOME))
    known = int(view.ids[0])
    assert view.rows_of(np.array([0, known, known + 1, 10**12], np.int64)).tolist() == [-1, 0, -1, -1]
    store.close()
