"""Old stores become new ones once, whoever comes first, and a copy is kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from evoca.domain.clock import FrozenClock, SystemClock
from evoca.errors import StoreError
from evoca.storage.contract import Store
from evoca.storage.migration import Migration
from evoca.storage.sqlite.migrations import packaged
from evoca.storage.sqlite.opening import SqliteOptions
from evoca.storage.sqlite.store import SqliteStore
from tests.storage.given import entity, healthy
from tests.storage.processes import race

LATEST = packaged()[-1].version
NEXT = Migration(LATEST + 1, "later", "CREATE TABLE later (a TEXT); INSERT INTO later VALUES (:now);")
AFTER = Migration(LATEST + 2, "after", "CREATE TABLE after_that (a TEXT);")
COPY = f"memory.db.schema-{LATEST}.backup"
BROKEN = Migration(LATEST + 1, "broken", "CREATE TABLE later (a TEXT); INSERT INTO nowhere VALUES (1);")


def opened(path: Path, migrations: Sequence[Migration]) -> SqliteStore:
    return SqliteStore(path, FrozenClock(5), SqliteOptions(busy_timeout=30, migrations=migrations))


def old_store(path: Path, names: Sequence[str] = ("Ana",)) -> Path:
    with closing(opened(path, packaged())) as store:
        for name in names:
            entity(store, 1, name)
    return path


def names(store: Store) -> list[str]:
    return [each.name for each in store.read(lambda s: s.entities.page(1))]


def test_migrations_are_numbered_from_one_without_gaps() -> None:
    assert [each.version for each in packaged()] == list(range(1, LATEST + 1))


def test_an_old_store_is_copied_beside_itself_and_brought_up_to_date(tmp_path: Path) -> None:
    path = old_store(tmp_path / "memory.db")
    with closing(opened(path, (*packaged(), NEXT))) as store:
        assert (names(store), store.check()["schema_version"]) == (["Ana"], str(NEXT.version))
        entity(store, 1, "Bea")
        assert healthy(store)
    copy = tmp_path / COPY
    assert copy.is_file()
    with closing(opened(copy, packaged())) as store:
        assert (names(store), store.check()["schema_version"], healthy(store)) == (["Ana"], str(LATEST), True)
    assert not list(tmp_path.glob("*.unfinished*"))


def test_an_upgrade_of_several_steps_makes_one_copy(tmp_path: Path) -> None:
    path = old_store(tmp_path / "memory.db")
    opened(path, (*packaged(), NEXT, AFTER)).close()
    assert [each.name for each in tmp_path.glob("*schema*")] == [COPY]
    last = Migration(AFTER.version + 1, "last", "CREATE TABLE last (a TEXT);")
    opened(path, (*packaged(), NEXT, AFTER, last)).close()
    assert len(list(tmp_path.glob("*schema*"))) == 2, "the next upgrade makes its own"


def test_a_copy_is_never_overwritten(tmp_path: Path) -> None:
    path = old_store(tmp_path / "memory.db")
    taken = tmp_path / COPY
    taken.write_text("keep me")
    opened(path, (*packaged(), NEXT)).close()
    assert taken.read_text() == "keep me"
    assert (tmp_path / f"{COPY}-2").is_file()


def test_a_new_store_leaves_no_copy(tmp_path: Path) -> None:
    opened(tmp_path / "memory.db", (*packaged(), NEXT)).close()
    assert [each.name for each in tmp_path.iterdir()] == ["memory.db"]


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(opened(path, packaged())) as store:
        entity(store, 1, "Ana")
    with pytest.raises(StoreError):
        opened(path, (*packaged(), BROKEN))
    with closing(opened(path, packaged())) as store:
        assert (names(store), store.check()["schema_version"], healthy(store)) == (["Ana"], str(LATEST), True)


def test_each_step_is_recorded_with_its_time(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    opened(path, (*packaged(), NEXT)).close()
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT version, name, applied_at FROM migrations").fetchall()
        (mark,) = database.execute("PRAGMA application_id").fetchone()
    assert rows == [(each.version, each.name, 5) for each in (*packaged(), NEXT)]
    assert mark == int.from_bytes(b"EVOC", "big")


RACE = """
import sys
from pathlib import Path
from evoca.domain.clock import SystemClock
from evoca.domain.graph import NewEntity
from evoca.storage.migration import Migration
from evoca.storage.sqlite.migrations import packaged
from evoca.storage.sqlite.opening import SqliteOptions
from evoca.storage.sqlite.store import SqliteStore
path, me, *extra = sys.argv[1:]
migrations = [*packaged(), *(Migration(int(v), n, s) for v, n, s in zip(extra[::3], extra[1::3], extra[2::3]))]
import apsw, Stemmer
print("ready", flush=True)
input()
store = SqliteStore(Path(path), SystemClock(), SqliteOptions(migrations=migrations))
for n in range(20):
    store.write(lambda s: s.entities.insert(1, [NewEntity(f"{me}-{n}", "t")], 1))
assert len(store.read(lambda s: s.entities.page(1))) >= 20
store.close()
print("done")
"""


def with_edges(path: Path) -> Path:
    """A store of schema 3, as it was before facts: a relation, an ended one and a literal."""
    with closing(opened(path, packaged()[:3])):
        pass
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            """
            INSERT INTO entities (id, collection_id, name, entity_type, status, folded, created_at, updated_at)
            VALUES (1, 1, 'Ana', 'Persona', 'activo', 1, 1, 1), (2, 1, 'Lugo', 'Lugar', 'activo', 2, 1, 1);
            INSERT INTO documents
                (id, collection_id, owner_kind, owner_id, entity_id, begin, size, more, language, words)
            VALUES (1, 1, 1, 1, 1, 0, 13, 0, 0, 0), (2, 1, 1, 2, 2, 0, 12, 0, 0, 0);
            INSERT INTO edges (id, collection_id, subject_id, predicate, object_id, value, active, created_at, ended_at)
            VALUES (3, 1, 1, 'vive_en', 2, NULL, 1, 2, NULL), (4, 1, 1, 'visita', 2, NULL, 0, 2, 3),
                (5, 1, 1, 'edad', NULL, '42', 1, 2, NULL);
            UPDATE counters SET value = 6 WHERE name = 'items';
            """
        )
        database.commit()
    return path


def test_edges_of_before_facts_are_facts(tmp_path: Path) -> None:
    with closing(opened(with_edges(tmp_path / "memory.db"), packaged())) as store:
        facts = store.read(lambda s: s.facts.by_ids([3, 4, 5]))
        assert [(row.object, row.value, row.active) for row in facts.values()] == [
            ("Lugo", None, True),
            ("Lugo", None, False),
            (None, "42", True),
        ]
        assert [row.id for row in store.read(lambda s: s.facts.changes(0)).rows] == [3, 4, 5]
        store.write(lambda s: s.entities.rename(1, "Nuria", 9))
        store.write(lambda s: s.facts.delete([5]))
        assert store.read(lambda s: s.documents.texts([3, 4])) == {}
        assert store.read(lambda s: s.facts.waiting()) == 2
        assert [store.write(lambda s: s.facts.index_waiting(1)) for _ in range(3)] == [1, 1, 0]
        assert store.read(lambda s: s.documents.texts([3, 4])) == {3: "Nuria vive en Lugo", 4: "Nuria visita Lugo"}
        store.write(lambda s: s.entities.delete([1]))
        assert healthy(store)


@pytest.mark.parametrize("age", ["missing", "empty", "old", "before facts"])
def test_six_processes_may_open_migrate_and_write_at_once(tmp_path: Path, age: str) -> None:
    path = tmp_path / "memory.db"
    if age == "empty":
        path.touch()
    if age == "old":
        old_store(path, ["Ana"])
    if age == "before facts":
        with_edges(path)
    steps = [str(part) for step in (NEXT, AFTER) for part in (step.version, step.name, step.sql)]
    outputs = race(RACE, [[str(path), f"p{n}", *steps] for n in range(6)])
    assert outputs == [["done"]] * 6
    with closing(SqliteStore(path, SystemClock(), SqliteOptions(migrations=(*packaged(), NEXT, AFTER)))) as store:
        known = {"old": {"Ana"}, "before facts": {"Ana", "Lugo"}}.get(age, set[str]())
        expected = {f"p{p}-{n}" for p in range(6) for n in range(20)} | known
        assert set(names(store)) == expected
        assert len(names(store)) == len(expected)
        assert healthy(store)
        waiting = store.read(lambda s: s.facts.waiting())
        assert waiting == (3 if age == "before facts" else 0)
    copies = [each.name for each in tmp_path.iterdir() if ".schema-" in each.name]
    assert copies == {"old": [COPY], "before facts": ["memory.db.schema-3.backup"]}.get(age, [])
