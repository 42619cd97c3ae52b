"""Puts the report together: verdicts and trials, what measurement says of persisted falsehoods, cascades, stability, what-if."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from platform import node
from typing import Any

from evals.kill_criteria import Evaluation
from evals.report import (
    Identity,
    ModelIdentity,
    PersistedRow,
    PromptText,
    ProvenanceRow,
    ReportInputs,
    RunFacts,
    ScenarioFacts,
    StabilityRow,
    WhatIfRow,
    build_report,
)
from evals.report import write_report as write_files
from evals.scenarios import Scenario
from evals.trial_runner import ScenarioLog
from ledger_core.belief.policies import SEED_V4_CLUSTERS_NAME
from ledger_core.belief.what_if import what_if
from ledger_core.kernel.policy import Policy
from ledger_core.kernel.statements import Scope
from ledger_core.kernel.types import EventId
from pipelines.errors import MissingTableError, PlanError
from pipelines.lake import read_table
from pipelines.stages.cascades import cascades, short
from pipelines.stages.judgement import judged
from pipelines.stages.scenarios import stored_scenarios
from pipelines.stages.trials import scenario_logs, stored_records
from pipelines.workspace import SAMPLES_TENANT, Workspace

_STABILITY = 400
_WHAT_IF = 40


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report on disk."""

    html: Path
    json: Path
    digest: str
    """SHA-256 of ``report.json``."""
    figures: dict[str, float]
    """What goes into MLflow and the asset's metadata."""


def report_folder(at: Workspace) -> Path:
    """Where the run's report lies."""
    return at.settings.reports / f"run-{at.run.plan.digest[:12]}"


def write_report(at: Workspace) -> WrittenReport:
    """Write the report of the workspace's run."""
    scope = at.run.plan.scope
    evaluation = judged(at, scope)
    records = stored_records(at, scope)
    with at.ledger(scope) as ledger:
        policy = ledger.policy()
        logs = scenario_logs(at, scope, ledger)
        head = ledger.head()
    data = build_report(evaluation, records, _inputs(at, scope, evaluation, logs, policy))
    folder = report_folder(at)
    page = write_files(folder, data, _facts(at, head))
    document = folder / "report.json"
    figures = {f"criterion.{row.id}.code": float(_CODES[row.verdict]) for row in data.criteria}
    figures |= {
        f"{row['name']}.{row['arm']}.{row['stratum'].replace('/', '.')}": row["value"]
        for row in read_table(at.lake(scope), "metrics")
        if row["value"] is not None
    }
    return WrittenReport(page, document, hashlib.sha256(document.read_bytes()).hexdigest(), figures)


_CODES = {"PASS": 0, "INCONCLUSIVE": 10, "KILL": 11, "INVALID": 12}


def _facts(at: Workspace, head: str) -> RunFacts:
    names = ("torch", "transformers", "numpy", "scipy", "scikit-learn", "duckdb", "pyarrow", "dagster", "mlflow")
    return RunFacts(
        run_id=at.run.plan.digest,
        now=at.run.state.now,
        ledger_head=head,
        host=node() or "unknown",
        seconds=round(at.elapsed(), 3),
        versions={name: metadata.version(name) for name in names},
    )


def _inputs(
    at: Workspace, scope: Scope, evaluation: Evaluation, logs: list[ScenarioLog], policy: Policy
) -> ReportInputs:
    scenarios = stored_scenarios(at, scope)
    return ReportInputs(
        identity=_identity(at, evaluation),
        provenance=_provenance(at, scope),
        persisted=_persisted(at, scope),
        cascades=cascades(logs, policy),
        stability=(*_stability(at, scope), *_sample_stability(at)),
        what_if=_what_if(at),
        facts=tuple(_scenario_facts(scenario) for scenario in scenarios if scenario.question is not None),
        prompts=_prompts(at, scope),
    )


def _identity(at: Workspace, evaluation: Evaluation) -> Identity:
    plan, files = at.run.plan, at.model().files
    title = "Does the ledger stop retracted facts from persisting?"
    return Identity(
        title=f"{title} (too small for a verdict)" if plan.quick else title,
        agent=plan.agent,
        generator_version=plan.generator_version,
        policy=SEED_V4_CLUSTERS_NAME,
        gate=plan.gate,
        registration_digest=evaluation.registration.digest,
        model=ModelIdentity(
            name=files.name,
            file=files.path.name,
            quantisation=files.quantisation,
            digest=files.weights_digest,
            dtype=at.model().dtype,
            decoding="greedy",
        ),
    )


def _provenance(at: Workspace, scope: Scope) -> tuple[ProvenanceRow, ...]:
    events = read_table(at.lake(scope), "scenario_events")
    said = [row["free_continuation_differs"] for row in events if row["free_continuation_differs"] is not None]
    differs = f"{sum(said)} of {len(said)}" if said else "none"
    return (
        ProvenanceRow(
            what="Answers", status="real", note="Generated greedily by the named model; nothing is scripted."
        ),
        ProvenanceRow(
            what="Claims",
            status="simulated",
            note=f"Decoded by the named model, constrained to the planted words; in {differs} claims it would by itself"
            " have said another value after the claim's stem.",
        ),
        ProvenanceRow(
            what="Verdicts", status="oracle", note="The scenario says which entry is contradicted; no verifier ran."
        ),
        ProvenanceRow(
            what="Tool results", status="simulated", note="Texts of this project's templates under hosts in .example."
        ),
        ProvenanceRow(
            what="Measured edges", status="real", note="Ablations scored by the very weights that said the claims."
        ),
        ProvenanceRow(
            what="What-if on imported transcripts",
            status="real",
            note="Sample transcripts that ship with the project, proxy-scored: edges say what moves the scorer.",
        ),
    )


def _scenario_facts(scenario: Scenario) -> ScenarioFacts:
    question = scenario.question
    assert question is not None
    return ScenarioFacts(
        scenario_id=scenario.id, question=question.text, false_value=question.false, true_value=question.true
    )


def _prompts(at: Workspace, scope: Scope) -> tuple[PromptText, ...]:
    found = []
    for row in read_table(at.lake(scope), "trials"):
        record = json.loads(row["row"])
        found.append(
            PromptText(
                scenario_id=row["scenario"],
                variant=record["variant"],
                premise_order=record["premise_order"],
                arm=row["arm"],
                prompt=row["prompt"],
            )
        )
    return tuple(found)


def _persisted(at: Workspace, scope: Scope) -> tuple[PersistedRow, ...]:
    """Each persisted falsehood with the entries that measurement holds responsible; those beyond the cap say so.

    Arms that showed one and the same prompt share its measurement.
    """
    trials = read_table(at.lake(scope), "trials")
    prompts = {(row["scenario"], row["arm"]): row["prompt_digest"] for row in trials}
    caused: dict[str, list[dict[str, Any]]] = {}
    for row in read_table(at.lake(scope), "answer_attribution"):
        caused.setdefault(prompts[row["scenario"], row["arm"]], []).append(row)
    rows: list[PersistedRow] = []
    for row in trials:
        if row["outcome"] not in ("asserts_false", "asserts_both"):
            continue
        record = json.loads(row["row"])
        found = caused.get(row["prompt_digest"])
        edges = [entry for entry in found or () if entry["verdict"] == "edge"]
        shared: dict[str, Any] = {
            "scenario_id": row["scenario"],
            "variant": record["variant"],
            "premise_order": record["premise_order"],
            "arm": row["arm"],
            "answer": row["answer"],
            "claim_id": row["event_id"],
        }
        rows.extend(_persisted_edge(shared, entry) for entry in edges)
        if not edges:
            rows.append(_persisted_plain(shared, found))
    return tuple(rows)


def _persisted_edge(shared: dict[str, Any], entry: dict[str, Any]) -> PersistedRow:
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


def _persisted_plain(shared: dict[str, Any], found: list[dict[str, Any]] | None) -> PersistedRow:
    note = (
        "measured: no entry reaches the floor"
        if found
        else "not measured: the run attributes a fixed number of answers, and this one came later"
    )
    return PersistedRow(
        **shared,
        result=found[0]["result"] if found else "not measured",
        entry_id=None,
        entry_label=None,
        entry_role=None,
        effect_nats=None,
        effect_low=None,
        effect_high=None,
        labels=(),
        note=note,
    )


def _stability(at: Workspace, scope: Scope) -> tuple[StabilityRow, ...]:
    lake = at.lake(scope)
    texts = {row["entry"]: row["text"] for row in read_table(lake, "entries")}
    measured = {row["claim"]: row for row in read_table(lake, "measured_edges")}
    rows: list[StabilityRow] = []
    for row in read_table(lake, "stability_report")[:_STABILITY]:
        edges = measured[row["claim"]]
        recipe = json.loads(edges["recipe"])
        verdicts = [entry["verdict"] for entry in json.loads(edges["entries"])]
        shared: dict[str, Any] = {
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
        rows.append(
            StabilityRow(
                **shared,
                gate="cuts-v1",
                rho=None,
                rho_threshold=None,
                floor_nats=float(recipe["floor"]["tau"]) if "tau" in recipe["floor"] else None,
                edges=len(row["cuts_v1_edges"]),
                nulls=verdicts.count("null") if edges["gate"] == "cuts-v1" else 0,
                undetermined=verdicts.count("undetermined") if edges["gate"] == "cuts-v1" else 0,
                decision=row["cuts_v1_result"],
                flags=tuple(edges["flags"]),
            )
        )
        rows.append(
            StabilityRow(
                **shared,
                gate="seed-v4",
                rho=row["rho_seeds"],
                rho_threshold=0.6,
                floor_nats=None,
                edges=len(row["seed_v4_edges"]),
                nulls=0,
                undetermined=0,
                decision="measured" if row["seed_v4_passes"] else "declared edges kept",
                flags=(),
            )
        )
    return tuple(rows)


def _sample_scopes(at: Workspace) -> tuple[Scope, ...]:
    try:
        return at.scopes(SAMPLES_TENANT)
    except PlanError:
        return ()


def _sample_stability(at: Workspace) -> tuple[StabilityRow, ...]:
    rows: tuple[StabilityRow, ...] = ()
    for scope in _sample_scopes(at):
        try:
            rows += _stability(at, scope)
        except MissingTableError:
            continue
    return rows


def _what_if(at: Workspace) -> tuple[WhatIfRow, ...]:
    """For each sample transcript: retract, by hypothesis, the tool result on which most would fall."""
    rows: list[WhatIfRow] = []
    for scope in _sample_scopes(at):
        with at.ledger(scope) as ledger:
            statements = [event.statement for event in ledger.events("evidence")]
            policy = ledger.policy()
        try:
            entries = {row["entry"]: row for row in read_table(at.lake(scope), "entries")}
        except MissingTableError:
            continue
        records = dict.fromkeys(row["record"] for row in entries.values())
        for record in records:
            observed = [
                EventId(key)
                for key, row in entries.items()
                if row["record"] == record and row["kind"] == "entry.observed"
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
    return tuple(rows[:_WHAT_IF])
