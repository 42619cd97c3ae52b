"""Recipes by which two entries are assessed as independent origins or not; recorded once and never re-judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ledger_core.belief.index import LedgerIndex, SealedOrigin
from ledger_core.belief.policies import CLUSTER_RECIPE
from ledger_core.belief.quorum import Testimony, may_testify_on
from ledger_core.kernel.errors import PolicyError
from ledger_core.kernel.statements.verdicts import IndependenceResult, VerdictFiledBody
from ledger_core.kernel.types import EventId

Pair = tuple[EventId, EventId]
"""Two different entries, sorted."""


def by_cluster(first: SealedOrigin, second: SealedOrigin) -> IndependenceResult:
    """`cluster-v1`: independent if and only if the origin clusters differ; all bare addresses are one origin."""
    return "independent" if first.cluster != second.cluster else "dependent"


RECIPES: Mapping[str, Callable[[SealedOrigin, SealedOrigin], IndependenceResult]] = MappingProxyType(
    {CLUSTER_RECIPE: by_cluster}
)


def assess(recipe: str, pair: Pair, index: LedgerIndex) -> IndependenceResult:
    """The result of ``recipe`` on two sealed observations.

    Raises:
        PolicyError: the policy asks for a recipe that this version does not have.
    """
    try:
        judge = RECIPES[recipe]
    except KeyError:
        raise PolicyError(
            f"the policy assesses independence by {recipe!r}; this version knows {', '.join(sorted(RECIPES))}"
        ) from None
    return judge(index.origins[pair[0]], index.origins[pair[1]])


def pairs_completed(verdict: VerdictFiledBody, index: LedgerIndex, testimony: Testimony) -> tuple[Pair, ...]:
    """Pairs that a verdict about to be filed completes and nobody assessed yet, sorted.

    Only entries that could ever count on the target are paired, suspended ones included: a later audit may lift a
    suspension, and a pair is assessed in the transaction of the verdict that completes it or not at all.
    """
    target, candidate = EventId(verdict.target), EventId(verdict.candidate)
    if verdict.verdict == "undecided" or not may_testify_on(target, candidate, index):
        return ()
    filed = testimony.contradictors if verdict.verdict == "contradict" else testimony.supporters
    others = (other for other in filed.get(target, ()) if other != candidate and may_testify_on(target, other, index))
    assessed = {(EventId(a.body.first), EventId(a.body.second)) for a in index.assessments.values()}
    pairs = {(min(candidate, other), max(candidate, other)) for other in others}
    return tuple(sorted(pairs - assessed))
