"""Many appends in one transaction, each all or nothing by itself: what a service does while the disk is busy.

One commit makes all of them durable. A group that the rules refuse leaves nothing behind and takes nothing of the
others with it, so that sharing a transaction is never seen from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ledger_core.kernel.errors import AppendError, BlobError, CollisionError, LedgerError, StatementError
from ledger_core.kernel.statements import LogFamily, Scope, Statement
from ledger_core.stores.index import Index
from ledger_core.stores.protocols import BlobStore, Collision, Delivery, EventStore, Outcome, StoredEvent
from ledger_core.stores.rules import Tail, Transaction, append_all


@dataclass(frozen=True, slots=True)
class Group:
    """The statements of one append, and who delivers them."""

    statements: tuple[Statement, ...]
    delivery: Delivery


GroupResult = tuple[Outcome, ...] | LedgerError
"""What became of one group: its outcomes, or why nothing of it was written."""


@runtime_checkable
class GroupStore(Protocol):
    """An event store that can commit several appends at once."""

    def append_groups(self, groups: Sequence[Group]) -> tuple[GroupResult, ...]:
        """Append each group or none of it, all in one transaction; raises only where the store itself fails."""
        ...


def append_groups(store: EventStore, groups: Sequence[Group]) -> tuple[GroupResult, ...]:
    """Append each group or none of it: in one transaction where the store can do that, else one after the other."""
    if isinstance(store, GroupStore):
        return store.append_groups(groups)
    return tuple(_append_alone(store, group) for group in groups)


def append_each(
    transaction: Transaction,
    groups: Sequence[Group],
    keep: Callable[[Collision], object],
    *,
    scope: Scope,
    blobs: BlobStore,
) -> tuple[GroupResult, ...]:
    """For stores: every group within ``transaction``; collisions go to ``keep``."""
    results: list[GroupResult] = []
    for group in groups:
        pending = _Pending(transaction)
        try:
            outcomes = append_all(pending, group.statements, group.delivery, scope=scope, blobs=blobs)
        except (AppendError, StatementError, BlobError) as error:
            if isinstance(error, CollisionError):
                keep(Collision(error.source_fact_id, error.held, error.refused, group.delivery.received_at))
            results.append(error)
        else:
            for event in pending.added:
                transaction.add(event)
            results.append(outcomes)
    return tuple(results)


def _append_alone(store: EventStore, group: Group) -> GroupResult:
    try:
        return store.append(group.statements, group.delivery)
    except LedgerError as error:
        return error


class _Pending:
    """A transaction as one group sees it: what lies under it, and what the group has added so far."""

    def __init__(self, under: Transaction) -> None:
        self._under = under
        self._own = Index()

    @property
    def added(self) -> Sequence[StoredEvent]:
        return self._own.added

    def event(self, event_id: str) -> StoredEvent | None:
        return self._own.event(event_id) or self._under.event(event_id)

    def kind(self, event_id: str) -> str | None:
        return self._own.kind(event_id) or self._under.kind(event_id)

    def current(self, source_fact_id: str) -> StoredEvent | None:
        return self._own.current(source_fact_id) or self._under.current(source_fact_id)

    def genesis(self) -> StoredEvent | None:
        return self._own.genesis() or self._under.genesis()

    def policy_head(self) -> StoredEvent | None:
        return self._own.policy_head() or self._under.policy_head()

    def tail(self, family: LogFamily) -> Tail | None:
        return self._own.tail(family) or self._under.tail(family)

    def add(self, event: StoredEvent) -> None:
        self._own.add(event)
