"""An event store in memory: for tests, what-ifs and dry runs; the contract's simplest model."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

from ledger_core.kernel import log
from ledger_core.kernel.errors import CollisionError, StoreError
from ledger_core.kernel.statements import FAMILIES, LogFamily, Scope, Statement
from ledger_core.kernel.statements.control import LedgerGenesis
from ledger_core.stores.index import Index
from ledger_core.stores.protocols import BlobStore, Collision, Delivery, IndexedRow, Outcome, StoredEvent
from ledger_core.stores.rules import SHARD, append_all, require_empty


class MemoryEventStore:
    """The log of one scope in two lists."""

    def __init__(self, scope: Scope, blobs: BlobStore) -> None:
        self.scope = scope
        self._blobs = blobs
        self._index = Index()
        self._logs: dict[LogFamily, list[StoredEvent]] = {family: [] for family in FAMILIES}
        self._collisions: list[Collision] = []
        self._lock = threading.RLock()

    @classmethod
    def restore(cls, scope: Scope, blobs: BlobStore, events: Iterable[StoredEvent]) -> Self:
        """A store that holds ``events`` as they are, unchecked and read-only in spirit: for verification to judge."""
        store = cls(scope, blobs)
        for event in events:
            store._logs[event.family].append(event)
            store._index.by_id.setdefault(event.event_id, event)
        return store

    def append(self, statements: Sequence[Statement], delivery: Delivery) -> tuple[Outcome, ...]:
        """See :meth:`EventStore.append`."""
        with self._lock:
            transaction = self._index.overlay()
            try:
                outcomes = append_all(transaction, statements, delivery, scope=self.scope, blobs=self._blobs)
            except CollisionError as error:
                collision = Collision(error.source_fact_id, error.held, error.refused, delivery.received_at)
                if all(known.refused != collision.refused for known in self._collisions):
                    self._collisions.append(collision)
                raise
            for event in transaction.added:
                self._index.add(event)
                self._logs[event.family].append(event)
            self._index.added.clear()
            return outcomes

    def adopt(self, events: Iterable[StoredEvent], collisions: Iterable[Collision]) -> None:
        """See :meth:`EventStore.adopt`."""
        with self._lock:
            require_empty(self._index)
            taken = list(events)
            for event in taken:
                self._index.add(event)
                self._logs[event.family].append(event)
            self._index.added.clear()
            self._collisions.extend(collisions)

    def events(self, family: LogFamily, after: int = 0) -> Iterator[StoredEvent]:
        """See :meth:`EventStore.events`."""
        with self._lock:
            snapshot = self._logs[family][after:]
        yield from snapshot

    def pages(self, family: LogFamily, after: int = 0) -> Iterator[Sequence[IndexedRow]]:
        """See :meth:`EventStore.pages`: one at a time, and no index says anything about it."""
        for event in self.events(family, after):
            where = event.position
            row = (event.event_id, family, event.offset, where.epoch_id, where.shard)
            yield ((*row, event.encoded, event.receipt_bytes, event.chain, "", ""),)

    def event(self, event_id: str) -> StoredEvent | None:
        """See :meth:`EventStore.event`."""
        return self._index.event(event_id)

    def head(self, family: LogFamily) -> str:
        """See :meth:`EventStore.head`."""
        events = self._logs[family]
        return events[-1].chain if events else empty_head(self._logs["control"][:1], family)

    def count(self, family: LogFamily) -> int:
        """See :meth:`EventStore.count`."""
        return len(self._logs[family])

    def policy_head(self) -> StoredEvent | None:
        """See :meth:`EventStore.policy_head`."""
        return self._index.policy_head()

    def collisions(self) -> tuple[Collision, ...]:
        """See :meth:`EventStore.collisions`."""
        return tuple(self._collisions)

    def index_errors(
        self,
        *,
        compared: bool = False,  # noqa: ARG002 - the protocol's
    ) -> Iterator[tuple[LogFamily, int, str]]:
        """See :meth:`EventStore.index_errors`: the lists are their own index."""
        return iter(())

    def close(self) -> None:
        """Nothing to release."""


def empty_head(genesis: Sequence[StoredEvent], family: LogFamily) -> str:
    """H0 of ``family``; raises :class:`StoreError` before genesis."""
    if not genesis or not isinstance(genesis[0].statement, LedgerGenesis):
        raise StoreError("this ledger has no genesis yet, hence no head; open it with Ledger.open")
    opening = genesis[0]
    return log.genesis_chain(opening.event_id, opening.position.epoch_id, family, SHARD)
