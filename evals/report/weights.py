"""What the weights of measured edges are worth: rows of the document, and their picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from markupsafe import Markup

from attribution.calibration import Calibration, Deletion, calibrate, learnt_from, uncalibrated_brier
from evals.report.charts import Dot, Line, forest
from evals.report.fields import Count, Number, Row, Text
from evals.report.text import percent, span


class ReliabilityRow(Row):
    """Held-out pairs with like predictions: what was said and what happened."""

    pairs: Count
    predicted: Number
    """Mean predicted chance that the claim is lost."""
    observed: Number
    """Share that was lost."""
    low: Number
    """Wilson interval of ``observed``, 95 %."""
    high: Number
    command: Text


class WeightsRow(Row):
    """Cuts deleted, and whether the model still said the claim; what is ``None`` was not computed, and ``reason`` says why."""

    status: Literal["calibrated", "uncalibrated"]
    reason: Text | None
    pairs: Count
    lost: Count
    wordings: Count
    """Clusters that folds hold out whole."""
    placebos: Count
    """Deletions of units without effect."""
    placebos_lost: Count
    written_brier: Number | None
    """Mean squared error of ``1 − exp(−loss)``, the weight that the ledger holds; ``None`` without pairs."""
    brier: Number | None
    """Of calibrated weights, on wordings that the fit had not seen."""
    brier_base_rate: Number | None
    """Of the share lost in the other folds."""
    gain_low: Number | None
    """95 % interval of base rate − calibrated, wordings resampled."""
    gain_high: Number | None
    reliability: tuple[ReliabilityRow, ...]
    command: Text


def weights_row(deletions: Sequence[Deletion], command: str) -> WeightsRow:
    """Calibrate on ``deletions``, or say what is missing; ``command`` counts them again."""
    pairs, placebos = learnt_from(deletions)
    found = calibrate(pairs, placebos)
    fitted = found if isinstance(found, Calibration) else None
    return WeightsRow(
        status="uncalibrated" if fitted is None else "calibrated",
        reason=None if isinstance(found, Calibration) else found.reason,
        pairs=found.pairs,
        lost=found.lost,
        wordings=len({pair.scenario for pair in pairs}),
        placebos=placebos.n,
        placebos_lost=placebos.lost,
        written_brier=uncalibrated_brier(deletions),
        brier=fitted and fitted.brier,
        brier_base_rate=fitted and fitted.brier_base_rate,
        gain_low=fitted and fitted.gain[0],
        gain_high=fitted and fitted.gain[1],
        reliability=tuple(
            ReliabilityRow(
                pairs=group.n,
                predicted=group.predicted,
                observed=group.observed,
                low=group.low,
                high=group.high,
                command=command,
            )
            for group in (() if fitted is None else fitted.reliability)
        ),
        command=command,
    )


def reliability_chart(rows: Sequence[ReliabilityRow]) -> Markup:
    """Every group of like predictions: what happened with its interval, and what was said."""
    lines = [
        Line(
            label=f"{row.pairs} pairs, said {percent(row.predicted)}",
            dots=(
                Dot(
                    estimate=row.observed,
                    low=row.low,
                    high=row.high,
                    text=f"{percent(row.observed)} [{span(row.low, row.high, percent)}]",
                ),
                Dot(
                    estimate=row.predicted,
                    low=row.predicted,
                    high=row.predicted,
                    text=f"said {percent(row.predicted)}",
                    series=1,
                ),
            ),
        )
        for row in rows
    ]
    return forest(
        lines,
        scale="share",
        identity="reliability-chart",
        title="Reliability: share of claims lost without a cut, by predicted chance, held-out wordings",
        series=("happened, Wilson 95 %", "said"),
    )
