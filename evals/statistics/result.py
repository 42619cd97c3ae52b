"""What a statistic returns: an interval, a p-value, or the reason why there is neither."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evals.errors import StatisticsError

LEVEL = 0.95
"""Two-sided confidence level; each end is a one-sided bound at α = 0.025."""


@dataclass(frozen=True, slots=True)
class Undefined:
    """There is no estimate, and why; never 0 and never NaN."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval with the method that made it.

    A one-sided bound is the interval whose other end is the end of the parameter's range.

    Raises:
        StatisticsError: ends that are not finite or in the wrong order, or an estimate outside them.
    """

    low: float
    high: float
    method: str
    n: int
    """Independent units: trials, pairs, or clusters where the method says so."""
    level: float
    estimate: float

    def __post_init__(self) -> None:
        """Refuse what is not an interval."""
        for name in ("low", "high", "level", "estimate"):
            finite(name, getattr(self, name))
        if not self.low <= self.estimate <= self.high:
            raise StatisticsError(
                f"{self.method}: {self.low} ≤ {self.estimate} ≤ {self.high} does not hold; check the counts"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PValue:
    """The p-value of a test, with its method and the units that carried information.

    Raises:
        StatisticsError: a value outside [0, 1].
    """

    value: float
    method: str
    n: int

    def __post_init__(self) -> None:
        """Refuse what is not a probability."""
        if not 0.0 <= finite("p-value", self.value) <= 1.0:
            raise StatisticsError(f"{self.method}: p = {self.value} lies outside 0…1")


def finite(name: str, value: float) -> float:
    """``value`` if it is a finite number.

    Raises:
        StatisticsError: NaN or infinity; an unreadable score is ``None`` or a missing trial, never NaN.
    """
    if not math.isfinite(value):
        raise StatisticsError(f"{name} is {value}; pass a finite number, or leave the trial out as missing")
    return float(value)


def check_counts(events: float, n: float) -> tuple[float, float]:
    """``(events, n)`` if ``0 ≤ events ≤ n``; effective counts may be fractional.

    Raises:
        StatisticsError: not finite, or outside the range.
    """
    finite("events", events)
    finite("n", n)
    if not 0 <= events <= n:
        raise StatisticsError(f"{events} events of {n} is impossible; events must lie in 0…n")
    return float(events), float(n)


def check_level(level: float) -> float:
    """``level`` if it is a confidence level.

    Raises:
        StatisticsError: not strictly between 0 and 1.
    """
    if not 0.0 < finite("level", level) < 1.0:
        raise StatisticsError(f"confidence level {level} must lie strictly between 0 and 1, such as {LEVEL}")
    return level


def normal_quantile(level: float) -> float:
    """Two-sided standard normal quantile z of a confidence level (1.96 at 0.95)."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(1.0 - (1.0 - check_level(level)) / 2.0)
