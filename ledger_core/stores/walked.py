"""What verification remembers of the events it has walked: an id each, not the event.

A ledger may be larger than memory. What the rules ask about by id alone is kept; what they ask about rarely is read
again from the store.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from ledger_core.kernel import digests
from ledger_core.kernel.digests import Prefix
from ledger_core.kernel.errors import StoreError
from ledger_core.kernel.statements import LogFamily
from ledger_core.stores.protocols import StoredEvent
from ledger_core.stores.rules import Tail


@dataclass(slots=True)
class Walked:
    """The :class:`~ledger_core.stores.rules.Transaction` of a walk; sees what was walked and nothing beyond."""

    read: Callable[[str], StoredEvent | None]
    """The store's event of an id."""
    control: list[StoredEvent] = field(default_factory=list)
    """The control log, which is short."""
    _kinds: dict[bytes, str] = field(default_factory=dict)
    _current: dict[bytes, bytes] = field(default_factory=dict)
    """Source fact -> latest event about it."""
    _last: dict[LogFamily, Tail] = field(default_factory=dict)

    def event(self, event_id: str) -> StoredEvent | None:
        """See :meth:`Transaction.event`."""
        return self._again(event_id) if self.kind(event_id) is not None else None

    def kind(self, event_id: str) -> str | None:
        """See :meth:`Transaction.kind`."""
        return self._kinds.get(bytes.fromhex(event_id))

    def current(self, source_fact_id: str) -> StoredEvent | None:
        """See :meth:`Transaction.current`."""
        event_id = self._current.get(bytes.fromhex(source_fact_id))
        return None if event_id is None else self._again(event_id.hex())

    def _again(self, event_id: str) -> StoredEvent:
        """An event that was walked, read once more: a damaged index may lead elsewhere, and then nothing can be judged."""
        found = self.read(event_id)
        if found is None or digests.domain_hex(Prefix.ACCEPTED_EVENT, found.encoded) != event_id:
            raise StoreError(f"the store's index does not lead to event {event_id}, which was walked before")
        return found

    def genesis(self) -> StoredEvent | None:
        """See :meth:`Transaction.genesis`."""
        return self.control[0] if self.control else None

    def policy_head(self) -> StoredEvent | None:
        """See :meth:`Transaction.policy_head`."""
        return next((event for event in reversed(self.control) if event.statement.kind == "policy.activated"), None)

    def tail(self, family: LogFamily) -> Tail | None:
        """See :meth:`Transaction.tail`."""
        return self._last.get(family)

    def add(self, event: StoredEvent) -> None:
        """See :meth:`Transaction.add`."""
        statement = event.statement
        key, kind = bytes.fromhex(event.event_id), sys.intern(statement.kind)
        self._kinds[key] = kind
        self._current[bytes.fromhex(statement.source_fact_id)] = key
        self._last[event.family] = Tail(event.offset, event.chain, event.receipt.recorded_at)
        if event.family == "control":
            self.control.append(event)
