"""Recipes by which two entries are assessed as independent origins or not; recorded once and never re-judged.

- `cluster-v1`: independent if and only if the origin clusters differ.
- `m3-v1`: the first of these that applies decides.

  1. `echo`: a member repeats its own call's arguments or something the agent said before;
  2. `dependent`: one origin cluster;
  3. `unknown`: a content that is no text, is erased, or is too long to compare;
  4. `structured`: two JSON values that are equal. Two honest registers agree like this and so do two copies of one;
     nothing in the bytes tells them apart, so the pair does not count;
  5. `unknown`: fewer shingles than the policy's minimum in either text. JSON values that differ are compared as the
     text they hold, however small the difference: a field with another byline makes no second witness;
  6. `dependent`: shingle Jaccard above the policy's;
  7. `dependent`: embedding cosine above the policy's;
  8. `independent`.

Only `independent` ever counts. Numbers are recorded as far as they were needed: a pair that Jaccard decides has no
cosine, so that what is written does not depend on whether an embedder was at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from ledger_core.belief.index import LedgerIndex
from ledger_core.belief.policies import CLUSTER_RECIPE, M3_RECIPE
from ledger_core.belief.quorum import Testimony, may_testify_on
from ledger_core.belief.similarity import Wording, jaccard_ppm
from ledger_core.kernel.errors import PolicyError
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements.verdicts import IndependenceResult, VerdictFiledBody
from ledger_core.kernel.types import PPM, EventId

Pair = tuple[EventId, EventId]
"""Two different entries, sorted."""


class Evidence(Protocol):
    """What a recipe may ask about entries beyond the statements; gathered by the shell."""

    def wording(self, entry: EventId) -> Wording | None:
        """What the entry says; None where it is no text, is erased, or is too long to compare."""
        ...

    def is_echo(self, entry: EventId) -> bool:
        """Whether the entry repeats its own call's arguments or earlier agent text."""
        ...

    def cosine_ppm(self, first: Wording, second: Wording) -> int:
        """Cosine of the embeddings of two texts; raises :class:`PolicyError` where nothing can embed."""
        ...


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two wordings are to each other, with the numbers that were needed to say so."""

    result: IndependenceResult
    jaccard_ppm: int | None = None
    cosine_ppm: int | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """What `independence.assessed` records about a pair."""

    comparison: Comparison
    echoes: tuple[EventId, ...] = ()
    """Members that echo, sorted; not empty if and only if the result is `echo`."""


Judge = Callable[[Pair, LedgerIndex, Policy, Evidence], Assessment]


def by_cluster(pair: Pair, index: LedgerIndex, policy: Policy, evidence: Evidence) -> Assessment:
    """`cluster-v1`: all bare addresses are one origin; no content is read."""
    del policy, evidence
    return Assessment(Comparison("dependent" if _one_origin(pair, index) else "independent"))


def by_cluster_and_wording(pair: Pair, index: LedgerIndex, policy: Policy, evidence: Evidence) -> Assessment:
    """`m3-v1`; see the head of this file."""
    first, second = pair
    echoes = tuple(entry for entry in pair if evidence.is_echo(entry))
    if echoes:
        return Assessment(Comparison("echo"), echoes)
    if _one_origin(pair, index):
        return Assessment(Comparison("dependent"))
    return Assessment(compare(evidence.wording(first), evidence.wording(second), policy, evidence.cosine_ppm))


def compare(
    first: Wording | None,
    second: Wording | None,
    policy: Policy,
    cosine: Callable[[Wording, Wording], int],
) -> Comparison:
    """Steps 3 to 8 of `m3-v1`: two wordings from two origins. ``cosine`` is asked only where it decides."""
    if first is None or second is None:
        return Comparison("unknown")
    if first.structure is not None and first.structure == second.structure:
        return Comparison("structured")
    if min(len(first.shingles), len(second.shingles)) < policy.minimum_shingles:
        return Comparison("unknown")
    jaccard = jaccard_ppm(first.shingles, second.shingles)
    if jaccard > policy.jaccard_ppm:
        return Comparison("dependent", jaccard)
    if policy.cosine_ppm == PPM:  # a cosine exceeds 1 nowhere: the policy does without embeddings
        return Comparison("independent", jaccard)
    alike = cosine(first, second)
    return Comparison("dependent" if alike > policy.cosine_ppm else "independent", jaccard, alike)


RECIPES: Mapping[str, Judge] = MappingProxyType({CLUSTER_RECIPE: by_cluster, M3_RECIPE: by_cluster_and_wording})


def assess(pair: Pair, index: LedgerIndex, policy: Policy, evidence: Evidence) -> Assessment:
    """How ``policy`` sees two sealed observations.

    Raises:
        PolicyError: the policy asks for a recipe that this version does not have, or for embeddings where there is
            nothing to embed with.
    """
    recipe = policy.independence_recipe
    try:
        judge = RECIPES[recipe]
    except KeyError:
        raise PolicyError(
            f"the policy assesses independence by {recipe!r}; this version knows {', '.join(sorted(RECIPES))}"
        ) from None
    return judge(pair, index, policy, evidence)


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


def _one_origin(pair: Pair, index: LedgerIndex) -> bool:
    first, second = pair
    return index.origins[first].cluster == index.origins[second].cluster
