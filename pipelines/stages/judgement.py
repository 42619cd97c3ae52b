"""Metrics with intervals, and the verdict on every registered criterion."""

from __future__ import annotations

import json
from typing import Any

from evals.kill_criteria import CriterionResult, Evaluation, Observed, evaluate
from evals.metrics import QUORUM_METRICS, Metric, measure
from evals.preregistration import Registration
from evals.report.arm_rows import strata
from evals.statistics import Interval, Undefined, clopper_pearson
from ledger_core.kernel.statements import Scope
from ledger_core.kernel.statements.control import CriteriaRegistered
from ledger_core.stores.ledger import Ledger
from pipelines.lake import read_table
from pipelines.stages.counting import counted_records
from pipelines.stages.replay import Rows
from pipelines.stages.scenarios import registration, stored_scenarios
from pipelines.workspace import Workspace


def metrics_rows(at: Workspace, scope: Scope) -> Rows:
    """One row per population, metric and arm."""
    rows: Rows = []
    for stratum, arms in strata(counted_records(at, scope)).items():
        for name, records in arms.items():
            for metric in Metric:
                found = measure(metric, records)
                if not found.valued and (metric in QUORUM_METRICS or not found.missing):
                    continue
                clustered = found.clustered
                interval = None if isinstance(clustered, Undefined) else clustered
                rows.append(
                    {
                        "name": str(metric),
                        "arm": name,
                        "stratum": f"{stratum.family}/{stratum.variant}/{stratum.premise_order}",
                        "value": None if interval is None else interval.estimate,
                        "low": None if interval is None else interval.low,
                        "high": None if interval is None else interval.high,
                        "method": None if interval is None else interval.method,
                        "n": found.valued,
                        "undefined": clustered.reason if isinstance(clustered, Undefined) else None,
                    }
                )
    return rows + _planted_truth_rows(at, scope)


def _planted_truth_rows(at: Workspace, scope: Scope) -> Rows:
    """Measured edges against planted truth, claim by claim: recall of planted edges, and claims with an edge too many."""
    event_of = {
        (row["scenario"], row["part"]): row["event_id"] for row in read_table(at.lake(scope), "scenario_events")
    }
    measured = {row["claim"]: row for row in read_table(at.lake(scope), "measured_edges")}
    counts: dict[tuple[str, str], list[int]] = {}
    for scenario in stored_scenarios(at, scope):
        for claim in scenario.claims:
            row = measured.get(event_of[scenario.id, f"entry/{claim.key}"])
            if row is None:  # a suite measures only what some arm reads
                continue
            found = {entry["entry"] for entry in json.loads(row["entries"]) if entry["verdict"] == "edge"}
            planted = {event_of[scenario.id, f"entry/{key}"] for key in claim.used}
            for name, events, whole in (
                ("planted-edge-found", len(found & planted), len(planted)),
                ("claim-with-false-edge", int(bool(found - planted)), 1),
            ):
                tally = counts.setdefault((name, scenario.family), [0, 0])
                tally[0] += events
                tally[1] += whole
    return [_proportion_row(name, family, *tally) for (name, family), tally in sorted(counts.items()) if tally[1]]


def _proportion_row(name: str, family: str, events: int, whole: int) -> dict[str, Any]:
    interval = clopper_pearson(events, whole)
    known = None if isinstance(interval, Undefined) else interval
    return {
        "name": name,
        "arm": "3",
        "stratum": f"{family}/any/claims",
        "value": None if known is None else known.estimate,
        "low": None if known is None else known.low,
        "high": None if known is None else known.high,
        "method": None if known is None else known.method,
        "n": whole,
        "undefined": interval.reason if isinstance(interval, Undefined) else None,
    }


def judged(at: Workspace, scope: Scope) -> Evaluation:
    """Every registered criterion, judged from the logged trials alone."""
    plan = at.run.plan
    registered = registration(at, stored_scenarios(at, scope))
    with at.ledger(scope) as ledger:
        digest = _registered_digest(ledger)
    observed = Observed(
        registered_digest=digest,
        model_digest=at.model().files.weights_digest,
        generator_version=plan.generator_version,
    )
    return evaluate(registered, counted_records(at, scope), observed)


def _registered_digest(ledger: Ledger) -> str:
    for event in ledger.events("control"):
        statement = event.statement
        if isinstance(statement, CriteriaRegistered):
            return statement.body.criteria.digest
    return ""


def kill_report_rows(at: Workspace, scope: Scope) -> Rows:
    """One row per criterion of the design: its verdict, or why this run could not register it."""
    evaluation = judged(at, scope)
    return [_result_row(result) for result in evaluation.results] + _refusal_rows(evaluation.registration)


def _result_row(result: CriterionResult) -> dict[str, Any]:
    parts = [
        {"name": part.registered.part.name, "verdict": str(part.verdict), **_ends(part.interval)}
        for part in result.parts
    ]
    return {
        "criterion": result.registered.criterion.id,
        "verdict": str(result.verdict),
        "reason": "; ".join(result.reasons),
        "document": json.dumps(parts, sort_keys=True),
    }


def _ends(interval: Interval | Undefined) -> dict[str, Any]:
    if isinstance(interval, Undefined):
        return {"low": None, "high": None, "method": None}
    return {"low": interval.low, "high": interval.high, "method": interval.method}


def _refusal_rows(registered: Registration) -> Rows:
    return [
        {"criterion": refusal.criterion.id, "verdict": refusal.kind, "reason": refusal.reason, "document": "[]"}
        for refusal in registered.refused
    ]
