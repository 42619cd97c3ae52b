"""Both gates on the same scores, claim by claim, as a report shows them."""

from __future__ import annotations

import json
from typing import Any

from attribution.decision.seed_v4 import SeedV4Config
from evals.report import StabilityRow
from ledger_core.kernel.statements import Scope
from pipelines.lake import read_table
from pipelines.stages.cascades import short
from pipelines.stages.identity import ledger_name
from pipelines.workspace import Workspace


def stability_rows(at: Workspace, scope: Scope) -> tuple[StabilityRow, ...]:
    """Two rows a claim of ``scope``, in table order.

    Raises:
        MissingTableError: nothing was measured in the scope.
    """
    lake = at.lake(scope)
    texts = {row["entry"]: row["text"] for row in read_table(lake, "entries")}
    measured = {row["claim"]: row for row in read_table(lake, "measured_edges")}
    rows: list[StabilityRow] = []
    for row in read_table(lake, "stability_report"):
        edges = measured[row["claim"]]
        recipe = json.loads(edges["recipe"])
        shared: dict[str, Any] = {
            "ledger": ledger_name(scope),
            "subject": row["trajectory"],
            "claim_id": row["claim"],
            "claim": short(texts[row["claim"]]),
            "units": row["units"],
            "passes": row["runs"],
            "design": "cube" if row["units"] <= int(recipe["rule"]["cube_up_to"]) else "two fold-overs",
            "scorer": recipe["scorer"][:12],
            "jaccard": None,
            "lds": None,
        }
        rows += [_default(shared, row, edges, recipe), _specified(shared, row)]
    return tuple(rows)


def _default(
    shared: dict[str, Any], row: dict[str, Any], edges: dict[str, Any], recipe: dict[str, Any]
) -> StabilityRow:
    verdicts = [entry["verdict"] for entry in json.loads(edges["entries"])] if edges["gate"] == "cuts-v1" else []
    return StabilityRow(
        **shared,
        gate="cuts-v1",
        rho=None,
        rho_threshold=None,
        floor_nats=float(recipe["floor"]["tau"]) if "tau" in recipe["floor"] else None,
        edges=len(row["cuts_v1_edges"]),
        nulls=verdicts.count("null"),
        undetermined=verdicts.count("undetermined"),
        decision=row["cuts_v1_result"],
        flags=tuple(edges["flags"]),
    )


def _specified(shared: dict[str, Any], row: dict[str, Any]) -> StabilityRow:
    return StabilityRow(
        **shared,
        gate="seed-v4",
        rho=row["rho_seeds"],
        rho_threshold=SeedV4Config().gate,
        floor_nats=None,
        edges=len(row["seed_v4_edges"]),
        nulls=0,
        undetermined=0,
        decision="measured" if row["seed_v4_passes"] else "declared edges kept",
        flags=(),
    )
