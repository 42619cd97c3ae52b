"""Two runs side by side: nothing where they are equal, pairs where they asked the same, figures where they did not."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import pytest

from evals.errors import ReportError
from evals.kill_criteria import evaluate
from evals.report import build_report
from evals.report.compare import compare_reports, write_comparison
from evals.report.render import render_comparison
from evals.statistics import PairedTable, cluster_difference, mcnemar_exact
from tests.browser import accessible_page
from tests.evals.report.sample import EMPTY_INPUTS, judged
from tests.evals.report.test_report_page import Page
from tests.evals.trial_builder import observed


def report(evaluation, records, **identity):
    inputs = EMPTY_INPUTS.model_copy(update={"identity": EMPTY_INPUTS.identity.model_copy(update=identity)})
    return build_report(evaluation, records, inputs)


@pytest.fixture(scope="module")
def runs():
    """The same scenarios through two agents: the second one misses every fifth planted answer of arm 2."""
    evaluation, records = judged()
    generator = random.Random(3)
    worse = [
        replace(r, outcome="asserts_false")
        if (r.family, r.arm, r.outcome) == ("planted-premise", "2", "asserts_true") and generator.random() < 0.2
        else r
        for r in records
    ]
    again = evaluate(evaluation.registration, worse, observed(evaluation.registration))
    return records, worse, report(evaluation, records), report(again, worse, run="run-another", agent="other")


def test_equal_reports_differ_in_nothing(runs):
    *_, left, _ = runs
    found = compare_reports(left, left)
    assert (found.identity, found.figures) == ((), ())
    assert [row.subject for row in found.verdicts] == [f"K{k}" for k in range(1, 9)]
    assert all(row.left == row.right for row in found.verdicts)
    assert {(row.left_only, row.right_only) for row in found.paired} == {(0, 0)}
    assert {row.holm.value for row in found.paired} == {1.0}


def test_scenarios_that_both_runs_asked_are_paired_by_arm(runs):
    records, worse, left, right = runs
    found = compare_reports(left, right)
    assert {row.subject for row in found.identity} == {"run", "agent"}
    row = next(
        r
        for r in found.paired
        if (r.family, r.variant, r.arm, r.metric) == ("planted-premise", "base", "2", "accuracy")
    )
    chosen = [
        (a, b)
        for a, b in zip(records, worse, strict=True)
        if (a.family, a.variant, a.arm) == ("planted-premise", "base", "2")
    ]
    pairs = [(a.wording, a.outcome == "asserts_true", b.outcome == "asserts_true") for a, b in chosen if a.scored]
    table = PairedTable.of((first, second) for _, first, second in pairs)
    assert (row.pairs, row.incomplete) == (len(pairs), len(chosen) - len(pairs))
    assert (row.left_only, row.right_only) == (table.left_only, 0)
    assert row.left_only > 5
    wordings = {}
    for wording, first, second in pairs:
        wordings.setdefault(wording, []).append((float(first), float(second)))
    expected = cluster_difference(wordings)
    assert (row.clustered.low, row.clustered.high) == pytest.approx((expected.low, expected.high), abs=1e-6)
    assert row.mcnemar.value == pytest.approx(mcnemar_exact(table).value, rel=1e-3)
    assert row.holm.value >= row.mcnemar.value
    assert {r.arm for r in found.paired if r.left_only + r.right_only} == {"2"}


def test_runs_without_a_scenario_in_common_are_set_side_by_side(runs):
    *_, left, right = runs
    elsewhere = right.model_copy(
        update={
            "transcripts": tuple(t.model_copy(update={"scenario_id": f"x{t.scenario_id}"}) for t in right.transcripts)
        }
    )
    found = compare_reports(left, elsewhere)
    assert found.paired == ()
    assert any(row.subject.startswith("planted-premise/base/both accuracy arm 2") for row in found.figures)
    page = render_comparison(found)
    assert "The runs have no scenario in common" in page


def test_a_criterion_that_one_run_refused_says_so(runs):
    *_, left, right = runs
    without = right.model_copy(update={"criteria": right.criteria[1:]})
    rows = {row.subject: (row.left, row.right) for row in compare_reports(left, without).verdicts}
    assert rows["K1"] == (left.criteria[0].verdict, "-")
    assert rows["K4"] == ("too small for a verdict", "too small for a verdict")


def test_the_page_stands_alone_and_every_number_has_an_anchor(runs, tmp_path):
    *_, left, right = runs
    found = compare_reports(left, right)
    page = write_comparison(tmp_path / "both", found)
    text = page.read_text(encoding="utf-8")
    assert text == render_comparison(compare_reports(left, right))
    parsed = Page(text)
    assert parsed.outside == ["compare.json"]
    differing = {row.subject for row in found.verdicts if row.left != row.right}
    assert 0 < len(differing) < len(found.verdicts)
    assert text.count("<strong>differs</strong>") == len(differing)
    assert (parsed.unbalanced, len(parsed.ids)) == ([], len(set(parsed.ids)))
    assert len(parsed.numbers) > 100
    assert all(cell.get("id") for cell in parsed.numbers)
    assert len(parsed.pictures) == len(re.findall(r'<h3 id="compared-', text))
    document = json.loads((tmp_path / "both" / "compare.json").read_text(encoding="utf-8"))
    assert document["schema_name"] == "veritas-comparison-v1"
    assert document["left"]["run"] != document["right"]["run"]


def test_a_folder_that_cannot_be_written_is_a_typed_error(runs, tmp_path):
    *_, left, right = runs
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ReportError, match="the comparison cannot be written to"):
        write_comparison(tmp_path / "file" / "inside", compare_reports(left, right))


@pytest.mark.slow
@pytest.mark.browser
def test_no_accessibility_rule_is_broken(runs, tmp_path):
    *_, left, right = runs
    seen = accessible_page(render_comparison(compare_reports(left, right)), tmp_path / "compare.html")
    assert "run-another" in seen.heading
    assert (seen.width <= 1280, seen.overflow) == (True, 0)
