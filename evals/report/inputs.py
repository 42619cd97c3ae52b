"""What the caller knows and trials do not say: identity, provenance, and rows about claims, beliefs and texts."""

from __future__ import annotations

from pydantic import Field

from evals.report.data import Identity, ProvenanceRow
from evals.report.evidence import Cascade, PersistedRow, StabilityRow, WhatIfRow
from evals.report.fields import Count, Row, Text
from evals.report.weights import WeightsRow


class ScenarioFacts(Row):
    """The question of a scenario and its planted values, for the reader of a transcript."""

    scenario_id: Text
    question: Text
    false_value: Text | None
    true_value: Text | None
    folds: Count | None
    """Compactions between the last correction and the question; ``None`` where nothing is corrected."""


class PromptText(Row):
    """What one arm showed the model for one scenario."""

    scenario_id: Text
    variant: Text
    premise_order: Text
    arm: Text
    prompt: Text


class ReportInputs(Row):
    """Everything that goes into a report beside the evaluation and its trials."""

    identity: Identity
    provenance: tuple[ProvenanceRow, ...]
    persisted: tuple[PersistedRow, ...]
    cascades: tuple[Cascade, ...]
    stability: tuple[StabilityRow, ...]
    what_if: tuple[WhatIfRow, ...]
    weights: WeightsRow | None = None
    """``None`` where no claim was said again."""
    facts: tuple[ScenarioFacts, ...]
    prompts: tuple[PromptText, ...]


class RunFacts(Row):
    """What differs between two runs of the same plan: goes into ``run.json`` and nowhere else."""

    run_id: Text
    now: Text
    """The stored time of the run's first start, ISO 8601."""
    ledger_head: Text
    host: Text
    seconds: float = Field(ge=0, allow_inf_nan=False)
    versions: dict[str, str]
    """Distribution -> version."""
