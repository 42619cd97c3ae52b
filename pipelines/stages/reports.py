"""Puts the report of a run together and writes it: verdicts and trials, and what the other stages say beside them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from platform import node

from evals.kill_criteria import Evaluation
from evals.report import (
    PromptText,
    ReportInputs,
    RunFacts,
    ScenarioFacts,
    StabilityRow,
    WhatIfRow,
    build_report,
    figures_of,
)
from evals.report import write_report as write_files
from evals.report.commands import Recompute
from evals.scenarios import Scenario
from evals.trial_runner import ScenarioLog
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Scope
from pipelines.errors import MissingTableError, PlanError
from pipelines.lake import read_table
from pipelines.plan import JobPlan
from pipelines.stages.cascades import cascades
from pipelines.stages.counting import counted_records
from pipelines.stages.hypotheses import what_if_rows
from pipelines.stages.identity import identity, ledger_name, provenance, run_name
from pipelines.stages.judgement import judged
from pipelines.stages.persisted import persisted_rows
from pipelines.stages.scenarios import stored_scenarios
from pipelines.stages.stability import stability_rows
from pipelines.stages.trials import scenario_logs
from pipelines.stages.weights import weights_of
from pipelines.workspace import SAMPLES_TENANT, Workspace


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report on disk."""

    html: Path
    json: Path
    digest: str
    """SHA-256 of ``report.json``."""
    figures: dict[str, float]
    """What goes into MLflow and the asset's metadata."""


def report_folder(at: Workspace) -> Path:
    """Where the run's report lies."""
    return at.settings.reports / run_name(at.run.plan)


def write_report(at: Workspace) -> WrittenReport:
    """Write the report of the workspace's run."""
    scope = at.run.plan.scope
    evaluation = judged(at, scope)
    records = counted_records(at, scope)
    with at.ledger(scope) as ledger:
        policy = ledger.policy()
        logs = scenario_logs(at, scope, ledger)
        head = ledger.head()
    data = build_report(evaluation, records, _inputs(at, scope, evaluation, logs, policy))
    folder = report_folder(at)
    page = write_files(folder, data, _facts(at, head))
    document = folder / "report.json"
    figures = figures_of(data) | {
        f"{row['name']}.{row['arm']}.{row['stratum'].replace('/', '.')}": row["value"]
        for row in read_table(at.lake(scope), "metrics")
        if row["value"] is not None
    }
    return WrittenReport(page, document, hashlib.sha256(document.read_bytes()).hexdigest(), figures)


def _facts(at: Workspace, head: str) -> RunFacts:
    names = ("torch", "transformers", "numpy", "scipy", "scikit-learn", "duckdb", "pyarrow", "dagster", "mlflow")
    return RunFacts(
        run_id=at.run.plan.digest,
        now=at.run.state.now,
        ledger_head=head,
        host=node() or "unknown",
        seconds=round(at.elapsed(), 3),
        versions={name: metadata.version(name) for name in names},
    )


def _inputs(
    at: Workspace, scope: Scope, evaluation: Evaluation, logs: list[ScenarioLog], policy: Policy
) -> ReportInputs:
    scenarios = stored_scenarios(at, scope)
    stability, what_if = _of_the_samples(at)
    named = identity(at, evaluation)
    return ReportInputs(
        identity=named,
        provenance=provenance(at, scope),
        persisted=persisted_rows(at, scope),
        cascades=cascades(logs, policy, ledger_name(scope)),
        stability=(*stability_rows(at, scope), *stability),
        what_if=what_if,
        weights=weights_of(at, scope, Recompute(named.run, named.evaluate)),
        facts=tuple(_scenario_facts(scenario) for scenario in scenarios if scenario.question is not None),
        prompts=_prompts(at, scope),
    )


def _of_the_samples(at: Workspace) -> tuple[tuple[StabilityRow, ...], tuple[WhatIfRow, ...]]:
    """Stability and what-if of the sample transcripts, as far as they are imported and measured; a suite reads none."""
    if not isinstance(at.run.plan, JobPlan):
        return (), ()
    try:
        scopes = at.scopes(SAMPLES_TENANT)
    except PlanError:
        return (), ()
    stability: tuple[StabilityRow, ...] = ()
    what_if: tuple[WhatIfRow, ...] = ()
    for scope in scopes:
        what_if += what_if_rows(at, scope)
        try:
            stability += stability_rows(at, scope)
        except MissingTableError:
            continue
    return stability, what_if


def _scenario_facts(scenario: Scenario) -> ScenarioFacts:
    question = scenario.question
    assert question is not None
    return ScenarioFacts(
        scenario_id=scenario.id,
        question=question.text,
        false_value=question.false,
        true_value=question.true,
        folds=folds_since_correction(scenario),
    )


def folds_since_correction(scenario: Scenario) -> int | None:
    """Compactions between the last correction and the question; None where nothing is corrected."""
    if not scenario.corrections:
        return None
    kinds = [
        "correction" if getattr(step, "entry", None) in scenario.corrections else step.step for step in scenario.steps
    ]
    last = len(kinds) - 1 - kinds[::-1].index("correction")
    return kinds[last:].count("compact") + kinds[last:].count("fold")


def _prompts(at: Workspace, scope: Scope) -> tuple[PromptText, ...]:
    found = []
    for row in read_table(at.lake(scope), "trials"):
        record = json.loads(row["row"])
        found.append(
            PromptText(
                scenario_id=row["scenario"],
                variant=record["variant"],
                premise_order=record["premise_order"],
                arm=row["arm"],
                prompt=row["prompt"],
            )
        )
    return tuple(found)
