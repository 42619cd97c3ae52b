"""A trial record refuses contradictions, and a set of records has one order and counts each trial once."""

from __future__ import annotations

import random

import pytest

from evals.errors import TrialError
from evals.trials import in_order
from tests.evals.trial_builder import trial


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"outcome": "maybe"}, "'maybe'"),
        ({"premise_order": "shuffled"}, "'shuffled'"),
        ({"repeat": -1}, "-1"),
        ({"attempts": 0}, "attempts 0"),
        ({"arm": ""}, "arm"),
        ({"true_claims": 3}, "true_claims_invalidated"),
        ({"true_claims": 3, "true_claims_invalidated": 4}, "outside 0…3"),
    ],
)
def test_contradictions_are_refused_by_value(fields, message):
    outcome = fields.pop("outcome", "asserts_true")
    with pytest.raises((TrialError, ValueError), match=message):
        trial(outcome, **fields)


def test_an_unknown_outcome_is_a_typed_error():
    good = trial()
    values = {name: getattr(good, name) for name in good.__dataclass_fields__}
    with pytest.raises(TrialError, match="unsure"):
        type(good)(**(values | {"outcome": "unsure"}))
    with pytest.raises(TrialError, match="fault"):
        type(good)(**(values | {"fault": "no model"}))
    with pytest.raises(TrialError, match="needs the answer"):
        type(good)(**(values | {"answer": None}))


def test_order_comes_from_content_and_a_resumed_trial_counts_once():
    records = [
        trial(scenario_id=f"s{k}", wording=f"w{k % 3}", premise_order=order, arm=arm)
        for k in range(5)
        for order in ("premise-first", "corrections-first")
        for arm in ("1", "2")
    ]
    shuffled = records + records[:7]
    random.Random(5).shuffle(shuffled)
    assert in_order(shuffled) == in_order(records)
    assert len(in_order(shuffled)) == 20


def test_a_silent_second_roll_is_refused():
    with pytest.raises(TrialError, match="recorded twice with different outcome, answer_digest, answer"):
        in_order([trial("asserts_false"), trial("asserts_true")])
