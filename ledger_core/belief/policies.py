"""The policies this version ships: all numbers of the trust calculus, by name.

A policy is data (:class:`~ledger_core.kernel.policy.Policy`); a ledger carries the one in force in `policy.activated`,
so what stands here only says what a new ledger starts with.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ledger_core.kernel.errors import PolicyError
from ledger_core.kernel.policy import Policy, TierBases
from ledger_core.kernel.types import PPM, U

SUFFIX_LIST_DIGEST = "0232f4df0831911356e8ee1f4d5c3b6b12c0ed3f6bd66b0f81c8ab5d3d49e9ca"
"""SHA-256 of the public suffix list inside ``publicsuffixlist==1.1.2.20261023`` (list of 2026-10-22)."""

CLUSTER_RECIPE = "cluster-v1"
"""Two entries are independent if and only if their origin clusters differ (see :mod:`.origin`)."""

M3_RECIPE = "m3-v1"
"""As :data:`CLUSTER_RECIPE`, and the two texts are not near-duplicates, long enough to say so, and echo nobody."""

UNCONTRASTED_CAP_PPM = 500_000
"""An edge measured without a foil may weaken what rests on a retracted entry and may not invalidate it alone:
what remains is U − 0.5·(U − 0.05·U) = 0.525·U, just above θ = 0.5·U. Without a foil, an entry that merely names the
claim's entity moves the score as much as a true cause does."""

SEED_V4_CLUSTERS_NAME = "seed-v4-clusters"
SEED_V4_CLUSTERS = Policy.make(
    base_ppm=TierBases.make(conjecture=250_000, derived=500_000, sealed_unverified=700_000, sealed_verified=950_000),
    cosine_ppm=920_000,
    echo_containment_ppm=500_000,
    independence_recipe=CLUSTER_RECIPE,
    invalidation_threshold=U // 2,
    jaccard_ppm=700_000,
    minimum_shingles=50,
    null_threshold_micro_nats=250_000,
    prior_failures=2,
    prior_successes=2,
    quorum=2,
    require_majority=False,
    retracted_ppm=50_000,
    stale_after_seconds=None,
    standing_required=False,
    suffix_list_digest=SUFFIX_LIST_DIGEST,
    uncontrasted_cap_ppm=UNCONTRASTED_CAP_PPM,
    undeclared_context_ppm=0,
    version=1,
)
"""The specification's numbers, with independence by origin cluster only."""

STRICT_CLUSTERS_NAME = "strict-clusters"
STRICT_CLUSTERS = SEED_V4_CLUSTERS.model_copy(update={"undeclared_context_ppm": PPM})
"""As :data:`SEED_V4_CLUSTERS`, but a claim is presumed to rest wholly on all of its context until measured."""

SEED_V4_NAME = "seed-v4"
SEED_V4 = SEED_V4_CLUSTERS.model_copy(update={"independence_recipe": M3_RECIPE})
"""The specification's numbers, with its whole independence rule: clusters, near-duplicates and echoes."""

STRICT_NAME = "strict"
STRICT = SEED_V4.model_copy(update={"undeclared_context_ppm": PPM})
"""As :data:`SEED_V4`, but a claim is presumed to rest wholly on all of its context until measured. For a service whose
agents declare their own parents: leaving one out must not pay."""

CALIBRATED_NAME = "calibrated"
CALIBRATED = SEED_V4.model_copy(update={"cosine_ppm": 610_000, "require_majority": True, "standing_required": True})
"""As :data:`SEED_V4`, against an attacker who writes texts: paraphrases are near-duplicates already at the cosine fitted
on one attack set and checked on another, contradictors must outnumber supporters, and a source earns credit and a
`verified` display before it is given either."""

POLICIES: Mapping[str, Policy] = MappingProxyType(
    {
        SEED_V4_CLUSTERS_NAME: SEED_V4_CLUSTERS,
        STRICT_CLUSTERS_NAME: STRICT_CLUSTERS,
        SEED_V4_NAME: SEED_V4,
        STRICT_NAME: STRICT,
        CALIBRATED_NAME: CALIBRATED,
    }
)


def policy_named(name: str) -> Policy:
    """The shipped policy called ``name``; raises :class:`PolicyError` listing the known names."""
    try:
        return POLICIES[name]
    except KeyError:
        raise PolicyError(f"no policy is called {name!r}; known: {', '.join(sorted(POLICIES))}") from None


def check_policy(policy: Policy) -> None:
    """Refuse numbers under which a belief would be undefined; raises :class:`PolicyError` naming the field."""
    for field in ("prior_successes", "prior_failures"):
        if getattr(policy, field) < 1:
            raise PolicyError(f"{field} is {getattr(policy, field)}; a reputation needs a prior count of at least 1")
