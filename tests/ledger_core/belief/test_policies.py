"""The shipped policies: what each says, and that a ledger which carries one still means the same."""

from __future__ import annotations

import pytest

from ledger_core.belief import CALIBRATED, SEED_V4, STRICT, policy_named
from ledger_core.belief.origin import installed_list_digest
from ledger_core.belief.policies import POLICIES, check_policy
from ledger_core.kernel.errors import PolicyError

DIGESTS = {
    "seed-v4-clusters": "cf39f4d31333bdf658599c5c89655762e0f3f8725980f6c6faf54d0df9146505",
    "strict-clusters": "174f5c95546d591ad25d42d24e744571e958905e0d3c3a3454e2b0b830e658b9",
    "seed-v4": "3f596b88e615c77d0999c33d0e39c62696a8912f6f3d4b65a1305bf1b77827b6",
    "strict": "13637ab90a9e0e775b35b5e690b4d762dac1a61f10f9818553cbb1919826bfa0",
    "calibrated": "70d3bda92092729df279f8e739c216bd07895c8bc44494163f105269ae863de3",
}
"""A name that comes to mean other numbers is a new name: generations and genesis name policies by digest."""


def test_every_name_means_the_numbers_it_always_meant():
    assert {name: policy.digest() for name, policy in POLICIES.items()} == DIGESTS


def test_the_specifications_numbers():
    bases = SEED_V4.base_ppm
    assert (bases.conjecture, bases.derived) == (250_000, 500_000)
    assert (bases.sealed_unverified, bases.sealed_verified) == (700_000, 950_000)
    assert (SEED_V4.quorum, SEED_V4.retracted_ppm, SEED_V4.invalidation_threshold) == (2, 50_000, 500_000_000)
    assert (SEED_V4.jaccard_ppm, SEED_V4.cosine_ppm, SEED_V4.minimum_shingles) == (700_000, 920_000, 50)
    assert (SEED_V4.prior_successes, SEED_V4.prior_failures) == (2, 2)
    assert (SEED_V4.require_majority, SEED_V4.standing_required) == (False, False)


def differing(policy, other):
    mine, theirs = policy.model_dump(), other.model_dump()
    return {name: mine[name] for name in mine if mine[name] != theirs[name]}


def test_each_other_policy_departs_from_the_specification_in_what_it_is_named_for():
    assert differing(policy_named("seed-v4-clusters"), SEED_V4) == {"independence_recipe": "cluster-v1"}
    assert differing(STRICT, SEED_V4) == {"undeclared_context_ppm": 1_000_000}
    assert differing(policy_named("strict-clusters"), STRICT) == {"independence_recipe": "cluster-v1"}
    assert differing(CALIBRATED, SEED_V4) == {
        "cosine_ppm": 610_000,
        "require_majority": True,
        "standing_required": True,
    }


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_all_are_admissible_and_cluster_by_the_installed_list(policy):
    check_policy(policy)
    assert policy.suffix_list_digest == installed_list_digest()


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(PolicyError, match=r"'seed-v5'.*calibrated, seed-v4, seed-v4-clusters, strict, strict-clusters"):
        policy_named("seed-v5")


@pytest.mark.parametrize("field", ["prior_successes", "prior_failures"])
def test_a_reputation_without_a_prior_is_undefined(field):
    with pytest.raises(PolicyError, match=f"{field} is 0"):
        check_policy(SEED_V4.model_copy(update={field: 0}))
