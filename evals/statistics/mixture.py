"""A mixture of two paired differences over the same clusters, and the share at which they cancel.

Retraction loses ``loss`` where it is wrong and gains ``gain`` where it is right. With a share π of right ones its net cost
is ``(1 − π)·loss − π·gain``; it breaks even at ``π* = loss / (gain + loss)``. The interval of π* holds every share whose
net cost the data cannot tell from 0 (Fieller), so no ratio of two noisy numbers is ever taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evals.errors import StatisticsError
from evals.statistics.clusters import MIN_MOVING, Pair, cluster_difference, moving_clusters
from evals.statistics.result import LEVEL, Interval, Undefined, finite

_HALVINGS = 60
"""Of [0, 1]: float64 is exhausted before."""

Clusters = Mapping[str, Sequence[Pair]]


@dataclass(frozen=True, slots=True)
class Mixture:
    """The intervals of a loss and of a gain, and how far a cluster that loses more gains less."""

    loss: Interval
    gain: Interval
    opposed: float = 0.0
    """Correlation of the loss with the negative gain over shared clusters, 0 where that would narrow the interval."""

    def at(self, share: float) -> Interval:
        """The interval of ``(1 − share)·loss − share·gain``.

        The distances of both ends are recovered from those of the two intervals (MOVER), so a difference that hardly any
        cluster shows keeps the width that its own closed form gives it.

        Raises:
            StatisticsError: a share outside [0, 1].

        Source: Zou and Donner, Statistics in Medicine 27 (2008).
        """
        if not 0.0 <= finite("share", share) <= 1.0:
            raise StatisticsError(f"share {share} lies outside 0…1; it is the weight of the gain")
        first, second = 1.0 - share, share
        estimate = first * self.loss.estimate - second * self.gain.estimate
        above = self._reach(
            first * (self.loss.high - self.loss.estimate), second * (self.gain.estimate - self.gain.low)
        )
        below = self._reach(
            first * (self.loss.estimate - self.loss.low), second * (self.gain.high - self.gain.estimate)
        )
        return Interval(
            low=max(-1.0, estimate - below),
            high=min(1.0, estimate + above),
            method="MOVER",
            n=min(self.loss.n, self.gain.n),
            level=self.loss.level,
            estimate=estimate,
        )

    def _reach(self, first: float, second: float) -> float:
        return math.sqrt(first * first + second * second + 2.0 * self.opposed * first * second)

    def break_even(self) -> Interval | Undefined:
        """The interval of π*, as far as it lies in [0, 1].

        0 means that even wrong ones cost nothing, 1 that not even right ones pay. The upper end lies below a share only
        if the net cost is below 0 there and at every larger share.
        """
        lost, gained = max(0.0, self.loss.estimate), max(0.0, self.gain.estimate)
        if lost + gained == 0.0:
            return Undefined("neither a gain nor a loss: nothing breaks even")
        estimate = lost / (lost + gained)
        # The upper end of the cost is convex in the share and the lower end concave, so each changes its sign once.
        high = 1.0 if self.gain.low <= 0.0 else _crossing(lambda share: self.at(share).high >= 0.0)
        low = 0.0 if self.loss.low <= 0.0 else _crossing(lambda share: self.at(share).low > 0.0)
        return Interval(
            low=min(low, estimate),
            high=max(high, estimate),
            method="Fieller by MOVER",
            n=min(self.loss.n, self.gain.n),
            level=self.loss.level,
            estimate=estimate,
        )


def mixture(loss: Clusters, gain: Clusters, *, level: float = LEVEL) -> Mixture | Undefined:
    """The mixture of two paired differences left − right.

    Args:
        loss: per cluster, one (left, right) pair a unit, both in [0, 1].
        gain: likewise; a cluster of the same name is the same cluster.
        level: two-sided confidence level.

    Raises:
        StatisticsError: a value that is not finite or lies outside [0, 1], or an impossible level.
    """
    sides = tuple(cluster_difference(side, level=level) for side in (loss, gain))
    for side in sides:
        if isinstance(side, Undefined):
            return side
    first, second = sides
    assert isinstance(first, Interval)
    assert isinstance(second, Interval)
    return Mixture(first, second, opposed=max(0.0, -_correlation(loss, gain)))


def break_even_share(loss: Clusters, gain: Clusters, *, level: float = LEVEL) -> Interval | Undefined:
    """Interval of the share of right ones at which gains and losses cancel; arguments as of :func:`mixture`.

    Raises:
        StatisticsError: as :func:`mixture`.
    """
    found = mixture(loss, gain, level=level)
    return found if isinstance(found, Undefined) else found.break_even()


def _correlation(loss: Clusters, gain: Clusters) -> float:
    """Of the cluster means over the clusters that both have; 0 where one hardly moves."""
    shared = sorted(name for name in loss.keys() & gain.keys() if loss[name] and gain[name])
    columns = [[_mean(side[name]) for name in shared] for side in (loss, gain)]
    if any(moving_clusters(column) < MIN_MOVING for column in columns):
        return 0.0
    first, second = ([value - math.fsum(column) / len(column) for value in column] for column in columns)
    spread = math.sqrt(math.fsum(v * v for v in first) * math.fsum(v * v for v in second))
    return math.fsum(a * b for a, b in zip(first, second, strict=True)) / spread if spread > 0.0 else 0.0


def _mean(units: Sequence[Pair]) -> float:
    return math.fsum(left - right for left, right in units) / len(units)


def _crossing(before: Callable[[float], bool]) -> float:
    """The share at which a predicate that holds below it no longer does."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if before(middle) else (low, middle)
    return high
