"""What a report says of its run: its name, the model, where every ingredient comes from, the command that does it again."""

from __future__ import annotations

import re
import shlex

from attribution.models import DEFAULT_MODEL
from evals.kill_criteria import Evaluation
from evals.report import Identity, ModelIdentity, ProvenanceRow
from ledger_core.kernel.statements import Scope
from pipelines.lake import read_table
from pipelines.plan import EVALUATION_TENANT, JobPlan, Plan, VerifiedPlan
from pipelines.stages.counting import standing_of
from pipelines.stages.verifying import faults_of
from pipelines.suite import POPULATION_LIMITS
from pipelines.workspace import Workspace

_DIGITS = 12
"""Hex digits of a plan's digest that name its run."""


def run_name(plan: Plan) -> str:
    """Beginning of the run's project; also the name of its report's folder."""
    return plan.scope.project_namespace[: len("run-") + _DIGITS]


def ledger_name(scope: Scope) -> str:
    """``tenant/project`` as a command may be given it: the project of a run is cut to its name."""
    tenant, project = scope.tenant_namespace, scope.project_namespace
    return f"{tenant}/{project[: len('run-') + _DIGITS] if tenant == EVALUATION_TENANT else project}"


def evaluate_command(plan: Plan) -> str:
    """The command that does this very plan; a model's folder and a population's file are named without their place."""
    model = [] if plan.model == DEFAULT_MODEL else ["--model", shlex.quote(plan.model)]
    chosen = ["--seed", str(plan.seed), "--gate", plan.gate]
    if isinstance(plan, JobPlan):
        return " ".join(["veritas", *model, "run", *(["--quick"] if plan.quick else []), *chosen])
    effort = [] if plan.effort == "default" else [f"--{plan.effort}"]
    populations = [
        word for each in plan.populations for word in ("--population", shlex.quote(f"{each.format}={each.source}"))
    ]
    most = {each.records for each in plan.populations} - {POPULATION_LIMITS[plan.effort], None}
    populations += [word for records in most for word in ("--records", str(records))]
    asked = [] if plan.agent.startswith("local ") else _server("--agent", plan.agent)
    verified = _server("--verifier", plan.verifier) if isinstance(plan, VerifiedPlan) else []
    return " ".join(["veritas", *model, "evaluate", *effort, *chosen, *populations, *asked, *verified])


def _server(flag: str, name: str) -> list[str]:
    """Options that name a server's model again; a scripted agent, which no command can name, has none."""
    found = re.fullmatch(r"openai (.+) at (\S+?)(?:, temperature .*)?", name)
    return [flag, shlex.quote(f"openai:{found[1]}"), f"{flag}-url", shlex.quote(found[2])] if found else []


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
        policy=plan.policy,
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
        ProvenanceRow(what="Answers", status="real", note=_who_answers(at.run.plan)),
        ProvenanceRow(
            what="Claims",
            status="simulated",
            note=f"Decoded by the named model, constrained to the planted words; in {differs} claims it would by itself"
            " have said another value after the claim's stem.",
        ),
        _who_judges(at, scope),
        ProvenanceRow(
            what="Tool results", status="simulated", note="Texts of this project's templates under hosts in .example."
        ),
        ProvenanceRow(
            what="Measured edges", status="real", note="Ablations scored by the very weights that said the claims."
        ),
        *_provenance_beside(at.run.plan),
    )


def _who_answers(plan: Plan) -> str:
    if plan.agent.startswith("local "):
        return "Generated greedily by the named model; nothing is scripted."
    return f"Asked of {plan.agent}; the named model says the claims and is what edges are measured with."


def _who_judges(at: Workspace, scope: Scope) -> ProvenanceRow:
    plan = at.run.plan
    if not isinstance(plan, VerifiedPlan):
        return ProvenanceRow(
            what="Verdicts", status="oracle", note="The scenario says which entry is contradicted; no verifier ran."
        )
    standing, faults = standing_of(at, scope), faults_of(at, scope)
    return ProvenanceRow(
        what="Verdicts",
        status="real",
        note=f"Asked of {plan.verifier}. In {len(standing)} scenarios a false premise was not retracted, which counts as"
        f" persisted in every arm that uses the retraction; in {len(faults)} the server did not serve, which counts as an error.",
    )


def _provenance_beside(plan: Plan) -> tuple[ProvenanceRow, ...]:
    """What a main job reads of sample transcripts; what a suite takes from audits, attackers and other people's files."""
    if isinstance(plan, JobPlan):
        return (
            ProvenanceRow(
                what="What-if on imported transcripts",
                status="real",
                note="Sample transcripts that ship with the project, proxy-scored: edges say what moves the scorer.",
            ),
        )
    audits = ProvenanceRow(
        what="Replay audits",
        status="simulated",
        note="The ledger's own auditor asks simulated origins again; that stored bytes were tampered with is the oracle's word.",
    )
    witnesses = ProvenanceRow(
        what="Independence of witnesses",
        status="real",
        note="Judged by the policy in force from texts and their embeddings, for attacks and honest pairs alike.",
    )
    sets = tuple(
        ProvenanceRow(
            what=f"Population {each.format}",
            status="real",
            note=f"Texts of {each.source}; verdicts and the claim built on the premise are of this project.",
        )
        for each in plan.populations
    )
    return (audits, witnesses, *sets)
