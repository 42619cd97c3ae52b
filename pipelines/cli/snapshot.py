"""One look at a ledger, taken once: what the reading commands explain must be one state, whoever writes meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from ledger_core.belief.index import Entry
from ledger_core.harness.as_of import read_as_of
from ledger_core.kernel.content import ContentRef
from ledger_core.kernel.errors import BlobError
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Scope, Statement
from ledger_core.kernel.statements.control import PolicyActivated
from ledger_core.kernel.statements.entries import EntryGiven
from ledger_core.kernel.types import EventId
from pipelines.cli.ledgers import existing_scope, reading
from pipelines.settings import Settings

KINDS = {
    "entry.given": "given",
    "entry.observed": "observed",
    "entry.derived": "claim",
    "entry.conjectured": "claim",
}
"""What an entry of a kind is called in text."""


@dataclass(frozen=True)
class Snapshot:
    """The evidence log up to ``head``, or what of it was in force at a time, under the policy in force."""

    scope: Scope
    head: str
    statements: tuple[Statement, ...]
    policy: Policy
    policy_event: str
    """Event id of the statement that put it in force."""
    read: Callable[[ContentRef], bytes]

    def text(self, ref: ContentRef) -> str | None:
        """The content of ``ref`` as text; None where it is gone."""
        try:
            return self.read(ref).decode("utf-8", "replace")
        except BlobError:
            return None

    @cached_property
    def contents(self) -> dict[EventId, ContentRef]:
        """Entry -> its content, in the order of the log."""
        return {each.event_id: each.body.content for each in self.statements if isinstance(each, Entry)}

    @cached_property
    def roles(self) -> dict[EventId, str]:
        """Given entry -> who gave it."""
        return {each.event_id: each.body.role for each in self.statements if isinstance(each, EntryGiven)}


@contextmanager
def snapshot(settings: Settings, *, effective: str | None = None, recorded: str | None = None) -> Iterator[Snapshot]:
    """The ledger that ``settings`` mean, for as long as its content may be read; by default as it is now.

    ``effective`` and ``recorded`` are the times as of which it is read, see :mod:`ledger_core.belief.as_of`.
    """
    scope = existing_scope(settings)
    with reading(settings.place, scope) as ledger:
        found = read_as_of(ledger, effective=effective, recorded=recorded)
        policies = {
            event.statement.body.policy.digest(): event.event_id
            for event in ledger.events("control")
            if isinstance(event.statement, PolicyActivated)
        }
        yield Snapshot(
            scope=scope,
            head=found.head,
            statements=found.reading.statements,
            policy=found.reading.policy,
            policy_event=policies[found.reading.policy.digest()],
            read=ledger.read_blob,
        )
