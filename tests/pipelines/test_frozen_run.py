"""The main job's plan, scenarios, prompts and statements, byte for byte: a run must mean tomorrow what it means today.

Families, arms and commands are added beside it. Where a digest here changes, so do the numbers of everybody's runs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from attribution.models import ModelFiles
from evals.agents.scripted import ScriptedAgent
from evals.arms import arm
from evals.recorder import ScenarioRecorder
from evals.trial_runner import ScenarioLog, run_trial
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from ledger_core.kernel import digests
from ledger_core.kernel.content import JSON
from ledger_core.kernel.digests import Prefix
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.control import CriteriaRegistered, CriteriaRegisteredBody
from ledger_core.kernel.statements.facts import successor_fact
from pipelines.main_job import DEFAULT_SEED, FULL, QUICK, plan_for
from pipelines.plan import start
from pipelines.stages.scenarios import arms_of, planned_scenarios
from pipelines.stages.trials import trial_statement
from pipelines.workspace import Workspace
from tests.evals.byte_model import NOW, byte_model, open_memory
from tests.pipelines.tiny_run import settings_in

FILES = ModelFiles(
    name="bytes",
    path=Path("bytes"),
    weights_digest="ab" * 32,
    tokenizer_digest="cd" * 32,
    file_name="bytes.gguf",
    quantisation="none",
)
PLANS = {
    "full": "ca24348397b369878a64560257b10a4113aa348850f9c3e6e27e3ef5b66fc01c",
    "quick": "a56ca1a1ea949205c99b8bc70e1d12d6763596bed55875488587f4caa0eafec5",
}
SCENARIOS = "b8695e9d6494acc694cb2902bed85084e549073e04cc43ae22a5087a2db548cc"
READINGS = "9fa1c45bb5a30fe116063b13dd6e8ce1607c57d2d2b3ff6f37f2b5bda2fcce62"
PROMPTS = "6d026896b612a6792b618bc0c1131d4135c94f9a1287ec24862d142a25b9103a"
HEAD = "22d8ca1fe7ceb209db3fb6f2579bfa29975f93a12ee4f5747352fcae5c484e81"


def _plan(*, quick: bool):
    return plan_for(FILES, QUICK if quick else FULL, quick=quick, seed=DEFAULT_SEED, gate="cuts-v1")


def _at(home: Path, *, quick: bool) -> Workspace:
    return Workspace(settings_in(home, home), now=NOW, started=start(home, _plan(quick=quick), NOW))


def _digest(parts) -> str:
    return digests.framed_hex(Prefix.ROWS, (part.encode() for part in parts))


def _some_criteria(ledger) -> str:
    """A registration that no later change of the criteria moves."""
    content = ledger.put_blob(b"{}", JSON)
    statement = Author(ledger.scope, "veritas.evals", "1").write(
        CriteriaRegistered,
        successor_fact("veritas.evals", "criteria", None),
        CriteriaRegisteredBody.make(criteria=content, n=1, name="preregistration"),
    )
    ledger.append((statement,), role="operator")
    return statement.event_id


@pytest.mark.parametrize("size", ["full", "quick"])
def test_the_plan_of_a_default_run_has_its_digest(size):
    assert _plan(quick=size == "quick").digest == PLANS[size]


def test_a_full_run_has_its_scenarios_in_order_and_reads_each_through_its_arms(tmp_path):
    at = _at(tmp_path, quick=False)
    scenarios = planned_scenarios(at)
    assert len(scenarios) == 136
    assert _digest(scenario.digest for scenario in scenarios) == SCENARIOS
    assert _digest(f"{scenario.id} {' '.join(arms_of(at, scenario))}" for scenario in scenarios) == READINGS


def test_a_quick_run_shows_its_prompts_and_ends_at_its_head(tmp_path):
    at, model, ledger = _at(tmp_path, quick=True), byte_model(tmp_path), open_memory()
    recorder = ScenarioRecorder(ledger, model)
    criteria = _some_criteria(ledger)
    agent = ScriptedAgent(lambda prompt: f" {len(prompt.ids)} oats.")
    prompts, trials = [], []
    for scenario in planned_scenarios(at):
        before = ledger.count()
        parts = recorder.record(scenario)
        keys = {part.part.removeprefix("entry/"): part.event_id for part in parts if part.part.startswith("entry/")}
        statements = tuple(event.statement for event in ledger.events(after=before))
        log = ScenarioLog(scenario, statements, keys)
        for name in arms_of(at, scenario):
            if name == "3":  # reads what the pipeline measured, which needs a model that can be scored
                continue
            trial = run_trial(log, arm(name), agent, model, SEED_V4_CLUSTERS)
            prompts.append(trial.prompt.digest)
            trials.append(trial_statement(ledger, "scripted", trial, scenario, criteria))
    assert _digest(prompts) == PROMPTS
    ledger.append(trials, role="evaluator")
    assert ledger.head() == HEAD
