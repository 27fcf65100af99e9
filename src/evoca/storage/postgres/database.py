"""One connection as the repositories use it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, LiteralString, cast

import psycopg
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper, StrDumperUnknown

from evoca.errors import EvocaError, InvalidInput
from evoca.storage.connection import Row, Value
from evoca.storage.postgres.faults import Lost, away, first_line, not_connected, translated
from evoca.storage.postgres.location import Location
from evoca.storage.postgres.statements import Untyped, statement

if TYPE_CHECKING:
    from psycopg.abc import Buffer

_COPY_FROM = 4
"""So many rows are worth a COPY."""
_STATEMENTS = 500
_SESSION = """
SET search_path = {schema}, public;
SET jit = off;
SET synchronous_commit = on;
SET timezone = 'UTC';
SET idle_in_transaction_session_timeout = '60s';
SET lock_timeout = '{lock_timeout}ms'
"""
_KEEPALIVES = {
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}


class _WholeNumber(Loader):
    """`numeric`, which sums are, as int where it is one."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return int(text) if text.removeprefix(b"-").isdigit() else float(text)


class Database:
    """A connection that speaks in `evoca.errors`. For one thread at a time.

    Transactions are begun and ended by statements of the engine's own, never by psycopg.
    """

    def __init__(self, location: Location, patience: float, connect_timeout: float) -> None:
        self.location = location.shown
        settings = {
            "connect_timeout": str(max(2, round(connect_timeout))),
            "application_name": "evoca",
            "client_encoding": "UTF8",
            **_KEEPALIVES,
        }
        try:
            self._connection = psycopg.connect(_conninfo(location.url, settings), autocommit=True)
        except psycopg.Error as fault:
            raise not_connected(fault, self.location) from None
        adapters = self._connection.adapters
        adapters.register_dumper(int, Int8Dumper)
        adapters.register_dumper(str, StrDumper)
        adapters.register_dumper(Untyped, StrDumperUnknown)
        adapters.register_loader("numeric", _WholeNumber)
        self._connection.prepare_threshold = 3
        self._connection.prepared_max = _STATEMENTS
        self.command(_SESSION.format(schema=location.schema, lock_timeout=max(1, round(patience * 1000))))

    # -- what repositories use -------------------------------------------------------------------

    def select(self, sql: str, values: Mapping[str, Value], shape: type[Row]) -> list[Row]:  # noqa: ARG002 -- for types
        known = statement(sql)
        try:
            cursor = self._connection.execute(known.text, known.bound(values), binary=known.binary)
            return cast(list[Row], cursor.fetchall())
        except psycopg.Error as fault:
            raise self._translated(fault) from fault
        except UnicodeEncodeError as fault:
            raise _unwritable(fault) from fault

    def run(self, sql: str, values: Mapping[str, Value]) -> None:
        known = statement(sql)
        try:
            self._connection.execute(known.text, known.bound(values))
        except psycopg.Error as fault:
            raise self._translated(fault) from fault
        except UnicodeEncodeError as fault:
            raise _unwritable(fault) from fault

    def run_many(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        known, listed = statement(sql), list(rows)
        if not listed:
            return
        try:
            with self._connection.cursor() as cursor:
                if known.copy and len(listed) >= _COPY_FROM:
                    with cursor.copy(known.copy) as copy:
                        for row in listed:
                            copy.write_row(row)
                else:
                    cursor.executemany(known.text, listed)
        except psycopg.Error as fault:
            raise self._translated(fault) from fault
        except UnicodeEncodeError as fault:
            raise _unwritable(fault) from fault

    # -- what the engine uses --------------------------------------------------------------------

    def command(self, sql: str) -> None:
        """Run statements without parameters and results."""
        try:
            self._connection.execute(cast(LiteralString, sql), prepare=False)
        except psycopg.Error as fault:
            raise self._translated(fault) from fault

    def number(self, sql: str) -> int:
        """The one integer that the statement gives."""
        return self.select(sql, {}, tuple[int])[0][0]

    @property
    def broken(self) -> bool:
        """Whether the connection is of no more use."""
        return self._connection.closed

    @property
    def in_transaction(self) -> bool:
        return self._connection.info.transaction_status in {TransactionStatus.INTRANS, TransactionStatus.INERROR}

    @property
    def server_version(self) -> int:
        """180006 for 18.6."""
        return self._connection.info.server_version

    def roll_back(self) -> None:
        """End the transaction, if there is one. A connection that fails at it is closed."""
        if self.broken or self._connection.info.transaction_status == TransactionStatus.IDLE:
            return
        try:
            self._connection.execute("ROLLBACK", prepare=False)
        except psycopg.Error:
            self.close()

    def close(self) -> None:
        with contextlib.suppress(psycopg.Error):
            self._connection.close()

    def _translated(self, fault: psycopg.Error) -> EvocaError:
        error = away(self.location, first_line(fault)) if self.broken else translated(fault, self.location)
        if isinstance(error, Lost):
            self.close()
        return error


def _conninfo(url: str, settings: Mapping[str, str]) -> str:
    """The URL with the settings that it does not decide itself."""
    decided = conninfo_to_dict(url)
    return make_conninfo(url, **{name: value for name, value in settings.items() if name not in decided})


def _unwritable(fault: UnicodeEncodeError) -> InvalidInput:
    return InvalidInput(f"A text holds half a character, which cannot be stored: {fault.reason}.")
