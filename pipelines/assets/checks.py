"""Blocking checks: what fails here stops everything downstream."""

# No `from __future__ import annotations` here: Dagster reads the annotations of `context` as objects.

import json

import dagster as dg

from ledger_core.kernel.errors import LedgerError
from ledger_core.stores.verify import verify
from pipelines.lake import read_table
from pipelines.plan import EVALUATION_TENANT
from pipelines.resources import WorkspaceResource


def _tenant(context: dg.AssetCheckExecutionContext) -> str:
    return context.partition_key if context.has_partition_key else EVALUATION_TENANT


@dg.asset_check(
    asset="ledger_events", blocking=True, description="The ledger's chains, receipts, blobs and fold verify."
)
def chain_verifies(context: dg.AssetCheckExecutionContext, workspace: WorkspaceResource) -> dg.AssetCheckResult:
    """Walk every ledger of the partition."""
    at = workspace.get()
    for scope in at.scopes(_tenant(context)):
        with at.ledger(scope) as ledger:
            report = verify(ledger)
        if report.first_divergence is not None:
            return dg.AssetCheckResult(passed=False, metadata={"divergence": str(report.first_divergence)})
    return dg.AssetCheckResult(passed=True)


@dg.asset_check(
    asset="measured_edges",
    blocking=True,
    description="No edge without a floor and a grounded claim; under the specification's gate none below its stability bound.",
)
def gate_respected(context: dg.AssetCheckExecutionContext, workspace: WorkspaceResource) -> dg.AssetCheckResult:
    """Compare every measured edge with what its gate allows."""
    at = workspace.get()
    for scope in at.scopes(_tenant(context)):
        passes = {row["claim"]: row["seed_v4_passes"] for row in read_table(at.lake(scope), "stability_report")}
        for row in read_table(at.lake(scope), "measured_edges"):
            entries = [entry for entry in json.loads(row["entries"]) if entry["verdict"] == "edge"]
            measured = [entry for entry in entries if "declared-kept" not in entry["labels"]]
            broken = (
                bool(measured) and not passes[row["claim"]]
                if row["gate"] == "seed-v4"
                else bool(entries) and row["result"] != "grounded"
            )
            if broken:
                return dg.AssetCheckResult(passed=False, metadata={"claim": row["claim"], "gate": row["gate"]})
    return dg.AssetCheckResult(passed=True)


@dg.asset_check(
    asset="scenario_events",
    blocking=True,
    description="The kill criteria of this run are in the ledger before any trial.",
)
def criteria_registered(workspace: WorkspaceResource) -> dg.AssetCheckResult:
    """Look for the run's pre-registration in the control log."""
    at = workspace.get()
    try:
        with at.ledger(at.run.plan.scope) as ledger:
            registered = [e for e in ledger.events("control") if e.statement.kind == "criteria.registered"]
    except LedgerError as error:
        return dg.AssetCheckResult(passed=False, metadata={"error": str(error)})
    return dg.AssetCheckResult(passed=bool(registered), metadata={"registered": len(registered)})


CHECKS = [chain_verifies, gate_respected, criteria_registered]
