"""A small evaluation from end to end: two runs agree to the byte, a third start resumes, the estimate counts the same work."""

from __future__ import annotations

import json

import pytest

from evals.arms import ARMS
from pipelines.cost import Estimate
from pipelines.evaluation import open_evaluation
from pipelines.lake import read_table
from pipelines.main_job import run_evaluation
from pipelines.resources import WorkspaceResource
from pipelines.suite import Reading
from pipelines.suite_cost import estimate_suite
from tests.pipelines.tiny_run import NOW, floors_for, settings_in

READINGS = tuple(
    Reading.make(arms=tuple(ARMS[name].id for name in arms), family=family, scenarios=1, variant=variant)
    for family, variant, arms in (
        ("competence", None, ("1",)),
        ("mixed-parents", None, ("1r", "1i", "1l", "2t", "2c", "3", "3s")),
        ("laundered-guess", None, ("2",)),
        ("sybil", "dial-0", ("2",)),
        ("poisoned-tool", None, ("1", "2")),
        ("compaction", "folds-1", ("1w", "1m", "2")),
        ("reversal", None, ("2", "2k")),
        ("null", None, ()),
    )
)
ASKED = sum(len(row.arms) for row in READINGS)


def open_small(home, language):
    at = open_evaluation(settings_in(home, language.files.path), effort="quick", seed=3, now=NOW, readings=READINGS)
    at.floors = floors_for(language.files.weights_digest)
    at._models["model"] = language
    return at


@pytest.fixture(scope="module")
def twice(tmp_path_factory, tiny_wide):
    """Two evaluations of one plan in two homes, the second started twice."""
    found = []
    for name in ("first", "second"):
        home = tmp_path_factory.mktemp(name)
        at = open_small(home, tiny_wide)
        outcome = run_evaluation(at)
        if name == "second":
            at = open_small(home, tiny_wide)
            assert at.run.resumed
            assert run_evaluation(at).head == outcome.head
        found.append((at, outcome))
    WorkspaceResource.install(None)
    return found


@pytest.mark.slow
def test_two_runs_and_a_resumed_one_end_with_one_head_and_one_report(twice):
    (_, first), (_, second) = twice
    assert first.head == second.head
    assert (first.report.parent / "report.json").read_bytes() == (second.report.parent / "report.json").read_bytes()


@pytest.mark.slow
def test_every_planned_trial_is_a_row_and_only_what_an_arm_reads_is_measured(twice):
    at, _ = twice[0]
    trials = read_table(at.run_lake, "trials")
    assert len(trials) == ASKED
    assert {row["family"] for row in trials} == {row.family for row in READINGS} - {"null"}
    families = {row["scenario"]: row["family"] for row in read_table(at.run_lake, "scenarios")}
    measured = {families[row["trajectory"].split("/")[0]] for row in read_table(at.run_lake, "measured_edges")}
    assert measured == {"mixed-parents", "null"}
    rows = {(row["family"], row["arm"]): json.loads(row["row"]) for row in trials}
    assert rows["sybil", "2"]["attacks"] == 1
    assert rows["laundered-guess", "2"]["guesses"] == 2
    assert rows["reversal", "2"]["prompt_digest"] == rows["reversal", "2k"]["prompt_digest"]


@pytest.mark.slow
def test_the_estimate_counts_every_distinct_prompt_once(twice):
    at, _ = twice[0]
    found = estimate_suite(at)
    assert isinstance(found, Estimate)
    prompts = {row["prompt_digest"] for row in read_table(at.run_lake, "trials")}
    assert found.passes > 2 * len(prompts)
    assert found.tokens > found.passes
