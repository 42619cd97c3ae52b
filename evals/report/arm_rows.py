"""Arms as rows: accounting, every metric with its intervals, outcomes, paired contrasts and outcome changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evals.arms import ARMS
from evals.criteria import Criterion, Part
from evals.metrics import (
    ANSWER_METRICS,
    Accounting,
    Contrast,
    Measurement,
    Metric,
    contrast,
    group_by,
    measure,
)
from evals.report.commands import BOTH, Recompute
from evals.report.data import (
    AccountingRow,
    ArmRow,
    ChangeTable,
    ContrastRow,
    Estimate,
    OutcomeRow,
    Probability,
)
from evals.statistics import PairedTable, holm
from evals.trials import Outcome, TrialRecord

ARM_ORDER = tuple(ARMS)
"""As the table of arms lists them; unknown arms follow in alphabetical order."""

ANSWER_PAIRS = (
    *(("2", "1"), ("2", "1o"), ("2", "2v1"), ("2", "2k")),
    *(("2", "2d"), ("2", "2t"), ("2", "2b"), ("2m", "2"), ("3", "2")),
    *(("2", "1r"), ("2", "1i"), ("2", "1l"), ("2", "1w"), ("2", "1m")),
    *(("2r", "2"), ("2kr", "2k"), ("2r", "2kr"), ("2c", "2r"), ("2s", "2"), ("3s", "3")),
)
"""Secondary contrasts of answers, left − right: the ledger against its parts, its rivals, and its own order."""

EDGE_PAIRS = (("3", "2"), ("3", "2x"), ("2s", "2"), ("3s", "2s"))
"""Secondary contrasts of what a retraction invalidates: only arms whose edges differ can differ."""

CHANGES = (("1", "2"), ("2k", "2"), ("2m", "2"), ("2", "3"))
"""Outcome changes, from rows to columns."""

POOLED = ("mixed-parents", "null")
"""Families whose variants are one population: each variant has only one kind of claim."""

WRONG_RETRACTIONS = ("true-premise-attacked", "syndicated", "sybil", "reversal")
"""Families in which what is filed is wrong: the false value is that of the attack, and nobody's retracted premise."""

TRUE_PREMISES = ("mixed-parents", *WRONG_RETRACTIONS)
"""Families in which the question is not always about what was retracted, so that no answer "persists"."""

CLAIMS_ONLY = ("mixed-parents", "null", "competence")
"""Families whose answers are compared between no two arms."""

_PLANTED = "planted-premise"
_EDGE_CONTRASTS = (Metric.COLLATERAL, Metric.MISSED_PROPAGATION, Metric.BALANCED_ACCURACY)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Stratum:
    """A population of scenarios; premise order `both` and variant `any` pool them."""

    family: str
    variant: str
    premise_order: str

    def where(self) -> Mapping[str, str]:
        """As a filter of the lake's scenarios."""
        return {"family": self.family, "variant": self.variant, "premise_order": self.premise_order}


Strata = Mapping[Stratum, Mapping[str, tuple[TrialRecord, ...]]]


def arm_rank(arm: str) -> tuple[int, str]:
    """Sort key of an arm."""
    return (ARM_ORDER.index(arm) if arm in ARM_ORDER else len(ARM_ORDER), arm)


def strata(records: Iterable[TrialRecord]) -> Strata:
    """Trials by population and arm; where both premise orders occur, pooled and apart."""
    found: dict[Stratum, dict[str, tuple[TrialRecord, ...]]] = {}
    for (family, variant), members in group_by(records, lambda r: (r.family, _population(r))).items():
        orders = sorted({record.premise_order for record in members}, reverse=True)
        for order in [BOTH, *orders] if len(orders) > 1 else orders:
            chosen = [record for record in members if order in (BOTH, record.premise_order)]
            arms = group_by(chosen, lambda r: (r.arm,))
            ranked = sorted((arm for (arm,) in arms), key=arm_rank)
            found[Stratum(family=family, variant=variant, premise_order=order)] = {arm: arms[arm,] for arm in ranked}
    return found


def _population(record: TrialRecord) -> str:
    return "any" if record.family in POOLED else record.variant


def accounting_rows(records: Iterable[TrialRecord], recompute: Recompute) -> tuple[AccountingRow, ...]:
    """Where the planned trials of each family and arm went."""
    groups = group_by(records, lambda r: (r.family, r.arm))
    rows = []
    for family, arm in sorted(groups, key=lambda key: (key[0], arm_rank(key[1]))):
        found = Accounting.of(groups[family, arm])
        rows.append(
            AccountingRow(
                family=family,
                arm=arm,
                planned=found.planned,
                scored=found.scored,
                errored=found.errored,
                unscored=found.unscored,
                retried=found.retried,
                command=recompute.outcomes({"family": family}, arm),
            )
        )
    return tuple(rows)


def metric_rows(found: Strata, criteria: Sequence[Criterion], recompute: Recompute) -> tuple[ArmRow, ...]:
    """Every metric that is defined for at least one arm of a population, with the thresholds of the given criteria."""
    rows: list[ArmRow] = []
    for stratum, arms in found.items():
        for metric in Metric:
            if stratum.family in TRUE_PREMISES and metric in (Metric.PERSISTENCE, Metric.SURVIVAL):
                continue
            measured = {arm: measure(metric, trials) for arm, trials in arms.items()}
            measured = {arm: m for arm, m in measured.items() if m.valued or (metric in ANSWER_METRICS and m.missing)}
            rows += [
                arm_row(stratum, arm, m, _deciding(criteria, stratum, metric, arm), recompute)
                for arm, m in measured.items()
            ]
    return tuple(rows)


def arm_row(stratum: Stratum, arm: str, found: Measurement, part: Part | None, recompute: Recompute) -> ArmRow:
    """One measurement as a row."""
    return ArmRow(
        family=stratum.family,
        variant=stratum.variant,
        premise_order=stratum.premise_order,
        metric=found.metric.value,
        arm=arm,
        events=found.events,
        valued=found.valued,
        missing=found.missing,
        clusters=found.clusters,
        exact=Estimate.of(found.exact),
        plot=Estimate.of(found.plot),
        clustered=Estimate.of(found.clustered),
        bounds=Estimate.of(found.bounds),
        threshold=part.threshold if part else None,
        threshold_direction=part.direction if part else None,
        command=recompute.measurement(found.metric, stratum.where(), arm),
    )


def _deciding(criteria: Sequence[Criterion], stratum: Stratum, metric: Metric, arm: str) -> Part | None:
    """The part of a criterion that reads exactly this proportion."""
    orders = {"any": (BOTH, "none")}
    for criterion in criteria:
        for part in criterion.parts:
            if (
                isinstance(part, Part)
                and (part.metric, part.family, part.left, part.right) == (metric, stratum.family, arm, None)
                and part.variant in ("any", stratum.variant)
                and stratum.premise_order in orders.get(part.order, (part.order,))
            ):
                return part
    return None


def outcome_rows(found: Strata, recompute: Recompute) -> tuple[OutcomeRow, ...]:
    """How the answers of each arm on each population divide."""
    return tuple(
        OutcomeRow(
            family=stratum.family,
            variant=stratum.variant,
            premise_order=stratum.premise_order,
            arm=arm,
            counts=tuple((outcome.value, sum(t.outcome is outcome for t in trials)) for outcome in Outcome),
            command=recompute.outcomes(stratum.where(), arm),
        )
        for stratum, arms in found.items()
        for arm, trials in arms.items()
    )


def contrast_rows(found: Strata, recompute: Recompute) -> tuple[ContrastRow, ...]:
    """Secondary contrasts on every population, Holm over all of them by the sign-flip p-value."""
    measured = [
        (stratum, left, right, contrast(metric, arms[left], arms[right]))
        for stratum, arms in found.items()
        for metric in _contrasted(stratum)
        for left, right in (ANSWER_PAIRS if metric in ANSWER_METRICS else EDGE_PAIRS)
        if left in arms and right in arms
    ]
    measured = [row for row in measured if row[3].pairs]
    adjusted = holm([c.sign_flip for *_, c in measured])
    return tuple(
        _contrast_row(stratum, left, right, c, Probability.of(p), recompute)
        for (stratum, left, right, c), p in zip(measured, adjusted, strict=True)
    )


def _contrasted(stratum: Stratum) -> Sequence[Metric]:
    """What is compared: answers where one arm may know better than another, claims where a retraction may pass them by."""
    if stratum.family in CLAIMS_ONLY:
        return _EDGE_CONTRASTS
    if stratum.family in WRONG_RETRACTIONS:
        return (Metric.ACCURACY, *_EDGE_CONTRASTS)
    if stratum.family != _PLANTED:
        return (Metric.PERSISTENCE, Metric.ACCURACY, *_EDGE_CONTRASTS)
    return (Metric.PERSISTENCE, Metric.ACCURACY if stratum.variant == "base" else Metric.THIRD_VALUE)


def _contrast_row(
    stratum: Stratum, left: str, right: str, found: Contrast, adjusted: Probability, recompute: Recompute
) -> ContrastRow:
    table = found.table if isinstance(found.table, PairedTable) else None
    cells = (table.both, table.left_only, table.right_only, table.neither) if table else (None,) * 4
    both, left_only, right_only, neither = (None if cell is None else round(cell) for cell in cells)
    return ContrastRow(
        family=stratum.family,
        variant=stratum.variant,
        premise_order=stratum.premise_order,
        metric=found.metric.value,
        left=left,
        right=right,
        pairs=found.pairs,
        incomplete=found.incomplete,
        clusters=found.clusters,
        both=both,
        left_only=left_only,
        right_only=right_only,
        neither=neither,
        clustered=Estimate.of(found.clustered),
        tango=Estimate.of(found.tango),
        newcombe=Estimate.of(found.newcombe),
        bounds=Estimate.of(found.bounds),
        mcnemar=Probability.of(found.mcnemar),
        sign_flip=Probability.of(found.sign_flip),
        holm=adjusted,
        command=recompute.pairs(stratum.where(), left, right),
    )


def change_tables(found: Strata, recompute: Recompute) -> tuple[ChangeTable, ...]:
    """Outcome in one arm against outcome in another, on populations with a planted premise, orders pooled."""
    tables = []
    for stratum, arms in found.items():
        if stratum.family != _PLANTED or stratum.premise_order not in (BOTH, "none"):
            continue
        for left, right in CHANGES:
            if left in arms and right in arms:
                tables.append(_change_table(stratum, left, right, arms, recompute))
    return tuple(tables)


def _change_table(
    stratum: Stratum, left: str, right: str, arms: Mapping[str, Sequence[TrialRecord]], recompute: Recompute
) -> ChangeTable:
    after = {trial.cell: trial.outcome for trial in arms[right]}
    moves = [(trial.outcome, after[trial.cell]) for trial in arms[left] if trial.cell in after]
    seen = [outcome for outcome in Outcome if any(outcome in move for move in moves)]
    return ChangeTable(
        family=stratum.family,
        variant=stratum.variant,
        left=left,
        right=right,
        outcomes=tuple(outcome.value for outcome in seen),
        counts=tuple(tuple(sum(move == (a, b) for move in moves) for b in seen) for a in seen),
        command=recompute.pairs(stratum.where(), left, right),
    )
