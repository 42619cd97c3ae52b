"""What a report says of its run and of each persisted falsehood, from tables alone."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from attribution.models import DEFAULT_MODEL
from evals.scenarios import generate
from ledger_core.kernel.statements import Scope
from pipelines.cli.app import app
from pipelines.lake import write_table
from pipelines.main_job import QUICK, plan_for
from pipelines.plan import JobPlan, start
from pipelines.settings import Settings
from pipelines.stages.answers import measured_answers
from pipelines.stages.identity import evaluate_command, ledger_name, run_name
from pipelines.stages.persisted import persisted_rows
from pipelines.stages.reports import folds_since_correction
from pipelines.workspace import Workspace
from tests.pipelines.test_plan import FILES
from tests.pipelines.tiny_run import NOW


def _plan(*, quick: bool = True, seed: int = 7, gate: str = "cuts-v1", model: str = DEFAULT_MODEL) -> JobPlan:
    return plan_for(replace(FILES, name=model), QUICK, quick=quick, seed=seed, gate=gate)


@pytest.mark.parametrize(
    ("options", "command"),
    [
        ({}, "veritas run --quick --seed 7 --gate cuts-v1"),
        ({"quick": False}, "veritas run --seed 7 --gate cuts-v1"),
        ({"seed": 11, "gate": "seed-v4"}, "veritas run --quick --seed 11 --gate seed-v4"),
        ({"model": "my model"}, "veritas --model 'my model' run --quick --seed 7 --gate cuts-v1"),
    ],
)
def test_the_command_has_the_options_that_decide_the_plan(options: dict[str, Any], command: str):
    plan = _plan(**options)
    assert evaluate_command(plan) == command
    words = shlex.split(command)[1:]
    place = words.index("run")
    parsed = get_command(app).commands["run"].make_context("run", words[place + 1 :]).params
    again = _plan(
        **{name: parsed[name] for name in ("quick", "seed", "gate")}, model=words[1] if place else DEFAULT_MODEL
    )
    assert again.digest == plan.digest


def test_a_run_is_named_by_the_beginning_of_its_project_alone():
    plan = _plan()
    assert run_name(plan) == f"run-{plan.digest[:12]}"
    assert ledger_name(plan.scope) == f"eval/run-{plan.digest[:12]}"
    imported = Scope.make(tenant_namespace="samples", project_namespace="planted-chat-of-a-long-name")
    assert ledger_name(imported) == "samples/planted-chat-of-a-long-name"


def test_folds_are_counted_from_the_last_correction():
    (base,) = generate("planted-premise", 1, 0)
    (left,) = generate("planted-premise", 1, 0, variant="corrections-leave")
    (null,) = generate("null", 1, 0)
    assert [folds_since_correction(scenario) for scenario in (base, left, null)] == [0, 1, None]
    fold = next(step for step in left.steps if step.step == "compact")
    more = left.model_copy(update={"steps": (*left.steps[:-1], fold, left.steps[-1])})
    before = base.model_copy(update={"steps": (fold, *base.steps)})
    assert [folds_since_correction(scenario) for scenario in (more, before)] == [2, 0]


def _trial(scenario: str, arm: str, prompt: str, outcome: str = "asserts_false", ids: tuple[int, ...] = (1,)) -> Any:
    return {
        "scenario": scenario,
        "arm": arm,
        "repeat": 0,
        "family": "planted-premise",
        "outcome": outcome,
        "answer": "Berth 3.",
        "prompt": "…",
        "prompt_digest": prompt,
        "answer_ids": list(ids),
        "event_id": f"{scenario}{arm}",
        "row": json.dumps({"variant": "base", "premise_order": "premise-first"}),
    }


def _cause(scenario: str, arm: str, entry: str, verdict: str, reason: str, result: str = "grounded") -> Any:
    return {
        "scenario": scenario,
        "arm": arm,
        "entry": entry,
        "label": entry,
        "role": "premise",
        "verdict": verdict,
        "effect": 2.0,
        "low": 1.0,
        "high": 3.0,
        "labels": ["necessary"],
        "result": result,
        "reason": reason,
        "text": f"text of {entry}",
    }


TRIALS = [
    _trial("s1", "1", "p1"),
    _trial("s1", "2", "p1"),
    _trial("s1", "3", "p2", outcome="asserts_true"),
    _trial("s2", "1", "p3"),
    _trial("s3", "1", "p4"),
    _trial("s4", "1", "p5", ids=()),
    _trial("s5", "1", "p6"),
    _trial("s6", "1", "p7"),
]
NO_FLOOR = "no floor for 40 claim tokens and 3 units; calibrate that bin"
NO_EFFECT = "no entry and no set of entries moves the claim beyond what null claims show"


def test_one_answer_a_prompt_is_measured_up_to_the_cap():
    assert [(row["scenario"], row["arm"]) for row in measured_answers(TRIALS, 4)] == [
        ("s1", "1"),
        ("s2", "1"),
        ("s3", "1"),
        ("s5", "1"),
    ]
    assert len(measured_answers(TRIALS, 99)) == 5


def test_an_answer_without_a_cause_says_the_true_reason(tmp_path: Path):
    plan = _plan().model_copy(update={"answers_measured": 4})
    at = Workspace(
        Settings(tmp_path, tmp_path, "none", "default", "imported"), now=NOW, started=start(tmp_path, plan, NOW)
    )
    write_table(at.run_lake, "trials", TRIALS)
    causes = [
        _cause("s1", "1", "e1", "edge", ""),
        _cause("s1", "1", "e2", "null", ""),
        _cause("s2", "1", "e3", "undetermined", NO_FLOOR, "undetermined"),
        _cause("s3", "1", "e4", "null", NO_EFFECT, "ungrounded"),
    ]
    write_table(at.run_lake, "answer_attribution", causes)
    rows = persisted_rows(at, plan.scope)
    assert [(r.scenario_id, r.arm, r.entry_id, r.result, r.note) for r in rows] == [
        ("s1", "1", "e1", "grounded", ""),
        ("s1", "2", "e1", "grounded", ""),
        ("s2", "1", None, "undetermined", f"measured: {NO_FLOOR}"),
        ("s3", "1", None, "ungrounded", f"measured: {NO_EFFECT}"),
        ("s4", "1", None, "not measured", "not measured: the agent does not say which tokens it generated"),
        ("s5", "1", None, "not measured", "nothing to measure: its prompt showed no entry"),
        (
            *("s6", "1", None, "not measured"),
            "not measured: the run attributes the answers of 4 prompts, and this one came later",
        ),
    ]
