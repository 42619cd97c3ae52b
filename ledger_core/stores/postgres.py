"""An event store in PostgreSQL: the logs of many scopes in one database, the scope in every key.

A writer locks its scope's row for the length of one transaction, so that scopes never wait for each other. Where the
connection breaks, the append is asked for by its chain digest, under that lock, before it is tried again: what had been
committed is acknowledged as such, never appended twice and never reported as lost.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import psycopg

from ledger_core.kernel.errors import CollisionError, OutcomeUnknownError, StoreError
from ledger_core.kernel.statements import LogFamily, Scope, Statement
from ledger_core.stores.files import LOCK_WAIT_SECONDS
from ledger_core.stores.groups import Group, GroupResult, append_each
from ledger_core.stores.memory import empty_head
from ledger_core.stores.postgres_link import Link
from ledger_core.stores.postgres_transaction import (
    COLLISIONS,
    EVENTS,
    GENESIS,
    INDEX_COLUMNS,
    PAGE_OF_EVENTS,
    POLICY,
    SCOPES,
    TAILS,
    Key,
    Transaction,
    transaction,
)
from ledger_core.stores.protocols import BlobStore, Collision, Delivery, IndexedRow, Outcome, StoredEvent
from ledger_core.stores.rows import PAGE, IndexColumns, index_errors, stored
from ledger_core.stores.rules import Tail, append_all, require_empty

_T = TypeVar("_T")


class PostgresEventStore:
    """The log of one scope in the database at ``address``."""

    def __init__(self, address: str, scope: Scope, blobs: BlobStore, wait_seconds: float = LOCK_WAIT_SECONDS) -> None:
        """Connect, and create or migrate the tables where they are not of this version.

        Raises:
            LedgerVersionError: the tables are of a newer version.
            StoreUnreachableError, StoreError: see the message.
        """
        self.scope = scope
        self._key: Key = (scope.tenant_namespace, scope.project_namespace)
        self._blobs = blobs
        self._threads = threading.RLock()
        self._link = Link(address, wait_seconds)
        self._finalizer = weakref.finalize(self, self._link.close)
        self._link.bring_up_to_date()

    def append(self, statements: Sequence[Statement], delivery: Delivery) -> tuple[Outcome, ...]:
        """See :meth:`EventStore.append`.

        Raises:
            StoreUnreachableError: the server does not answer; nothing was written.
            OutcomeUnknownError: it went away during the commit; the same append again settles it.
        """
        chosen = tuple(statements)
        try:
            return self._write(
                chosen, lambda scope: append_all(scope, chosen, delivery, scope=self.scope, blobs=self._blobs)
            )
        except CollisionError as error:
            collision = Collision(error.source_fact_id, error.held, error.refused, delivery.received_at)
            self._write((), lambda scope: scope.keep([collision]))
            raise

    def append_groups(self, groups: Sequence[Group]) -> tuple[GroupResult, ...]:
        """See :meth:`GroupStore.append_groups`; raises as :meth:`append` where the server fails."""
        return self._write(
            tuple(statement for group in groups for statement in group.statements),
            lambda scope: append_each(
                scope, groups, lambda collision: scope.keep([collision]), scope=self.scope, blobs=self._blobs
            ),
        )

    def _write(self, statements: Sequence[Statement], act: Callable[[Transaction], _T]) -> _T:
        attempt = _Attempt(self._key, statements, act)
        with self._threads:
            try:
                return self._link.run(attempt.carry_out)
            except StoreError as error:
                if attempt.unconfirmed is None:
                    raise
                raise OutcomeUnknownError(
                    f"{self._link.name} went away while it committed; append the same statements again, which tells whether "
                    f"they are in the ledger ({error})"
                ) from error

    def adopt(self, events: Iterable[StoredEvent], collisions: Iterable[Collision]) -> None:
        """See :meth:`EventStore.adopt`."""
        taken, kept = list(events), list(collisions)

        def act(scope: Transaction) -> None:
            require_empty(scope)
            scope.keep(kept)
            for event in taken:
                if len(scope.added) == PAGE:
                    scope.write(commit=False)
                scope.add(event)

        self._write((), act)

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._threads:
            return self._link.run(lambda connection: connection.execute(query, (*self._key, *values)).fetchall())

    def _one(self, query: str, *values: object) -> StoredEvent | None:
        rows = self._rows(query, *values)
        return stored(rows[0]) if rows else None

    def events(self, family: LogFamily, after: int = 0) -> Iterator[StoredEvent]:
        """See :meth:`EventStore.events`."""
        for page in self.pages(family, after):
            yield from map(stored, page)

    def pages(self, family: LogFamily, after: int = 0) -> Iterator[Sequence[IndexedRow]]:
        """See :meth:`EventStore.pages`."""
        while rows := self._rows(PAGE_OF_EVENTS, family, after):
            yield rows
            after = rows[-1][2]

    def event(self, event_id: str) -> StoredEvent | None:
        """See :meth:`EventStore.event`."""
        return self._one(f"{EVENTS} AND event_id = %s", event_id)

    def head(self, family: LogFamily) -> str:
        """See :meth:`EventStore.head`."""
        tail = self._tail(family)
        if tail is not None:
            return tail.chain
        genesis = self._one(GENESIS)
        return empty_head(() if genesis is None else (genesis,), family)

    def count(self, family: LogFamily) -> int:
        """See :meth:`EventStore.count`."""
        tail = self._tail(family)
        return 0 if tail is None else tail.offset

    def _tail(self, family: LogFamily) -> Tail | None:
        rows = self._rows(f"{TAILS} AND family = %s", family)
        return Tail(*rows[0][1:]) if rows else None

    def policy_head(self) -> StoredEvent | None:
        """See :meth:`EventStore.policy_head`."""
        return self._one(POLICY)

    def collisions(self) -> tuple[Collision, ...]:
        """See :meth:`EventStore.collisions`."""
        return tuple(Collision(*row) for row in self._rows(COLLISIONS))

    def index_errors(
        self,
        *,
        compared: bool = False,  # noqa: ARG002 - nothing tells that the server's indexes are sound: each row is looked up
    ) -> Iterator[tuple[LogFamily, int, str]]:
        """See :meth:`EventStore.index_errors`."""
        yield from index_errors(self.pages, self._columns, self._tail)

    def _columns(self, event_ids: Sequence[str]) -> dict[str, IndexColumns]:
        return {row[0]: row[1:] for row in self._rows(INDEX_COLUMNS, list(event_ids))}

    def close(self) -> None:
        """Close the connection; closing twice is harmless."""
        self._finalizer()


class _Attempt(Generic[_T]):
    """One write, on as many connections as it takes."""

    def __init__(self, key: Key, statements: Sequence[Statement], act: Callable[[Transaction], _T]) -> None:
        self._key = key
        self._statements = statements
        self._act = act
        self.unconfirmed: tuple[StoredEvent, _T] | None = None
        """The last event of a commit that nobody has confirmed yet, and the answer once it is confirmed."""

    def carry_out(self, connection: psycopg.Connection) -> _T:
        """Act and commit, or find that the commit before had reached the server."""
        with transaction(connection, self._key, self._statements) as scope:
            if self.unconfirmed is not None:
                last, answer = self.unconfirmed
                # The lock was free, so that commit is over: it is seen now, or never was.
                if scope.holds(last):
                    return answer
                self.unconfirmed = None
            answer = self._act(scope)
            if scope.added:
                self.unconfirmed = (scope.added[-1], answer)
            try:
                scope.write(commit=True)
            except psycopg.Error:
                if not connection.closed:
                    self.unconfirmed = None  # the server itself refused
                raise
            self.unconfirmed = None
            return answer


def postgres_scopes(address: str, wait_seconds: float = LOCK_WAIT_SECONDS) -> tuple[Scope, ...]:
    """Every scope that has a ledger in the database at ``address``, sorted by tenant and project; creates nothing.

    Raises :class:`StoreUnreachableError` or :class:`LedgerVersionError`, see the messages.
    """
    link = Link(address, wait_seconds)
    try:
        keys = link.run(lambda connection: connection.execute(SCOPES).fetchall()) if link.version() else []
    finally:
        link.close()
    return tuple(Scope.make(tenant_namespace=tenant, project_namespace=project) for tenant, project in sorted(keys))
