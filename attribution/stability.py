"""Stability figures: reported beside every measurement, never a veto.

Each rejects true edges: a perfect surrogate of a single cause has LDS 0.75, equal effects pass ρ ≥ 0.6 half the time,
and Lenth's margin finds nothing when most units are active. On null claims runs agree with ρ near 0.9: agreement is no
evidence of cause. A figure that is undefined (constant input, empty sets) is None.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attribution.errors import DecisionError

Vector = NDArray[np.float64]

LENTH_CENTRE = 1.5
"""Median of |N(0, 1)| is 1/1.483; Lenth rounds its inverse to 1.5."""

LENTH_TRIM = 2.5


@dataclass(frozen=True)
class Stability:
    """Two runs over the same units, side by side; None where a figure is undefined."""

    rho: float | None
    """Spearman ρ of the effects."""

    thresholded_rho: float | None
    """The same with effects under the threshold set to zero."""

    jaccard: float | None
    """Overlap of the units at or above the threshold."""

    lds: float | None
    """Rank correlation of run 1's linear predictions with run 2's scores."""

    r2: float | None
    """Share of variance of run 2's scores that run 1 predicts."""

    lenth_nats: float | None
    """Lenth's margin of error of the mean effects."""


def compare(first: Vector, second: Vector, predicted: Vector, actual: Vector, threshold: float) -> Stability:
    """All figures of two runs.

    Args:
        first: ``float64[unit]``, run 1's effects in nats.
        second: ``float64[unit]``, run 2's.
        predicted: ``float64[mask]``, scores that run 1's effects predict for run 2's masks, nats.
        actual: ``float64[mask]``, run 2's scores, nats.
        threshold: effect in nats from which a unit counts as found.

    Raises:
        DecisionError: vectors that do not pair.
    """
    return Stability(
        rho=spearman(first, second),
        thresholded_rho=thresholded_spearman(first, second, threshold),
        jaccard=jaccard(np.flatnonzero(first >= threshold).tolist(), np.flatnonzero(second >= threshold).tolist()),
        lds=lds(predicted, actual),
        r2=cross_design_r2(predicted, actual),
        lenth_nats=lenth_margin((first + second) / 2),
    )


def spearman(a: Vector, b: Vector) -> float | None:
    """Rank correlation with average ranks for ties; None below two values or where either side is constant.

    Raises:
        DecisionError: vectors of different length.
    """
    if a.shape != b.shape or a.ndim != 1:
        raise DecisionError(
            f"{a.shape} and {b.shape} do not pair; rank correlation needs one value a unit from each run"
        )
    if len(a) < 2 or np.all(a == a[0]) or np.all(b == b[0]):  # noqa: PLR2004 - two points make a rank
        return None
    x, y = _centred_ranks(a), _centred_ranks(b)
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def thresholded_spearman(a: Vector, b: Vector, threshold: float) -> float | None:
    """:func:`spearman` after setting every effect under ``threshold`` nats to zero."""
    return spearman(np.where(np.abs(a) < threshold, 0.0, a), np.where(np.abs(b) < threshold, 0.0, b))


def mean_spearman(runs: Sequence[Vector]) -> float | None:
    """Mean rank correlation over all pairs of runs; None below two runs or where any pair is undefined."""
    pairs = [spearman(runs[i], runs[j]) for i in range(len(runs)) for j in range(i)]
    defined = [rho for rho in pairs if rho is not None]
    return float(np.mean(defined)) if pairs and len(defined) == len(pairs) else None


def jaccard(a: Collection[int], b: Collection[int]) -> float | None:
    """Shared edges over all edges of two runs; None where neither found one."""
    either = set(a) | set(b)
    return len(set(a) & set(b)) / len(either) if either else None


def lds(predicted: Vector, actual: Vector) -> float | None:
    """Linear datamodeling score: rank correlation of predicted and measured scores on held-out masks (Park 2023)."""
    return spearman(predicted, actual)


def cross_design_r2(predicted: Vector, actual: Vector) -> float | None:
    """Share of variance of one design's scores that the other design's linear model explains; None for constant scores.

    Raises:
        DecisionError: vectors of different length.
    """
    if predicted.shape != actual.shape:
        raise DecisionError(f"{predicted.shape} predictions for {actual.shape} scores; give one a mask")
    total = float(np.sum((actual - actual.mean()) ** 2)) if len(actual) else 0.0
    return 1.0 - float(np.sum((actual - predicted) ** 2)) / total if total else None


def lenth_margin(effects: Vector, confidence: float = 0.95) -> float | None:
    """Lenth's margin of error in nats (Technometrics 1989); None below three effects (no freedom left)."""
    if len(effects) < 3:  # noqa: PLR2004 - d/3 degrees of freedom
        return None
    from scipy.special import stdtrit

    size = np.abs(effects)
    first = LENTH_CENTRE * float(np.median(size))
    kept = size[size < LENTH_TRIM * first]
    pseudo_error = LENTH_CENTRE * float(np.median(kept)) if len(kept) else 0.0
    return float(stdtrit(len(effects) / 3, (1 + confidence) / 2)) * pseudo_error


def _centred_ranks(vector: Vector) -> Vector:
    """Ranks less their mean; ties share the mean of their ranks."""
    _, place, counts = np.unique(vector, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray(last[place] - (counts[place] - 1) / 2 - (len(vector) + 1) / 2, dtype=np.float64)
