"""Intervals and tests where several scenarios share one wording and are therefore not independent.

A cluster counts once, whatever its size: the estimate is the mean of the cluster means. The interval is the closed form
(Clopper–Pearson, Tango) at the *effective* number of units: as many independent ones as would have the variance that the
cluster means show, times (z / t)² for the C − 1 degrees of freedom behind that variance, and never more than there are.
Student's t over the same means misses a share of 0.1 on one side in 4 to 10 of 100 data sets where 2.5 are allowed
(`evals/simulation`): cluster means of a rare event are far from normal.

Three situations in which the clusters' variance says nothing are handed to the closed form in which each cluster counts
as one unit (averaging inside a cluster can only reduce the variance, so that form is conservative):

- each cluster holds one binary trial: the closed form is exact and decides;
- every cluster agrees (no event, all events, no discordance, the same mean everywhere): the variance would be zero;
- fewer than :data:`MIN_MOVING` clusters move at all: even an exact relabelling test could not reach α = 0.025.

Beside that, no interval is tighter than the closed form is for the *most favourable* data: without this, one event in
one cluster would give a smaller upper bound than no event at all.

Source: Korn and Graubard, Survey Methodology 24 (1998), for proportions; the same correction applied to Tango's score.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from evals.errors import StatisticsError
from evals.statistics.paired import NO_PAIRS, PairedTable, tango
from evals.statistics.proportion import NO_DATA, clopper_pearson
from evals.statistics.result import LEVEL, Interval, PValue, Undefined, check_level, finite, normal_quantile

MIN_MOVING = 6
"""2⁻⁶ = 0.016 ≤ 0.025 < 2⁻⁵: the fewest clusters whose signs alone can reject at α = 0.025."""

EXACT_WORK = 2_000_000
"""Up to so many clusters × attainable sums the sign-flip distribution is counted exactly."""

_FINEST = 10_000
"""Cluster means are ratios of counts; denominators beyond this are not looked for."""

_SAME = 1e-12
"""Means closer than this are equal; sums of at most thousands of values in [−1, 1] err by less."""

Pair = tuple[float, float]


def cluster_proportion(values: Mapping[str, Sequence[float]], *, level: float = LEVEL) -> Interval | Undefined:
    """Interval for the mean over clusters of values in [0, 1].

    Args:
        values: per cluster, one value a trial.
        level: two-sided confidence level.

    Raises:
        StatisticsError: a value that is not finite or lies outside [0, 1].
    """
    check_level(level)
    clusters = {name: [_unit(name, value) for value in trials] for name, trials in values.items() if trials}
    if not clusters:
        return NO_DATA
    means = [math.fsum(trials) / len(trials) for _, trials in sorted(clusters.items())]
    count, total = len(means), math.fsum(means)
    closed = _renamed(clopper_pearson(min(total, count), count, level=level), clusters)
    single = all(len(trials) == 1 and trials[0] in (0.0, 1.0) for trials in clusters.values())
    if single or count == 1 or max(means) - min(means) < _SAME:
        return closed
    share = total / count
    units = _effective_units(means, share * (1.0 - share), sum(map(len, clusters.values())), level)
    found = clopper_pearson(min(share * units, units), units, level=level)
    interval = _said_of(found, "Clopper–Pearson, effective n", count)
    none, every = clopper_pearson(0, count, level=level), clopper_pearson(count, count, level=level)
    if isinstance(none, Undefined) or isinstance(every, Undefined):
        return NO_DATA
    return _widened(interval, low=every.low, high=none.high)


def cluster_difference(pairs: Mapping[str, Sequence[Pair]], *, level: float = LEVEL) -> Interval | Undefined:
    """Interval for the mean over clusters of left − right, both in [0, 1].

    Args:
        pairs: per cluster, one (left, right) pair a unit.
        level: two-sided confidence level.

    Raises:
        StatisticsError: a value that is not finite or lies outside [0, 1].
    """
    check_level(level)
    clusters = {
        name: [(_unit(name, left), _unit(name, right)) for left, right in units]
        for name, units in pairs.items()
        if units
    }
    if not clusters:
        return NO_PAIRS
    means = [math.fsum(left - right for left, right in units) / len(units) for _, units in sorted(clusters.items())]
    single = all(len(units) == 1 and set(units[0]) <= {0.0, 1.0} for units in clusters.values())
    if single or moving_clusters(means) < MIN_MOVING or max(means) - min(means) < _SAME:
        return _renamed(tango(_effective_table(clusters), level=level), clusters)
    table = _effective_table(clusters)
    variance = (table.left_only + table.right_only) / table.n - table.difference**2
    units = _effective_units(means, variance, sum(map(len, clusters.values())), level)
    found = tango(_scaled(table, units), level=level)
    interval = _said_of(found, "Tango score, effective n", len(means))
    same = tango(PairedTable(both=0, left_only=0, right_only=0, neither=len(means)), level=level)
    if isinstance(same, Undefined):
        return NO_PAIRS
    return _widened(
        interval,
        low=same.low if interval.estimate <= _SAME else interval.low,
        high=same.high if interval.estimate >= -_SAME else interval.high,
    )


def moving_clusters(means: Sequence[float]) -> int:
    """Clusters that differ from the commonest of −1, 0 and 1."""
    seen = Counter(round(mean) for mean in means if abs(mean - round(mean)) < _SAME)
    return len(means) - max(seen.values(), default=0)


def sign_flip(differences: Sequence[float], *, seed: int, draws: int = 65_536) -> PValue | Undefined:
    """Two-sided sign-flip test that cluster differences are symmetric about 0.

    Cluster means are ratios of small counts, so their 2^C signed sums are counted exactly on a grid. Where there is
    no such grid, or it is larger than :data:`EXACT_WORK`, ``draws`` assignments come from ``seed``; the observed
    one counts among them, so that p is never 0.

    Raises:
        StatisticsError: a difference that is not finite, or no draws.
    """
    given = [finite("difference", value) for value in differences]
    if not given:
        return NO_PAIRS
    if draws < 1:
        raise StatisticsError(f"{draws} draws make no test; pass at least 1")
    moving = [value for value in given if value != 0.0]
    steps = _on_grid(moving)
    if steps is not None:
        reach, sums = abs(sum(steps)), _signed_sums(steps)
        hits = sum(count for total, count in sums.items() if abs(total) >= reach)
        return PValue(value=hits / 2 ** len(moving), method="exact sign-flip", n=len(moving))
    generator = random.Random(seed)  # noqa: S311  (a test statistic, not a secret)
    least = abs(math.fsum(moving)) - _SAME
    hits = 1
    for _ in range(draws):
        bits = generator.getrandbits(len(moving))
        flipped = math.fsum(value if bits >> place & 1 else -value for place, value in enumerate(moving))
        hits += abs(flipped) >= least
    return PValue(value=hits / (draws + 1), method=f"sign-flip, {draws} draws, seed {seed}", n=len(moving))


def _on_grid(values: Sequence[float]) -> list[int] | None:
    """The values as multiples of one fraction, or ``None`` where that is too fine to enumerate."""
    ratios = [Fraction(value).limit_denominator(_FINEST) for value in values]
    if any(abs(float(ratio) - value) > _SAME for ratio, value in zip(ratios, values, strict=True)):
        return None
    unit = math.lcm(*(ratio.denominator for ratio in ratios))
    steps = [int(ratio * unit) for ratio in ratios]
    return steps if len(steps) * 2 * sum(map(abs, steps)) <= EXACT_WORK else None


def _signed_sums(steps: Sequence[int]) -> dict[int, int]:
    """How many of the 2^C sign assignments give each sum."""
    sums = {0: 1}
    for step in steps:
        following: dict[int, int] = {}
        for total, count in sums.items():
            for signed in (total + step, total - step):
                following[signed] = following.get(signed, 0) + count
        sums = following
    return sums


def _unit(cluster: str, value: float) -> float:
    if not 0.0 <= finite(f"a value of cluster {cluster!r}", value) <= 1.0:
        raise StatisticsError(f"cluster {cluster!r} holds {value}; a trial's value lies in 0…1")
    return float(value)


def _effective_table(clusters: Mapping[str, Sequence[Pair]]) -> PairedTable:
    """Each cluster as one unit, split over the four cells in proportion to its pairs."""

    def cell(share: int) -> float:
        return math.fsum(math.fsum(_cells(*unit)[share] for unit in units) / len(units) for units in clusters.values())

    both, left_only, right_only, neither = (cell(share) for share in range(4))
    return PairedTable(both=both, left_only=left_only, right_only=right_only, neither=neither)


def _cells(left: float, right: float) -> tuple[float, float, float, float]:
    return left * right, left * (1.0 - right), right * (1.0 - left), (1.0 - left) * (1.0 - right)


def _effective_units(means: Sequence[float], variance: float, most: int, level: float) -> float:
    """Independent units of the given variance whose mean would be known as well as that of the cluster means."""
    count = len(means)
    mean = math.fsum(means) / count
    of_the_mean = math.fsum((value - mean) ** 2 for value in means) / (count - 1) / count
    return min(float(most), variance / of_the_mean * _quantiles(level, count - 1) ** 2)


@lru_cache(maxsize=256)
def _quantiles(level: float, degrees: int) -> float:
    """Normal over t quantile: what the degrees of freedom of an estimated variance cost."""
    from scipy.stats import t

    return normal_quantile(level) / float(t.isf((1.0 - level) / 2.0, degrees))


def _scaled(table: PairedTable, units: float) -> PairedTable:
    """The table with the same shares of ``units`` pairs."""
    share = units / table.n
    return PairedTable(
        both=share * table.both,
        left_only=share * table.left_only,
        right_only=share * table.right_only,
        neither=share * table.neither,
    )


def _renamed(interval: Interval | Undefined, clusters: Mapping[str, Sequence[object]]) -> Interval | Undefined:
    """Say that the units of a closed form were whole clusters, unless each cluster is one trial anyway."""
    if isinstance(interval, Undefined) or all(len(trials) == 1 for trials in clusters.values()):
        return interval
    return _said_of(interval, f"{interval.method} on clusters", interval.n)


def _said_of(interval: Interval | Undefined, method: str, n: int) -> Interval:
    """The interval under another name, of ``n`` clusters."""
    assert isinstance(interval, Interval)
    return Interval(
        low=interval.low, high=interval.high, method=method, n=n, level=interval.level, estimate=interval.estimate
    )


def _widened(interval: Interval, *, low: float, high: float) -> Interval:
    """The hull with the closed form of the most favourable data; the method says when it bound."""
    if low >= interval.low and high <= interval.high:
        return interval
    return Interval(
        low=min(low, interval.low),
        high=max(high, interval.high),
        method=f"{interval.method}, no tighter than unanimity",
        n=interval.n,
        level=interval.level,
        estimate=interval.estimate,
    )
