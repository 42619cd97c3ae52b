"""What verification remembers of the events it has walked: columns, not events.

A ledger may be larger than memory. What the rules ask about by id alone is kept; what they ask about rarely is read
again from the store.
"""

from __future__ import annotations

from array import array
from binascii import unhexlify
from collections.abc import Callable
from dataclasses import dataclass, field

from ledger_core.belief.columns import Columns
from ledger_core.belief.digest_table import DigestTable
from ledger_core.kernel import digests
from ledger_core.kernel.digests import Prefix
from ledger_core.kernel.errors import StoreError
from ledger_core.kernel.statements.outline import Outline
from ledger_core.stores.protocols import StoredEvent
from ledger_core.stores.rules import references_fit


@dataclass(slots=True)
class Walked:
    """The :class:`~ledger_core.stores.rules.Known` of a walk; sees what was walked and nothing beyond."""

    read: Callable[[str], StoredEvent | None]
    """The store's event of an id."""
    columns: Columns
    """The evidence log; whoever walks it adds to it."""
    control: list[StoredEvent] = field(default_factory=list)
    """The control log, which is short."""
    _control_kinds: dict[bytes, str] = field(default_factory=dict)
    _control_facts: dict[str, str] = field(default_factory=dict)
    """Source fact -> latest control event about it."""
    _facts: DigestTable = field(default_factory=lambda: DigestTable(recent=0))
    _current: array[int] = field(default_factory=lambda: array("I"))
    """Number of an evidence fact -> number of the latest event about it."""

    def event(self, event_id: str) -> StoredEvent | None:
        """See :meth:`Known.event`."""
        return self._again(event_id) if self.kind(event_id) is not None else None

    def kind(self, event_id: str) -> str | None:
        """See :meth:`Known.kind`."""
        key = unhexlify(event_id)
        return self.columns.kind(key) or self._control_kinds.get(key)

    def current(self, source_fact_id: str) -> StoredEvent | None:
        """See :meth:`Known.current`."""
        event_id = self._control_facts.get(source_fact_id)
        number = self._facts.find(unhexlify(source_fact_id))
        if number is not None:
            event_id = self.columns.hex(self._current[number])
        return None if event_id is None else self._again(event_id)

    def admit(self, read: Outline) -> bool:
        """Whether the rules certainly admit an outlined statement of this scope; where not, they must be asked.

        One that is admitted is the latest about its fact, and goes into the columns next.
        """
        if (
            not self.control
            or not references_fit(read, self.columns.kind)
            or self._facts.add(read.source_fact_id) is None
        ):
            return False
        self._current.append(len(self.columns))
        return True

    def _again(self, event_id: str) -> StoredEvent:
        """An event that was walked, read once more: a damaged index may lead elsewhere, and then nothing can be judged."""
        found = self.read(event_id)
        if found is None or digests.domain_hex(Prefix.ACCEPTED_EVENT, found.encoded) != event_id:
            raise StoreError(f"the store's index does not lead to event {event_id}, which was walked before")
        return found

    def genesis(self) -> StoredEvent | None:
        """See :meth:`Known.genesis`."""
        return self.control[0] if self.control else None

    def policy_head(self) -> StoredEvent | None:
        """See :meth:`Known.policy_head`."""
        return next((event for event in reversed(self.control) if event.statement.kind == "policy.activated"), None)

    def add_control(self, event: StoredEvent) -> None:
        """Remember a control event."""
        self.control.append(event)
        self._control_kinds[unhexlify(event.event_id)] = event.statement.kind
        self._control_facts[event.statement.source_fact_id] = event.event_id

    def note_fact(self, source_fact_id: bytes) -> None:
        """The statement that goes into the columns next is the latest about this fact."""
        latest = len(self.columns)
        number = self._facts.find(source_fact_id)
        if number is None:
            self._facts.add(source_fact_id)
            self._current.append(latest)
        else:
            self._current[number] = latest
