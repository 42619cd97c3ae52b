"""Receipts of a verdict: what followed from it, written into its transaction and without authority.

The fold never reads them. They let a reader of the log see a cascade where it happened, and let verification notice
a ledger whose writer computed something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ledger_core.belief.audits import audit_results
from ledger_core.belief.columns import Read
from ledger_core.belief.fold import fold
from ledger_core.belief.index import index_statements
from ledger_core.belief.neighbourhood import ReferenceIndex
from ledger_core.belief.quorum import Quorum, quorum_on, testimony_of
from ledger_core.belief.state import BeliefState
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.statements.outline import Outline
from ledger_core.kernel.statements.verdicts import (
    AttenuatedEntry,
    CascadeFired,
    CascadeFiredBody,
    CascadeRefused,
    CascadeRefusedBody,
    IndependenceAssessed,
    ReputationAdjusted,
    ReputationAdjustedBody,
    VerdictFiled,
)
from ledger_core.kernel.types import EventId

ReceiptBody = CascadeFiredBody | CascadeRefusedBody | ReputationAdjustedBody

MAX_LISTED = 4096
"""Most entries a receipt lists: a statement has a size limit, a cascade has none. The hardest hit come first."""

PolicyOf = Callable[[EventId], Policy]
"""Verdict -> the policy it was filed under."""

ReachOf = Callable[[VerdictFiled], Sequence[Statement]]
"""Verdict -> what stood before it and decides what it changes."""


@dataclass(frozen=True, slots=True)
class ReceiptMismatch:
    """A verdict whose receipts are not those that follow from the log before it."""

    verdict: EventId | None
    """None for receipts that follow no verdict."""
    expected: tuple[ReceiptBody, ...]
    found: tuple[ReceiptBody, ...]


def expected_receipts(
    before: Sequence[Statement], filed: Sequence[Statement], verdict: VerdictFiled, policy: Policy
) -> tuple[ReceiptBody, ...]:
    """The receipts that ``verdict`` must produce: one cascade receipt, then changed reputations sorted by key.

    ``before`` is the log before it, or the part of it that :class:`ReferenceIndex` says it can reach; ``filed`` is the
    verdict and the assessments of its transaction. Only contradiction has receipts.
    """
    if verdict.body.verdict != "contradict":
        return ()
    after = (*before, *filed)
    target = EventId(verdict.body.target)
    quorum = _quorum(after, target, policy)
    if not quorum.passes:
        return (_refused(verdict, quorum, policy, already=False),)
    old, new = fold(before, policy), fold(after, policy)
    already = target in old.retractions
    cascade = _refused(verdict, quorum, policy, already=True) if already else _fired(verdict, quorum, old, new)
    return (cascade, *_adjusted(target, quorum, old, new))


def check_receipts(
    reads: Iterable[Read], policy: Policy | PolicyOf, reach: ReachOf | None = None
) -> list[ReceiptMismatch]:
    """Compare every verdict's receipts in the evidence log with those that follow from the log before it.

    ``reads`` come in log order. ``policy`` is the one policy ever in force, or a function from a verdict to the
    policy it was filed under. An empty list means that all receipts are as they must be. With ``reach`` nothing is kept
    meanwhile; without it ``reads`` are whole statements.
    """
    policy_of: PolicyOf = (lambda _: policy) if isinstance(policy, Policy) else policy
    mismatches: list[ReceiptMismatch] = []
    seen = ReferenceIndex()
    reach_of: ReachOf = reach or (lambda v: seen.around(EventId(v.body.target), EventId(v.body.candidate)))
    for filed, receipts in _transactions(reads):
        found = tuple(receipt.body for receipt in receipts)
        verdict = filed[0] if filed else None
        expected: tuple[ReceiptBody, ...] = ()
        if isinstance(verdict, VerdictFiled):
            expected = expected_receipts(reach_of(verdict), filed, verdict, policy_of(verdict.event_id))
        if expected != found:
            about = verdict.event_id if isinstance(verdict, VerdictFiled) else None
            mismatches.append(ReceiptMismatch(about, expected, found))
        if reach is None:
            for statement in filed:
                seen.add(statement)
    return mismatches


_Receipt = CascadeFired | CascadeRefused | ReputationAdjusted


def _transactions(statements: Iterable[Read]) -> Iterable[tuple[list[Statement], list[_Receipt]]]:
    """Split a log into (a whole statement, or a verdict with its assessments) and the receipts right behind it."""
    filed: list[Statement] = []
    receipts: list[_Receipt] = []
    for statement in statements:
        if isinstance(statement, Outline):
            # Neither a verdict nor what follows one: it ends what came before, and for the rest need not be looked at.
            if filed or receipts:
                yield filed, receipts
                filed, receipts = [], []
            continue
        if isinstance(statement, _Receipt):
            receipts.append(statement)
            continue
        continues = (
            isinstance(statement, IndependenceAssessed)
            and bool(filed)
            and isinstance(filed[0], VerdictFiled)
            and not receipts
        )
        if not continues and (filed or receipts):
            yield filed, receipts
            filed, receipts = [], []
        filed.append(statement)
    if filed or receipts:
        yield filed, receipts


def _quorum(statements: Sequence[Statement], target: EventId, policy: Policy) -> Quorum:
    index = index_statements(statements, policy)
    return quorum_on(target, index, testimony_of(index), audit_results(index, policy), policy)


def _refused(verdict: VerdictFiled, quorum: Quorum, policy: Policy, *, already: bool) -> CascadeRefusedBody:
    if already:
        reason = "already_retracted"
    elif verdict.body.candidate not in quorum.eligible:
        reason = "not_eligible"
    elif len(quorum.eligible) < policy.quorum:
        reason = "too_few"
    elif quorum.largest_independent < policy.quorum:
        reason = "not_independent"
    else:
        reason = "outnumbered"
    return CascadeRefusedBody.make(
        eligible=len(quorum.eligible),
        largest_independent=quorum.largest_independent,
        reason=reason,
        target=verdict.body.target,
        verdict=verdict.event_id,
    )


def _fired(verdict: VerdictFiled, quorum: Quorum, old: BeliefState, new: BeliefState) -> CascadeFiredBody:
    changed = [
        (state.attenuation, key)
        for key, state in new.entries.items()
        if key in old.entries and state.attenuation != old.entries[key].attenuation
    ]
    listed = sorted(changed)[:MAX_LISTED]
    return CascadeFiredBody.make(
        attenuated=tuple(
            AttenuatedEntry.make(attenuation=left, entry=key) for left, key in sorted(listed, key=lambda pair: pair[1])
        ),
        members=quorum.members[:MAX_LISTED],
        target=verdict.body.target,
        verdict=verdict.event_id,
    )


def _adjusted(
    target: EventId, quorum: Quorum, old: BeliefState, new: BeliefState
) -> tuple[ReputationAdjustedBody, ...]:
    """Changed counts of the target's origin and of the members' origins."""
    states = (new.entries[entry] for entry in (target, *quorum.members))
    keys = {(s.cluster, s.family) for s in states if s.cluster is not None and s.family is not None}
    bodies: list[ReputationAdjustedBody] = []
    for key in sorted(keys):
        counts = new.reputation.get(key, (0, 0))
        if counts != old.reputation.get(key, (0, 0)):
            cluster, family = key
            successes, failures = counts
            bodies.append(
                ReputationAdjustedBody.make(
                    cluster=cluster, failures=failures, family=family, successes=successes, target=target
                )
            )
    return tuple(bodies)
