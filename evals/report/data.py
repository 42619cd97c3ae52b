"""The one document a report is made from: everything it prints, and nothing about time, host or run.

Versioned and closed; a reader of another version is refused. Text is cleaned at the door (a lone surrogate from a
broken tokenizer must not abort the report), numbers are finite, and "no estimate" is a value with a reason.
"""

from __future__ import annotations

import json
from typing import Literal

from pydantic import Field, ValidationError

from evals.errors import ReportError
from evals.report.evidence import Cascade, PersistedRow, StabilityRow, Transcript, WhatIfRow
from evals.report.fields import Chance, Count, Number, Row, Text, VerdictName
from evals.report.weights import WeightsRow
from evals.statistics import Interval, PValue, Undefined

SCHEMA = "veritas-report-v3"


class Estimate(Row):
    """An interval, or why there is none; the six figures are all present or all ``None``."""

    estimate: Number | None
    low: Number | None
    high: Number | None
    method: Text | None
    n: Count | None
    level: Number | None
    undefined: Text | None
    """The reason; ``None`` where there is an interval."""

    @classmethod
    def of(cls, found: Interval | Undefined | None) -> Estimate:
        """From a statistic's result; ``None`` is a figure that was never computed."""
        if isinstance(found, Interval):
            return cls(
                estimate=found.estimate,
                low=found.low,
                high=found.high,
                method=found.method,
                n=found.n,
                level=found.level,
                undefined=None,
            )
        reason = found.reason if isinstance(found, Undefined) else "not computed"
        return cls(estimate=None, low=None, high=None, method=None, n=None, level=None, undefined=reason)


class Probability(Row):
    """A p-value with its method, or why there is none."""

    value: Chance | None
    method: Text | None
    undefined: Text | None

    @classmethod
    def of(cls, found: PValue | Undefined) -> Probability:
        """From a test's result."""
        if isinstance(found, PValue):
            return cls(value=found.value, method=found.method, undefined=None)
        return cls(value=None, method=None, undefined=found.reason)


class ModelIdentity(Row):
    """Which weights answered, down to the file."""

    name: Text
    file: Text
    """Name of the file that holds the weights as they are distributed, never of a converted copy."""
    quantisation: Text
    digest: Text
    """SHA-256 of that file; of a folder, of the listing of its weights and configuration."""
    dtype: Text
    decoding: Text


class Identity(Row):
    """What was run, in names and digests that do not depend on when or where."""

    title: Text
    run: Text
    """Beginning of the project that holds the run's ledger and tables: ``run-`` and digits of the plan's digest."""
    evaluate: Text
    """The command that does and judges the run again."""
    agent: Text
    generator_version: Text
    policy: Text
    gate: Text
    registration_digest: Text
    model: ModelIdentity


class ProvenanceRow(Row):
    """One ingredient of the evaluation and whether it is known by construction or was produced by the system."""

    what: Text
    status: Literal["oracle", "real", "simulated", "scripted"]
    note: Text


class ComponentRow(Row):
    """A paired difference that a part's estimand is made of."""

    name: Text
    family: Text
    metric: Text
    left: Text
    right: Text
    pairs: Count
    incomplete: Count
    clusters: Count
    clustered: Estimate
    tango: Estimate
    mcnemar: Probability
    command: Text


class PartRow(Row):
    """One bound of a criterion against its threshold."""

    name: Text
    metric: Text
    left: Text
    right: Text | None
    direction: Literal["upper-below", "lower-above"]
    threshold: Number
    verdict: VerdictName
    units: Count
    complete: Count
    incomplete: Count
    wordings: Count
    power_at_least: Number
    """At the smallest effect of interest with every wording counted once."""
    interval: Estimate
    pessimistic: Estimate
    optimistic: Estimate
    closed: Estimate
    """Closed form over trials, printed beside the deciding interval."""
    newcombe: Estimate
    mcnemar: Probability
    components: tuple[ComponentRow, ...]
    """Loss and gain of a break-even share; empty where the estimand is one proportion or one difference."""
    command: Text


class CriterionRow(Row):
    """A registered criterion and its verdict."""

    id: Text
    title: Text
    verdict: VerdictName
    hypothesis: Text
    estimand: Text
    population: Text
    errors: Text
    alpha: Number
    power_at_least: Number
    """What the powers of the parts leave certain whatever their dependence (Fréchet); often 0, which says nothing."""
    parts: tuple[PartRow, ...]
    reasons: tuple[Text, ...]
    command: Text


class RefusalRow(Row):
    """A criterion of the design that this run did not register."""

    id: Text
    title: Text
    kind: Literal["too small for a verdict", "not in this run"]
    reason: Text
    way_out: Text
    """What would register it; empty where nothing of this version does."""


class AccountingRow(Row):
    """Where the planned trials of one family and arm went."""

    family: Text
    arm: Text
    planned: Count
    scored: Count
    errored: Count
    unscored: Count
    retried: Count
    command: Text


class ArmRow(Row):
    """One metric of one arm on one population."""

    family: Text
    variant: Text
    premise_order: Text
    metric: Text
    arm: Text
    events: Number
    valued: Count
    missing: Count
    clusters: Count
    exact: Estimate
    plot: Estimate
    clustered: Estimate
    bounds: Estimate
    threshold: Number | None
    """Of a criterion that reads exactly this proportion."""
    threshold_direction: Literal["upper-below", "lower-above"] | None
    command: Text


class OutcomeRow(Row):
    """How the answers of one arm on one population divide."""

    family: Text
    variant: Text
    premise_order: Text
    arm: Text
    counts: tuple[tuple[Text, Count], ...]
    """Every outcome in a fixed order, zeros included."""
    command: Text


class SurvivalRow(Row):
    """In how many answers of one arm a correction still decides after so many folds; one point of its curve."""

    family: Text
    variants: tuple[Text, ...]
    """Variants of the family that fold so often."""
    arm: Text
    folds: Count
    """Compactions between the last correction and the question."""
    events: Count
    valued: Count
    missing: Count
    clusters: Count
    pointwise: Estimate
    """Over wordings, this point alone."""
    band: Estimate
    """Over wordings, simultaneous over the points of the arm's curve (Bonferroni), missing trials at both extremes."""
    in_context: Count
    """Trials that showed the model a correction; reported, never tested."""
    in_context_known: Count
    command: Text


class FoldRow(Row):
    """A paired difference left − right after so many folds: one point of the curve of two arms."""

    family: Text
    metric: Text
    left: Text
    right: Text
    folds: Count
    variants: tuple[Text, ...]
    pairs: Count
    incomplete: Count
    clusters: Count
    pointwise: Estimate
    """This point alone."""
    band: Estimate
    """Simultaneous over the points of the curve (Bonferroni), missing trials at both extremes."""
    command: Text


class ContrastRow(Row):
    """A paired comparison left − right; secondary, Holm-adjusted over all rows of the report."""

    family: Text
    variant: Text
    premise_order: Text
    metric: Text
    left: Text
    right: Text
    pairs: Count
    incomplete: Count
    clusters: Count
    both: Count | None
    left_only: Count | None
    right_only: Count | None
    neither: Count | None
    clustered: Estimate
    tango: Estimate
    newcombe: Estimate
    bounds: Estimate
    mcnemar: Probability
    sign_flip: Probability
    holm: Probability
    command: Text


class ChangeTable(Row):
    """Outcome in one arm (rows) against the outcome of the same units in another (columns)."""

    family: Text
    variant: Text
    left: Text
    right: Text
    outcomes: tuple[Text, ...]
    counts: tuple[tuple[Count, ...], ...]
    command: Text


class ReportData(Row):
    """Everything the report prints."""

    schema_name: Literal["veritas-report-v3"] = Field(alias="schema")
    identity: Identity
    headline: Text
    exit_code: int
    competence: ArmRow | None
    competence_threshold: Number
    criteria: tuple[CriterionRow, ...]
    refused: tuple[RefusalRow, ...]
    provenance: tuple[ProvenanceRow, ...]
    accounting: tuple[AccountingRow, ...]
    arms: tuple[ArmRow, ...]
    outcomes: tuple[OutcomeRow, ...]
    contrasts: tuple[ContrastRow, ...]
    changes: tuple[ChangeTable, ...]
    survival: tuple[SurvivalRow, ...]
    folds: tuple[FoldRow, ...]
    persisted: tuple[PersistedRow, ...]
    cascades: tuple[Cascade, ...]
    stability: tuple[StabilityRow, ...]
    what_if: tuple[WhatIfRow, ...]
    weights: WeightsRow | None = None
    """``None`` where no claim was said again, as in a main job."""
    transcripts: tuple[Transcript, ...]

    def to_json(self) -> str:
        """One spelling a document: sorted keys, no NaN, a final newline."""
        document = self.model_dump(mode="json", by_alias=True)
        return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> ReportData:
        """Read a ``report.json``.

        Raises:
            ReportError: not JSON, another schema version, or a field that is missing, unknown or outside its range.
        """
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(step) for step in first["loc"]) or "document"
            raise ReportError(
                f"not a {SCHEMA} document: {where}: {first['msg']}; build it again with `veritas report`"
            ) from error
