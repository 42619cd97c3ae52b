"""The Dagster code location: every asset, check and resource. In-process executor; the orchestrator is a view of the stages."""

from __future__ import annotations

import dagster as dg

from pipelines.assets import attribution, checks, evals, ledger, reports, scenarios, upsert
from pipelines.offline import go_offline
from pipelines.resources import WorkspaceResource

go_offline()

ASSETS = [
    *scenarios.ASSETS,
    *ledger.ASSETS,
    *attribution.ASSETS,
    *upsert.ASSETS,
    *evals.ASSETS,
    *reports.ASSETS,
]

defs = dg.Definitions(
    assets=ASSETS,
    asset_checks=checks.CHECKS,
    resources={"workspace": WorkspaceResource()},
    executor=dg.in_process_executor,
)
