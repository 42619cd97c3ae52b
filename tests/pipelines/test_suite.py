"""The suite's table: every family and arm of the design is read, and each row by arms that can differ on it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from evals.arms import ARMS
from evals.errors import ScenarioError
from evals.scenarios import FAMILIES, generate
from ledger_core.kernel import jcs
from pipelines.errors import PlanError, UsageError
from pipelines.evaluation import evaluation_plan, populations_of
from pipelines.plan import EvaluationPlan, RunState, arms_for, read_state, start
from pipelines.stages.identity import evaluate_command
from pipelines.stages.scenarios import arms_of, is_measured, planned_scenarios
from pipelines.suite import EFFORTS, POPULATION_ARMS, SUITE, suite
from pipelines.workspace import Workspace
from tests.pipelines.test_plan import FILES
from tests.pipelines.tiny_run import NOW, settings_in


def plan(**changes) -> EvaluationPlan:
    options = {"effort": "quick", "seed": 7, "gate": "cuts-v1"} | changes
    return evaluation_plan(options.pop("files", FILES), **options)


def test_every_family_and_every_variant_is_in_the_suite():
    """Null claims are read in their one variant that asks, which takes the four shapes in turn."""
    rows = {(row.family, row.variant) for row in SUITE}
    assert {family for family, _ in rows} == set(FAMILIES)
    for name, family in FAMILIES.items():
        asked = {variant for row, variant in rows if row == name}
        spread = set(family.variants) if None in asked else set()
        known = family.on_request if name == "null" else (*family.variants, *family.on_request)
        assert spread | (asked - {None}) == set(known)


def test_every_arm_reads_something_and_no_row_names_another():
    assert {name for row in SUITE for name in row.arms} == set(ARMS)


def test_sizes_grow_with_the_effort_and_every_family_has_25_wordings_from_the_default_on():
    planned: Counter[str] = Counter()
    for row in SUITE:
        sizes = [row.at(effort).scenarios for effort in EFFORTS]
        assert sizes == sorted(sizes)
        assert row.default % 2 == 0, "both orders equally often"
        planned[row.family] = max(planned[row.family], row.default)
    assert all(most >= 26 or family in {"syndicated", "sybil"} for family, most in planned.items())
    assert {row.full >= 200 or row.family in {"competence", "reversal"} for row in SUITE} == {True}


def test_what_is_compared_at_a_fold_is_read_where_contexts_are_folded():
    for row in SUITE:
        folds = {"1w", "1m"} <= set(row.arms)
        assert folds == (row.family == "compaction")


@pytest.mark.parametrize("change", [{"seed": 8}, {"effort": "full"}, {"gate": "seed-v4"}, {"readings": ()}])
def test_whatever_decides_a_number_makes_another_run(change):
    assert plan(**change).digest != plan().digest


def test_a_started_evaluation_is_read_back_as_one_and_a_main_job_as_one(tmp_path):
    run = start(tmp_path, plan(), NOW)
    state = read_state(run.folder / "run-state.json")
    assert isinstance(state, RunState)
    assert isinstance(state.plan, EvaluationPlan)
    assert state.plan == plan()


def test_a_variant_of_its_own_row_is_read_by_that_rows_arms():
    readings = suite("default")
    assert arms_for(readings, "planted-premise", "corrections-leave") == ("1", "2")
    assert "2kr" in arms_for(readings, "planted-premise", "base")
    assert arms_for(readings, "poisoned-tool", "tampered") == arms_for(readings, "poisoned-tool", "changed")
    assert arms_for(readings, "nobody", "base") == ()


def _at(home, chosen: EvaluationPlan, **loaded) -> Workspace:
    return Workspace(settings_in(home, home), now=NOW, started=start(home, chosen, NOW), **loaded)


def test_a_quick_suite_plans_its_scenarios_and_measures_only_what_an_arm_reads(tmp_path):
    at = _at(tmp_path, plan())
    scenarios = planned_scenarios(at)
    assert len(scenarios) == sum(row.scenarios for row in suite("quick"))
    assert len({scenario.id for scenario in scenarios}) == len(scenarios)
    for scenario in scenarios:
        arms = arms_of(at, scenario)
        assert arms
        assert is_measured(at, scenario) == bool({"3", "3s"} & set(arms))


OWN = [scenario.model_copy(update={"family": "elsewhere"}) for scenario in generate("planted-premise", 3, 99)]


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own set.jsonl"
    path.write_bytes(b"\n".join(jcs.encode(scenario.model_dump(mode="json")) for scenario in OWN))
    return path


def test_a_population_is_read_by_its_own_arms_beside_the_suite(tmp_path, own):
    loaded = populations_of([f"scenarios={own}"], "full", 7)
    assert [each.population.families for each in loaded] == [("elsewhere",)]
    chosen = plan(loaded=loaded)
    assert chosen.digest != plan().digest
    assert evaluate_command(chosen).endswith("--population 'scenarios=own set.jsonl'")
    at = _at(tmp_path, chosen, loaded={each.population.scenarios_digest: each.scenarios for each in loaded})
    theirs = [scenario for scenario in planned_scenarios(at) if scenario.family == "elsewhere"]
    assert sorted(theirs, key=lambda s: s.index) == OWN
    assert {arms_of(at, scenario) for scenario in theirs} == {POPULATION_ARMS}
    assert not any(is_measured(at, scenario) for scenario in theirs)


def test_so_many_records_of_a_file_are_planted_and_the_command_says_so(own):
    (one,) = populations_of([f"scenarios={own}"], "quick", 7)
    (two,) = populations_of([f"scenarios={own}"], "quick", 7, 2)
    assert [len({s.index for s in each.scenarios}) for each in (one, two)] == [1, 2]
    assert evaluate_command(plan(loaded=(one,))).endswith("--population 'scenarios=own set.jsonl'")
    assert evaluate_command(plan(loaded=(two,))).endswith("--population 'scenarios=own set.jsonl' --records 2")


def test_a_run_whose_file_is_not_given_again_says_which(tmp_path, own):
    at = _at(tmp_path, plan(loaded=populations_of([f"scenarios={own}"], "full", 7)))
    with pytest.raises(PlanError, match=r"reads own set\.jsonl as scenarios; give the same file again"):
        planned_scenarios(at)


def test_populations_that_cannot_stand_beside_the_suite_are_refused(tmp_path, own):
    with pytest.raises(UsageError, match=r"takes FORMAT=PATH, such as conflictqa=file\.jsonl; got 'scenarios'"):
        populations_of(["scenarios"], "full", 7)
    with pytest.raises(UsageError, match=r"its family elsewhere is there already .* never pooled"):
        populations_of([f"scenarios={own}", f"scenarios={own}"], "full", 7)
    generated = tmp_path / "generated.jsonl"
    generated.write_bytes(jcs.encode(generate("competence", 1, 0)[0].model_dump(mode="json")))
    with pytest.raises(UsageError, match=r"its family competence is there already .*the suite generates it"):
        populations_of([f"scenarios={generated}"], "full", 7)
    with pytest.raises(UsageError, match="--records says how many records of each --population are planted, and none"):
        populations_of([], "full", 7, 2)
    with pytest.raises(ScenarioError, match="no scenario format 'csv'"):
        populations_of([f"csv={own}"], "full", 7)


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        ({}, "veritas --model bytes evaluate --quick --seed 7 --gate cuts-v1"),
        ({"effort": "default"}, "veritas --model bytes evaluate --seed 7 --gate cuts-v1"),
        ({"effort": "full", "seed": 3}, "veritas --model bytes evaluate --full --seed 3 --gate cuts-v1"),
    ],
)
def test_the_command_that_does_the_run_again(changes, command):
    assert evaluate_command(plan(**changes)) == command


def test_a_plan_names_its_model_and_its_policy():
    chosen = plan(files=replace(FILES, name="other"))
    assert (chosen.model, chosen.policy) == ("other", "seed-v4-stale-30d")
