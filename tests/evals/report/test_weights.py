"""What weights are worth: figures against those of the calibration, and what stands on the page."""

from __future__ import annotations

import re

import pytest

from attribution.calibration import Deletion, calibrate, learnt_from
from evals.criteria import load_criteria
from evals.kill_criteria import evaluate
from evals.preregistration import register
from evals.report import build_report, render_html
from evals.report.commands import Recompute
from evals.report.figures import figures_of
from evals.report.weights import weights_row
from tests.evals.report.sample import EMPTY_INPUTS, weights
from tests.evals.trial_builder import observed, plan


@pytest.fixture(scope="module")
def run():
    nothing = register(plan(), load_criteria())
    return evaluate(nothing, [], observed(nothing)), []


def page_of(run, row):
    evaluation, records = run
    return render_html(build_report(evaluation, records, EMPTY_INPUTS.model_copy(update={"weights": row})))


def section(page: str) -> str:
    (found,) = re.findall(r'<section class="block" aria-labelledby="weights">.*?</section>', page, re.DOTALL)
    return found


def test_enough_pairs_give_the_figures_of_the_calibration():
    cuts = [
        Deletion(
            f"w{n % 20}",
            (0,),
            placebo=False,
            loss_nats=4.0 - n % 9,
            margin_nats=n % 9 - 4.0,
            lost=n % 9 < 4 or n % 31 == 0,
        )
        for n in range(360)
    ]
    placebos = [Deletion("w1", (1,), placebo=True, loss_nats=0.0, margin_nats=5.0, lost=False)] * 10
    row = weights_row([*cuts, *placebos], "again")
    found = calibrate(*learnt_from([*cuts, *placebos]))
    assert (row.status, row.reason, row.pairs, row.wordings, row.placebos) == ("calibrated", None, 360, 20, 10)
    assert row.brier == pytest.approx(found.brier, abs=1e-6)
    assert row.brier_base_rate == pytest.approx(found.brier_base_rate, abs=1e-6)
    assert (row.gain_low, row.gain_high) == pytest.approx(found.gain, abs=1e-6)
    assert sum(group.pairs for group in row.reliability) == 360
    assert all(group.low <= group.observed <= group.high for group in row.reliability)


def test_too_few_pairs_say_how_many_and_still_judge_the_written_weights():
    """A cut that costs nothing has weight 0 and its claim stood; one that costs 50 nats has weight 1 and its claim stood too."""
    row = weights_row(
        [Deletion("w", (0,), placebo=False, loss_nats=loss, margin_nats=1.0, lost=False) for loss in (0.0, 50.0)],
        "again",
    )
    assert row.status == "uncalibrated"
    assert row.reason.startswith("2 pairs, 0 lost and 2 kept; a calibration needs 200 and 50 of each")
    assert row.written_brier == pytest.approx(0.5)
    assert (row.brier, row.gain_low, row.reliability) == (None, None, ())


def test_without_a_pair_nothing_is_computed():
    row = weights_row([], "again")
    assert (row.pairs, row.written_brier, row.brier) == (0, None, None)


def test_a_calibrated_run_shows_brier_scores_and_the_curve(run):
    row = weights()
    shown = section(page_of(run, row))
    assert "<strong>calibrated</strong>" in shown
    assert f"{row.brier:.3f}" in shown
    assert f"{row.brier_base_rate:.3f}" in shown
    assert 'id="reliability-chart-title"' in shown
    assert len(re.findall(r'<tr id="reliability-\d+">', shown)) == len(row.reliability) > 5


def test_an_uncalibrated_run_shows_why_and_no_curve(run):
    shown = section(page_of(run, weights(pairs=150)))
    assert "uncalibrated</strong>: 150 pairs" in shown
    assert "reliability-chart" not in shown


def test_a_run_that_said_nothing_again_says_so(run):
    assert "No claim was said again" in section(page_of(run, None))


def test_trackers_get_what_was_computed_and_nothing_else(run):
    evaluation, records = run
    full = EMPTY_INPUTS.model_copy(update={"weights": weights()})
    assert figures_of(build_report(evaluation, records, full))["weights.brier"] == weights().brier
    few = EMPTY_INPUTS.model_copy(update={"weights": weights(pairs=10)})
    assert {name for name in figures_of(build_report(evaluation, records, few)) if name.startswith("weights.")} == {
        "weights.pairs",
        "weights.lost",
        "weights.written_brier",
    }


def test_the_command_names_the_run():
    command = Recompute("run-0123", "veritas evaluate").weights()
    assert "weight_pairs" in command
    assert "starts_with(project, 'run-0123')" in command
