"""Several processes on one store: waiting is bounded, kills lose nothing."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from evoca.domain.clock import SystemClock
from evoca.errors import ShuttingDown, StoreBusy
from evoca.storage import open_store
from tests.storage.given import entity, healthy
from tests.storage.processes import Worker

HOLD = """
import sys, apsw
database = apsw.Connection(sys.argv[1])
database.execute("BEGIN IMMEDIATE")
print("holding", flush=True)
input()
database.execute("COMMIT")
print("let go", flush=True)
"""


def test_a_write_waits_for_another_process(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(open_store(path, SystemClock(), busy_timeout=30)) as store, Worker(HOLD, str(path)) as holder:
        assert holder.read_line() == "holding"
        holder.tell()
        entity(store, 1, "Ana")
        assert holder.finish() == ["let go"]
        assert store.read(lambda s: s.entities.count(1)) == 1


def test_the_wait_has_an_end_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(open_store(path, SystemClock(), busy_timeout=0.1)) as store, Worker(HOLD, str(path)) as holder:
        assert holder.read_line() == "holding"
        with pytest.raises(StoreBusy, match=r"memory\.db") as caught:
            entity(store, 1, "Ana")
        assert caught.value.hint
        assert store.read(lambda s: s.entities.count(1)) == 0, "reads go on"
        holder.tell()
        holder.finish()
        entity(store, 1, "Bea")
        assert [each.name for each in store.read(lambda s: s.entities.page(1))] == ["Bea"]


def test_closing_ends_the_wait_for_another_process(tmp_path: Path) -> None:
    """Else the test's own time limit would end it: the other process holds on until all is over."""
    path = tmp_path / "memory.db"
    store = open_store(path, SystemClock(), busy_timeout=600)
    with Worker(HOLD, str(path)) as holder, ThreadPoolExecutor(1) as pool:
        assert holder.read_line() == "holding"
        waiting = pool.submit(entity, store, 1, "Ana")
        store.close()
        assert isinstance(waiting.exception(), StoreBusy | ShuttingDown)
        holder.tell()
        holder.finish()


WRITE = """
import sys
from evoca.domain.clock import SystemClock
from evoca.domain.graph import NewEntity, NewObservation
from evoca.storage import open_store
store = open_store(sys.argv[1], SystemClock())
store.write(lambda s: s.documents.register_model("m", 1))
def work(s):
    (made,) = s.entities.insert(1, [NewEntity(f"{sys.argv[2]}-{n}", "tipo")], 1)
    s.observations.insert(1, [NewObservation(made, f"nota {i} de {n}") for i in range(3)], 1)
    s.collections.bump(1)
for n in range(100_000):
    store.write(work)
    print(n, flush=True)
"""


def test_a_kill_while_writing_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    pick = random.Random(7)
    acknowledged: dict[str, int] = {}
    for attempt in range(6):
        with Worker(WRITE, str(path), f"a{attempt}") as writer:
            for _ in range(pick.randint(1, 60)):
                acknowledged[f"a{attempt}"] = int(writer.read_line())
            writer.kill()
        with closing(open_store(path, SystemClock())) as store:
            names = {each.name for each in store.read(lambda s: s.entities.page(1))}
            for who, last in acknowledged.items():
                assert names >= {f"{who}-{n}" for n in range(last + 1)}
            texts = store.read(lambda s: s.observations.texts_of(e.id for e in s.entities.page(1)))
            assert {len(each) for each in texts.values()} == {3}
            assert store.read(lambda s: s.documents.pending(None, "m")) == 4 * len(names)
            assert healthy(store)
