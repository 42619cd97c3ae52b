"""The document: built purely, closed, versioned, and unbroken by odd text or missing estimates."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import pytest
from pydantic import ValidationError

from evals.criteria import load_criteria
from evals.errors import ReportError
from evals.kill_criteria import evaluate
from evals.metrics import Metric, contrast
from evals.preregistration import register
from evals.report import ReportData, build_report, figures_of
from evals.report.commands import Recompute
from evals.report.data import Estimate, Probability
from evals.report.survival import fold_rows, survival_rows
from evals.report.text import clean, count, number, p_value, percent, points, short, span
from evals.statistics import PairedTable, PValue, Undefined, clopper_pearson, mcnemar_exact
from tests.evals.report.sample import EMPTY_INPUTS, full_inputs, judged
from tests.evals.trial_builder import default_plan, observed, trial


@pytest.fixture(scope="module")
def run():
    evaluation, records = judged()
    return evaluation, records, build_report(evaluation, records, full_inputs(records))


def test_same_records_same_document_in_any_order(run):
    evaluation, records, data = run
    shuffled = records + records[:50]
    random.Random(2).shuffle(shuffled)
    assert build_report(evaluation, shuffled, full_inputs(records)).to_json() == data.to_json()


def test_the_document_survives_its_json(run):
    *_, data = run
    assert ReportData.from_json(data.to_json()) == data
    assert ReportData.from_json(data.to_json()).to_json() == data.to_json()


def test_another_version_or_a_foreign_field_is_refused_by_name(run):
    *_, data = run
    document = json.loads(data.to_json())
    with pytest.raises(ReportError, match="schema"):
        ReportData.from_json(json.dumps(document | {"schema": "veritas-report-v0"}))
    with pytest.raises(ReportError, match="host"):
        ReportData.from_json(json.dumps(document | {"host": "build-host"}))
    with pytest.raises(ReportError, match="document"):
        ReportData.from_json("{")
    with pytest.raises(ReportError, match="threshold"):
        ReportData.from_json(data.to_json().replace('"competence_threshold": 0.8', '"competence_threshold": NaN'))


def test_numbers_are_those_of_the_trials(run):
    _, records, data = run
    pooled = [r for r in records if (r.family, r.variant, r.arm) == ("planted-premise", "base", "2m")]
    events = sum(r.outcome in ("asserts_false", "asserts_both") for r in pooled)
    row = next(
        r
        for r in data.arms
        if (r.family, r.variant, r.premise_order, r.metric, r.arm)
        == ("planted-premise", "base", "both", "persistence", "2m")
    )
    assert row.events == events
    assert row.valued + row.missing == 80
    assert row.exact.method == "Clopper–Pearson"
    assert row.clustered.n == 40
    assert sum(r.planned for r in data.accounting) == len(records)
    assert all(r.planned == r.scored + r.errored + r.unscored for r in data.accounting)


def test_thresholds_stand_only_beside_what_a_registered_criterion_reads(run):
    *_, data = run
    marked = {(r.family, r.variant, r.premise_order, r.metric, r.arm): r.threshold for r in data.arms if r.threshold}
    assert marked == {
        ("planted-premise", "base", "both", "persistence", "2"): 0.1,
        ("planted-premise", "base", "both", "accuracy", "2"): 0.8,
    }


def test_transcripts_come_by_disagreement_and_name_what_they_decide(run):
    *_, data = run
    shares = [t.disagreement for t in data.transcripts]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.5
    assert all(t.decides for t in data.transcripts[:5])
    assert len(data.transcripts) == 40 * 4 + 24 + 20
    first = data.transcripts[0]
    assert [r.arm for r in first.readings] == ["1", "1o", "2v1", "2", "2k", "2m", "2x", "3"]


def test_changes_add_up_to_the_paired_trials(run):
    *_, data = run
    table = next(t for t in data.changes if (t.variant, t.left, t.right) == ("base", "1", "2"))
    assert sum(map(sum, table.counts)) == 80
    assert len(table.counts) == len(table.outcomes)


def test_survival_has_a_point_for_every_count_of_folds(run):
    _, records, data = run
    planted = sorted({r.scenario_id for r in records if r.family == "planted-premise"})
    folded = set(planted[0::2])  # as the sample's facts have it
    rows = {(row.arm, row.folds): row for row in data.survival}
    assert rows.keys() == {(arm, folds) for arm in ("1", "1o", "2v1", "2", "2k", "2m", "2x", "3") for folds in (0, 1)}
    for (arm, folds), row in rows.items():
        members = [
            r
            for r in records
            if (r.family, r.arm) == ("planted-premise", arm) and (r.scenario_id in folded) == bool(folds)
        ]
        assert row.events == sum(r.outcome == "asserts_true" for r in members)
        assert (row.valued, row.missing) == (sum(r.scored for r in members), sum(not r.scored for r in members))
        assert (row.valued + row.missing, row.clusters) == (20 * 4, 20)
        assert row.in_context == sum(r.correction_in_context is True for r in members)
        assert row.in_context_known == sum(r.correction_in_context is not None for r in members)
        assert row.variants == ("base", "corrections-leave")
        # Two points share the error: 97.5 % each; missing trials widen it further.
        assert (row.pointwise.level, row.band.level) == (0.95, 0.975)
        assert row.band.low <= row.pointwise.low <= row.pointwise.estimate <= row.pointwise.high <= row.band.high
        assert row.band.method.endswith("simultaneous over 2 points")
    assert any(row.missing for row in data.survival)


def test_survival_of_known_trials_is_counted_by_hand():
    def asked(scenario, outcome, *, seen):
        return trial(outcome, scenario_id=scenario, wording=scenario, correction_in_context=seen)

    trials = [
        asked("a", "asserts_true", seen=True),
        asked("b", "asserts_false", seen=True),
        asked("c", "abstains", seen=False),
        asked("d", "error", seen=False),
        asked("e", "asserts_true", seen=True),
        trial("asserts_true", scenario_id="f", premise_order="none"),
    ]
    recompute = Recompute("run-0", "veritas evaluate")
    rows = survival_rows(trials, {"a": 0, "b": 0, "c": 3, "d": 3, "e": None, "f": 0}, recompute)
    assert [(r.folds, r.events, r.valued, r.missing, r.in_context, r.in_context_known) for r in rows] == [
        (0, 1, 2, 0, 2, 2),
        (3, 0, 1, 1, 0, 2),
    ]
    # Two wordings, each at 97.5 %: Clopper-Pearson of 1 of 2, and of 0 of 2 up to 1 of 2 for the trial that failed.
    ends = clopper_pearson(1, 2, level=0.975)
    none = clopper_pearson(0, 2, level=0.975)
    assert (rows[0].band.low, rows[0].band.high) == pytest.approx((ends.low, ends.high), abs=1e-6)
    assert (rows[1].band.low, rows[1].band.high) == pytest.approx((none.low, ends.high), abs=1e-6)


def test_contrasts_of_claims_compare_only_arms_whose_edges_differ(run):
    *_, data = run
    pairs = {(r.left, r.right) for r in data.contrasts if r.family == "mixed-parents"}
    assert pairs == {("3", "2"), ("3", "2x")}
    methods = {r.holm.method for r in data.contrasts}
    assert methods == {f"exact sign-flip, Holm over {len(data.contrasts)}"}


def test_a_small_p_value_keeps_its_digits_in_the_document():
    """Forty pairs one way: 2⁻³⁹ is not 0, neither in the JSON nor on the page."""
    found = Probability.of(mcnemar_exact(PairedTable(both=0, left_only=40, right_only=0, neither=0)))
    assert found.value == pytest.approx(2**-39, rel=1e-3)
    assert json.loads(found.model_dump_json())["value"] == found.value == 1.819e-12
    assert Probability.of(PValue(value=0.123456, method="m", n=1)).value == 0.1235


def test_differences_by_folds_are_those_of_the_scenarios_that_fold_so_often(run):
    _, records, _ = run
    depth = {r.scenario_id: int(r.scenario_id[-3]) % 3 for r in records}
    trials = [r for r in records if r.family == "planted-premise" and r.variant == "base"]
    rows = fold_rows(trials, depth, Recompute("run-0", "veritas evaluate"))
    assert {(row.left, row.right, row.folds) for row in rows} == {
        (*pair, folds) for pair in (("2", "1"), ("2", "2k")) for folds in range(3)
    }
    for row in rows:
        sides = [
            [r for r in trials if r.arm == arm and depth[r.scenario_id] == row.folds] for arm in (row.left, row.right)
        ]
        found = contrast(Metric.ACCURACY, *sides)
        assert (row.pairs, row.incomplete, row.clusters) == (found.pairs, found.incomplete, found.clusters)
        assert row.pointwise == Estimate.of(found.clustered)
        assert row.band.level == pytest.approx(1 - 0.05 / 3, abs=1e-6)
        assert row.band.low < row.pointwise.low <= row.pointwise.high < row.band.high
        assert f"IN ('{row.variants[0]}')" in row.command
    assert fold_rows([r for r in trials if depth[r.scenario_id] == 0], depth, Recompute("r", "e")) == ()


def test_every_contrast_stands_in_every_order(run):
    *_, data = run
    orders = {}
    for row in data.contrasts:
        if row.family == "planted-premise":
            orders.setdefault((row.variant, row.metric, row.left, row.right), set()).add(row.premise_order)
    assert set(map(frozenset, orders.values())) == {frozenset({"both", "premise-first", "corrections-first"})}


def test_a_criterion_that_another_command_registers_says_so(run):
    *_, data = run
    ways = {row.id: (row.kind, row.way_out) for row in data.refused}
    assert {kind for kind, way in ways.values() if way} == {"not in this run"}
    assert {name for name, (_, way) in ways.items() if "command evaluate" in way} == {"k5", "k6", "k7", "k8"}
    assert ways["k4"] == ("too small for a verdict", "")


def test_figures_for_trackers_are_those_of_the_document(run):
    *_, data = run
    figures = figures_of(data)
    assert (
        figures["criterion.k1.code"]
        == {"PASS": 0, "INCONCLUSIVE": 10, "KILL": 11, "INVALID": 12}[data.criteria[0].verdict]
    )
    assert figures["criterion.k2.0.high"] == data.criteria[1].parts[0].interval.high
    row = next(r for r in data.arms if (r.metric, r.arm, r.premise_order) == ("accuracy", "2", "both"))
    assert figures[f"accuracy.2.{row.family}.{row.variant}.both"] == row.clustered.estimate
    pair = next(r for r in data.contrasts if (r.left, r.right, r.metric) == ("2", "2k", "accuracy"))
    name = f"contrast.accuracy.2-minus-2k.{pair.family}.{pair.variant}.{pair.premise_order}"
    assert (figures[f"{name}.low"], figures[f"{name}.high"]) == (pair.clustered.low, pair.clustered.high)
    assert figures["trials.planned"] == sum(r.planned for r in data.accounting)
    assert all(re.fullmatch(r"[\w. /-]+", name) for name in figures), "what MLflow takes as a name"


def test_contradicting_records_empty_the_tables_and_say_why(run):
    evaluation, records, _ = run
    registration = evaluation.registration
    broken = [*records, replace(records[0], answer="another answer")]
    judged_again = evaluate(registration, broken, observed(registration))
    data = build_report(judged_again, broken, EMPTY_INPUTS)
    assert (data.arms, data.accounting, data.competence) == ((), (), None)
    assert all("recorded twice" in c.reasons[0] for c in data.criteria)


def test_a_run_without_a_single_trial_has_a_report():
    registration = register(default_plan(), load_criteria())
    data = build_report(evaluate(registration, [], observed(registration)), [], EMPTY_INPUTS)
    assert {c.verdict for c in data.criteria} == {"INVALID"}
    assert data.exit_code == 12
    assert data.criteria[0].parts[0].interval.undefined == "no scenario was scored in both arms"


def test_odd_text_does_not_abort_a_report(run):
    evaluation, records, _ = run
    odd = trial("asserts_false", scenario_id="odd", arm="1", wording="odd")
    odd = replace(odd, answer="a\ud800b\x00c\u202ed<script>alert(1)</script>\x1b[31m")
    other = trial("asserts_true", scenario_id="odd", arm="2", wording="odd")
    data = build_report(evaluation, [*records, odd, other], EMPTY_INPUTS)
    shown = next(t for t in data.transcripts if t.scenario_id == "odd").readings[0].answer
    assert shown == "a\ufffdb\u2400c\ufffdd<script>alert(1)</script>\u241b[31m"
    data.to_json().encode("utf-8")


def test_an_undefined_estimate_has_a_reason_and_no_number():
    found = Estimate.of(Undefined("no trial was scored"))
    assert (found.estimate, found.low, found.undefined) == (None, None, "no trial was scored")
    with pytest.raises(ValidationError):
        Estimate(estimate=float("nan"), low=0, high=1, method="m", n=1, level=0.95, undefined=None)


def test_numbers_in_words():
    assert percent(0.125) == "12.5\u202f%"
    assert (points(-0.125), points(0.0), points(0.2)) == ("−12.5\u202fpp", "0.0\u202fpp", "+20.0\u202fpp")
    assert points(-0.0001) == "0.0\u202fpp"
    assert (percent(None), number(None), p_value(None)) == ("–", "–", "–")
    assert (p_value(0.0312), p_value(1.0), p_value(0.001)) == ("0.031", "1.000", "0.001")
    assert (p_value(0.0004), p_value(3.125e-17)) == ("4.0\u202f×\u202f10⁻⁴", "3.1\u202f×\u202f10⁻¹⁷")
    assert p_value(0.0) == "<\u202f10⁻³⁰⁷"
    assert (number(-1.5), count(3.0), count(2.5)) == ("−1.50", "3", "2.50")
    assert short("ab" * 32) == "abababababab…"
    assert span(-0.1, 0.05, points) == "−10.0 to +5.0\u202fpp"
    assert clean("kept\ttab\nand line\r\nbreak") == "kept\ttab\nand line\nbreak"
