"""`veritas evaluate`: every family and arm of the suite, and other people's sets beside them, as one resumable run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evals.arms import arm
from evals.scenarios import FAMILIES, GENERATOR_VERSION
from evals.scenarios.loaders import load_population
from ledger_core.kernel import digests
from ledger_core.kernel.digests import Prefix
from pipelines.errors import UsageError
from pipelines.main_job import workspace_of
from pipelines.plan import EvaluationPlan, VerifiedPlan, start
from pipelines.suite import POLICY, POLICY_NAME, POPULATION_ARMS, POPULATION_LIMITS, Effort, Population, Reading, suite

if TYPE_CHECKING:
    from attribution.models import ModelFiles
    from evals.scenarios import Scenario
    from pipelines.agents import Chosen, ChosenVerifier
    from pipelines.settings import Settings
    from pipelines.workspace import Workspace

ANSWERS_MEASURED = {"quick": 2, "default": 4, "full": 100}
"""Persisted answers that are attributed, by effort."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A population as the plan names it, with its scenarios."""

    population: Population
    scenarios: tuple[Scenario, ...]
    skipped: int
    """Records of the file of which no scenario was made."""


def populations_of(options: Sequence[str], effort: Effort, seed: int, records: int | None = None) -> tuple[Loaded, ...]:
    """The populations that ``FORMAT=PATH`` options name, cut to ``records`` of each file, or to what the effort holds.

    Raises:
        UsageError: a number of records and no file, no ``FORMAT=PATH``, one family twice, or a family that the suite generates.
        ScenarioError: an unknown format, or a file of which no scenario can be made.
    """
    if records is not None and not options:
        raise UsageError("--records says how many records of each --population are planted, and none is given")
    most = POPULATION_LIMITS[effort] if records is None else records
    found: list[Loaded] = []
    taken = dict.fromkeys(FAMILIES, "the suite generates it")
    for option in options:
        name, equals, path = option.partition("=")
        if not equals or not path:
            raise UsageError(f"--population takes FORMAT=PATH, such as conflictqa=file.jsonl; got {option!r}")
        made = load_population(name, Path(path), limit=most, seed=seed)
        families = tuple(sorted({scenario.family for scenario in made.scenarios}))
        for family in families:
            if family in taken:
                raise UsageError(
                    f"{option}: its family {family} is there already ({taken[family]}); populations are never pooled, so "
                    "run this one by itself"
                )
            taken[family] = option
        digest = digests.framed_hex(Prefix.ROWS, [scenario.digest.encode() for scenario in made.scenarios])
        population = Population.make(
            arms=tuple(arm(display).id for display in POPULATION_ARMS),
            families=families,
            format=name,
            records=most,
            scenarios_digest=digest,
            source=Path(path).name,
        )
        found.append(Loaded(population, made.scenarios, len(made.skipped)))
    return tuple(found)


def evaluation_plan(
    files: ModelFiles,
    *,
    effort: Effort,
    seed: int,
    gate: str,
    agent: str | None = None,
    verifier: str | None = None,
    loaded: Sequence[Loaded] = (),
    readings: tuple[Reading, ...] | None = None,
) -> EvaluationPlan | VerifiedPlan:
    """The plan of an evaluation; ``readings`` other than the suite's, or a ``verifier``, make another run."""
    plan = EvaluationPlan.make(
        agent=agent or f"local {files.name} {files.quantisation} float32",
        answers_measured=ANSWERS_MEASURED[effort],
        effort=effort,
        gate=gate,
        generator_version=GENERATOR_VERSION,
        model=files.name,
        policy=POLICY_NAME,
        policy_digest=POLICY.digest(),
        populations=tuple(each.population for each in loaded),
        readings=suite(effort) if readings is None else readings,
        seed=seed,
        weights_digest=files.weights_digest,
    )
    return plan if verifier is None else VerifiedPlan.make(**dict(plan), verifier=verifier)


def open_evaluation(
    settings: Settings,
    *,
    effort: Effort,
    seed: int,
    now: str | None = None,
    gate: str = "cuts-v1",
    loaded: Sequence[Loaded] = (),
    chosen: Chosen | None = None,
    verifier: ChosenVerifier | None = None,
    readings: tuple[Reading, ...] | None = None,
) -> Workspace:
    """Start or resume the evaluation of these options.

    Raises:
        PlanError: it was started with another ``now``.
        ModelNotFoundError: the model is not on this machine.
    """
    from attribution.models import resolve_model

    files = resolve_model(settings.model, settings.cache / "models")
    agent = None if chosen is None else chosen.agent.name
    plan = evaluation_plan(
        files,
        effort=effort,
        seed=seed,
        gate=gate,
        agent=agent,
        verifier=None if verifier is None else verifier.name,
        loaded=loaded,
        readings=readings,
    )
    at = workspace_of(settings, start(settings.home, plan, now))
    at.chosen, at.verifier = chosen, verifier
    at.loaded.update({each.population.scenarios_digest: each.scenarios for each in loaded})
    return at
