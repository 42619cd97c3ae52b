"""Main effects of balanced two-level designs, and what two independent designs say together.

Box, Hunter & Hunter, "Statistics for Experimenters": with columns ±1 orthogonal to each other and to the constant, the
contrast ``(2/n) Σ x_r y_r`` is the mean score with the unit minus the mean score without it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attribution.errors import DecisionError
from attribution.games.base import PRESENT, States


@dataclass(frozen=True, eq=False)
class PairedEffects:
    """Effects of the same units under one or two independent designs, in nats."""

    first: NDArray[np.float64]
    """``float64[unit]``, from design 1."""

    second: NDArray[np.float64] | None
    """``float64[unit]``, from design 2; None where it was not run or one exact design suffices."""

    mean: NDArray[np.float64]
    """``float64[unit]``: ē."""

    spread: float | None
    """s, with ``s² = Σ(e1 − e2)² / 4d``: standard error of ē; 0 for an exact design, None where one ran alone."""

    margin: float | None
    """Half-width ``t_d · s`` of the interval, nats; None where ``spread`` is."""

    def lower(self) -> NDArray[np.float64]:
        """The smaller of the two designs' effects, ``float64[unit]``: what both of them grant."""
        return self.first if self.second is None else np.minimum(self.first, self.second)

    def upper(self) -> NDArray[np.float64]:
        """The larger of the two designs' effects, ``float64[unit]``."""
        return self.first if self.second is None else np.maximum(self.first, self.second)


def main_effects(states: States, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """``float64[unit]`` contrasts in nats of a balanced design of present and deleted units.

    Raises:
        DecisionError: values that do not pair with masks, or a column that is not half present, half deleted.
    """
    if values.shape != (len(states),):
        raise DecisionError(f"{values.shape} values for {len(states)} masks; give one score a mask")
    x = np.where(states == PRESENT, 1.0, -1.0)
    if np.any(x.sum(axis=0) != 0):
        raise DecisionError("a column of the design is not half present, half deleted; use cube or foldover")
    # Centring first keeps the contrast exact to the last digits for scores far from zero.
    centred = values - values.mean() if len(values) else values
    return np.asarray(2.0 / max(len(values), 1) * (x.T @ centred), dtype=np.float64)


def paired_effects(
    first: NDArray[np.float64], second: NDArray[np.float64] | None, *, exact: bool, confidence: float
) -> PairedEffects:
    """Combine one or two designs' effects; intervals are ``ē ± t_d·s`` at two-sided ``confidence``.

    Args:
        first: ``float64[unit]`` of design 1.
        second: ``float64[unit]`` of design 2, or None.
        exact: whether design 1 has no alias error (a cube).
        confidence: between 0 and 1.

    Raises:
        DecisionError: a confidence outside (0, 1), or effects of different length.
    """
    if not 0 < confidence < 1:
        raise DecisionError(f"confidence {confidence} is no probability between 0 and 1")
    if second is None:
        spread = 0.0 if exact else None
        return PairedEffects(first, None, first, spread, spread)
    if first.shape != second.shape:
        raise DecisionError(f"designs over {len(first)} and {len(second)} units do not pair")
    units = len(first)
    spread = math.sqrt(float(np.sum((first - second) ** 2)) / (4 * units)) if units else 0.0
    return PairedEffects(first, second, (first + second) / 2, spread, _quantile(units, confidence) * spread)


def _quantile(degrees: int, confidence: float) -> float:
    """Student's two-sided quantile; 0 without degrees of freedom, where nothing spreads."""
    if degrees == 0:
        return 0.0
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + confidence) / 2))
