"""Faults that evaluation frameworks have shipped, one test each (design: evals §6)."""

from __future__ import annotations

import inspect
import math
import random
from dataclasses import replace

import pytest

from evals.criteria import load_criteria
from evals.errors import PreregistrationError, StatisticsError, TrialError
from evals.kill_criteria import Verdict, evaluate
from evals.metrics import Metric, contrast, measure
from evals.preregistration import register
from evals.report import build_report, render_html
from evals.statistics import Undefined, clopper_pearson, cluster_proportion, sign_flip
from evals.trials import in_order
from tests.evals.report.sample import EMPTY_INPUTS
from tests.evals.trial_builder import default_plan, observed, play, trial


def some(outcomes, arm="2"):
    return [trial(o, scenario_id=f"s{k}", wording=f"w{k}", arm=arm) for k, o in enumerate(outcomes)]


def test_nan_inside_scores():
    with pytest.raises(StatisticsError, match="nan"):
        cluster_proportion({"w": [1.0, math.nan]})
    with pytest.raises(StatisticsError, match="nan"):
        sign_flip([0.5, math.nan], seed=0)


def test_an_errored_sample_leaving_the_denominator():
    found = measure(Metric.ACCURACY, some(["asserts_true"] * 9 + ["error"]))
    assert (found.accounting.planned, found.accounting.errored) == (10, 1)
    assert found.bounds.low == clopper_pearson(9, 10).low
    assert found.bounds.high == 1.0


def test_an_empty_set():
    assert isinstance(measure(Metric.ACCURACY, []).clustered, Undefined)
    assert isinstance(contrast(Metric.ACCURACY, [], []).tango, Undefined)


def test_a_lone_surrogate():
    registration = register(default_plan(planted=3, mixed=4, competence=2), load_criteria())
    records = play(registration.plan, lambda *_: "asserts_true")
    place = next(k for k, record in enumerate(records) if record.family == "planted-premise")
    records[place] = replace(records[place], outcome="asserts_false", answer="\udcff broken")
    page = render_html(build_report(evaluate(registration, records, observed(registration)), records, EMPTY_INPUTS))
    assert "\ufffd broken" in page
    page.encode("utf-8")


def test_the_model_is_part_of_what_a_run_is():
    first = register(default_plan(), load_criteria())
    other = register(replace(default_plan(), model_digest="cd" * 32), load_criteria())
    assert first.digest != other.digest


def test_repeats_are_trials_of_their_own():
    twice = [trial("asserts_true"), trial("asserts_false", repeat=1)]
    assert measure(Metric.ACCURACY, twice).accounting.planned == 2


def test_a_resume_that_counts_twice():
    records = some(["asserts_true", "asserts_false"])
    assert measure(Metric.ACCURACY, records + records).accounting.planned == 2


def test_an_unseeded_resampling():
    seed = inspect.signature(sign_flip).parameters["seed"]
    assert seed.default is inspect.Parameter.empty
    uneven = [math.sqrt(k + 2) for k in range(30)]
    assert sign_flip(uneven, seed=5, draws=500) == sign_flip(uneven, seed=5, draws=500)


def test_a_zero_error_for_a_proportion_between_0_and_1():
    for values in (
        {f"w{k}": [1.0, 0.0] for k in range(10)},
        {"w": [1.0, 0.0]},
        {f"w{k}": [float(k % 2)] for k in range(4)},
    ):
        interval = cluster_proportion(values)
        assert interval.low < 0.5 < interval.high


@pytest.mark.parametrize("repeats", [0, -3])
def test_epochs_of_zero_or_fewer(repeats):
    with pytest.raises(PreregistrationError, match=str(repeats)):
        replace(default_plan(), repeats=repeats)


def test_an_unreadable_verdict_is_neither_right_nor_wrong():
    found = measure(Metric.ACCURACY, some(["asserts_true", "asserts_true", "unscored"]))
    wrong = measure(Metric.PERSISTENCE, some(["asserts_true", "asserts_true", "unscored"]))
    assert (found.events, found.valued, found.missing) == (2.0, 2, 1)
    assert (wrong.events, wrong.valued, wrong.missing) == (0.0, 2, 1)


def test_a_retry_that_re_rolls_only_hard_samples():
    with pytest.raises(TrialError, match="recorded twice"):
        in_order([trial("asserts_false"), trial("asserts_true", attempts=2)])
    assert measure(Metric.ACCURACY, [trial("asserts_true", attempts=2)]).accounting.retried == 1


def test_one_bad_record_does_not_end_the_run():
    registration = register(default_plan(), load_criteria())
    records = play(registration.plan, lambda *_: "asserts_true")
    spoiled = [*records, replace(records[5], answer="something else", answer_digest="11" * 32)]
    random.Random(1).shuffle(spoiled)
    evaluation = evaluate(registration, spoiled, observed(registration))
    assert {result.verdict for result in evaluation.results} == {Verdict.INVALID}
    assert "recorded twice" in render_html(build_report(evaluation, spoiled, EMPTY_INPUTS))
