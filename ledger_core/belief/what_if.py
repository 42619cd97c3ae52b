"""What would fall if chosen entries were retracted: a comparison of two readings, nothing appended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ledger_core.belief.fold import PLAIN, fold
from ledger_core.belief.state import EntryState, FoldOptions, PathStep
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.types import EventId


@dataclass(frozen=True, slots=True)
class Fall:
    """An entry that a hypothetical retraction would change."""

    entry: EventId
    before: EntryState
    after: EntryState
    path: tuple[PathStep, ...]
    """The dependence that costs it the most; empty for the retracted entry itself, and where only the reputation of
    its origin changes."""


def what_if(
    statements: Sequence[Statement], policy: Policy, retract: Iterable[EventId], options: FoldOptions = PLAIN
) -> tuple[Fall, ...]:
    """Every entry that changes when ``retract`` are taken as retracted, without a quorum, hardest hit first.

    Raises:
        BeliefError: one of ``retract`` is no entry of ``statements``.
    """
    assumed = options.hypothetical_retractions | frozenset(retract)
    before = fold(statements, policy, options)
    after = fold(statements, policy, replace(options, hypothetical_retractions=assumed))
    falls = (
        Fall(key, old, new, after.path(key))
        for key, old in before.entries.items()
        if (new := after.entries[key]) != old
    )
    return tuple(sorted(falls, key=lambda fall: (fall.after.attenuation, fall.after.order)))
