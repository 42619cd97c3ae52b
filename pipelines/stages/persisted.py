"""Each persisted falsehood of a run with the entries that measurement holds responsible, or why there are none."""

from __future__ import annotations

import json
from typing import Any

from evals.report import PersistedRow
from ledger_core.kernel.statements import Scope
from pipelines.lake import read_table
from pipelines.stages.answers import PERSISTED, measured_answers
from pipelines.stages.cascades import short
from pipelines.workspace import Workspace


def persisted_rows(at: Workspace, scope: Scope) -> tuple[PersistedRow, ...]:
    """One row per responsible entry, one without an entry where there is none; arms that showed one prompt share it."""
    trials = read_table(at.lake(scope), "trials")
    prompts = {(row["scenario"], row["arm"]): row["prompt_digest"] for row in trials}
    most = at.run.plan.answers_measured
    found: dict[str, list[dict[str, Any]]] = {row["prompt_digest"]: [] for row in measured_answers(trials, most)}
    for row in read_table(at.lake(scope), "answer_attribution"):
        found[prompts[row["scenario"], row["arm"]]].append(row)
    rows: list[PersistedRow] = []
    for row in trials:
        if row["outcome"] not in PERSISTED:
            continue
        entries = found.get(row["prompt_digest"])
        edges = [entry for entry in entries or () if entry["verdict"] == "edge"]
        record = json.loads(row["row"])
        shared: dict[str, Any] = {
            "scenario_id": row["scenario"],
            "variant": record["variant"],
            "premise_order": record["premise_order"],
            "arm": row["arm"],
            "answer": row["answer"],
            "claim_id": row["event_id"],
        }
        rows.extend(_caused(shared, entry) for entry in edges)
        if not edges:
            rows.append(_without_cause(shared, entries, _note(row, entries, most)))
    return tuple(rows)


def _caused(shared: dict[str, Any], entry: dict[str, Any]) -> PersistedRow:
    return PersistedRow(
        **shared,
        result=entry["result"],
        entry_id=entry["entry"],
        entry_label=short(entry["text"]),
        entry_role=entry["role"],
        effect_nats=entry["effect"],
        effect_low=entry["low"],
        effect_high=entry["high"],
        labels=tuple(entry["labels"]),
        note="",
    )


def _without_cause(shared: dict[str, Any], entries: list[dict[str, Any]] | None, note: str) -> PersistedRow:
    return PersistedRow(
        **shared,
        result=entries[0]["result"] if entries else "not measured",
        entry_id=None,
        entry_label=None,
        entry_role=None,
        effect_nats=None,
        effect_low=None,
        effect_high=None,
        labels=(),
        note=note,
    )


def _note(trial: dict[str, Any], entries: list[dict[str, Any]] | None, most: int) -> str:
    """Why no entry is held responsible for the answer of ``trial``."""
    if entries:
        return f"measured: {entries[0]['reason']}"
    if entries is not None:
        return "nothing to measure: its prompt showed no entry"
    if not trial["answer_ids"]:
        return "not measured: the agent does not say which tokens it generated"
    return f"not measured: the run attributes the answers of {most} prompts, and this one came later"
