"""A step of the schema, and where the steps of an engine are."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Migration:
    """A step of the schema. `sql` may use `:now`, microseconds since 1970."""

    version: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def numbered(folder: Path) -> tuple[Migration, ...]:
    """The migrations in a folder of files such as `0001_foundation.sql`, in order."""
    found = [
        Migration(int(path.stem[:4]), path.stem[5:], path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    ]
    return tuple(found)
