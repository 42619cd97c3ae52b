"""What a ledger says as of two times: what had happened by one, and what was known by the other.

*Recorded* time is the log's own: a statement is known from its receipt's `recorded_at` on, and so is a reversal, an audit or
another policy. *Effective* time is the source's: a statement takes effect when its fact occurred, else when the source
observed it, and never before anything it refers to. An observation so takes the time of its seal, and a verdict that of the
later of its two entries, whenever the verdict was filed: a correction that is learned late reaches back.

What has no time of its own, and refers to nothing that has, is in force from the beginning; :attr:`Reading.undated` counts it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import ENTRY_KINDS, Statement, references
from ledger_core.kernel.statements.control import PolicyActivated
from ledger_core.kernel.timestamps import check_timestamp


@dataclass(frozen=True, slots=True)
class Recorded:
    """A statement with the time from which it is known."""

    statement: Statement
    recorded_at: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The statements of the evidence log that are in force, and the policy to fold them under."""

    statements: tuple[Statement, ...]
    """In the order of the log."""
    policy: Policy
    undated: int
    """Entries among them for which no effective time is known."""


def as_of(
    evidence: Iterable[Recorded],
    control: Iterable[Recorded],
    *,
    effective: str | None = None,
    recorded: str | None = None,
) -> Reading:
    """The reading of two logs as of ``effective`` and ``recorded`` time, each inclusive; None is without limit.

    Both logs come in their order, so that what a statement refers to stands before it.

    Raises:
        StrictProfileError: a time that is no strict timestamp.
        BeliefError: no policy was in force by ``recorded``: the ledger did not exist yet.
    """
    for limit in (effective, recorded):
        if limit is not None:
            check_timestamp(limit)
    policy = None
    for event in _known(control, recorded):
        if isinstance(event, PolicyActivated):
            policy = event.body.policy
    if policy is None:
        raise BeliefError(f"nothing was recorded by {recorded}; the ledger begins later")
    kept: list[Statement] = []
    left_out: set[str] = set()
    dated: set[str] = set()
    for statement in _known(evidence, recorded):
        key = statement.event_id
        own = statement.occurred_at or statement.observed_at
        before = [reference.event_id for reference in references(statement)]
        if (effective is not None and own is not None and own > effective) or not left_out.isdisjoint(before):
            left_out.add(key)
            continue
        if own is not None or not dated.isdisjoint(before):
            dated.add(key)
        kept.append(statement)
    undated = sum(statement.kind in ENTRY_KINDS and statement.event_id not in dated for statement in kept)
    return Reading(tuple(kept), policy, undated)


def _known(log: Iterable[Recorded], recorded: str | None) -> Iterable[Statement]:
    return (event.statement for event in log if recorded is None or event.recorded_at <= recorded)
