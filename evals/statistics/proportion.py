"""Intervals for one proportion of independent units."""

from __future__ import annotations

from typing import Literal

from evals.statistics.result import LEVEL, Interval, Undefined, check_counts, check_level

Side = Literal["lower", "upper"]

NO_DATA = Undefined("no trial was scored")


def clopper_pearson(events: float, n: float, *, level: float = LEVEL) -> Interval | Undefined:
    """Exact two-sided interval: each end inverts a binomial tail at (1 − level)/2.

    Fractional counts are effective counts (Korn and Graubard 1998); whole ones give the classical interval.

    Raises:
        StatisticsError: impossible counts or level.

    Source: Clopper and Pearson, Biometrika 26 (1934).
    """
    check_counts(events, n)
    check_level(level)
    if n == 0:
        return NO_DATA
    tail = (1.0 - level) / 2.0
    return Interval(
        low=_lower(events, n, tail),
        high=_upper(events, n, tail),
        method="Clopper–Pearson",
        n=round(n),
        level=level,
        estimate=events / n,
    )


def clopper_pearson_bound(events: float, n: float, *, side: Side, alpha: float = 0.025) -> Interval | Undefined:
    """Exact one-sided bound at level 1 − α; the other end is the end of the unit interval.

    Raises:
        StatisticsError: impossible counts or alpha.
    """
    check_counts(events, n)
    check_level(1.0 - alpha)
    if n == 0:
        return NO_DATA
    return Interval(
        low=_lower(events, n, alpha) if side == "lower" else 0.0,
        high=_upper(events, n, alpha) if side == "upper" else 1.0,
        method=f"Clopper–Pearson, {side} bound",
        n=round(n),
        level=1.0 - alpha,
        estimate=events / n,
    )


def wilson(events: float, n: float, *, level: float = LEVEL) -> Interval | Undefined:
    """Score interval, for plots: narrower than Clopper–Pearson and right only on average.

    Raises:
        StatisticsError: impossible counts or level.

    Source: Wilson, JASA 22 (1927).
    """
    check_counts(events, n)
    check_level(level)
    if n == 0:
        return NO_DATA
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(events, n, alpha=1.0 - level, method="wilson")
    estimate = events / n
    return Interval(
        low=max(0.0, min(float(low), estimate)),
        high=min(1.0, max(float(high), estimate)),
        method="Wilson",
        n=round(n),
        level=level,
        estimate=estimate,
    )


def _lower(events: float, n: float, tail: float) -> float:
    if events == 0:
        return 0.0
    from scipy.stats import beta

    return float(beta.ppf(tail, events, n - events + 1))


def _upper(events: float, n: float, tail: float) -> float:
    if events == n:
        return 1.0
    from scipy.stats import beta

    return float(beta.isf(tail, events + 1, n - events))
