"""From pairs to a calibrated chance, and what that chance is worth on scenarios it was not fitted to.

The chance that a claim is lost falls with the margin left, and nothing else is assumed: isotonic regression (Zadrozny & Elkan,
KDD 2002). Predictions that are judged come from folds that hold out whole scenarios.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attribution.calibration.pairs import Pair, Placebos, outcomes
from attribution.errors import DecisionError
from attribution.shares import share

Vector = NDArray[np.float64]

LEAST_PAIRS = 200
LEAST_OF_EACH = 50
"""Pairs of either outcome."""
FOLDS = 5
"""Also the fewest scenarios."""
_BINS = 10
_RESAMPLES = 2_000
_PPM = 1_000_000


@dataclass(frozen=True, slots=True)
class Uncalibrated:
    """Why no weight can be calibrated; weights stay ``1 − exp(−loss)`` and are flagged."""

    reason: str
    pairs: int
    lost: int

    def document(self) -> dict[str, Any]:
        """For a report."""
        return {"status": "uncalibrated", **asdict(self)}


@dataclass(frozen=True, slots=True)
class Reliability:
    """Held-out pairs with like predictions: what was said and what happened."""

    n: int
    predicted: float
    """Mean predicted chance."""
    observed: float
    """Share that lost the claim."""
    low: float
    """Wilson interval of ``observed``, 95 %."""
    high: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The chance that a claim is not said again, as a falling function of the margin left."""

    margins: tuple[float, ...]
    """Knots, nats, rising; between them the chance is interpolated, beyond them it is that of the last one."""
    chances: tuple[float, ...]
    """Chance of losing the claim at each knot, never rising, before placebos are taken out."""
    pairs: int
    lost: int
    scenarios: int
    placebos: Placebos
    brier: float
    """Mean squared error of held-out predictions."""
    brier_base_rate: float
    """The same for the share of losses in the other folds: what a weight that knows no margin would reach."""
    gain: tuple[float, float]
    """95 % interval of ``brier_base_rate − brier``, scenarios resampled; above 0 the margin says something."""
    reliability: tuple[Reliability, ...]

    def chance(self, margin_nats: float) -> float:
        """Chance that the claim is lost *because* of the deletion, kept off 0 and 1 by ``1/(pairs + 2)``.

        Losses by the cut and losses that any deletion brings are taken as independent: ``1 − p = (1 − placebo)(1 − g)``.

        Raises:
            DecisionError: a margin that is not finite.
        """
        if not math.isfinite(margin_nats):
            raise DecisionError(f"a margin of {margin_nats} nats has no chance; score in log space")
        raw = float(np.interp(margin_nats, self.margins, self.chances))
        return float(_clipped((raw - (self.placebos.rate or 0.0)) / (1.0 - (self.placebos.rate or 0.0)), self.pairs))

    def ppm(self, margin_nats: float) -> int:
        """:meth:`chance` in parts per million.

        The margin is rounded to milli-nats first, so that scorers that differ in the fifth digit write the same integer.
        """
        return round(self.chance(round(margin_nats, 3)) * _PPM)

    def document(self) -> dict[str, Any]:
        """For a report: every figure, and the curve."""
        return {"status": "calibrated", "placebo_rate": self.placebos.rate, **asdict(self)}


def calibrate(pairs: Sequence[Pair], placebos: Placebos, *, seed: int = 0) -> Calibration | Uncalibrated:
    """Fit and validate, or say what is missing.

    Args:
        pairs: of claims that the model says again with nothing deleted.
        placebos: deletions of units without effect.
        seed: of the resampling behind :attr:`Calibration.gain`.

    Raises:
        DecisionError: a margin that is not finite.
    """
    lost, kept = outcomes(pairs)
    scenarios = sorted({pair.scenario for pair in pairs})
    missing = _missing(len(pairs), lost, kept, len(scenarios), placebos)
    if missing is not None:
        return Uncalibrated(missing, len(pairs), lost)
    margins = np.array([pair.margin_nats for pair in pairs], dtype=np.float64)
    if not np.isfinite(margins).all():
        raise DecisionError("a margin is not finite; score in log space, without clipping")
    fell = np.array([pair.lost for pair in pairs], dtype=np.float64)
    fold_of = {scenario: number % FOLDS for number, scenario in enumerate(scenarios)}
    folds = np.array([fold_of[pair.scenario] for pair in pairs])
    predicted, base = _held_out(margins, fell, folds)
    error, plain = (predicted - fell) ** 2, (base - fell) ** 2
    knots, chances = _knots(margins, fell)
    return Calibration(
        margins=tuple(knots.tolist()),
        chances=tuple(chances.tolist()),
        pairs=len(pairs),
        lost=lost,
        scenarios=len(scenarios),
        placebos=placebos,
        brier=float(error.mean()),
        brier_base_rate=float(plain.mean()),
        gain=_resampled(plain - error, np.array([scenarios.index(pair.scenario) for pair in pairs]), seed),
        reliability=_reliability(predicted, fell),
    )


def _missing(pairs: int, lost: int, kept: int, scenarios: int, placebos: Placebos) -> str | None:
    if pairs < LEAST_PAIRS or min(lost, kept) < LEAST_OF_EACH:
        return (
            f"{pairs} pairs, {lost} lost and {kept} kept; a calibration needs {LEAST_PAIRS} and {LEAST_OF_EACH} of each: "
            "measure more scenarios"
        )
    if scenarios < FOLDS:
        return f"pairs from {scenarios} scenarios; {FOLDS} are needed to hold some out"
    if placebos.rate is None:
        return "no placebo deletion: nobody knows how often an answer changes by itself"
    if placebos.rate >= lost / pairs:
        return (
            f"placebo deletions lose the claim as often ({placebos.lost} of {placebos.n}) as cuts do ({lost} of {pairs}): "
            "the answers change by themselves"
        )
    return None


def _held_out(margins: Vector, fell: Vector, folds: NDArray[np.int64]) -> tuple[Vector, Vector]:
    """Chance and base rate of every pair, both from the other folds."""
    predicted, base = np.empty_like(fell), np.empty_like(fell)
    for fold in range(FOLDS):
        inside, outside = folds == fold, folds != fold
        knots, chances = _knots(margins[outside], fell[outside])
        predicted[inside] = _clipped(np.interp(margins[inside], knots, chances), int(outside.sum()))
        base[inside] = fell[outside].mean()
    return predicted, base


def _knots(margins: Vector, fell: Vector) -> tuple[Vector, Vector]:
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(increasing=False, y_min=0.0, y_max=1.0).fit(margins, fell)
    return np.asarray(fitted.X_thresholds_, dtype=np.float64), np.asarray(fitted.y_thresholds_, dtype=np.float64)


def _clipped(chance: float | Vector, n: int) -> Vector:
    return np.asarray(np.clip(chance, 1 / (n + 2), 1 - 1 / (n + 2)), dtype=np.float64)


def _resampled(gains: Vector, cluster: NDArray[np.int64], seed: int) -> tuple[float, float]:
    """95 % percentile interval of the mean gain, whole scenarios drawn with replacement."""
    count = int(cluster.max()) + 1
    sums, sizes = np.bincount(cluster, gains, count), np.bincount(cluster, minlength=count)
    drawn = np.random.RandomState(seed).randint(count, size=(_RESAMPLES, count))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def _reliability(predicted: Vector, fell: Vector) -> tuple[Reliability, ...]:
    """Up to ten groups of like size, in order of the prediction; equal predictions stay together."""
    ranks = np.searchsorted(np.sort(predicted), predicted, side="left")
    groups = ranks * _BINS // len(predicted)
    rows = []
    for group in np.unique(groups):
        inside = groups == group
        found = share(int(fell[inside].sum()), int(inside.sum()))
        if found is not None:
            rows.append(Reliability(found.n, float(predicted[inside].mean()), found.value, found.low, found.high))
    return tuple(rows)
