"""A connection to PostgreSQL that comes back after the server went away, and its refusals as the ledger's errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ledger_core.kernel.errors import (
    LedgerBusyError,
    LedgerVersionError,
    StorageFullError,
    StoreError,
    StoreUnreachableError,
)
from ledger_core.stores.formats import FORMAT_VERSION, check_version, migrate, revision_of

_T = TypeVar("_T")
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 0.5
_IDLE_IN_TRANSACTION = "60s"
"""A writer that hangs in the middle of a transaction holds its scope's row for no longer."""

_KEEPALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""Notice within half a minute that the host of the server is gone (seconds, milliseconds)."""

_SCHEMA_LOCK = 0x56455254
"""Key of the advisory lock under which the tables are created and migrated."""

_BUSY = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)
_UNWRITABLE = (errors.InsufficientResources, errors.ReadOnlySqlTransaction, errors.InsufficientPrivilege)

_LOST = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.ConnectionException)


def is_postgres(store: str) -> bool:
    """Whether ``store`` is written as a PostgreSQL address."""
    return store.startswith(("postgresql://", "postgres://"))


class Link:
    """One connection at a time to one database."""

    def __init__(self, address: str, wait_seconds: float) -> None:
        """``address`` is a libpq URL; ``wait_seconds`` bounds each wait: for a lock, and for a server that went away."""
        self._address = address
        self._wait_seconds = wait_seconds
        self._connection: psycopg.Connection | None = None
        self.name = _name(address)
        """The address without its password, for messages."""

    def run(self, act: Callable[[psycopg.Connection], _T]) -> _T:
        """``act`` on a live connection, again where that broke meanwhile: ``act`` must bear being repeated.

        Raises:
            LedgerBusyError, StorageFullError, StoreUnreachableError, StoreError: see the messages.
        """
        deadline = time.monotonic() + self._wait_seconds
        while True:
            connection = self._connected(deadline)
            try:
                with self._typed():
                    return act(connection)
            except StoreUnreachableError:
                self.close()
                if time.monotonic() >= deadline:
                    raise

    def _connected(self, deadline: float) -> psycopg.Connection:
        if self._connection is not None and not self._connection.closed:
            return self._connection
        # A first connection that fails is a wrong address; a later one is a server that restarts.
        known, pause = self._connection is not None, _FIRST_PAUSE
        while True:
            try:
                self._connection = self._connect()
            except psycopg.OperationalError as error:
                if not known or time.monotonic() + pause >= deadline:
                    raise StoreUnreachableError(
                        f"{self.name} does not answer: {_one_line(error)}; start the server, or check --store"
                    ) from error
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                return self._connection

    def _connect(self) -> psycopg.Connection:
        patience = max(2, int(self._wait_seconds))
        address = make_conninfo(self._address, connect_timeout=patience, **_KEEPALIVE)
        connection = psycopg.connect(address, autocommit=True, client_encoding="UTF8")
        connection.execute(
            "SELECT set_config('lock_timeout', %s, false),"
            " set_config('idle_in_transaction_session_timeout', %s, false),"
            " set_config('synchronous_commit', 'on', false)",
            (f"{int(self._wait_seconds * 1000)}ms", _IDLE_IN_TRANSACTION),
        )
        return connection

    @contextmanager
    def _typed(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise self._translated(error) from error

    def _translated(self, error: psycopg.Error) -> StoreError:
        said = _one_line(error)
        if isinstance(error, _BUSY):
            return LedgerBusyError(
                f"another writer holds this ledger in {self.name} for more than {self._wait_seconds:g} s; "
                "wait for it to finish and run the command again"
            )
        if isinstance(error, _UNWRITABLE):
            return StorageFullError(f"cannot write {self.name}: {said}; free space, or grant the right to write")
        if isinstance(error, errors.UndefinedTable):
            return LedgerVersionError(f"{self.name} holds no ledgers of this program: {said}; open it for writing once")
        lost = self._connection is None or self._connection.closed
        if lost or isinstance(error, _LOST):
            return StoreUnreachableError(f"{self.name} went away: {said}; start the server and run the command again")
        return StoreError(f"{self.name} does not work as a store: {said}")

    def bring_up_to_date(self) -> None:
        """Create or migrate the tables where they are not of this program's version; raises :class:`LedgerVersionError`."""
        if self.version() != FORMAT_VERSION:
            self._upgrade()

    def version(self) -> int:
        """Version of the tables, 0 where there are none; raises :class:`LedgerVersionError` for newer ones."""
        found = self.run(_version)
        check_version(self.name, found)
        return found

    def _upgrade(self) -> None:
        from sqlalchemy import NullPool, create_engine
        from sqlalchemy.exc import DBAPIError

        engine = create_engine("postgresql+psycopg://", creator=self._connect_for_migration, poolclass=NullPool)
        try:
            with engine.begin() as connection:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_SCHEMA_LOCK})")
                raw = connection.connection.driver_connection
                assert isinstance(raw, psycopg.Connection), "the engine was given this driver"
                found = _version(raw)
                check_version(self.name, found)
                migrate(connection, found)
                connection.exec_driver_sql(
                    "CREATE TABLE IF NOT EXISTS ledger_version (version_num VARCHAR(32) PRIMARY KEY)"
                )
                connection.exec_driver_sql("DELETE FROM ledger_version")
                connection.exec_driver_sql("INSERT INTO ledger_version VALUES (%s)", (revision_of(FORMAT_VERSION),))
        except DBAPIError as error:
            if isinstance(error.orig, psycopg.Error):
                raise self._translated(error.orig) from error
            raise

    def _connect_for_migration(self) -> psycopg.Connection:
        return psycopg.connect(self._address, client_encoding="UTF8")

    def close(self) -> None:
        """Give the connection back; the next use makes another."""
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()


def _version(connection: psycopg.Connection) -> int:
    """Version of the tables; 0 where there are none."""
    (table,) = connection.execute("SELECT to_regclass('ledger_version')").fetchone() or (None,)
    if table is None:
        return 0
    row = connection.execute("SELECT version_num FROM ledger_version").fetchone()
    if row is None:
        return 0
    if not str(row[0]).isdigit():
        raise LedgerVersionError(
            f"the tables of this database are of version {row[0]!r}, which is another program's; choose another database"
        )
    return int(row[0])


def _name(address: str) -> str:
    """``address`` as host, database and user."""
    try:
        parts = conninfo_to_dict(address)
    except psycopg.ProgrammingError as error:
        raise StoreError(f"--store is no PostgreSQL address: {_one_line(error)}") from error
    return f"postgresql://{parts.get('host') or 'localhost'}/{parts.get('dbname') or parts.get('user') or ''}"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
