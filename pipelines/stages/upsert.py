"""Writes measured edges back into the ledger; measuring again with other numbers supersedes, equal numbers add nothing."""

from __future__ import annotations

import json
from typing import Any

from ledger_core.kernel.content import JSON
from ledger_core.kernel.statements import Scope, Statement
from ledger_core.kernel.statements.author import Author
from ledger_core.kernel.statements.facts import measurement_fact
from ledger_core.kernel.statements.measurement import (
    EdgesMeasured,
    EdgesMeasuredBody,
    Interval,
    MeasuredCut,
    MeasuredEntry,
)
from ledger_core.stores.ledger import Ledger
from pipelines.lake import read_table
from pipelines.stages.replay import Rows
from pipelines.workspace import Workspace

NAMESPACE = "veritas.attribution"
VERSION = "1"


def edges_upsert_rows(at: Workspace, scope: Scope) -> Rows:
    """Append one `edges.measured` per claim, all in one transaction."""
    measured = read_table(at.lake(scope), "measured_edges")
    weights = at.model().files.weights_digest
    with at.ledger(scope) as ledger:
        latest = _latest(ledger)
        known = {event.event_id for event in ledger.events("evidence") if event.statement.kind == "edges.measured"}
        author = Author(scope, NAMESPACE, VERSION)
        statements: list[Statement] = []
        rows: Rows = []
        for row in measured:
            predecessor = latest.get(row["claim"])
            statement = _statement(author, ledger, row, weights, _predecessor_of(ledger, predecessor, row))
            if statement.event_id not in known:
                statements.append(statement)
            rows.append(
                {
                    "claim": row["claim"],
                    "event_id": statement.event_id,
                    "supersedes": statement.body.predecessor,
                }
            )
        if statements:
            ledger.append(statements, role="attributor")
    return rows


def _latest(ledger: Ledger) -> dict[str, str]:
    """Claim -> event id of its newest measurement."""
    newest: dict[str, str] = {}
    for event in ledger.events("evidence"):
        statement = event.statement
        if isinstance(statement, EdgesMeasured):
            newest[statement.body.claim] = event.event_id
    return newest


def _predecessor_of(ledger: Ledger, latest: str | None, row: dict[str, Any]) -> str | None:
    """The measurement that a new one replaces: the newest, or that one's own predecessor where the newest is this very one."""
    if latest is None:
        return None
    statement = ledger.statement(latest)
    if not isinstance(statement, EdgesMeasured):
        return None
    same = (statement.body.rows_digest, statement.body.gate) == (row["rows_digest"], row["gate"])
    recipe = ledger.read_blob(statement.body.recipe).decode()
    return statement.body.predecessor if same and recipe == row["recipe"] else latest


def _statement(
    author: Author, ledger: Ledger, row: dict[str, Any], weights: str, predecessor: str | None
) -> EdgesMeasured:
    recipe = ledger.put_blob(row["recipe"].encode(), JSON)
    entries = tuple(
        MeasuredEntry.make(
            entry=item["entry"],
            interval=None if item["interval"] is None else Interval.make(**item["interval"]),
            labels=tuple(item["labels"]),
            ppm=item["ppm"],
            verdict=item["verdict"],
        )
        for item in json.loads(row["entries"])
    )
    cuts = tuple(MeasuredCut.make(members=tuple(item["members"]), ppm=item["ppm"]) for item in json.loads(row["cuts"]))
    body = EdgesMeasuredBody.make(
        claim=row["claim"],
        claim_result=row["result"],
        cuts=cuts,
        entries=entries,
        flags=tuple(row["flags"]),
        gate=row["gate"],
        generation=row["generation"],
        predecessor=predecessor,
        recipe=recipe,
        rows_digest=row["rows_digest"],
        scorer_weights_digest=weights,
        total_effect=row["total_effect_micro_nats"],
    )
    fact = measurement_fact(NAMESPACE, row["generation"], row["claim"], recipe.digest, row["rows_digest"])
    return author.write(EdgesMeasured, fact, body)
