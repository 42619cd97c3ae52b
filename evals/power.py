"""Exact power of a criterion's part at its smallest effect of interest, by enumeration of every outcome."""

from __future__ import annotations

import math

from evals.criteria import MILLION, AnyPart, BreakEven, Effect, Part
from evals.statistics import Interval, PairedTable, clopper_pearson, tango
from evals.statistics.paired import tango_excludes

_STEP = 1_000
"""Power is stated to a tenth of a per cent, so that the last bit of a logarithm never reaches a digest."""

_NEGLIGIBLE = 1e-9
"""Tables less likely than this are left out: they could only add to a power."""


def power_ppm(part: AnyPart, wordings: int, level: float) -> int:
    """Chance in ppm, rounded down to a tenth of a per cent, that the part passes with every wording counted once.

    Fillings of one wording agree at best partly, so the power of the run is at least this.
    """
    if isinstance(part, BreakEven):
        chance = _break_even(part, wordings, level)
    else:
        chance = _proportion(part, wordings, level) if part.right is None else _difference(part, wordings, level)
    return min(MILLION, int(chance * MILLION + 1e-6) // _STEP * _STEP)


def _proportion(part: Part, n: int, level: float) -> float:
    p = part.effect.left_only_ppm / MILLION
    passing = []
    for events in range(n + 1):
        interval = clopper_pearson(events, n, level=level)
        if isinstance(interval, Interval) and part.clears(interval):
            passing.append(_multinomial((events, n - events), (p, 1.0 - p)))
    return math.fsum(passing)


def _difference(part: Part, n: int, level: float) -> float:
    left, right = part.effect.left_only_ppm / MILLION, part.effect.right_only_ppm / MILLION
    upper = part.direction == "upper-below"
    passing = []
    for first in range(n + 1):
        for second in range(n + 1 - first):
            table = PairedTable(both=0, left_only=first, right_only=second, neither=n - first - second)
            if tango_excludes(table, part.threshold, above=upper, level=level):
                passing.append(_multinomial((first, second, n - first - second), (left, right, 1.0 - left - right)))
    return math.fsum(passing)


def _break_even(part: BreakEven, n: int, level: float) -> float:
    """Both populations over the same number of wordings, independent of each other."""
    import numpy as np

    share = part.threshold
    (lost, above, lost_chance), (gained, below, gained_chance) = (
        np.array(_reaches(sample.effect, n, level, upper=upper)).T
        for sample, upper in ((part.loss, True), (part.gain, False))
    )
    passing = []
    for estimate, reach, chance in zip(lost, above, lost_chance, strict=True):
        cost = (1.0 - share) * estimate - share * gained + np.hypot((1.0 - share) * reach, share * below)
        passing.append(chance * math.fsum(gained_chance[(cost < 0.0) & (gained - below > 0.0)]))
    return math.fsum(passing)


def _reaches(effect: Effect, n: int, level: float, *, upper: bool) -> list[tuple[float, float, float]]:
    """Every table of n units: the difference, how far the interval reaches to one side, the probability."""
    left, right = effect.left_only_ppm / MILLION, effect.right_only_ppm / MILLION
    found = []
    for first in range(n + 1):
        for second in range(n + 1 - first):
            rest = n - first - second
            chance = _multinomial((first, second, rest), (left, right, 1.0 - left - right))
            if chance < _NEGLIGIBLE:
                continue
            interval = tango(PairedTable(both=0, left_only=first, right_only=second, neither=rest), level=level)
            assert isinstance(interval, Interval)
            reach = interval.high - interval.estimate if upper else interval.estimate - interval.low
            found.append((interval.estimate, reach, chance))
    return found


def _multinomial(counts: tuple[int, ...], chances: tuple[float, ...]) -> float:
    """Probability of the counts; 0 ⁰ is 1."""
    logarithm = math.lgamma(sum(counts) + 1)
    for count, chance in zip(counts, chances, strict=True):
        if count and chance <= 0.0:
            return 0.0
        logarithm += (count * math.log(chance) if count else 0.0) - math.lgamma(count + 1)
    return math.exp(logarithm)
