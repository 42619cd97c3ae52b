"""The asset that writes measured edges back into the ledger."""

from __future__ import annotations

from pipelines.assets.tables import table_asset
from pipelines.stages import upsert

GROUP = "ledger"

edges_upsert = table_asset(upsert.edges_upsert_rows, group=GROUP, deps=["measured_edges"])

ASSETS = [edges_upsert]
