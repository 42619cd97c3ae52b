"""What would fall in the sample transcripts: for each the retraction on which most rests, by hypothesis."""

from __future__ import annotations

from evals.report import WhatIfRow
from ledger_core.belief.what_if import what_if
from ledger_core.kernel.statements import Scope
from ledger_core.kernel.types import EventId
from pipelines.errors import MissingTableError
from pipelines.lake import read_table
from pipelines.stages.cascades import short
from pipelines.workspace import Workspace


def what_if_rows(at: Workspace, scope: Scope) -> tuple[WhatIfRow, ...]:
    """For each record of ``scope``: retract the tool result on which most would fall; none before its tables are there."""
    with at.ledger(scope) as ledger:
        statements = [event.statement for event in ledger.events("evidence")]
        policy = ledger.policy()
    try:
        entries = {row["entry"]: row for row in read_table(at.lake(scope), "entries")}
    except MissingTableError:
        return ()
    rows: list[WhatIfRow] = []
    for record in dict.fromkeys(row["record"] for row in entries.values()):
        observed = [
            EventId(key) for key, row in entries.items() if row["record"] == record and row["kind"] == "entry.observed"
        ]
        falls = [(key, what_if(statements, policy, (key,))) for key in observed]
        if not falls:
            continue
        retracted, fallen = max(falls, key=lambda pair: len(pair[1]))
        rows.extend(
            WhatIfRow(
                source=f"{scope.tenant_namespace}/{scope.project_namespace} {record}",
                retracted_id=retracted,
                retracted_label=short(entries[retracted]["text"]),
                fallen_id=fall.entry,
                fallen_label=short(entries[fall.entry]["text"]),
                belief_before=fall.before.belief or 0,
                belief_after=fall.after.belief or 0,
                path=tuple(f"{step.entry[:12]} ({step.ppm} ppm)" for step in fall.path),
                flags=("hypothesis",),
                command=f"veritas what-if --tenant {scope.tenant_namespace} --project {scope.project_namespace}"
                f" --retract {retracted}",
            )
            for fall in fallen
        )
    return tuple(rows)
