"""The real verifier in a suite's loop: who judges, and what it failed to answer."""

from __future__ import annotations

from collections.abc import Sequence

from evals.judging import VerifierJudge
from evals.recorder import RecordedPart
from evals.scenarios import Scenario
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.statements import Scope
from ledger_core.stores.ledger import Ledger
from ledger_core.verification import Verifier
from pipelines.errors import PlanError
from pipelines.lake import read_table
from pipelines.plan import VerifiedPlan
from pipelines.stages.replay import Rows
from pipelines.workspace import Workspace

_FAULT = "fault/"
"""Part of a scenario about whose target there is no verdict, because the server did not serve."""


def verifying_judge(at: Workspace, ledger: Ledger, desk: VerdictDesk) -> VerifierJudge | None:
    """The judge of a run that a verifier judges; None where the scenarios do.

    Raises:
        PlanError: the plan names another verifier than this command was given.
    """
    plan = at.run.plan
    if not isinstance(plan, VerifiedPlan):
        return None
    if at.verifier is None or at.verifier.name != plan.verifier or at.embedder is None:
        raise PlanError(f"this run is judged by {plan.verifier}; give the same --verifier again")
    return VerifierJudge(ledger, Verifier(at.verifier.llm, at.embedder), desk)


def fault_rows(scenario: Scenario, recorded: Sequence[RecordedPart], judge: VerifierJudge) -> Rows:
    """A row for each target of ``scenario`` that the verifier did not serve, with the reason in the place of a kind."""
    keys = {part.event_id: part.part.removeprefix("entry/") for part in recorded if part.part.startswith("entry/")}
    return [
        {
            "scenario": scenario.id,
            "part": f"{_FAULT}{keys[target]}",
            "event_id": target,
            "kind": reason,
            "free_continuation_differs": None,
        }
        for target, reason in judge.faults.items()
        if target in keys
    ]


def faults_of(at: Workspace, scope: Scope) -> dict[str, str]:
    """Scenario id -> why the verifier did not serve."""
    rows = read_table(at.lake(scope), "scenario_events")
    return {row["scenario"]: row["kind"] for row in rows if row["part"].startswith(_FAULT)}
