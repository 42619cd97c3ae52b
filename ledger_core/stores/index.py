"""The lookups that the rules of appending need, in memory."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from dataclasses import dataclass, field

from ledger_core.kernel.statements import LogFamily
from ledger_core.stores.protocols import StoredEvent
from ledger_core.stores.rules import Tail


@dataclass
class Index:
    """What the rules look up; an append looks through an overlay that is dropped when a rule refuses."""

    by_id: MutableMapping[str, StoredEvent] = field(default_factory=dict)
    by_fact: MutableMapping[str, StoredEvent] = field(default_factory=dict)
    last: MutableMapping[LogFamily, StoredEvent] = field(default_factory=dict)
    marks: MutableMapping[str, StoredEvent] = field(default_factory=dict)
    """The genesis and the policy in force."""
    added: list[StoredEvent] = field(default_factory=list)

    def overlay(self) -> Index:
        """An index that shows this one and keeps what is added to itself."""
        return Index(
            ChainMap({}, self.by_id), ChainMap({}, self.by_fact), ChainMap({}, self.last), ChainMap({}, self.marks)
        )

    def event(self, event_id: str) -> StoredEvent | None:
        """See :meth:`Transaction.event`."""
        return self.by_id.get(event_id)

    def kind(self, event_id: str) -> str | None:
        """See :meth:`Transaction.kind`."""
        event = self.event(event_id)
        return None if event is None else event.kind

    def current(self, source_fact_id: str) -> StoredEvent | None:
        """See :meth:`Transaction.current`."""
        return self.by_fact.get(source_fact_id)

    def genesis(self) -> StoredEvent | None:
        """See :meth:`Transaction.genesis`."""
        return self.marks.get("ledger.genesis")

    def policy_head(self) -> StoredEvent | None:
        """See :meth:`Transaction.policy_head`."""
        return self.marks.get("policy.activated")

    def tail(self, family: LogFamily) -> Tail | None:
        """See :meth:`Transaction.tail`."""
        last = self.last.get(family)
        return None if last is None else Tail(last.offset, last.chain, last.receipt.recorded_at)

    def add(self, event: StoredEvent) -> None:
        """See :meth:`Transaction.add`."""
        self.by_id[event.event_id] = event
        self.by_fact[event.source_fact_id] = event
        self.last[event.family] = event
        if event.kind in {"ledger.genesis", "policy.activated"}:
            self.marks[event.kind] = event
        self.added.append(event)
