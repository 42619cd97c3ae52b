"""One PostgreSQL transaction under its scope's row lock, as the rules of appending want it."""

# ruff: noqa: S608
# Every part of every query is a constant; values are parameters.

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from ledger_core.kernel.statements import LogFamily, Statement, references
from ledger_core.stores.index import Index
from ledger_core.stores.protocols import Collision, StoredEvent
from ledger_core.stores.rows import COLUMNS, INDEXED, PAGE, WRITTEN, stored, written
from ledger_core.stores.rules import Tail

Key = tuple[str, str]
"""Tenant and project: the first two columns of every key."""

IN_SCOPE = "tenant = %s AND project = %s"
EVENTS = f"SELECT {COLUMNS} FROM events WHERE {IN_SCOPE}"
TAILS = f"SELECT family, committed_offset, chain, recorded_at FROM heads WHERE {IN_SCOPE}"
GENESIS = f"{EVENTS} AND family = 'control' AND committed_offset = 1"
POLICY = f"{EVENTS} AND kind = 'policy.activated' ORDER BY committed_offset DESC LIMIT 1"
PAGE_OF_EVENTS = (
    f"SELECT {INDEXED} FROM events WHERE {IN_SCOPE}"
    f" AND family = %s AND committed_offset > %s ORDER BY committed_offset LIMIT {PAGE}"
)
COLLISIONS = f"SELECT source_fact_id, held, refused, received_at FROM collisions WHERE {IN_SCOPE} ORDER BY ordinal"
INDEX_COLUMNS = (
    "SELECT event_id, family, committed_offset, kind, source_fact_id FROM events"
    f" WHERE {IN_SCOPE} AND event_id = ANY(%s)"
)
SCOPES = "SELECT tenant, project FROM heads WHERE family = 'control'"
_NAMED = "tenant = %(tenant)s AND project = %(project)s"
_LOOK = f"""
    SELECT 'tail', family, '', family, committed_offset, recorded_at, 0, ''::bytea, ''::bytea, chain
        FROM heads WHERE {_NAMED}
    UNION ALL SELECT 'genesis', '', {COLUMNS}
        FROM events WHERE {_NAMED} AND family = 'control' AND committed_offset = 1
    UNION ALL (SELECT 'policy', '', {COLUMNS}
        FROM events WHERE {_NAMED} AND kind = 'policy.activated' ORDER BY committed_offset DESC LIMIT 1)
    UNION ALL SELECT 'event', event_id, {COLUMNS}
        FROM events WHERE {_NAMED} AND event_id = ANY(%(events)s)
    UNION ALL (SELECT DISTINCT ON (source_fact_id) 'current', source_fact_id, {COLUMNS}
        FROM events WHERE {_NAMED} AND source_fact_id = ANY(%(facts)s) ORDER BY source_fact_id, committed_offset DESC)
    UNION ALL SELECT 'kind', event_id, kind, '', 0, '', 0, ''::bytea, ''::bytea, ''
        FROM events WHERE {_NAMED} AND event_id = ANY(%(named)s)
"""
"""All that appending usually asks, in one statement: each one more waits for the server once more."""

_INSERT = f"INSERT INTO events (tenant, project, {WRITTEN}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
_SET_HEAD = (
    "INSERT INTO heads (tenant, project, family, committed_offset, chain, recorded_at) VALUES (%s, %s, %s, %s, %s, %s)"
    " ON CONFLICT (tenant, project, family) DO UPDATE SET committed_offset = EXCLUDED.committed_offset,"
    " chain = EXCLUDED.chain, recorded_at = EXCLUDED.recorded_at"
)
_KEEP = (
    "INSERT INTO collisions (tenant, project, refused, held, source_fact_id, received_at)"
    " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
)


@contextmanager
def transaction(
    connection: psycopg.Connection, key: Key, statements: Sequence[Statement] = ()
) -> Iterator[Transaction]:
    """A transaction that holds the row of the scope ``key``, ready to append ``statements``; rolled back unless committed."""
    try:
        yield Transaction(connection, key, statements)
    finally:
        if connection.info.transaction_status is not TransactionStatus.IDLE:
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")


class Transaction:
    """See :class:`ledger_core.stores.rules.Transaction`; what is added lies in memory until it is written, in one go."""

    def __init__(self, connection: psycopg.Connection, key: Key, statements: Sequence[Statement]) -> None:
        """Take the lock, and fetch in the same round trip what appending ``statements`` will ask for."""
        self._connection = connection
        self._key = key
        self._pending = Index()
        self._event_of: dict[str, StoredEvent | None] = {statement.event_id: None for statement in statements}
        self._current_of: dict[str, StoredEvent | None] = {statement.source_fact_id: None for statement in statements}
        self._kind_of: dict[str, str | None] = {
            reference.event_id: None for statement in statements for reference in references(statement)
        }
        self._tails: dict[LogFamily, Tail] = {}
        self._genesis: StoredEvent | None = None
        self._policy: StoredEvent | None = None
        while not self._lock_and_look():
            connection.execute("INSERT INTO ledgers VALUES (%s, %s) ON CONFLICT DO NOTHING", key)

    def _lock_and_look(self) -> bool:
        """Whether there is a row to lock; if so it is locked, and everything is known."""
        key, execute = self._key, self._connection.execute
        with self._connection.pipeline():  # one round trip
            if self._connection.info.transaction_status is TransactionStatus.IDLE:
                # Each statement sees what was committed before it began: what follows the lock sees the last holder's.
                execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            row = execute(f"SELECT 1 FROM ledgers WHERE {IN_SCOPE} FOR UPDATE", key)
            found = execute(
                _LOOK,
                {
                    "tenant": key[0],
                    "project": key[1],
                    "events": list(self._event_of),
                    "facts": list(self._current_of),
                    "named": list(self._kind_of),
                },
            )
        if row.fetchone() is None:
            return False
        for what, name, *columns in found:
            match what:
                case "tail":
                    _, family, offset, recorded_at, *_, chain = columns
                    self._tails[family] = Tail(offset, chain, recorded_at)
                case "kind":
                    self._kind_of[name] = columns[0]
                case "event":
                    self._event_of[name] = stored(tuple(columns))
                case "current":
                    self._current_of[name] = stored(tuple(columns))
                case "genesis":
                    self._genesis = stored(tuple(columns))
                case "policy":
                    self._policy = stored(tuple(columns))
        return True

    def event(self, event_id: str) -> StoredEvent | None:
        """See :meth:`rules.Transaction.event`."""
        pending = self._pending.event(event_id)
        if pending is not None:
            return pending
        if event_id not in self._event_of:
            row = self._connection.execute(f"{EVENTS} AND event_id = %s", (*self._key, event_id)).fetchone()
            self._event_of[event_id] = _event(row)
        return self._event_of[event_id]

    def kind(self, event_id: str) -> str | None:
        """See :meth:`rules.Transaction.kind`."""
        return self._pending.kind(event_id) or self._kind_of[event_id]

    def current(self, source_fact_id: str) -> StoredEvent | None:
        """See :meth:`rules.Transaction.current`."""
        return self._pending.current(source_fact_id) or self._current_of[source_fact_id]

    def genesis(self) -> StoredEvent | None:
        """See :meth:`rules.Transaction.genesis`."""
        return self._pending.genesis() or self._genesis

    def policy_head(self) -> StoredEvent | None:
        """See :meth:`rules.Transaction.policy_head`."""
        return self._pending.policy_head() or self._policy

    def tail(self, family: LogFamily) -> Tail | None:
        """See :meth:`rules.Transaction.tail`."""
        return self._pending.tail(family) or self._tails.get(family)

    def add(self, event: StoredEvent) -> None:
        """See :meth:`rules.Transaction.add`."""
        self._pending.add(event)

    @property
    def added(self) -> list[StoredEvent]:
        """What was added and not written yet, in order."""
        return self._pending.added

    def holds(self, event: StoredEvent) -> bool:
        """Whether exactly this event is committed: its chain digest covers receipt, position and all that came before."""
        found = self.event(event.event_id)
        return found is not None and found.chain == event.chain

    def write(self, *, commit: bool) -> None:
        """Send what was added, and the heads that it makes; with ``commit``, all of the transaction is durable on return."""
        last = {event.family: event for event in self.added}
        rows = [(*self._key, *written(event)) for event in self.added]
        with self._connection.pipeline(), self._connection.cursor() as cursor:
            if rows:
                cursor.executemany(_INSERT, rows)
            for event in last.values():
                cursor.execute(
                    _SET_HEAD, (*self._key, event.family, event.offset, event.chain, event.receipt.recorded_at)
                )
            if commit:
                cursor.execute("COMMIT")
        self.added.clear()

    def keep(self, collisions: Iterable[Collision]) -> None:
        """Record refused statements; one that is known stays as it is."""
        with self._connection.cursor() as cursor:
            cursor.executemany(
                _KEEP,
                [(*self._key, each.refused, each.held, each.source_fact_id, each.received_at) for each in collisions],
            )


def _event(row: TupleRow | None) -> StoredEvent | None:
    return None if row is None else stored(row)
