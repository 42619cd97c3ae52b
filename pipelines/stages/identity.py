"""What a report says of its run: its name, the model, where every ingredient comes from, the command that does it again."""

from __future__ import annotations

import shlex

from attribution.models import DEFAULT_MODEL
from evals.kill_criteria import Evaluation
from evals.report import Identity, ModelIdentity, ProvenanceRow
from ledger_core.belief.policies import SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.statements import Scope
from pipelines.lake import read_table
from pipelines.plan import EVALUATION_TENANT, JobPlan
from pipelines.workspace import Workspace

_DIGITS = 12
"""Hex digits of a plan's digest that name its run."""


def run_name(plan: JobPlan) -> str:
    """Beginning of the run's project; also the name of its report's folder."""
    return plan.scope.project_namespace[: len("run-") + _DIGITS]


def ledger_name(scope: Scope) -> str:
    """``tenant/project`` as a command may be given it: the project of a run is cut to its name."""
    tenant, project = scope.tenant_namespace, scope.project_namespace
    return f"{tenant}/{project[: len('run-') + _DIGITS] if tenant == EVALUATION_TENANT else project}"


def evaluate_command(plan: JobPlan) -> str:
    """The command that does and judges this very plan; a model's folder is named without its place."""
    model = [] if plan.model == DEFAULT_MODEL else ["--model", shlex.quote(plan.model)]
    quick = ["--quick"] if plan.quick else []
    return " ".join(["veritas", *model, "evaluate", *quick, "--seed", str(plan.seed), "--gate", plan.gate])


def identity(at: Workspace, evaluation: Evaluation) -> Identity:
    """Names and digests of the workspace's run."""
    plan, files = at.run.plan, at.model().files
    title = "Does the ledger stop retracted facts from persisting?"
    return Identity(
        title=f"{title} (too small for a verdict)" if plan.quick else title,
        run=run_name(plan),
        evaluate=evaluate_command(plan),
        agent=plan.agent,
        generator_version=plan.generator_version,
        policy=SEED_V4_CLUSTERS_NAME,
        gate=plan.gate,
        registration_digest=evaluation.registration.digest,
        model=ModelIdentity(
            name=files.name,
            file=files.file_name,
            quantisation=files.quantisation,
            digest=files.weights_digest,
            dtype=at.model().dtype,
            decoding="greedy",
        ),
    )


def provenance(at: Workspace, scope: Scope) -> tuple[ProvenanceRow, ...]:
    """What of the evaluation is known by construction and what the system produced."""
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
