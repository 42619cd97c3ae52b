"""Trials as they count: as they were logged, but for what a verifier failed to retract or to answer."""

from __future__ import annotations

from evals.judging import counted, wrongly_standing
from evals.trial_runner import belief_under
from evals.trials import TrialRecord
from ledger_core.kernel.statements import Scope
from pipelines.plan import VerifiedPlan
from pipelines.stages.trials import scenario_logs, stored_records
from pipelines.stages.verifying import faults_of
from pipelines.workspace import Workspace


def standing_of(at: Workspace, scope: Scope) -> dict[str, tuple[str, ...]]:
    """Scenario id -> false premises that ought to have been retracted and stand."""
    with at.ledger(scope) as ledger:
        policy = ledger.policy()
        found: dict[str, tuple[str, ...]] = {}
        for log in scenario_logs(at, scope, ledger):
            retractions = belief_under(log, policy, "declared").retractions
            gone = [key for key, event in log.entry_ids.items() if event in retractions]
            found[log.scenario.id] = wrongly_standing(log.scenario, gone)
        return {key: standing for key, standing in found.items() if standing}


def counted_records(at: Workspace, scope: Scope) -> list[TrialRecord]:
    """The trials of the table as they count; the same as logged wherever the scenarios judge."""
    records = stored_records(at, scope)
    if not isinstance(at.run.plan, VerifiedPlan):
        return records
    return list(counted(records, standing_of(at, scope), faults_of(at, scope)))
