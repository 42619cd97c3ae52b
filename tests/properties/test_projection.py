"""The projection against the fold: whatever the batches, their order and their repetition, one state."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger_core.belief import SEED_V4_CLUSTERS, STRICT_CLUSTERS, fold, projection
from ledger_core.belief.projection import Projection
from tests.ledger_core.belief.book import Book
from tests.properties.ledgers import stories, story_of

POLICIES = st.sampled_from(
    [
        SEED_V4_CLUSTERS,
        STRICT_CLUSTERS,
        SEED_V4_CLUSTERS.model_copy(update={"require_majority": True, "standing_required": True}),
        STRICT_CLUSTERS.model_copy(update={"quorum": 1, "standing_required": True, "stale_after_seconds": 10}),
    ]
)
RANDOMS = st.builds(random.Random, st.integers(0, 2**32 - 1))
laws = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def batches(statements, rng):
    """The statements cut into pieces of every size, the empty one included."""
    rest = list(statements)
    while rest:
        size = rng.choice([0, 1, 1, 2, 5, 20, len(rest)])
        yield rest[:size]
        rest = rest[size:]


def same(found, expected):
    """Equal, and in the same order: a reader iterates over it."""
    assert found == expected
    assert list(found.entries) == list(expected.entries)
    assert list(found.retractions) == list(expected.retractions)
    assert list(found.reputation) == list(expected.reputation)


@pytest.mark.invariant("§2.4", "§2.6")
@laws
@given(stories(), POLICIES, RANDOMS)
def test_after_every_batch_of_a_log_the_projection_is_the_fold_of_its_prefix(story, policy, rng):
    kept, seen = Projection(policy), []
    for batch in batches(story.statements, rng):
        seen.extend(batch)
        kept.extend(batch)
        same(kept.state(), fold(seen, policy))
    assert len(kept) == len(fold(seen, policy).entries)


@laws
@given(stories(), POLICIES, RANDOMS)
def test_no_order_and_no_repetition_of_statements_makes_a_difference(story, policy, rng):
    statements = [*story.statements, *rng.choices(story.statements, k=8)]
    rng.shuffle(statements)
    kept, seen = Projection(policy), []
    for batch in batches(statements, rng):
        seen.extend(batch)
        kept.extend(batch)
        same(kept.state(), fold(seen, policy))


@laws
@given(stories(), POLICIES, RANDOMS)
def test_it_may_be_asked_at_the_end_alone(story, policy, rng):
    """States that are not asked for between batches are not built, so what is stale must be known without them."""
    kept = Projection(policy)
    for batch in batches(story.statements, rng):
        kept.extend(batch)
    same(kept.state(), fold(story.statements, policy))


def test_a_state_that_was_given_out_does_not_move_when_more_comes():
    story = story_of(7, 40)
    kept = Projection(SEED_V4_CLUSTERS, story.statements)
    given_out, before = kept.state(), fold(story.statements, SEED_V4_CLUSTERS)
    for _ in range(10):
        story.quarrel()
    kept.extend(story.statements)
    assert kept.state() != before
    same(given_out, before)


def test_a_state_is_built_once_until_more_comes():
    story = story_of(7, 40)
    kept = Projection(SEED_V4_CLUSTERS, story.statements)
    first = kept.state()
    kept.extend([])
    assert kept.state() is first
    kept.extend(story.statements[:1])
    assert kept.state() == first


@pytest.mark.parametrize("seed", range(40))
def test_backwards_one_by_one(seed):
    """Every reference is to something that is not there yet."""
    statements = story_of(seed, 40).statements[::-1]
    kept = Projection(STRICT_CLUSTERS)
    for number, statement in enumerate(statements):
        kept.extend([statement])
        if number % 10 == 0:
            same(kept.state(), fold(statements[: number + 1], STRICT_CLUSTERS))
    same(kept.state(), fold(statements, STRICT_CLUSTERS))


def test_a_measurement_that_is_superseded_before_it_comes_never_counts():
    book = Book()
    observed = book.seal("a.example")
    generation = book.generation([observed])
    claim = book.claim(generation, {observed: 1_000_000})
    book.measure(claim, generation, {observed: "null"}, null_high=100_000)
    (measured,) = (s for s in book.statements if s.kind == "edges.measured")
    successor = book.superseding(measured, {"claim_result": "ungrounded"})
    rest = [s for s in book.statements if s not in (measured, successor)]
    for late in ([successor, measured], [measured, successor]):
        kept = Projection(SEED_V4_CLUSTERS, rest)
        for statement in late:
            kept.extend([statement])
        same(kept.state(), fold(book.statements, SEED_V4_CLUSTERS))
        assert kept.state().entries[claim].tier == "conjecture"


def test_a_small_batch_costs_what_it_reaches(monkeypatch):
    """A new claim among many makes the projection look at one claim, and a cascade at those it attenuates."""
    book = Book()
    premise, bystander = book.seal("p.example"), book.seal("q.example")
    for _ in range(50):
        book.claim(book.generation([bystander]), [bystander])
    hit = [book.claim(book.generation([premise]), [premise]) for _ in range(3)]
    kept = Projection(SEED_V4_CLUSTERS, book.statements)
    kept.state()
    claims, entries = [], []
    real_dependence, real_remaining = projection.dependence_of, projection.remaining_of
    monkeypatch.setattr(
        projection, "dependence_of", lambda claim, *rest: claims.append(claim) or real_dependence(claim, *rest)
    )
    monkeypatch.setattr(
        projection, "remaining_of", lambda edges, left: entries.append(edges) or real_remaining(edges, left)
    )
    start = len(book.statements)
    book.claim(book.generation([bystander]), [bystander])
    kept.extend(book.statements[start:])
    assert (len(claims), len(entries)) == (1, 1)
    start = len(book.statements)
    book.contradict(premise, book.seal("a.example"), book.seal("b.example"))
    kept.extend(book.statements[start:])
    assert len(claims) == 1
    assert len(entries) == 1 + 2 + 1 + 3, "two new observations, the premise and the claims that rest on it"
    same(kept.state(), fold(book.statements, SEED_V4_CLUSTERS))
    assert all(kept.state().entries[claim].invalidated for claim in hit)


def test_the_shuffles_reach_what_is_hard():
    """Late seals, late generations and late targets must occur, or the laws above hold for too little."""
    late = dict.fromkeys(("seal", "generation", "target", "claim"), 0)
    for seed in range(30):
        statements = story_of(seed, 40).statements
        random.Random(seed).shuffle(statements)
        place = {s.event_id: number for number, s in enumerate(statements)}
        for number, s in enumerate(statements):
            late["seal"] += s.kind == "entry.observed" and place[s.body.seal] > number
            late["generation"] += (
                s.kind == "entry.derived" and s.body.generation is not None and place[s.body.generation] > number
            )
            late["target"] += s.kind == "verdict.filed" and place[s.body.target] > number
            late["claim"] += s.kind == "edges.measured" and place[s.body.claim] > number
    assert min(late.values()) > 20, late
