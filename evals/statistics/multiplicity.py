"""Many tests at once: Holm for secondary contrasts, intersection–union where all must hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from evals.statistics.result import PValue, Undefined


def holm(p_values: Sequence[PValue | Undefined]) -> tuple[PValue | Undefined, ...]:
    """Holm-adjusted p-values in the order given; an undefined one stays undefined and is not counted.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    defined = [p for p in p_values if isinstance(p, PValue)]
    if not defined:
        return tuple(p_values)
    # By hand: statsmodels' multipletests collects garbage at every call, a second each in a large process.
    smallest_first = sorted(defined, key=lambda p: p.value)
    factors = range(len(defined), 0, -1)
    steps = accumulate((min(1.0, factor * p.value) for factor, p in zip(factors, smallest_first, strict=True)), max)
    adjusted = {id(p): value for p, value in zip(smallest_first, steps, strict=True)}
    return tuple(
        PValue(value=adjusted[id(p)], method=f"{p.method}, Holm over {len(defined)}", n=p.n)
        if isinstance(p, PValue)
        else p
        for p in p_values
    )


def intersection_union(p_values: Sequence[PValue | Undefined]) -> PValue | Undefined:
    """The p-value of "every one of these holds": the largest, without any correction.

    Source: Berger, Technometrics 24 (1982).
    """
    if not p_values:
        return Undefined("no part to combine")
    largest: PValue | None = None
    for p in p_values:
        if isinstance(p, Undefined):
            return p
        if largest is None or p.value > largest.value:
            largest = p
    assert largest is not None
    return PValue(value=largest.value, method=f"intersection–union over {len(p_values)}", n=largest.n)
