"""A small evaluation from end to end: killed and started again it ends as one that nobody disturbed, and the estimate counts
the same work."""

from __future__ import annotations

import json
import signal

import pytest

from evals.arms import ARMS
from pipelines.cost import Estimate
from pipelines.evaluation import open_evaluation
from pipelines.lake import read_table
from pipelines.main_job import run_evaluation
from pipelines.suite import Reading
from pipelines.suite_cost import estimate_suite
from tests.e2e.attempts import INSIDE, after, attempt, result
from tests.pipelines.tiny_run import NOW, floors_for, settings_in

pytestmark = pytest.mark.slow

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


def small(home, language) -> None:
    run_evaluation(open_small(home, language))


@pytest.fixture(scope="module")
def whole(tiny_wide, tmp_path_factory):
    """The evaluation in a home of its own, with nothing in its way."""
    found = attempt(tmp_path_factory.mktemp("whole"), tiny_wide, job=small)
    assert found.status == 0
    return found


def test_three_kills_in_one_home_do_not_show_in_the_end(whole, tiny_wide, tmp_path):
    recording = next((mark, steps) for mark, steps in whole.stages if steps[-1] == "write eval/scenario_events")
    asking = next((mark, steps) for mark, steps in whole.stages if steps[-1] == "write eval/trials")
    appends = [place for place, step in enumerate(recording[1], start=1) if step == INSIDE]
    for mark, offset in (
        (recording[0], appends[len(appends) // 2]),
        (recording[0], appends[-1]),
        (asking[0], len(asking[1]) // 2),
    ):
        assert attempt(tmp_path, tiny_wide, after(mark, offset), job=small).status == -signal.SIGKILL
    assert attempt(tmp_path, tiny_wide, job=small).status == 0
    assert result(tmp_path) == result(whole.home)


def test_every_planned_trial_is_a_row_and_only_what_an_arm_reads_is_measured(whole, tiny_wide):
    lake = open_small(whole.home, tiny_wide).run_lake
    trials = read_table(lake, "trials")
    assert len(trials) == ASKED
    assert {row["family"] for row in trials} == {row.family for row in READINGS} - {"null"}
    families = {row["scenario"]: row["family"] for row in read_table(lake, "scenarios")}
    measured = {families[row["trajectory"].split("/")[0]] for row in read_table(lake, "measured_edges")}
    assert measured == {"mixed-parents", "null"}
    rows = {(row["family"], row["arm"]): json.loads(row["row"]) for row in trials}
    assert rows["sybil", "2"]["attacks"] == 1
    assert rows["laundered-guess", "2"]["guesses"] == 2
    assert rows["reversal", "2"]["prompt_digest"] == rows["reversal", "2k"]["prompt_digest"]


def test_the_estimate_counts_every_distinct_prompt_once(whole, tiny_wide):
    at = open_small(whole.home, tiny_wide)
    found = estimate_suite(at)
    assert isinstance(found, Estimate)
    prompts = {row["prompt_digest"] for row in read_table(at.run_lake, "trials")}
    assert found.passes > 2 * len(prompts)
    assert found.tokens > found.passes
