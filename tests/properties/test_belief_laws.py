"""The four laws of belief, on random ledgers, and the fold against the naive oracle."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger_core.belief import SEED_V4_CLUSTERS, STRICT_CLUSTERS, FoldOptions, Hyperedge, fold
from ledger_core.belief.neighbourhood import ReferenceIndex
from ledger_core.belief.receipts import expected_receipts
from ledger_core.kernel.statements import CLAIM_KINDS
from tests.ledger_core.belief.book import OTHER_WEIGHTS
from tests.properties.ledgers import PPM, stories, story_of
from tests.properties.oracle import believe, without_withdrawn

POLICIES = st.sampled_from(
    [
        SEED_V4_CLUSTERS,
        STRICT_CLUSTERS,
        SEED_V4_CLUSTERS.model_copy(update={"undeclared_context_ppm": 300_000, "quorum": 3, "prior_successes": 1}),
        SEED_V4_CLUSTERS.model_copy(update={"quorum": 1, "uncontrasted_cap_ppm": 1_000_000}),
    ]
)
laws = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def view(state):
    """A state in the oracle's terms."""
    entries = {
        key: (
            e.tier,
            e.base,
            e.attenuation,
            e.belief,
            e.retracted,
            e.suspended,
            e.invalidated,
            e.corroborated,
            {edge.parents: edge.ppm for edge in e.hyperedges},
        )
        for key, e in state.entries.items()
    }
    return entries, dict(state.reputation)


@laws
@given(stories(), POLICIES)
def test_the_fold_agrees_with_the_naive_oracle(story, policy):
    assert view(fold(story.statements, policy)) == believe(story.statements, policy)


@pytest.mark.invariant("REPLAY-01")
@laws
@given(stories(), POLICIES, st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(story, policy, shuffler):
    state = fold(story.statements, policy)
    again = story.statements + shuffler.choices(story.statements, k=5)
    shuffler.shuffle(again)
    shuffled = fold(again, policy)
    assert shuffled == state
    assert list(shuffled.entries) == list(state.entries)
    assert list(shuffled.retractions) == list(state.retractions)


@pytest.mark.invariant("§2.3")
@laws
@given(stories(), POLICIES, st.data())
def test_a_new_or_heavier_dependence_never_raises_a_belief(story, policy, data):
    before = fold(story.statements, policy)
    keys = list(before.entries)
    entry = data.draw(st.sampled_from(keys))
    earlier = keys[: before.entries[entry].order]
    edges = list(before.entries[entry].hyperedges)
    if edges and data.draw(st.booleans()):
        heavier = data.draw(st.integers(0, len(edges) - 1))
        edges[heavier] = Hyperedge(edges[heavier].parents, data.draw(st.integers(edges[heavier].ppm, 1_000_000)))
    elif earlier:
        parents = data.draw(st.lists(st.sampled_from(earlier), min_size=1, max_size=3, unique=True))
        edges.append(Hyperedge(tuple(sorted(parents)), data.draw(st.sampled_from(PPM))))
    after = fold(story.statements, policy, FoldOptions(hyperedges={entry: tuple(edges)}))
    never_better(before, after)


@pytest.mark.invariant("§2.3")
@laws
@given(stories(), POLICIES)
def test_a_measurement_that_may_not_lower_never_raises_a_belief(story, policy):
    before = fold(story.statements, policy)
    story.measure(scorer=OTHER_WEIGHTS)
    never_better(before, fold(story.statements, policy))


def never_better(before, after):
    assert before.entries.keys() == after.entries.keys()
    for key, old in before.entries.items():
        new = after.entries[key]
        assert (new.belief or 0) <= (old.belief or 0)
        assert new.attenuation <= old.attenuation
        assert new.invalidated or not old.invalidated


@pytest.mark.invariant("§2.4")
@laws
@given(stories(), POLICIES, st.data())
def test_reversing_a_verdict_equals_the_set_without_it(story, policy, data):
    if not story.verdicts:
        return
    verdict = data.draw(st.sampled_from(story.verdicts))
    without = [s for s in story.statements if s.event_id != verdict and getattr(s.body, "verdict", None) != verdict]
    story.book.reverse(verdict)
    assert fold(story.statements, policy) == fold(without, policy)


@pytest.mark.invariant("§2.5")
@laws
@given(stories(), POLICIES, st.data())
def test_another_filing_of_the_same_pair_changes_nothing(story, policy, data):
    live = without_withdrawn({s.event_id: s for s in story.statements})
    filed = [s for s in live.values() if s.kind == "verdict.filed"]
    if not filed:
        return
    body = data.draw(st.sampled_from(filed)).body
    before = fold(story.statements, policy)
    story.book.verdict(body.target, body.candidate, body.verdict, recipe="once-more")
    assert fold(story.statements, policy) == before


@pytest.mark.invariant("§2.2", "§2.7")
@laws
@given(stories(), POLICIES)
def test_claims_never_reach_a_sealed_tier_or_a_quorum(story, policy):
    state = fold(story.statements, policy)
    for entry in state.entries.values():
        if entry.kind != "entry.observed":
            assert entry.tier in {"given", "derived", "conjecture"}
            assert not entry.corroborated
            assert entry.belief is None or entry.belief <= policy.base_ppm.derived * 1000
    for retraction in state.retractions.values():
        assert all(state.entries[member].external for member in retraction.members)


@laws
@given(stories(), POLICIES)
def test_a_path_loses_what_the_entry_lost(story, policy):
    """The reported path is a real one: its weights alone already explain at least the entry's loss."""
    state = fold(story.statements, policy)
    for key, entry in state.entries.items():
        path = state.path(key)
        if entry.retracted or entry.suspended or entry.attenuation == 10**9:
            assert path == ()
            continue
        root = state.entries[path[-1].entry]
        assert root.retracted or root.suspended
        loss = 10**9 - root.attenuation
        for step in reversed(path):
            loss = step.ppm * loss // 10**6
        assert loss == 10**9 - entry.attenuation


@laws
@given(stories(), POLICIES)
def test_receipts_from_what_a_verdict_can_reach_are_those_from_the_whole_log(story, policy):
    story.verdict()
    verdict = story.statements[-1]
    if verdict.kind != "verdict.filed":
        return
    before = story.statements[:-1]
    reach = ReferenceIndex(before).around(verdict.body.target, verdict.body.candidate)
    whole = expected_receipts(before, [verdict], verdict, policy)
    assert expected_receipts(reach, [verdict], verdict, policy) == whole


def test_the_random_ledgers_reach_what_the_laws_are_about():
    """Laws over ledgers in which nothing happens would hold for nothing."""
    reached = dict.fromkeys(
        ("retracted", "suspended", "attenuated", "reprieved", "verified", "corroborated", "group", "reputed"), 0
    )
    for seed in range(300):
        statements = story_of(seed, 40).statements
        state = fold(statements, SEED_V4_CLUSTERS)
        declared = fold(statements, SEED_V4_CLUSTERS, FoldOptions(measured=False))
        entries = state.entries.values()
        claims = [e for e in entries if e.kind in CLAIM_KINDS]
        reached["retracted"] += any(e.retracted for e in entries)
        reached["suspended"] += any(e.suspended for e in entries)
        reached["verified"] += any(e.tier == "sealed_verified" for e in entries)
        reached["corroborated"] += any(e.corroborated for e in entries)
        reached["attenuated"] += any(e.attenuation < 10**9 and not e.retracted for e in claims)
        reached["group"] += any(len(edge.parents) > 1 for e in claims for edge in e.hyperedges)
        reached["reprieved"] += any(e.attenuation > declared.entries[k].attenuation for k, e in state.entries.items())
        reached["reputed"] += any(s >= 1 and f >= 1 for s, f in state.reputation.values())
    assert min(reached.values()) >= 8, reached
