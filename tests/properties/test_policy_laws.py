"""What `require_majority`, `standing_required` and `stale_after_seconds` may and may not do, on random ledgers."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ledger_core.belief import CALIBRATED, SEED_V4, STRICT, fold
from ledger_core.belief.neighbourhood import ReferenceIndex
from ledger_core.belief.receipts import expected_receipts
from tests.properties.ledgers import stories, story_of

laws = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MAJORITY = SEED_V4.model_copy(update={"require_majority": True})
STANDING = SEED_V4.model_copy(update={"standing_required": True})
OF_MAJORITY = st.sampled_from([CALIBRATED, MAJORITY, MAJORITY.model_copy(update={"quorum": 1})])
ALL = st.sampled_from([SEED_V4, STRICT, CALIBRATED, MAJORITY, STANDING])


def retracted(story, policy):
    return fold(story.statements, policy).retractions.keys()


def support(story, data, verdict="support"):
    """Another observation speaks for a contested entry (or against one)."""
    contested = sorted(retracted(story, SEED_V4)) or story.entries
    target = data.draw(st.sampled_from(contested if verdict == "support" else story.entries))
    candidate = data.draw(st.sampled_from([entry for entry in story.observed if entry != target]))
    story.book.verdict(target, candidate, verdict, recipe="one-more")


@pytest.mark.invariant("§2.5")
@laws
@given(stories(), ALL, st.data())
def test_a_supporter_never_helps_a_retraction(story, policy, data):
    before = retracted(story, policy)
    support(story, data)
    assert retracted(story, policy) <= before


@laws
@given(stories(), ALL, st.data())
def test_a_contradictor_never_saves_a_target(story, policy, data):
    before = retracted(story, policy)
    support(story, data, "contradict")
    assert retracted(story, policy) >= before


@laws
@given(stories(), st.data())
def test_two_supporters_are_two_only_once_they_are_assessed_to_be(story, data):
    """Copies of one page, and pages nobody compared, are one voice: filing many of them saves nothing."""
    target = data.draw(st.sampled_from(story.entries))
    witnesses = [entry for entry in story.observed if entry != target]
    story.book.verdict(target, data.draw(st.sampled_from(witnesses)), "support", recipe="first")
    assume(eligible(story, fold(story.statements, SEED_V4), target, "support"))
    before = retracted(story, MAJORITY)
    assessed = {entry for pair in story.paired for entry in pair}
    for witness in witnesses:
        if witness not in assessed:
            story.book.verdict(target, witness, "support", recipe="more")
    assert retracted(story, MAJORITY) == before


def eligible(story, state, target, value):
    """Who may count on ``target``, by a second reading of the rule."""
    of = {s.event_id: s for s in story.statements}
    withdrawn = {s.body.verdict for s in story.statements if s.kind == "verdict.reversed"}
    withdrawn |= {
        s.representation.lineage.event_id for key, s in of.items() if s.kind == "verdict.filed" and key not in withdrawn
    }
    echoes = {echo for s in story.statements if s.kind == "independence.assessed" for echo in s.body.echoes}
    found = set()
    for key, statement in of.items():
        if statement.kind != "verdict.filed" or key in withdrawn:
            continue
        body = statement.body
        if (body.target, body.verdict) != (target, value) or of[body.candidate].kind != "entry.observed":
            continue
        seal = of[of[body.candidate].body.seal].body
        entry = state.entries[body.candidate]
        if (
            (seal.reach, seal.attestation) == ("external_read", "boundary")
            and not entry.suspended
            and body.candidate not in echoes
            and entry.cluster != state.entries[target].cluster
        ):
            found.add(body.candidate)
    return found


def voices(story, members):
    """Size of the largest subset whose pairs all were assessed as independent and as nothing else."""
    said = {}
    for s in story.statements:
        if s.kind == "independence.assessed":
            said.setdefault(frozenset((s.body.first, s.body.second)), set()).add(s.body.result)
    for size in range(len(members), 1, -1):
        for group in itertools.combinations(sorted(members), size):
            if all(said.get(frozenset(pair)) == {"independent"} for pair in itertools.combinations(group, 2)):
                return size
    return min(1, len(members))


@laws
@given(stories(), OF_MAJORITY, st.data())
def test_a_majority_is_counted_as_it_is_written(story, policy, data):
    """Against a count over all subsets: contradictors must outnumber supporters and the target's own origin."""
    for _ in range(data.draw(st.integers(0, 4))):
        support(story, data)
    state = fold(story.statements, policy)
    expected = set()
    for target in story.entries:
        against, by = (eligible(story, state, target, value) for value in ("contradict", "support"))
        size, own = voices(story, against), state.entries[target].cluster is not None
        if size >= policy.quorum and size > voices(story, by) + own:
            expected.add(target)
    assert state.retractions.keys() == expected


@laws
@given(stories())
def test_asking_for_a_majority_only_spares(story):
    assert retracted(story, MAJORITY) <= retracted(story, SEED_V4)


@pytest.mark.invariant("§2.2")
@laws
@given(stories())
def test_asking_for_standing_takes_credit_and_display_and_nothing_else(story):
    plain, asked = fold(story.statements, SEED_V4), fold(story.statements, STANDING)
    assert (asked.retractions, asked.reputation) == (plain.retractions, plain.reputation)
    for key, entry in asked.entries.items():
        before = plain.entries[key]
        assert (entry.attenuation, entry.tier, entry.invalidated) == (
            before.attenuation,
            before.tier,
            before.invalidated,
        )
        assert (entry.base or 0) <= (before.base or 0)
        assert before.corroborated or not entry.corroborated
        if entry.tier != "sealed_verified" and entry.cluster is not None:
            s, f = asked.reputation.get((entry.cluster, entry.family), (0, 0))
            if s > f:
                assert (entry.base, entry.corroborated) == (before.base, before.corroborated)
            elif not entry.corroborated:
                # Nobody is believed more than a source of whom nothing is known, before it has good standing.
                assert entry.base <= 700_000_000 or entry.base == before.base


@laws
@given(stories(), ALL, st.data())
def test_reversal_and_order_under_every_policy(story, policy, data):
    if not story.verdicts:
        return
    verdict = data.draw(st.sampled_from(story.verdicts))
    replaced = {s.representation.lineage.event_id for s in story.statements}
    if verdict in replaced:
        return
    without = [s for s in story.statements if s.event_id != verdict and getattr(s.body, "verdict", None) != verdict]
    story.book.reverse(verdict)
    assert fold(story.statements, policy) == fold(reversed(without), policy)


@laws
@given(stories(), ALL, st.data())
def test_receipts_from_what_a_verdict_can_reach_are_those_from_the_whole_log(story, policy, data):
    for _ in range(data.draw(st.integers(0, 3))):
        support(story, data)
    contested = sorted(retracted(story, SEED_V4)) or story.entries
    target = data.draw(st.sampled_from(contested))
    candidate = data.draw(st.sampled_from([entry for entry in story.observed if entry != target]))
    before = list(story.statements)
    story.book.verdict(target, candidate, recipe="the-last")
    filed = story.statements[-1]
    reach = ReferenceIndex(before).around(target, candidate)
    assert expected_receipts(reach, [filed], filed, policy) == expected_receipts(before, [filed], filed, policy)


@laws
@given(stories(), st.lists(st.integers(0, 100), min_size=2, max_size=2), st.data())
def test_a_longer_patience_suspends_no_more(story, ages, data):
    for _ in range(3):
        entry = data.draw(st.sampled_from(story.observed))
        second = data.draw(st.integers(0, 99))
        story.book.audit(entry, "stale", at=f"2026-01-01T00:01:{second % 60:02}.000000000Z")
    shorter, longer = sorted(ages)

    def suspended(limit):
        state = fold(story.statements, SEED_V4.model_copy(update={"stale_after_seconds": limit}))
        return {key for key, entry in state.entries.items() if entry.suspended}

    assert suspended(None) <= suspended(longer) <= suspended(shorter)


def test_the_random_ledgers_reach_what_these_laws_are_about():
    reached = dict.fromkeys(("spared", "not spared", "uncredited", "undisplayed"), 0)
    for seed in range(80):
        story = story_of(seed, 40)
        for target in sorted(retracted(story, SEED_V4)):
            witness = next(entry for entry in reversed(story.observed) if entry != target)
            story.book.verdict(target, witness, "support", recipe="one-more")
        plain, calibrated = fold(story.statements, SEED_V4), fold(story.statements, CALIBRATED)
        reached["spared"] += plain.retractions.keys() != calibrated.retractions.keys()
        reached["not spared"] += bool(calibrated.retractions)
        reached["uncredited"] += any(
            entry.base < plain.entries[key].base for key, entry in calibrated.entries.items() if entry.base
        )
        reached["undisplayed"] += any(
            plain.entries[key].corroborated and not entry.corroborated for key, entry in calibrated.entries.items()
        )
    assert min(reached.values()) >= 8, reached
