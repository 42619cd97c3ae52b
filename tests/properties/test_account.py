"""The account of a belief on random ledgers: its arithmetic stands by itself and ends in the belief of the fold."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger_core.belief import SEED_V4_CLUSTERS, STRICT_CLUSTERS, fold
from ledger_core.harness.account import account
from tests.properties.ledgers import stories
from tests.properties.test_audit_agrees import POLICIES

ALLOWED = re.compile(r"[0-9+\-*/(), ]|min")


def evaluated(expression: str) -> int:
    assert ALLOWED.sub("", expression) == "", expression
    return eval(expression, {"__builtins__": {}}, {"min": min})


@pytest.mark.invariant("§2.3")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(stories(), st.sampled_from(POLICIES))
def test_every_account_adds_up_to_the_belief(story, policy):
    state = fold(story.statements, policy)
    known = {s.event_id for s in story.statements}
    for key in list(state.entries)[-8:]:
        found = account(story.statements, policy, key)
        entry = state.entries[key]
        if entry.belief is None:
            assert found.steps == ()
            continue
        values = {step.name: evaluated(step.expression) for step in found.steps}
        assert values == {step.name: step.value for step in found.steps}
        assert values["belief"] == entry.belief
        assert values["base"] == entry.base
        assert values[f"A({key})"] == entry.attenuation
        for hop in found.hops:
            assert values[f"A({hop.entry})"] == state.entries[hop.entry].attenuation
        cited = [
            event for hop in found.hops if hop.cause for ground in hop.cause.grounds for event in [ground.event_id]
        ]
        cited += [audit.event_id for hop in found.hops if hop.seal for audit in hop.seal.audits]
        cited += [verdict for hop in found.hops if hop.quorum for m in hop.quorum.members for verdict in m.verdicts]
        cited += [pair[0] for hop in found.hops if hop.quorum for pair in hop.quorum.assessments]
        assert set(cited) <= known


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(stories(), st.sampled_from([SEED_V4_CLUSTERS, STRICT_CLUSTERS]))
def test_what_is_counted_is_listed(story, policy):
    state = fold(story.statements, policy)
    for key, entry in state.entries.items():
        if entry.cluster is None or entry.family is None:
            continue
        found = account(story.statements, policy, key)
        s, f = state.reputation.get((entry.cluster, entry.family), (0, 0))
        assert (len({each.cluster for each in found.successes}), len(found.failures)) == (s, f)
        assert {hop.entry for hop in found.hops if hop.quorum} == {
            hop.entry for hop in found.hops if state.entries[hop.entry].retracted
        }
        break
