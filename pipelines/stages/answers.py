"""Attributes persisted falsehoods to the entries that caused them. A leaf: nothing of this is written to the ledger."""

from __future__ import annotations

from typing import Any

from evals.answers import answer_trajectory
from evals.arms import arm
from evals.trial_runner import ScenarioLog, prompt_of
from evals.trials import Outcome
from ledger_core.kernel.statements import Scope
from pipelines.lake import read_table
from pipelines.progress import track
from pipelines.stages.attribution import measurer, reason_of
from pipelines.stages.replay import Rows
from pipelines.stages.scenarios import agent_of
from pipelines.stages.trials import scenario_logs
from pipelines.workspace import Workspace

PERSISTED = frozenset({str(Outcome.ASSERTS_FALSE), str(Outcome.ASSERTS_BOTH)})


def answer_attribution_rows(at: Workspace, scope: Scope) -> Rows:
    """One row per persisted falsehood and context entry, for as many answers as the plan asks for, in table order.

    Answers to one and the same prompt are measured once, under the first arm that asked.
    """
    with at.ledger(scope) as ledger:
        policy = ledger.policy()
        logs = {log.scenario.id: log for log in scenario_logs(at, scope, ledger)}
    rows: Rows = []
    chosen = measured_answers(read_table(at.lake(scope), "trials"), at.run.plan.answers_measured)
    for row in track(chosen, "Attributing persisted answers"):
        rows.extend(_rows(at, logs[row["scenario"]], row, policy))
    return rows


def measured_answers(trials: Rows, most: int) -> Rows:
    """Of ``trials``, in order, the persisted answers that are attributed: one a prompt, ``most`` in all."""
    first: dict[str, dict[str, Any]] = {}
    for row in trials:
        if row["outcome"] in PERSISTED and row["answer_ids"]:
            first.setdefault(row["prompt_digest"], row)
    return list(first.values())[:most]


def _rows(at: Workspace, log: ScenarioLog, row: dict[str, Any], policy: Any) -> Rows:
    model, scenario = at.model(), log.scenario
    prompt, lines = prompt_of(log, arm(row["arm"]), model, policy, agent_of(at))
    keys = {event: key for key, event in log.entry_ids.items()}
    assert scenario.question is not None
    trajectory = answer_trajectory(
        model,
        f"{scenario.id}/{row['arm']}",
        prompt,
        lines,
        row["answer"],
        row["answer_ids"],
        scenario.question,
        {str(event): scenario.entry(key).swap for key, event in log.entry_ids.items()},
    )
    (measured,) = measurer(at, trajectory).measure(trajectory, {})
    edges = any(unit.verdict == "edge" for unit in measured.cuts.units)
    reason = reason_of(measured.cuts, measured.floor, shown=edges)
    rows: Rows = []
    for unit in measured.cuts.units:
        event = trajectory.units[unit.unit].named
        entry = scenario.entry(keys[event])  # type: ignore[index]
        low, high = unit.interval or (None, None)
        rows.append(
            {
                "scenario": scenario.id,
                "arm": row["arm"],
                "entry": event,
                "label": entry.key,
                "role": entry.role,
                "verdict": unit.verdict,
                "effect": unit.effect_nats,
                "low": low,
                "high": high,
                "labels": sorted({label.name for label in unit.labels}),
                "result": measured.cuts.result,
                "reason": reason,
                "text": entry.text,
            }
        )
    return rows
