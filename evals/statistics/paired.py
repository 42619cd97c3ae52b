"""Differences of two proportions measured on the same units, and the exact test beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from evals.errors import StatisticsError
from evals.statistics.proportion import wilson
from evals.statistics.result import LEVEL, Interval, PValue, Undefined, finite, normal_quantile

NO_PAIRS = Undefined("no scenario was scored in both arms")

_BISECTIONS = 200
"""Halvings of [−1, 1]; float64 is exhausted after 60, the loop stops there by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTable:
    """The 2 × 2 table of a left and a right answer to the same units; effective counts may be fractional.

    Raises:
        StatisticsError: a negative count or one that is not finite.
    """

    both: float
    left_only: float
    right_only: float
    neither: float

    def __post_init__(self) -> None:
        """Refuse what is not a count."""
        for name in ("both", "left_only", "right_only", "neither"):
            if finite(name, getattr(self, name)) < 0:
                raise StatisticsError(f"{name} = {getattr(self, name)} is negative; a count is at least 0")

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> PairedTable:
        """Count pairs of (left, right) events."""
        seen = list(pairs)
        return cls(
            both=sum(left and right for left, right in seen),
            left_only=sum(left and not right for left, right in seen),
            right_only=sum(right and not left for left, right in seen),
            neither=sum(not left and not right for left, right in seen),
        )

    @property
    def n(self) -> float:
        """Number of pairs."""
        return self.both + self.left_only + self.right_only + self.neither

    @property
    def difference(self) -> float:
        """Left proportion − right proportion; call only when there are pairs."""
        return (self.left_only - self.right_only) / self.n


def tango(table: PairedTable, *, level: float = LEVEL) -> Interval | Undefined:
    """Score interval for the paired difference left − right.

    Inverts the score test whose nuisance parameter is the constrained maximum-likelihood estimate, so it has a
    width even where no pair is discordant: ± z²/(n + z²).

    Raises:
        StatisticsError: impossible level.

    Source: Tango, Statistics in Medicine 17 (1998).
    """
    z = normal_quantile(level)
    if table.n == 0:
        return NO_PAIRS
    difference = table.difference
    low = _crossing(lambda delta: _score(table, delta) > z, -1.0, difference)
    high = _crossing(lambda delta: _score(table, delta) >= -z, difference, 1.0)
    return Interval(
        low=min(low, difference),
        high=max(high, difference),
        method="Tango score",
        n=round(table.n),
        level=level,
        estimate=difference,
    )


def tango_excludes(table: PairedTable, delta: float, *, above: bool, level: float = LEVEL) -> bool:
    """Whether :func:`tango`'s interval lies strictly below ``delta`` (``above``), or strictly above it.

    One evaluation of the score instead of two searches: what an enumeration of every table can afford.
    """
    z = normal_quantile(level)
    if table.n == 0:
        return False
    if above:
        return table.difference < delta and _score(table, delta) < -z
    return table.difference > delta and _score(table, delta) > z


def newcombe(table: PairedTable, *, level: float = LEVEL) -> Interval | Undefined:
    """Hybrid score interval for the paired difference, method 10, printed beside :func:`tango`.

    Raises:
        StatisticsError: impossible level.

    Source: Newcombe, Statistics in Medicine 17 (1998), method 10 (φ with continuity correction).
    """
    n = table.n
    left = wilson(table.both + table.left_only, n, level=level)
    right = wilson(table.both + table.right_only, n, level=level)
    if isinstance(left, Undefined) or isinstance(right, Undefined):
        return NO_PAIRS
    phi = _corrected_phi(table)
    difference = table.difference

    def reach(first: float, second: float) -> float:
        return math.sqrt(max(0.0, first**2 - 2.0 * phi * first * second + second**2))

    return Interval(
        low=max(-1.0, difference - reach(left.estimate - left.low, right.high - right.estimate)),
        high=min(1.0, difference + reach(left.high - left.estimate, right.estimate - right.low)),
        method="Newcombe 10",
        n=round(n),
        level=level,
        estimate=difference,
    )


def mcnemar_exact(table: PairedTable) -> PValue | Undefined:
    """Exact two-sided McNemar test: the discordant pairs against a fair coin; 1 when none is discordant.

    Raises:
        StatisticsError: fractional counts.

    Source: McNemar, Psychometrika 12 (1947); exact form as in statsmodels.
    """
    if table.n == 0:
        return NO_PAIRS
    if not (float(table.left_only).is_integer() and float(table.right_only).is_integer()):
        raise StatisticsError(f"McNemar counts pairs; {table.left_only} and {table.right_only} are not whole")
    left, right = int(table.left_only), int(table.right_only)
    if left + right == 0:
        return PValue(value=1.0, method="exact McNemar", n=0)
    from scipy.stats import binomtest

    p = float(binomtest(left, left + right, 0.5).pvalue)
    return PValue(value=min(1.0, p), method="exact McNemar", n=left + right)


def _score(table: PairedTable, delta: float) -> float:
    """Tango's score statistic at ``delta``; decreasing in ``delta``."""
    n, left, right = table.n, table.left_only, table.right_only
    linear = -left - right + (2.0 * n - left + right) * delta
    constant = -right * delta * (1.0 - delta)
    root = math.sqrt(max(0.0, linear * linear - 8.0 * n * constant))
    # The two forms of the positive root are equal; each avoids the cancellation the other suffers.
    nuisance = (root - linear) / (4.0 * n) if linear <= 0 else (-2.0 * constant) / (root + linear)
    variance = n * (2.0 * nuisance + delta * (1.0 - delta))
    distance = left - right - n * delta
    if variance <= 0.0:
        return math.copysign(math.inf, distance) if distance else 0.0
    return distance / math.sqrt(variance)


def _crossing(before: Callable[[float], bool], low: float, high: float) -> float:
    """The point of [low, high] where a predicate that holds on the left stops holding."""
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        low, high = (middle, high) if before(middle) else (low, middle)
    return high if before(high) else low


def _corrected_phi(table: PairedTable) -> float:
    product = table.both * table.neither - table.left_only * table.right_only
    if product > 0:
        product = max(0.0, product - table.n / 2.0)
    margins = (
        (table.both + table.left_only)
        * (table.right_only + table.neither)
        * (table.both + table.right_only)
        * (table.left_only + table.neither)
    )
    return product / math.sqrt(margins) if margins > 0 else 0.0
