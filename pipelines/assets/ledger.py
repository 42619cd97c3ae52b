"""Assets that replay the ledger into tables."""

from __future__ import annotations

from pipelines.assets.tables import table_asset
from pipelines.stages import ledger

GROUP = "ledger"

ledger_events = table_asset(
    ledger.ledger_events_rows, group=GROUP, deps=["scenario_events"], data_version=ledger.input_root
)
entries = table_asset(ledger.entries_rows, group=GROUP, deps=["ledger_events"])
edges = table_asset(ledger.edges_rows, group=GROUP, deps=["ledger_events"])
generations = table_asset(ledger.generations_rows, group=GROUP, deps=["ledger_events"])

ASSETS = [ledger_events, entries, edges, generations]
