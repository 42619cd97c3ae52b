"""SQLite as a file format: connections, format version, and its refusals as the ledger's errors."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger_core.kernel.errors import LedgerBusyError, LedgerVersionError, StorageFullError, StoreError
from ledger_core.stores.formats import FORMAT_VERSION, check_version, migrate

APPLICATION_ID = 0x56455254
"""``VERT``: marks the file as a ledger of ours."""

_BUSY_SECONDS = 5.0
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_UNWRITABLE = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM})


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's refusals on ``path`` into the ledger's errors."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise StoreError(f"{path} does not work as a ledger: its schema is damaged; restore a backup") from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0)
        if code & 0xFF in _BUSY:
            raise LedgerBusyError(
                f"another program holds {path} open for writing; close it and run the command again"
            ) from error
        if code & 0xFF in _UNWRITABLE or code == sqlite3.SQLITE_IOERR_WRITE:
            raise StorageFullError(
                f"cannot write {path}: {error}; free space, or choose a writable place with --home"
            ) from error
        raise StoreError(f"{path} does not work as a ledger: {error}; restore a backup") from error


def connect(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode: writable where the folder is, else read-only."""
    connection = sqlite3.connect(
        _uri(path), uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    # Text that is no UTF-8 any more is damage, which verification names by its event: reading must get that far.
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    return connection


def _uri(path: Path) -> str:
    base = path.absolute().as_uri()
    if os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK)):
        return f"{base}?mode=rwc"
    wal = path.with_name(path.name + "-wal")
    # A read-only folder can hold no shared memory for the write-ahead log; without such a log none is needed.
    settled = path.exists() and not (wal.exists() and wal.stat().st_size)
    return f"{base}?immutable=1&mode=ro" if settled else f"{base}?mode=ro"


def marks(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Application, format and number of tables of a file, all of one moment: another process may be making it."""
    connection.execute("BEGIN")
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    finally:
        connection.execute("ROLLBACK")
    return application, version, tables


def check_format(connection: sqlite3.Connection, path: Path) -> int:
    """The format version of the file, 0 while it is empty.

    Raises :class:`LedgerVersionError` for a newer one, and for what is no ledger at all.
    """
    application, version, tables = marks(connection)
    if (application, version, tables) == (0, 0, 0):
        return 0
    if application != APPLICATION_ID:
        raise LedgerVersionError(
            f"{path} is an SQLite file of application {application:#x}, not a ledger ({APPLICATION_ID:#x}); "
            "move it away or choose another --home"
        )
    check_version(path, version)
    return version


def upgrade(path: Path, found: int) -> None:
    """Bring the file from format ``found`` to the present one, whole or not at all; the caller holds the lock."""
    from sqlalchemy import NullPool, create_engine
    from sqlalchemy.exc import DBAPIError

    engine = create_engine("sqlite://", creator=lambda: connect(path), poolclass=NullPool)
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            migrate(connection, found)
            connection.exec_driver_sql(f"PRAGMA user_version={FORMAT_VERSION}")
            connection.commit()
    except DBAPIError as error:
        raise (error.orig or error) from error
