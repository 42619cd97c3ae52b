"""The clean-room implementation as an oracle: the same beliefs, to the bit, on every random ledger and every policy."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger_core.audit.beliefs import believe
from ledger_core.audit.cliques import largest
from ledger_core.belief import SEED_V4_CLUSTERS, STRICT_CLUSTERS, fold
from ledger_core.belief.independent_sets import adjacency
from ledger_core.belief.independent_sets import largest as ours
from tests.ledger_core.audit.reading import cluster_of, plain, plain_policy
from tests.ledger_core.audit.reading import view as audited
from tests.properties.ledgers import stories, story_of
from tests.properties.test_belief_laws import view

POLICIES = [
    SEED_V4_CLUSTERS,
    STRICT_CLUSTERS,
    SEED_V4_CLUSTERS.model_copy(update={"quorum": 3, "undeclared_context_ppm": 300_000, "prior_successes": 1}),
    SEED_V4_CLUSTERS.model_copy(update={"quorum": 1, "uncontrasted_cap_ppm": 1_000_000, "stale_after_seconds": 60}),
    STRICT_CLUSTERS.model_copy(update={"require_majority": True, "standing_required": True}),
    SEED_V4_CLUSTERS.model_copy(update={"standing_required": True, "quorum": 1, "retracted_ppm": 333_333}),
]


def agree(statements, policy):
    state = fold(statements, policy)
    again = believe(plain(statements), plain_policy(policy), cluster_of)
    assert audited(again) == view(state)
    assert {key: tuple(sorted(quorum.members)) for key, quorum in again.retractions.items()} == {
        key: retraction.members for key, retraction in state.retractions.items()
    }
    assert {key: quorum.size for key, quorum in again.retractions.items()} == {
        key: retraction.largest_independent for key, retraction in state.retractions.items()
    }


@pytest.mark.invariant("§2.2", "§2.3", "§2.4", "§2.5", "REPLAY-01")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(stories(), st.sampled_from(POLICIES))
def test_two_implementations_agree_to_the_bit(story, policy):
    agree(story.statements, policy)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES, ids=range(len(POLICIES)))
def test_they_agree_on_long_stories(policy):
    for seed in range(60):
        agree(story_of(seed, 80).statements, policy)


@given(st.integers(0, 12), st.floats(0, 1), st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_the_largest_independent_set_is_the_same_by_both_searches(size, density, seed):
    chance = random.Random(seed)
    members = [f"m{number:02}" for number in range(size)]
    pairs = [pair for pair in itertools.combinations(members, 2) if chance.random() < density]
    partners = {m: frozenset({b if a == m else a for a, b in pairs if m in (a, b)}) for m in members}
    by_hand = max(
        (
            len(group)
            for count in range(size + 1)
            for group in itertools.combinations(members, count)
            if all(pair in pairs for pair in itertools.combinations(group, 2))
        ),
        default=0,
    )
    assert largest(partners, members) == by_hand == ours(adjacency(members, pairs))


def test_many_observations_of_few_origins_are_no_search():
    """What an attacker can send in any number: 200 observations of each of 12 origins."""
    origins = [[f"{origin:02}-{number:03}" for number in range(200)] for origin in range(12)]
    members = [member for group in origins for member in group]
    everybody = frozenset(members)
    partners = {member: everybody - frozenset(group) for group in origins for member in group}
    assert largest(partners, members) == 12
