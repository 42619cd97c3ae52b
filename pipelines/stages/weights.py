"""Says measured claims again with what they rest on deleted: what a weight is worth, from the claims that a suite records.

A leaf: weights are calibrated for the report, and no measurement is changed.
"""

from __future__ import annotations

from typing import Any

from attribution.calibration import Deletion, collect
from attribution.measurement import ClaimMeasurement
from attribution.trajectory import Trajectory
from evals.agents.answer_cache import AnswerCache
from evals.reasserting import Reassertion, expected_of
from evals.report.commands import Recompute
from evals.report.weights import WeightsRow, weights_row
from evals.scenarios import Scenario
from ledger_core.kernel.statements import Scope
from pipelines.errors import MissingTableError
from pipelines.lake import read_table
from pipelines.plan import JobPlan
from pipelines.progress import track
from pipelines.stages.attribution import measurements
from pipelines.stages.replay import Rows
from pipelines.stages.scenarios import stored_scenarios
from pipelines.workspace import Workspace


def weight_pairs_rows(at: Workspace, scope: Scope) -> Rows:
    """One row per cut, and per unit without effect, of every measured claim that the model says by itself.

    None of a main job: its work is fixed.
    """
    if isinstance(at.run.plan, JobPlan):
        return []
    scenarios = {scenario.id: scenario for scenario in stored_scenarios(at, scope)}
    events = read_table(at.lake(scope), "scenario_events")
    claims = {row["event_id"]: (row["scenario"], row["part"].partition("/")[2]) for row in events}
    freely = {row["event_id"] for row in events if row["free_continuation_differs"] is False}
    cache = AnswerCache(at.settings.cache / "answers")
    rows: Rows = []
    for trajectory, _, measured in track(list(measurements(at, scope)), "Saying claims again"):
        if measured.claim.generation not in freely:
            continue
        scenario, key = claims[measured.claim.entry]
        rows.extend(
            _row(trajectory, measured, each)
            for each in _deletions(at, scenarios[scenario], key, trajectory, measured, cache)
        )
    return rows


def _deletions(
    at: Workspace,
    scenario: Scenario,
    key: str,
    trajectory: Trajectory,
    measured: ClaimMeasurement,
    cache: AnswerCache,
) -> tuple[Deletion, ...]:
    """What became of one claim; with nothing deleted it was said when it was recorded."""
    said = scenario.entry(key)
    expected = expected_of(said, scenario.question)
    if expected is None:
        return ()
    again = Reassertion(at.model(), trajectory, measured.claim, said, expected, cache)
    return collect(measured, scenario.wording, lambda deleted: not deleted or again.asserts(deleted))


def _row(trajectory: Trajectory, measured: ClaimMeasurement, found: Deletion) -> dict[str, Any]:
    return {
        "claim": measured.claim.entry,
        "absent": sorted(trajectory.units[unit].named for unit in found.members),
        "wording": found.scenario,
        "placebo": found.placebo,
        "loss": found.loss_nats,
        "margin": found.margin_nats,
        "lost": found.lost,
    }


def weights_of(at: Workspace, scope: Scope, recompute: Recompute) -> WeightsRow | None:
    """What the weights of a suite are worth; None for a main job, and for a run of a version that said nothing again."""
    if isinstance(at.run.plan, JobPlan):
        return None
    try:
        rows = read_table(at.lake(scope), "weight_pairs")
    except MissingTableError:
        return None
    return weights_row([_deletion(row) for row in rows], recompute.weights())


def _deletion(row: dict[str, Any]) -> Deletion:
    members = tuple(range(len(row["absent"])))  # which units they were moves no figure
    return Deletion(row["wording"], members, row["placebo"], row["loss"], row["margin"], row["lost"])
