"""Standard errors of a mean, in closed form, so that a reader can check them with a calculator.

Source of the clustered one: Miller, Adding Error Bars to Evals (2024), Appendix A, with the factor C/(C − 1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from evals.eval_audit.figures import Figure
from evals.statistics import Interval, Undefined, cluster_proportion
from evals.statistics.result import LEVEL

NAIVE = "√(Σ(x − x̄)² / (n − 1) / n)"
CLUSTERED = "√(C/(C − 1) · Σ_c (Σ_{i∈c} (x_i − x̄))²) / n"


def naive_error(values: Sequence[float]) -> float | Undefined:
    """Error of the mean of independent values."""
    count = len(values)
    if count < 2:  # noqa: PLR2004 - a spread needs two
        return Undefined(f"{count} of the two values that a spread needs")
    mean = math.fsum(values) / count
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1) / count)


def clustered_error(clusters: Mapping[str, Sequence[float]]) -> float | Undefined:
    """Error of the pooled mean where values of one cluster are not independent."""
    filled = [values for values in clusters.values() if values]
    count = len(filled)
    if count < 2:  # noqa: PLR2004 - a spread needs two
        return Undefined(f"{count} of the two clusters that a spread needs")
    total = sum(len(values) for values in filled)
    mean = math.fsum(value for values in filled for value in values) / total
    spread = math.fsum(math.fsum(value - mean for value in values) ** 2 for values in filled)
    return math.sqrt(count / (count - 1) * spread) / total


def mean_of(clusters: Mapping[str, Sequence[float]]) -> Figure | Undefined:
    """The mean over clusters with a 95 % interval: that of a proportion for values in 0…1, else Student's t.

    A cluster counts once, whatever its size.
    """
    filled = {name: values for name, values in clusters.items() if values}
    if not filled:
        return Undefined("nothing was scored")
    if all(0.0 <= value <= 1.0 for values in filled.values() for value in values):
        interval = cluster_proportion(filled)
        return interval if isinstance(interval, Undefined) else Figure.of(interval)
    means = [math.fsum(values) / len(values) for values in filled.values()]
    mean = math.fsum(means) / len(means)
    error = naive_error(means)
    if isinstance(error, Undefined):
        return Undefined("one value outside 0…1 has no interval")
    from scipy.stats import t

    reach = float(t.isf((1.0 - LEVEL) / 2.0, len(means) - 1)) * error
    return Figure.of(
        Interval(
            low=mean - reach,
            high=mean + reach,
            method="t over clusters" if any(len(values) > 1 for values in filled.values()) else "t",
            n=len(means),
            level=LEVEL,
            estimate=mean,
        )
    )
