"""The main job: samples imported and measured, scenarios recorded, arms asked, criteria judged, report written."""

from __future__ import annotations

import sysconfig
from dataclasses import dataclass
from pathlib import Path

from attribution.models import ModelFiles, resolve_model
from evals.arms import DEFAULT_ARMS, arm
from evals.scenarios import GENERATOR_VERSION
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from ledger_core.connectors.importing import import_transcripts
from ledger_core.kernel.statements import Scope
from pipelines.errors import PipelineError
from pipelines.lake import read_table
from pipelines.orchestrator import materialise
from pipelines.plan import EVALUATION_TENANT, JobPlan, Run, latest, only_job, start
from pipelines.settings import Settings, resolve
from pipelines.workspace import SAMPLES_TENANT, Workspace

DEFAULT_SEED = 7
"""Seed of a run unless told otherwise. Wordings and stems were tuned on seeds 0 to 3, which are therefore no evidence."""
SAMPLE = "planted-chat.jsonl"
SAMPLE_PROJECT = "planted-chat"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Scenarios per family, and how many persisted answers are attributed."""

    planted_premise: int
    corrections_leave: int
    mixed_parents: int
    null: int
    competence: int
    answers: int


FULL = Sizes(planted_premise=40, corrections_leave=40, mixed_parents=24, null=20, competence=12, answers=16)
QUICK = Sizes(planted_premise=4, corrections_leave=2, mixed_parents=4, null=2, competence=4, answers=2)


def plan_for(files: ModelFiles, sizes: Sizes, *, quick: bool, seed: int, gate: str) -> JobPlan:
    """The plan of a run."""
    return JobPlan.make(
        agent=f"local {files.name} {files.quantisation} float32",
        answers_measured=sizes.answers,
        arms=tuple(arm(name).id for name in DEFAULT_ARMS),
        competence=sizes.competence,
        corrections_leave=sizes.corrections_leave,
        gate=gate,
        generator_version=GENERATOR_VERSION,
        mixed_parents=sizes.mixed_parents,
        model=files.name,
        null=sizes.null,
        planted_premise=sizes.planted_premise,
        policy_digest=SEED_V4_CLUSTERS.digest(),
        quick=quick,
        seed=seed,
        weights_digest=files.weights_digest,
    )


def open_run(
    settings: Settings,
    *,
    quick: bool,
    seed: int = DEFAULT_SEED,
    now: str | None = None,
    gate: str = "cuts-v1",
    sizes: Sizes | None = None,
) -> Workspace:
    """Start or resume the run of these options; other ``sizes`` than those of a quick or full run are another run.

    Raises:
        PlanError: the run was started with another ``now``.
        ModelNotFoundError: the model is not on this machine.
    """
    files = resolve_model(settings.model, settings.cache / "models")
    run = start(
        settings.home, plan_for(files, sizes or (QUICK if quick else FULL), quick=quick, seed=seed, gate=gate), now
    )
    return workspace_of(settings, run)


def workspace_of(settings: Settings, run: Run) -> Workspace:
    """The workspace of a started run: its clock and its gate."""
    return Workspace(settings, now=run.state.now, gate=run.plan.gate, started=run)


def open_workspace(home: str | None = None) -> Workspace:
    """For the Dagster UI: the latest run below ``home``, or a quick one where there is none."""
    settings = resolve(home=home)
    found = latest(settings.home)
    return workspace_of(settings, found) if found is not None else open_run(settings, quick=True)


def samples_folder() -> Path:
    """Where the sample transcripts lie: in a clone, or beside an installed wheel.

    Raises:
        PipelineError: neither has them.
    """
    clone = Path(__file__).resolve().parents[1] / "data" / "samples"
    installed = Path(sysconfig.get_path("data")) / "share" / "veritas" / "samples"
    for folder in (clone, installed):
        if (folder / SAMPLE).is_file():
            return folder
    raise PipelineError(f"the sample transcripts are neither in {clone} nor in {installed}; install Veritas again")


def import_samples(at: Workspace) -> None:
    """Import the sample transcripts into their own tenant; again adds nothing."""
    scope = Scope.make(project_namespace=SAMPLE_PROJECT, tenant_namespace=SAMPLES_TENANT)
    with at.ledger(scope) as ledger:
        import_transcripts(ledger, "chat", samples_folder() / SAMPLE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the main job ended with."""

    report: Path
    head: str
    verdicts: tuple[tuple[str, str], ...]
    """(criterion, verdict or why it was not registered)."""


def run_main_job(at: Workspace) -> Outcome:
    """Do everything, resuming where an earlier attempt stopped, and sign what the ledgers hold at the end.

    Raises:
        CheckFailedError: a blocking check failed.
        VerificationError: a checkpoint of an earlier run says that a ledger was another.
        PlanError: another process is at it below the same home.
    """
    from pipelines.stages.checkpoints import checkpoint_scopes

    with only_job(at.settings.home):
        import_samples(at)
        materialise(at, SAMPLES_TENANT)
        materialise(at, EVALUATION_TENANT)
        checkpoint_scopes(at, (*at.scopes(SAMPLES_TENANT), at.run.plan.scope))
    return outcome_of(at)


def run_evaluation(at: Workspace) -> Outcome:
    """As :func:`run_main_job` for a suite, which reads no sample transcripts: its report depends on its plan alone."""
    from pipelines.stages.checkpoints import checkpoint_scopes

    with only_job(at.settings.home):
        materialise(at, EVALUATION_TENANT)
        checkpoint_scopes(at, (at.run.plan.scope,))
    return outcome_of(at)


def outcome_of(at: Workspace) -> Outcome:
    """What a run that is done ended with."""
    from pipelines.stages.reports import report_folder

    scope = at.run.plan.scope
    with at.ledger(scope) as ledger:
        head = ledger.head()
    verdicts = tuple((row["criterion"], row["verdict"]) for row in read_table(at.lake(scope), "kill_report"))
    return Outcome(report_folder(at) / "index.html", head, verdicts)
