"""What every stage needs at hand: settings, the run, open ledgers, the model (loaded once), folders of the lake and caches."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ledger_core.belief.policies import CLUSTER_RECIPE, SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.statements import Scope
from ledger_core.stores.ledger import Ledger, list_scopes
from pipelines.errors import PlanError
from pipelines.plan import EVALUATION_TENANT, Run
from pipelines.settings import Settings
from pipelines.suite import RUN_POLICIES

if TYPE_CHECKING:
    from attribution.blocks import BlockCache
    from attribution.decision.floor_table import FloorTable
    from attribution.models import LanguageModel
    from evals.scenarios import Scenario
    from ledger_core.providers import EmbeddingProvider
    from pipelines.agents import Chosen, ChosenVerifier
    from pipelines.computing import Computing
    from pipelines.suite import Population
    from pipelines.tracking.mlflow_store import MlflowStore

SAMPLES_TENANT = "samples"
"""Tenant of the transcripts that ship with the project."""


@dataclass
class Workspace:
    """State of one command or one Dagster process."""

    settings: Settings
    now: str
    """Clock of every ledger this workspace opens: a run's stored `now`, or the moment a command began."""
    gate: str = "cuts-v1"
    started: Run | None = None
    """The evaluation run; None for commands that only measure imported transcripts."""
    floors: FloorTable | None = None
    """Floors to use instead of the shipped ones."""
    window: int | None = None
    """Tokens a foreign transcript is cut to, if asked for."""
    records: tuple[str, ...] = ()
    """Records to attribute; empty: all of a tenant's."""
    project: str | None = None
    """Project of a tenant other than the evaluation's; None: all of its projects."""
    bounded: Computing | None = None
    """How to compute, where the command was told; None: as the settings say, without budgets."""
    loaded: dict[str, tuple[Scenario, ...]] = field(default_factory=dict, repr=False)
    """Scenarios of the populations that were given with the command, by their digest in the plan."""
    chosen: Chosen | None = None
    """Who answers, where it is not the local model."""
    verifier: ChosenVerifier | None = None
    """Who judges, where it is not the scenarios themselves."""
    _models: dict[str, LanguageModel] = field(default_factory=dict, repr=False)
    _began: float = field(default_factory=time.monotonic, repr=False)

    def elapsed(self) -> float:
        """Seconds since this workspace was opened; for ``run.json``, never for a number of the report."""
        return time.monotonic() - self._began

    @property
    def run(self) -> Run:
        """The evaluation run.

        Raises:
            PlanError: this workspace has none.
        """
        if self.started is None:
            raise PlanError("no evaluation run is open here; `veritas run` starts one")
        return self.started

    def scopes(self, tenant: str) -> tuple[Scope, ...]:
        """Scopes that a partition stands for: the run's own for the evaluation tenant, else the tenant's ledgers."""
        if tenant == EVALUATION_TENANT:
            return (self.run.plan.scope,)
        found = tuple(
            scope
            for scope in list_scopes(self.settings.place)
            if scope.tenant_namespace == tenant and self.project in (None, scope.project_namespace)
        )
        if not found:
            raise PlanError(
                f"tenant {tenant!r} has no ledger below {self.settings.home}; `veritas import FORMAT PATH --tenant {tenant}`"
                " makes one"
            )
        return found

    def lake(self, scope: Scope) -> Path:
        """Folder of a scope's tables."""
        return self.settings.lake / scope.tenant_namespace / scope.project_namespace

    @property
    def run_lake(self) -> Path:
        """Folder of the evaluation run's tables."""
        return self.lake(self.run.plan.scope)

    @contextmanager
    def ledger(self, scope: Scope) -> Iterator[Ledger]:
        """The open ledger of ``scope``; its clock is the run's stored `now`, a run's own begins under its plan's policy."""
        own = self.started is not None and self.started.plan.scope == scope
        name = self.run.plan.policy if own else SEED_V4_CLUSTERS_NAME
        ledger = Ledger.open(self.settings.place, scope, now=self.now, policy=RUN_POLICIES[name], policy_name=name)
        try:
            yield ledger
        finally:
            ledger.close()

    def model(self) -> LanguageModel:
        """The language model, loaded on first use."""
        if "model" not in self._models:
            from attribution.models import load_language_model, resolve_model

            files = resolve_model(self.settings.model, self.settings.cache / "models")
            computing = self.computing
            self._models["model"] = load_language_model(
                files, threads=computing.threads, dtype=computing.dtype, device=computing.device
            )
        return self._models["model"]

    @cached_property
    def embedder(self) -> EmbeddingProvider | None:
        """What tells two witnesses apart by their texts, where the run's policy does so."""
        if RUN_POLICIES[self.run.plan.policy].independence_recipe == CLUSTER_RECIPE:
            return None
        from attribution.models import load_embedder

        return load_embedder(self.settings.cache / "models")

    def population(self, population: Population) -> tuple[Scenario, ...]:
        """The scenarios of a population of the plan.

        Raises:
            PlanError: its file was not given with this command.
        """
        found = self.loaded.get(population.scenarios_digest)
        if found is None:
            raise PlanError(
                f"this run reads {population.source} as {population.format}; give the same file again with "
                f"--population {population.format}=PATH"
            )
        return found

    @cached_property
    def computing(self) -> Computing:
        """Executor, workers and budgets of this workspace."""
        from pipelines.computing import Computing

        return self.bounded or Computing.of(self.settings)

    @cached_property
    def blocks(self) -> BlockCache:
        """Content-addressed score tables; tables of another number of torch threads differ in the last bits and lie apart."""
        from attribution.blocks import BlockCache

        return BlockCache(self.settings.cache / "blocks" / f"threads-{self.computing.threads}")

    @cached_property
    def tracking(self) -> MlflowStore:
        """The MLflow store."""
        from pipelines.tracking.mlflow_store import MlflowStore

        return MlflowStore(self.settings.mlflow_database)
