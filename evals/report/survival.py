"""Curves over folds: in what share of answers a correction still decides, and how far two arms are apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evals.metrics import Absent, Measurement, Metric, contrast, filled, group_by, measure, pair_up, value_of
from evals.report.arm_rows import TRUE_PREMISES, arm_rank
from evals.report.commands import Recompute
from evals.report.data import Estimate, FoldRow, SurvivalRow
from evals.statistics import Interval, Undefined, cluster_difference, cluster_proportion
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


FOLD_PAIRS = (("2", "1m"), ("2", "1w"), ("2", "1"), ("2", "2k"))
"""Arms that are compared fold by fold, left − right."""


def fold_rows(
    trials: Iterable[TrialRecord], folds: Mapping[str, int | None], recompute: Recompute
) -> tuple[FoldRow, ...]:
    """Differences in accuracy by folds, for every family that has scenarios of several depths; arguments as above."""
    corrected = [
        trial for trial in trials if trial.family not in TRUE_PREMISES and folds.get(trial.scenario_id) is not None
    ]
    rows: list[FoldRow] = []
    for (family,), members in group_by(corrected, lambda trial: (trial.family,)).items():
        depths = sorted({depth for trial in members if (depth := folds[trial.scenario_id]) is not None})
        for left, right in FOLD_PAIRS:
            points = [
                (
                    depth,
                    [trial for trial in members if folds[trial.scenario_id] == depth and trial.arm in (left, right)],
                )
                for depth in depths
            ]
            points = [(depth, chosen) for depth, chosen in points if {t.arm for t in chosen} == {left, right}]
            if len(points) > 1:
                rows += [_fold_row(family, left, right, point, len(points), recompute) for point in points]
    return tuple(rows)


def _fold_row(
    family: str, left: str, right: str, point: tuple[int, Sequence[TrialRecord]], points: int, recompute: Recompute
) -> FoldRow:
    depth, members = point
    sides = tuple([trial for trial in members if trial.arm == arm] for arm in (left, right))
    found = contrast(Metric.ACCURACY, *sides)
    units = pair_up(Metric.ACCURACY, *sides)
    level = 1.0 - _ALPHA / points
    worst, best = (
        cluster_difference(filled(units, left=value, right=1.0 - value), level=level) for value in (0.0, 1.0)
    )
    variants = tuple(sorted({trial.variant for trial in members}))
    return FoldRow(
        family=family,
        metric=Metric.ACCURACY.value,
        left=left,
        right=right,
        folds=depth,
        variants=variants,
        pairs=found.pairs,
        incomplete=found.incomplete,
        clusters=found.clusters,
        pointwise=Estimate.of(found.clustered),
        band=Estimate.of(_hull(worst, best, found.clustered, points)),
        command=recompute.pairs_in(family, variants, left, right),
    )


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
    return _hull(worst, best, found.clustered, points)


def _hull(
    worst: Interval | Undefined, best: Interval | Undefined, known: Interval | Undefined, points: int
) -> Interval | Undefined:
    """From the low end of the worst case to the high end of the best, around what was observed."""
    if isinstance(known, Undefined):
        return known
    if isinstance(worst, Undefined) or isinstance(best, Undefined):
        return Undefined("no trial")
    return Interval(
        low=min(worst.low, known.estimate),
        high=max(best.high, known.estimate),
        method=f"{best.method}, simultaneous over {points} points" if points > 1 else best.method,
        n=best.n,
        level=best.level,
        estimate=known.estimate,
    )


def _by_wording(members: Sequence[TrialRecord], missing: float) -> dict[str, list[float]]:
    grouped: dict[str, list[float]] = {}
    for trial in members:
        value = value_of(Metric.SURVIVAL, trial)
        grouped.setdefault(trial.wording, []).append(value if isinstance(value, float) else missing)
    return grouped
