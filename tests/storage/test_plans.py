"""What a call costs must not grow with the store: hot statements use indexes."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Protocol, cast

import apsw

from evoca.domain.clock import SystemClock
from evoca.storage import ledger, open_store, repositories
from evoca.storage.sqlite import indexes
from evoca.storage.sqlite.statements import statement

STATEMENT = re.compile(r"\s*(SELECT|UPDATE|DELETE)\s")
WHOLE = {
    "_AWAIT_ALL": "a new model looks at every document",
    "_COUNTS": "for reports",
    "_FLAGGED": "for reports",
    "_COUNT": "counts of observations and edges are for reports",
    "_FREE": "stops at its limit",
    "_READY": "the same",
    "_WAITING": "the same",
    "_WAITING_COUNT": "a table that is emptied once",
    "_PENDING": "pending work is short, or being worked off",
    "_RELEASE": "the same",
    "_REST": "models are few",
    "_ACTIVE_MODELS": "models are few",
    "collections._ALL": "collections are few",
    "collections._DOCUMENTS": "of a collection that is deleted",
    "collections._KEYS": "keys are few",
    "outgoing._EDGE": "the head of other statements",
}
"""Statements that may read a whole table, and why."""
APART = {"keys": "keys are few", "rows": "copies read everything, some of it on PostgreSQL alone"}
"""Modules whose statements may do so, and why."""


class _Explains(Protocol):
    def execute(self, statements: str, bindings: object, /) -> Iterable[Sequence[object]]: ...


def modules() -> Iterator[ModuleType]:
    yield from (ledger, indexes)
    for found in pkgutil.iter_modules(repositories.__path__):
        if found.name in APART:
            continue
        yield importlib.import_module(f"{repositories.__name__}.{found.name}")


def statements() -> Iterator[tuple[str, str]]:
    for module in modules():
        for name, value in vars(module).items():
            if (
                isinstance(value, str)
                and name.isupper()
                and not name.lstrip("_").startswith("SELECT")
                and re.match(r"\s*(SELECT|UPDATE|DELETE)\s", value)
            ):
                short = f"{module.__name__.rpartition('.')[2]}.{name}"
                yield short if short in WHOLE else name, value


def test_hot_statements_scan_no_table(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    open_store(path, SystemClock()).close()
    scans: dict[str, list[str]] = {}
    with closing(apsw.Connection(str(path))) as opened:
        for name, sql in statements():
            names = set(re.findall(r":(\w+)", sql))
            values = dict.fromkeys(names) if names else (None,) * sql.count("?")
            plan = [
                str(row[3])
                for row in cast(_Explains, opened).execute(f"EXPLAIN QUERY PLAN {statement(sql).text}", values)
            ]
            found = [step for step in plan if re.match(r"SCAN (?!json_each|e VIRTUAL|\w+ VIRTUAL|CONSTANT)", step)]
            if found and name not in WHOLE:
                scans[name] = found
    assert scans == {}
    assert len(list(statements())) > 40


def test_deleting_finds_what_refers_to_it_by_an_index(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    open_store(path, SystemClock()).close()
    missing: list[str] = []
    with closing(sqlite3.connect(path)) as opened:
        tables = [name for (name,) in opened.execute("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE TABLE%'")]
        for table in tables:
            indexed = {column for _, column, key in _columns(opened, table) if key == 1}
            for index in opened.execute(f"PRAGMA index_list({table})").fetchall():
                indexed.add(opened.execute(f"PRAGMA index_info({index[1]})").fetchone()[2])
            for key in opened.execute(f"PRAGMA foreign_key_list({table})").fetchall():
                parent, column = key[2], key[3]
                # Collections and models are few and rarely deleted.
                if parent not in {"collections", "models"} and column not in indexed:
                    missing.append(f"{table}.{column}")
    assert missing == []


def _columns(database: sqlite3.Connection, table: str) -> list[tuple[int, str, int]]:
    """(place, name, place in the primary key) of each column."""
    return [(row[0], row[1], row[5]) for row in database.execute(f"PRAGMA table_info({table})")]
