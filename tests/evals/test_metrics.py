"""Each metric's numerator and denominator, the accounting of every planned trial, and paired contrasts."""

from __future__ import annotations

import math

import pytest

from evals.errors import TrialError
from evals.metrics import Absent, Metric, contrast, group_by, measure, value_of
from evals.statistics import PairedTable, Undefined, clopper_pearson, mcnemar_exact, newcombe, tango
from evals.trials import TrialRecord
from tests.evals.trial_builder import trial

OUTCOMES = ("asserts_false", "asserts_true", "asserts_both", "third_value", "abstains")


@pytest.mark.parametrize(
    ("metric", "events"),
    [
        (Metric.PERSISTENCE, (1, 0, 1, 0, 0)),
        (Metric.ACCURACY, (0, 1, 0, 0, 0)),
        (Metric.SURVIVAL, (0, 1, 0, 0, 0)),
        (Metric.THIRD_VALUE, (0, 0, 0, 1, 0)),
        (Metric.ABSTENTION, (0, 0, 0, 0, 1)),
    ],
)
def test_what_each_answer_counts_as(metric, events):
    assert tuple(value_of(metric, trial(outcome)) for outcome in OUTCOMES) == events
    assert value_of(metric, trial("unscored")) is Absent.MISSING
    assert value_of(metric, trial("error")) is Absent.MISSING


def test_persistence_needs_a_retracted_premise():
    record = trial("asserts_true", family="competence", premise_order="none")
    assert value_of(Metric.PERSISTENCE, record) is Absent.NOT_APPLICABLE
    assert value_of(Metric.ACCURACY, record) == 1.0


def test_counts_of_claims_and_edges():
    record = trial(
        true_claims_invalidated=1,
        true_claims=4,
        dependents_left_standing=1,
        dependents=2,
        planted_edges_found=2,
        planted_edges=3,
        claims_with_false_edge=0,
        claims_measured=5,
    )
    assert value_of(Metric.COLLATERAL, record) == 0.25
    assert value_of(Metric.MISSED_PROPAGATION, record) == 0.5
    assert value_of(Metric.BALANCED_ACCURACY, record) == 0.625
    assert value_of(Metric.EDGE_RECALL, record) == pytest.approx(2 / 3)
    assert value_of(Metric.FALSE_EDGE, record) == 0.0
    assert value_of(Metric.COLLATERAL, trial()) is Absent.MISSING
    none = trial(true_claims_invalidated=0, true_claims=0, dependents_left_standing=0, dependents=0)
    assert value_of(Metric.COLLATERAL, none) is Absent.NOT_APPLICABLE
    assert value_of(Metric.BALANCED_ACCURACY, none) is Absent.NOT_APPLICABLE


def test_counts_of_the_quorum_are_logged_where_there_are_any():
    attacked = trial(attacks=2, attacks_passed=1, honest_pairs=4, honest_pairs_merged=1)
    assert value_of(Metric.FALSE_PASS, attacked) == 0.5
    assert value_of(Metric.FALSE_MERGE, attacked) == 0.25
    assert value_of(Metric.FALSE_PASS, trial()) is Absent.MISSING
    assert set(attacked.document()) - set(trial().document()) == {
        "attacks",
        "attacks_passed",
        "honest_pairs",
        "honest_pairs_merged",
    }
    assert TrialRecord(**attacked.document()) == attacked
    assert TrialRecord(**trial("error").document()) == trial("error")
    with pytest.raises(TrialError, match="attacks_passed = 3 lies outside"):
        trial(attacks=2, attacks_passed=3)


def test_balanced_accuracy_over_trials_with_one_kind_of_claim_each():
    """Ten trials with a dependent (3 left standing) and ten with a true claim (5 invalidated): 1 − (0.3 + 0.5)/2."""
    kinds = [{"dependents": 1, "dependents_left_standing": int(k < 3), "true_claims": 0} for k in range(10)]
    kinds += [{"true_claims": 1, "true_claims_invalidated": int(k < 5), "dependents": 0} for k in range(10)]
    records = [
        trial(
            scenario_id=f"s{k}",
            wording=f"w{k}",
            family="mixed-parents",
            **({"true_claims_invalidated": 0, "dependents_left_standing": 0} | fields),
        )
        for k, fields in enumerate(kinds)
    ]
    found = measure(Metric.BALANCED_ACCURACY, records)
    assert found.clustered.estimate == pytest.approx(0.6)
    assert measure(Metric.COLLATERAL, records).exact == clopper_pearson(5, 10)
    assert measure(Metric.MISSED_PROPAGATION, records).exact == clopper_pearson(3, 10)
    assert value_of(Metric.BALANCED_ACCURACY, trial(true_claims=0, true_claims_invalidated=0)) is Absent.MISSING


def test_a_failed_answer_does_not_lose_the_claims_it_had():
    record = trial("error", true_claims_invalidated=2, true_claims=2)
    assert value_of(Metric.COLLATERAL, record) == 1.0
    assert value_of(Metric.ACCURACY, record) is Absent.MISSING


def test_every_planned_trial_is_accounted_for():
    records = [trial(o, scenario_id=f"s{k}", wording=f"w{k}") for k, o in enumerate([*OUTCOMES, "error", "unscored"])]
    records.append(trial("asserts_false", scenario_id="s9", wording="w9", attempts=3))
    found = measure(Metric.PERSISTENCE, records)
    a = found.accounting
    assert (a.planned, a.scored, a.errored, a.unscored, a.retried) == (8, 6, 1, 1, 1)
    assert a.planned == a.scored + a.errored + a.unscored
    assert (found.events, found.valued, found.missing) == (3.0, 6, 2)
    assert found.exact == clopper_pearson(3, 6)


def test_an_errored_trial_never_improves_a_bound():
    records = [trial("asserts_true", scenario_id=f"s{k}", wording=f"w{k}") for k in range(40)]
    clean = measure(Metric.PERSISTENCE, records)
    broken = measure(Metric.PERSISTENCE, [trial("error", scenario_id="s0", wording="w0"), *records[1:]])
    assert clean.bounds == clean.clustered
    assert broken.bounds.high == pytest.approx(clopper_pearson(1, 40).high)
    assert broken.bounds.low == 0.0
    assert broken.bounds.method == "Clopper–Pearson, missing trials at both extremes"


def test_an_empty_group_is_undefined_everywhere():
    found = measure(Metric.ACCURACY, [])
    for result in (found.exact, found.plot, found.clustered, found.bounds):
        assert result == Undefined("no trial was scored")
    both = contrast(Metric.ACCURACY, [], [])
    for result in (both.tango, both.newcombe, both.mcnemar, both.clustered, both.sign_flip, both.bounds):
        assert isinstance(result, Undefined)


def test_nothing_but_errors_has_bounds_from_0_to_1_and_no_estimate():
    found = measure(Metric.ACCURACY, [trial("error", scenario_id=f"s{k}", wording=f"w{k}") for k in range(5)])
    assert isinstance(found.clustered, Undefined)
    assert (found.bounds.low, found.bounds.high) == (0.0, 1.0)


def arms(left, right):
    """Two arms over the same scenarios, one wording each."""
    return (
        [trial(o, scenario_id=f"s{k}", wording=f"w{k}", arm="2m") for k, o in enumerate(left)],
        [trial(o, scenario_id=f"s{k}", wording=f"w{k}", arm="2") for k, o in enumerate(right)],
    )


def test_a_contrast_pairs_by_scenario():
    left = ["asserts_false"] * 7 + ["asserts_true"] * 5
    right = ["asserts_false"] * 2 + ["asserts_true"] * 9 + ["asserts_both"]
    found = contrast(Metric.PERSISTENCE, *arms(left, right))
    table = PairedTable(both=2, left_only=5, right_only=1, neither=4)
    assert found.table == table
    assert found.tango == tango(table) == found.clustered
    assert found.newcombe == newcombe(table)
    assert found.mcnemar == mcnemar_exact(table)
    assert (found.pairs, found.incomplete, found.clusters) == (12, 0, 12)


def test_missing_sides_are_bounds_in_both_directions():
    left, right = arms(["asserts_false"] * 12, ["asserts_true"] * 11 + ["error"])
    found = contrast(Metric.PERSISTENCE, left, right)
    assert (found.pairs, found.incomplete) == (11, 1)
    worst = tango(PairedTable(both=1, left_only=11, right_only=0, neither=0))
    best = tango(PairedTable(both=0, left_only=12, right_only=0, neither=0))
    assert found.bounds.low == worst.low
    assert found.bounds.high == best.high


def test_a_unit_that_one_arm_lacks_is_incomplete():
    left, right = arms(["asserts_false"] * 4, ["asserts_true"] * 4)
    assert contrast(Metric.PERSISTENCE, left, right[:3]).incomplete == 1


def test_fractions_have_no_table():
    left, right = arms(["asserts_true"] * 3, ["asserts_true"] * 3)
    half = [
        trial(scenario_id=r.scenario_id, wording=r.wording, arm="3", true_claims=2, true_claims_invalidated=1)
        for r in left
    ]
    full = [
        trial(scenario_id=r.scenario_id, wording=r.wording, arm="2", true_claims=2, true_claims_invalidated=2)
        for r in right
    ]
    found = contrast(Metric.COLLATERAL, half, full)
    assert found.tango == Undefined("the values are fractions; only the cluster method applies")
    assert found.clustered.estimate == -0.5


def test_groups_and_members_come_sorted():
    records = [trial(scenario_id=f"s{k}", arm=arm) for k in (2, 0, 1) for arm in ("2", "1")]
    groups = group_by(records, lambda r: (r.arm,))
    assert list(groups) == [("1",), ("2",)]
    assert [r.scenario_id for r in groups["1",]] == ["s0", "s1", "s2"]
    assert math.isclose(sum(len(g) for g in groups.values()), 6)
