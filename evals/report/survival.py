"""Survival curves: in what share of answers a correction still decides, by how often the context was folded since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evals.metrics import Absent, Measurement, Metric, group_by, measure, value_of
from evals.report.arm_rows import TRUE_PREMISES, arm_rank
from evals.report.commands import Recompute
from evals.report.data import Estimate, SurvivalRow
from evals.statistics import Interval, Undefined, cluster_proportion
from evals.trials import TrialRecord

_ALPHA = 0.05


def survival_rows(
    trials: Iterable[TrialRecord], folds: Mapping[str, int | None], recompute: Recompute
) -> tuple[SurvivalRow, ...]:
    """One row per point of every curve, in the order of families, arms and folds.

    Args:
        trials: all trials of a run.
        folds: scenario -> compactions between its last correction and its question; None where nothing is corrected.
        recompute: the run's commands.
    """
    asked = [
        trial
        for trial in trials
        if trial.family not in TRUE_PREMISES
        and folds.get(trial.scenario_id) is not None
        and value_of(Metric.SURVIVAL, trial) is not Absent.NOT_APPLICABLE
    ]
    rows: list[SurvivalRow] = []
    curves = group_by(asked, lambda trial: (trial.family, trial.arm))
    for family, arm in sorted(curves, key=lambda key: (key[0], arm_rank(key[1]))):
        points = group_by(curves[family, arm], lambda trial: (f"{folds[trial.scenario_id]:04}",))
        rows += [_row(int(folded), members, len(points), recompute) for (folded,), members in points.items()]
    return tuple(rows)


def _row(folds: int, members: Sequence[TrialRecord], points: int, recompute: Recompute) -> SurvivalRow:
    first = members[0]
    found = measure(Metric.SURVIVAL, members)
    variants = tuple(sorted({trial.variant for trial in members}))
    known = [trial.correction_in_context for trial in members if trial.correction_in_context is not None]
    return SurvivalRow(
        family=first.family,
        variants=variants,
        arm=first.arm,
        folds=folds,
        events=round(found.events),
        valued=found.valued,
        missing=found.missing,
        clusters=found.clusters,
        pointwise=Estimate.of(found.clustered),
        band=Estimate.of(_band(found, members, points)),
        in_context=sum(known),
        in_context_known=len(known),
        command=recompute.survival(first.family, variants, first.arm),
    )


def _band(found: Measurement, members: Sequence[TrialRecord], points: int) -> Interval | Undefined:
    """The interval that holds together with those of the curve's other points."""
    level = 1.0 - _ALPHA / points
    worst, best = (cluster_proportion(_by_wording(members, missing), level=level) for missing in (0.0, 1.0))
    if isinstance(worst, Undefined) or isinstance(best, Undefined) or isinstance(found.clustered, Undefined):
        return found.clustered if isinstance(found.clustered, Undefined) else Undefined("no trial")
    return Interval(
        low=worst.low,
        high=best.high,
        method=f"{best.method}, simultaneous over {points} points" if points > 1 else best.method,
        n=best.n,
        level=level,
        estimate=found.clustered.estimate,
    )


def _by_wording(members: Sequence[TrialRecord], missing: float) -> dict[str, list[float]]:
    grouped: dict[str, list[float]] = {}
    for trial in members:
        value = value_of(Metric.SURVIVAL, trial)
        grouped.setdefault(trial.wording, []).append(value if isinstance(value, float) else missing)
    return grouped
