"""A question played through a ledger gives what its pairs say."""

from __future__ import annotations

import pytest

from evals.quorum_attack.embeddings import KeptEmbeddings
from evals.quorum_attack.pairs import Point, attack_pairs, honest_pairs
from evals.quorum_attack.staging import stage
from ledger_core.belief.policies import CALIBRATED, SEED_V4
from tests.evals.quorum_attack.toy import WordCounts, attack_set, honest_set

TARGET = "When was the tower finished? 1931"


def scenes():
    embedder = KeptEmbeddings(WordCounts())
    for attack, pairs in zip(attack_set().questions, attack_pairs(attack_set(), embedder, SEED_V4), strict=True):
        yield [(f"attacker {n}", text) for n, text in enumerate(attack.texts)], pairs, embedder
    for honest, pairs in zip(honest_set().questions, honest_pairs(honest_set(), embedder, SEED_V4), strict=True):
        yield [(passage.origin, passage.text) for passage in honest.passages], pairs, embedder


@pytest.mark.invariant("§2.5")
@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("seed-v4", SEED_V4),
        ("calibrated", CALIBRATED),
        ("between", SEED_V4.model_copy(update={"cosine_ppm": 748_000})),
        ("by-jaccard", SEED_V4.model_copy(update={"cosine_ppm": 1_000_000, "jaccard_ppm": 530_000})),
    ],
)
def test_the_ledger_and_the_pairs_agree(name, policy):
    outcomes = set()
    for contradictors, pairs, embedder in scenes():
        found = stage(TARGET, contradictors, policy, name, embedder)
        expected = pairs.largest_independent(Point.of(policy))
        assert (found.retracted, found.largest_independent) == (expected >= 2, expected)
        outcomes.add((found.retracted, found.largest_independent))
    assert len(outcomes) > 1, "the policy tells nothing apart here; the agreement would be trivial"


def test_origins_of_one_name_are_one():
    texts = [passage.text for passage in honest_set().questions[0].passages]
    found = stage(TARGET, [("one", text) for text in texts], SEED_V4, "seed-v4", WordCounts())
    assert (found.retracted, found.largest_independent, found.corroborated) == (False, 1, 0)


def test_witnesses_that_retract_are_displayed_as_verified():
    passages = honest_set().questions[0].passages
    found = stage(TARGET, [(p.origin, p.text) for p in passages], SEED_V4, "seed-v4", WordCounts())
    assert (found.retracted, found.corroborated) == (True, 3)
