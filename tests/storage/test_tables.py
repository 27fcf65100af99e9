"""The list of tables is what the engines have: a table that is missing there would be missing in every copy."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg

from evoca.domain.clock import FrozenClock
from evoca.storage import open_store
from evoca.storage.postgres.location import parse
from evoca.storage.tables import TABLES
from tests.support.engines import POSTGRES, Servers

LEFT_OUT = {
    "migrations": "each engine has its own",
    "counters": "moved by name, not as rows",
    "document_changes": "readers of a copy begin with everything",
    "tombstones": "readers of a copy begin with everything",
    "writers": "which transaction of a process on PostgreSQL was the last",
    "text_index": "made anew",
    "substring_index": "made anew",
    "sqlite_sequence": "SQLite's own",
    "sqlite_stat1": "SQLite's own",
}
EXPECTED = {table.name: set(table.columns) for table in TABLES}


def test_every_table_and_column_of_sqlite_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    open_store(path, FrozenClock(1)).close()
    with closing(sqlite3.connect(path)) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        kept = [name for name in names if not left_out(name)]
        found = {name: {row[1] for row in database.execute(f"PRAGMA table_info({name})")} for name in kept}
    assert found == EXPECTED


def left_out(name: str) -> bool:
    """Also the tables that SQLite keeps a full text index in, `text_index_data` and the like."""
    return name in LEFT_OUT or name.startswith(("text_index_", "substring_index_"))


def test_every_table_and_column_of_postgres_is_listed(servers: Servers, tmp_path: Path) -> None:
    with servers.place(POSTGRES, tmp_path) as url:
        open_store(url, FrozenClock(1)).close()
        location = parse(url)
        with psycopg.connect(location.url) as connection:
            rows = connection.execute(
                "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = %s",
                [location.schema],
            ).fetchall()
    found: dict[str, set[str]] = {}
    for table, column in rows:
        found.setdefault(table, set()).add(column)
    assert {name: columns for name, columns in found.items() if name not in LEFT_OUT} == EXPECTED


def test_keys_come_first_and_nothing_twice() -> None:
    for table in TABLES:
        assert len(set(table.columns)) == len(table.columns)
        assert table.columns[: len(table.key)] == table.key
