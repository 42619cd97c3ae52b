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
from ledger_core.stores.rows import COLUMNS, PAGE, stored
from ledger_core.stores.rules import Tail

Key = tuple[str, str]
"""Tenant and project: the first two columns of every key."""

IN_SCOPE = "tenant = %s AND project = %s"
EVENTS = f"SELECT {COLUMNS} FROM events WHERE {IN_SCOPE}"
TAILS = f"SELECT family, committed_offset, chain, recorded_at FROM heads WHERE {IN_SCOPE}"
GENESIS = f"{EVENTS} AND family = 'control' AND committed_offset = 1"
POLICY = f"{EVENTS} AND kind = 'policy.activated' ORDER BY committed_offset DESC LIMIT 1"
PAGE_OF_EVENTS = f"{EVENTS} AND family = %s AND committed_offset > %s ORDER BY committed_offset LIMIT {PAGE}"
COLLISIONS = f"SELECT source_fact_id, held, refused, received_at FROM collisions WHERE {IN_SCOPE} ORDER BY ordinal"
INDEX_COLUMNS = f"SELECT family, committed_offset, kind, source_fact_id FROM events WHERE {IN_SCOPE} AND event_id = %s"
SCOPES = "SELECT tenant, project FROM heads WHERE family = 'control'"
_ALL_OF = f"{EVENTS} AND event_id = ANY(%s)"
_KINDS = f"SELECT event_id, kind FROM events WHERE {IN_SCOPE} AND event_id = ANY(%s)"
_CURRENT = (
    f"SELECT DISTINCT ON (source_fact_id) source_fact_id, {COLUMNS} FROM events WHERE {IN_SCOPE}"
    " AND source_fact_id = ANY(%s) ORDER BY source_fact_id, committed_offset DESC"
)
_INSERT = (
    "INSERT INTO events (tenant, project, family, committed_offset, shard, epoch_id, event_id, kind, source_fact_id,"
    " receipt, statement, chain) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
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
        with connection.pipeline():
            # Each statement sees what was committed before it began: what comes after the lock sees the last holder's.
            connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            connection.execute("INSERT INTO ledgers VALUES (%s, %s) ON CONFLICT DO NOTHING", key)
            connection.execute(f"SELECT FROM ledgers WHERE {IN_SCOPE} FOR UPDATE", key)
            tails = connection.execute(TAILS, key)
            genesis = connection.execute(GENESIS, key)
            policy = connection.execute(POLICY, key)
            events = connection.execute(_ALL_OF, (*key, list(self._event_of)))
            current = connection.execute(_CURRENT, (*key, list(self._current_of)))
            kinds = connection.execute(_KINDS, (*key, list(self._kind_of)))
        self._tails = {row[0]: Tail(*row[1:]) for row in tails}
        self._genesis = _event(genesis.fetchone())
        self._policy = _event(policy.fetchone())
        self._event_of.update((row[0], stored(row)) for row in events)
        self._current_of.update((row[0], stored(row[1:])) for row in current)
        self._kind_of.update(dict(kinds))

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
        rows = [self._row(event) for event in self.added]
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

    def _row(self, event: StoredEvent) -> tuple[object, ...]:
        return (
            *self._key,
            event.family,
            event.offset,
            event.position.shard,
            event.position.epoch_id,
            event.event_id,
            event.statement.kind,
            event.statement.source_fact_id,
            event.receipt_bytes,
            event.encoded,
            event.chain,
        )

    def keep(self, collisions: Iterable[Collision]) -> None:
        """Record refused statements; one that is known stays as it is."""
        with self._connection.cursor() as cursor:
            cursor.executemany(
                _KEEP,
                [(*self._key, each.refused, each.held, each.source_fact_id, each.received_at) for each in collisions],
            )


def _event(row: TupleRow | None) -> StoredEvent | None:
    return None if row is None else stored(row)
