"""An event store in one SQLite file per scope.

Every writer holds one ``flock`` around ``BEGIN IMMEDIATE … COMMIT``. Checkpoints happen only under that lock, closing a
connection included (SQLite before 3.51.3 has a race between a checkpoint and a writer that corrupts), and
``synchronous=FULL`` makes a commit durable before it is acknowledged.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from ledger_core.kernel.errors import CollisionError, StoreError
from ledger_core.kernel.statements import FAMILIES, LogFamily, Scope, Statement
from ledger_core.stores.files import LOCK_WAIT_SECONDS, FileLock, make_directories, storage_errors, sync_directory
from ledger_core.stores.formats import FORMAT_VERSION
from ledger_core.stores.groups import Group, GroupResult, append_each
from ledger_core.stores.index import Index
from ledger_core.stores.memory import empty_head
from ledger_core.stores.protocols import BlobStore, Collision, Delivery, IndexedRow, Outcome, StoredEvent
from ledger_core.stores.rows import (
    COLUMNS,
    INDEXED,
    PAGE,
    WRITTEN,
    IndexColumns,
    head_errors,
    index_errors,
    number,
    stored,
    written,
)
from ledger_core.stores.rules import Tail, append_all, require_empty
from ledger_core.stores.sqlite_files import APPLICATION_ID, check_format, connect, sqlite_errors, upgrade

_INSERT = f"INSERT INTO events ({WRITTEN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - constants
_SET_HEAD = "UPDATE heads SET committed_offset = ?, chain = ?, recorded_at = ? WHERE family = ?"
_FIRST_HEAD = "INSERT INTO heads (committed_offset, chain, recorded_at, family) VALUES (?, ?, ?, ?)"
_CHECKPOINT_PAGES = 4_000


class SqliteEventStore:
    """The log of one scope in ``ledger.sqlite3`` under ``folder``."""

    def __init__(self, folder: Path, scope: Scope, blobs: BlobStore, wait_seconds: float = LOCK_WAIT_SECONDS) -> None:
        """Open or create the file; raises :class:`LedgerVersionError` for a file of another format."""
        self.scope = scope
        self._blobs = blobs
        self._path = folder / "ledger.sqlite3"
        self._log = f"{self._path}-wal"
        self._lock = FileLock(folder / "ledger.lock", wait_seconds)
        self._threads = threading.RLock()
        self._log_is_named = False
        self._ends: _Ends | None = None
        if not self._path.exists():
            with storage_errors(folder):
                make_directories(folder)
        with sqlite_errors(self._path):
            self._connection = connect(self._path)
            try:
                self._bring_up_to_date()
            except BaseException:
                self._connection.close()
                raise
        self._finalizer = weakref.finalize(self, _close, self._connection, self._lock)

    def _bring_up_to_date(self) -> None:
        if check_format(self._connection, self._path) == FORMAT_VERSION:
            return
        with self._lock.held():
            found = check_format(self._connection, self._path)
            if found == 0:
                self._create()
            elif found < FORMAT_VERSION:
                upgrade(self._path, found)

    def _create(self) -> None:
        self._connection.execute("PRAGMA journal_mode=WAL")
        schema = resources.files("ledger_core.stores").joinpath("schema.sql").read_text(encoding="utf-8")
        self._connection.executescript(
            f"BEGIN IMMEDIATE; {schema}"
            f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={FORMAT_VERSION}; COMMIT;"
        )
        with storage_errors(self._path):
            sync_directory(self._path.parent)

    def append(self, statements: Sequence[Statement], delivery: Delivery) -> tuple[Outcome, ...]:
        """See :meth:`EventStore.append`."""
        try:
            with self._transaction() as transaction:
                return append_all(transaction, statements, delivery, scope=self.scope, blobs=self._blobs)
        except CollisionError as error:
            with self._transaction() as transaction:
                transaction.keep(Collision(error.source_fact_id, error.held, error.refused, delivery.received_at))
            raise

    def append_groups(self, groups: Sequence[Group]) -> tuple[GroupResult, ...]:
        """See :meth:`GroupStore.append_groups`."""
        with self._transaction() as transaction:
            return append_each(transaction, groups, transaction.keep, scope=self.scope, blobs=self._blobs)

    def adopt(self, events: Iterable[StoredEvent], collisions: Iterable[Collision]) -> None:
        """See :meth:`EventStore.adopt`."""
        with self._transaction() as transaction:
            require_empty(transaction)
            for event in events:
                transaction.add(event)
            for collision in collisions:
                transaction.keep(collision)

    @contextmanager
    def _transaction(self) -> Iterator[_Transaction]:
        with self._threads, self._lock.held(), sqlite_errors(self._path):
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._name_log()
                transaction = _Transaction(connection, self._ends_now())
                yield transaction
                transaction.write()
                connection.execute("COMMIT")
                self._ends = transaction.ends()
            except BaseException:
                self._ends = None
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            self._checkpoint_when_long()

    def _ends_now(self) -> _Ends:
        """What the last transaction left, unless another connection has written since; in a transaction of ours none can."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        if self._ends is None or self._ends.version != version:
            return _Ends(version)
        return self._ends

    def _name_log(self) -> None:
        """Make the name of the write-ahead log durable, once: SQLite does so as well, but tells nobody where it fails."""
        if not self._log_is_named:
            with storage_errors(self._path):
                sync_directory(self._path.parent)
            self._log_is_named = True

    def _checkpoint_when_long(self) -> None:
        try:
            long = os.stat(self._log).st_size > _CHECKPOINT_PAGES * 4096  # noqa: PTH116 - at every commit: no time for paths
        except FileNotFoundError:
            return
        if long:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._threads, sqlite_errors(self._path):
            return self._connection.execute(query, values).fetchall()

    def events(self, family: LogFamily, after: int = 0) -> Iterator[StoredEvent]:
        """See :meth:`EventStore.events`."""
        for page in self.pages(family, after):
            yield from map(stored, page)

    def pages(self, family: LogFamily, after: int = 0) -> Iterator[Sequence[IndexedRow]]:
        """See :meth:`EventStore.pages`: no read transaction outlives a call."""
        while rows := self._rows(
            f"SELECT {INDEXED} FROM events WHERE family = ? AND committed_offset > ?"  # noqa: S608 - constants
            " ORDER BY committed_offset LIMIT ?",
            family,
            after,
            PAGE,
        ):
            yield rows
            if number(rows[-1][2]) <= after:
                raise StoreError(f"{self._path} is damaged: its order of {family} events leads in a circle")
            after = rows[-1][2]

    def event(self, event_id: str) -> StoredEvent | None:
        """See :meth:`EventStore.event`."""
        with self._threads, sqlite_errors(self._path):
            return _Transaction(self._connection).event(event_id)

    def head(self, family: LogFamily) -> str:
        """See :meth:`EventStore.head`."""
        with self._threads, sqlite_errors(self._path):
            transaction = _Transaction(self._connection)
            tail = transaction.tail(family)
            if tail is not None:
                return tail.chain
            genesis = transaction.genesis()
        return empty_head(() if genesis is None else (genesis,), family)

    def count(self, family: LogFamily) -> int:
        """See :meth:`EventStore.count`."""
        tail = self._tail(family)
        return 0 if tail is None else tail.offset

    def _tail(self, family: LogFamily) -> Tail | None:
        with self._threads, sqlite_errors(self._path):
            return _Transaction(self._connection).tail(family)

    def _columns(self, event_ids: Sequence[str]) -> dict[str, IndexColumns]:
        rows = self._rows(
            "SELECT event_id, family, committed_offset, kind, source_fact_id FROM json_each(?)"
            " JOIN events ON event_id = value",
            json.dumps(event_ids),
        )
        return {row[0]: row[1:] for row in rows}

    def policy_head(self) -> StoredEvent | None:
        """See :meth:`EventStore.policy_head`."""
        with self._threads, sqlite_errors(self._path):
            return _Transaction(self._connection).policy_head()

    def collisions(self) -> tuple[Collision, ...]:
        """See :meth:`EventStore.collisions`."""
        with self._threads, sqlite_errors(self._path):
            rows = self._connection.execute(
                "SELECT source_fact_id, held, refused, received_at FROM collisions ORDER BY rowid"
            ).fetchall()
        return tuple(Collision(*row) for row in rows)

    def index_errors(self, *, compared: bool = False) -> Iterator[tuple[LogFamily, int, str]]:
        """See :meth:`EventStore.index_errors`."""
        # Of a sound file every index leads to the rows as they are; where one does not, the look at each says which.
        if not (compared and self._integrity() == "ok"):
            yield from index_errors(self.pages, self._columns, self._tail)
            finding = self._integrity()
            if finding != "ok":
                raise StoreError(f"{self._path} is damaged: {finding}; restore a backup")
            return
        for family in FAMILIES:
            end = self._tail(family)
            last = None if end is None else next(self.pages(family, end.offset - 1), [None])[-1]
            yield from head_errors(family, last, end)

    def _integrity(self) -> str:
        """What SQLite itself says of the file: ``ok``, or the first thing that is wrong."""
        ((finding,),) = self._rows("PRAGMA integrity_check(1)")
        return str(finding)

    def close(self) -> None:
        """Checkpoint and close, under the lock; closing twice is harmless."""
        self._finalizer()


def _close(connection: sqlite3.Connection, lock: FileLock) -> None:
    # The last connection to close checkpoints by itself: that, too, only under the lock. Without the lock no checkpoint
    # can happen either: the place is read-only, or a writer is at work and its connection outlives this one.
    with suppress(StoreError), lock.held():
        connection.close()
    connection.close()


@dataclass(frozen=True, slots=True)
class _Ends:
    """What every append asks for: the genesis, the policy in force, and where the logs end."""

    version: int
    """SQLite's number for what other connections had committed when it was asked."""
    marks: Mapping[str, StoredEvent] = field(default_factory=dict)
    tails: Mapping[LogFamily, Tail] = field(default_factory=dict)


class _Transaction:
    """Lookups on a connection, and what was added since, which lies in memory until it is written in one go."""

    def __init__(self, connection: sqlite3.Connection, ends: _Ends | None = None) -> None:
        self._connection = connection
        self._pending = Index()
        self._version = -1 if ends is None else ends.version
        self._marks = {} if ends is None else dict(ends.marks)
        """The genesis and the policy in force, as far as they were asked for: who holds the lock sees no other writer's."""
        self._tails = {} if ends is None else dict(ends.tails)

    def _one(self, condition: str, *values: object) -> StoredEvent | None:
        query = f"SELECT {COLUMNS} FROM events WHERE {condition} LIMIT 1"  # noqa: S608 - conditions are constants
        row = self._connection.execute(query, values).fetchone()
        return None if row is None else stored(row)

    def _mark(self, kind: str, condition: str) -> StoredEvent | None:
        if kind not in self._marks:
            found = self._one(condition)
            if found is None:
                return None
            self._marks[kind] = found
        return self._marks[kind]

    def ends(self) -> _Ends:
        """What there is once this transaction is committed."""
        tails = {family: tail for family in FAMILIES if (tail := self._pending.tail(family)) is not None}
        return _Ends(self._version, self._marks | dict(self._pending.marks), self._tails | tails)

    def event(self, event_id: str) -> StoredEvent | None:
        return self._pending.event(event_id) or self._one("event_id = ?", event_id)

    def kind(self, event_id: str) -> str | None:
        pending = self._pending.kind(event_id)
        if pending is not None:
            return pending
        row = self._connection.execute("SELECT kind FROM events WHERE event_id = ?", (event_id,)).fetchone()
        return None if row is None else str(row[0])

    def current(self, source_fact_id: str) -> StoredEvent | None:
        return self._pending.current(source_fact_id) or self._one(
            "source_fact_id = ? ORDER BY committed_offset DESC", source_fact_id
        )

    def genesis(self) -> StoredEvent | None:
        return self._pending.genesis() or self._mark("ledger.genesis", "family = 'control' AND committed_offset = 1")

    def policy_head(self) -> StoredEvent | None:
        return self._pending.policy_head() or self._mark(
            "policy.activated", "family = 'control' AND kind = 'policy.activated' ORDER BY committed_offset DESC"
        )

    def tail(self, family: LogFamily) -> Tail | None:
        pending = self._pending.tail(family)
        if pending is not None:
            return pending
        if family not in self._tails:
            query = "SELECT committed_offset, chain, recorded_at FROM heads WHERE family = ?"
            row = self._connection.execute(query, (family,)).fetchone()
            if row is None:
                return None
            self._tails[family] = Tail(*row)
        return self._tails[family]

    def add(self, event: StoredEvent) -> None:
        self._pending.add(event)

    @property
    def added(self) -> list[StoredEvent]:
        """What was added, in order."""
        return self._pending.added

    def write(self) -> None:
        """Send what was added, and the heads that it makes."""
        rows = [written(event) for event in self.added]
        if len(rows) == 1:
            self._connection.execute(_INSERT, rows[0])
        elif rows:
            self._connection.executemany(_INSERT, rows)
        for event in {event.family: event for event in self.added}.values():
            head = (event.offset, event.chain, event.receipt.recorded_at, event.family)
            if not self._connection.execute(_SET_HEAD, head).rowcount:
                self._connection.execute(_FIRST_HEAD, head)

    def keep(self, collision: Collision) -> None:
        self._connection.execute(
            "INSERT OR IGNORE INTO collisions (refused, held, source_fact_id, received_at) VALUES (?, ?, ?, ?)",
            (collision.refused, collision.held, collision.source_fact_id, collision.received_at),
        )
