"""What decides a part: its interval over given data, the most one-sided data there could be, its power."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evals.criteria import AnyPart, BreakEven, Part
from evals.statistics import Interval, Undefined, break_even_share, cluster_difference, cluster_proportion

Units = Mapping[str, Iterable[tuple[float, float]]]
"""Wording -> (left, right) values of its units; the right side of a proportion is ignored."""


def interval_of(part: AnyPart, data: Sequence[Units], level: float) -> Interval | Undefined:
    """The deciding interval of a part, from the units of each of its samples."""
    if isinstance(part, BreakEven):
        loss, gain = ({wording: list(pairs) for wording, pairs in units.items()} for units in data)
        return break_even_share(loss, gain, level=level)
    (units,) = data
    grouped = {wording: list(pairs) for wording, pairs in units.items()}
    if part.right is None:
        return cluster_proportion({w: [left for left, _ in pairs] for w, pairs in grouped.items()}, level=level)
    return cluster_difference(grouped, level=level)


def unanimous(part: AnyPart, sizes: Sequence[Mapping[str, int]], extreme: float, level: float) -> Interval | Undefined:
    """The interval if every unit said that the estimand is ``extreme``, for so many units by wording in each sample."""
    return interval_of(
        part,
        [
            {wording: [unit] * count for wording, count in counts.items()}
            for counts, unit in zip(sizes, _units_at(part, extreme), strict=True)
        ],
        level,
    )


def _units_at(part: AnyPart, extreme: float) -> Sequence[tuple[float, float]]:
    """One (left, right) per sample at which the estimand is ``extreme``."""
    if isinstance(part, BreakEven):
        return ((extreme, 0.0), (1.0 - extreme, 0.0))
    if isinstance(part, Part) and part.right is None:
        return ((extreme, 0.0),)
    return ((max(extreme, 0.0), max(-extreme, 0.0)),)
