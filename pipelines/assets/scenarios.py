"""Assets that generate scenarios and record them in the run's ledger."""

from __future__ import annotations

from pipelines.assets.tables import table_asset
from pipelines.stages import scenarios

GROUP = "scenarios"

scenario_table = table_asset(scenarios.scenarios_rows, group=GROUP, partitioned=False)
scenario_events = table_asset(scenarios.scenario_events_rows, group=GROUP, deps=["scenarios"], partitioned=False)

ASSETS = [scenario_table, scenario_events]
