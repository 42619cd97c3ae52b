"""Stratum 3: reputation of (origin cluster, predicate family), recomputed sets and never counters.

Each retracted *sealed* target is a failure of its own origin and, once per target origin, a success of every counted
member's. Retracted claims move no reputation, or citing a source would smear it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ledger_core.belief.audits import AuditResult
from ledger_core.belief.index import IndexView, SealedOrigin
from ledger_core.belief.state import Retraction
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.types import PPM, EventId, U

ReputationKey = tuple[str, str]
"""(origin cluster, predicate family)."""


def reputations(index: IndexView, retracted: Mapping[EventId, Retraction]) -> dict[ReputationKey, tuple[int, int]]:
    """(s, f) of every origin and family that any retraction touched, sorted by key."""
    credit: dict[ReputationKey, set[str]] = defaultdict(set)
    debit: dict[ReputationKey, set[EventId]] = defaultdict(set)
    for target, retraction in retracted.items():
        origin = index.origins.get(target)
        if origin is None:
            continue
        debit[origin.cluster, origin.family].add(target)
        for member in retraction.members:
            by = index.origins[member]
            credit[by.cluster, by.family].add(origin.cluster)
    return {key: (len(credit.get(key, ())), len(debit.get(key, ()))) for key in sorted(credit.keys() | debit.keys())}


def in_good_standing(
    index: IndexView, audits: AuditResult, reputation: Mapping[ReputationKey, tuple[int, int]]
) -> frozenset[ReputationKey]:
    """Origins that were right more often than wrong, or whose seals were verified at the source."""
    earned = {key for key, (s, f) in reputation.items() if s >= 1 and s > f}
    sealed = index.origins.values() if audits.verified else ()
    verified = {(o.cluster, o.family) for o in sealed if o.seal in audits.verified}
    return frozenset(earned | verified)


def sealed_base(base_ppm: int, successes: int, failures: int, policy: Policy) -> int:
    """``⌊U·B(α+s) / (B(α+s) + (M−B)(β+f))⌋``, in parts of U.

    Exactly σ(logit B + logit of the Beta(α, β) posterior mean) for the policy's prior (α, β).
    """
    for_it = base_ppm * (policy.prior_successes + successes)
    against_it = (PPM - base_ppm) * (policy.prior_failures + failures)
    return U * for_it // (for_it + against_it)


def reputation_key(origin: SealedOrigin) -> ReputationKey:
    """The key under which ``origin`` is judged."""
    return (origin.cluster, origin.family)
