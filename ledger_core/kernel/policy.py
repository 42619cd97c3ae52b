"""The policy record: every number the belief function reads, in one canonical record with a digest.

It is carried inside `policy.activated`, not behind a content reference: belief must stay computable from statements
alone, also after any blob has been erased.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ledger_core.kernel import digests
from ledger_core.kernel.digests import DigestHex, Prefix
from ledger_core.kernel.records import Record
from ledger_core.kernel.types import MAX_INTEGER, ContractId, Count, Digest, MicroNats, PartsOfU, Ppm


class TierBases(Record):
    """Base belief of each trust tier, in ppm."""

    conjecture: Ppm
    derived: Ppm
    sealed_unverified: Ppm
    sealed_verified: Ppm


class Policy(Record):
    """All numbers of the trust calculus."""

    base_ppm: TierBases
    cosine_ppm: Ppm
    """Embedding cosine above which two texts are near-duplicates."""
    echo_containment_ppm: Ppm
    """Containment in the call's arguments or earlier agent text from which a result is an echo."""
    independence_recipe: ContractId
    """The recipe that judges pairs nobody assessed yet. Assessments on record count whatever recipe made them."""
    invalidation_threshold: PartsOfU
    """θ: an entry whose attenuation is at or below it is invalidated."""
    jaccard_ppm: Ppm
    """Shingle Jaccard above which two texts are near-duplicates."""
    minimum_shingles: Count
    """Texts with fewer shingles are `unknown` and never count."""
    null_threshold_micro_nats: MicroNats
    """Equivalence bound under which a measured `null` may lower a declared weight."""
    prior_failures: Count
    prior_successes: Count
    quorum: Annotated[int, Field(ge=1, le=MAX_INTEGER)]
    """K: pairwise independent origins that retract a target."""
    require_majority: bool
    """Whether independent contradictors must outnumber independent supporters (the target's origin is one)."""
    retracted_ppm: Ppm
    """φ: what remains of a retracted or suspended entry's attenuation."""
    stale_after_seconds: Count | None
    """Age from which a `stale` audit suspends; null: never."""
    standing_required: bool
    """Whether credit and `verified` display need a source of good standing."""
    suffix_list_digest: Digest
    """SHA-256 of the public suffix list file by which origins are clustered."""
    uncontrasted_cap_ppm: Ppm
    """Largest weight of an edge measured without a foil."""
    undeclared_context_ppm: Ppm
    """Presumed dependence on earlier context entries that were not declared."""
    version: Literal[1]

    def digest(self) -> DigestHex:
        """Identity of the numbers, independent of the name they are activated under."""
        return digests.domain_hex(Prefix.POLICY, self.canonical_bytes())
