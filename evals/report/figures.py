"""The report's figures as flat names and numbers, for trackers that know nothing else: MLflow, Dagster's metadata."""

from __future__ import annotations

from evals.kill_criteria import EXIT_CODES, Verdict
from evals.report.data import Estimate, ReportData

_ACCOUNTED = ("planned", "scored", "errored", "unscored", "retried")


def figures_of(data: ReportData) -> dict[str, float]:
    """Name -> number; what is undefined in the report has no name here.

    Names are dotted paths: ``criterion.k1.code``, ``criterion.k1.0.high``, ``persistence.2.planted-premise.base.both``,
    ``contrast.accuracy.2-minus-2k.planted-premise.base.both``, ``weights.brier``, ``trials.errored``.
    A code is the exit code of the verdict.
    """
    found: dict[str, float] = {}
    for criterion in data.criteria:
        found[f"criterion.{criterion.id}.code"] = float(EXIT_CODES[Verdict(criterion.verdict)])
        for place, part in enumerate(criterion.parts):
            found |= _ends(f"criterion.{criterion.id}.{place}", part.interval)
    for row in data.arms:
        name = f"{row.metric}.{row.arm}.{row.family}.{row.variant}.{row.premise_order}"
        if row.clustered.estimate is not None:
            found[name] = row.clustered.estimate
    for pair in data.contrasts:
        name = (
            f"contrast.{pair.metric}.{pair.left}-minus-{pair.right}.{pair.family}.{pair.variant}.{pair.premise_order}"
        )
        found |= _ends(name, pair.clustered)
    for fold in data.folds:
        name = f"folds.{fold.metric}.{fold.left}-minus-{fold.right}.{fold.family}.{fold.folds}"
        found |= _ends(name, fold.band)
    if data.weights is not None:
        named = {
            name: getattr(data.weights, name) for name in ("pairs", "lost", "written_brier", "brier", "brier_base_rate")
        }
        found |= {f"weights.{name}": float(value) for name, value in named.items() if value is not None}
    for word in _ACCOUNTED:
        found[f"trials.{word}"] = float(sum(getattr(row, word) for row in data.accounting))
    return found


def _ends(name: str, estimate: Estimate) -> dict[str, float]:
    ends = {f"{name}.estimate": estimate.estimate, f"{name}.low": estimate.low, f"{name}.high": estimate.high}
    return {key: value for key, value in ends.items() if value is not None}
