"""Writes measured edges back into the ledger; measuring again with other numbers supersedes, equal numbers add nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ledger_core.kernel.content import JSON
from ledger_core.kernel.statements import Scope
from ledger_core.kernel.statements.author import ORIGIN, Author
from ledger_core.kernel.statements.envelope import Lineage
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
        known = _Known.of(ledger)
        author = Author(scope, NAMESPACE, VERSION)
        written = [_successor(author, ledger, row, weights, known) for row in measured]
        fresh = [statement for statement in written if statement.event_id not in known.ids]
        if fresh:
            ledger.append(fresh, role="attributor")
    return [
        {
            "claim": statement.body.claim,
            "event_id": statement.event_id,
            "supersedes": statement.body.predecessor,
        }
        for statement in written
    ]


@dataclass(frozen=True, slots=True)
class _Known:
    """Measurements that are in the ledger already."""

    ids: frozenset[str]
    newest: dict[str, EdgesMeasured]
    """Claim -> its newest measurement."""
    by_fact: dict[str, str]
    """Source fact -> event id of the newest measurement about it."""

    @classmethod
    def of(cls, ledger: Ledger) -> _Known:
        found = [event.statement for event in ledger.events("evidence") if isinstance(event.statement, EdgesMeasured)]
        return cls(
            ids=frozenset(statement.event_id for statement in found),
            newest={statement.body.claim: statement for statement in found},
            by_fact={statement.source_fact_id: statement.event_id for statement in found},
        )


def _successor(author: Author, ledger: Ledger, row: dict[str, Any], weights: str, known: _Known) -> EdgesMeasured:
    """The newest measurement of the claim where the row says the same again, else one that succeeds it.

    Numbers that return after others stood in between are a fact the ledger knows: they supersede what it says of it.
    """
    newest = known.newest.get(row["claim"])
    if newest is not None:
        again = _statement(author, ledger, row, weights, newest.body.predecessor, newest.representation.lineage)
        if again.event_id == newest.event_id:
            return newest
    predecessor = None if newest is None else newest.event_id
    made = _statement(author, ledger, row, weights, predecessor, ORIGIN)
    held = known.by_fact.get(made.source_fact_id)
    if held is None:
        return made
    lineage = Lineage.make(event_id=held, relation="supersedes")
    return _statement(author, ledger, row, weights, predecessor, lineage)


def _statement(
    author: Author, ledger: Ledger, row: dict[str, Any], weights: str, predecessor: str | None, lineage: Lineage
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
    return author.write(EdgesMeasured, fact, body, lineage=lineage)
