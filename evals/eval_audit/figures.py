"""A corrected figure: an estimate with its 95 % interval, its method, and the units it stands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from evals.statistics import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What should stand where the reported figure stands."""

    low: float
    high: float
    method: str
    n: int
    """Independent units."""
    estimate: float | None = None
    """None where the log only bounds it."""

    @classmethod
    def of(cls, interval: Interval) -> Self:
        """The figure of an interval."""
        return cls(
            low=interval.low, high=interval.high, method=interval.method, n=interval.n, estimate=interval.estimate
        )

    def __str__(self) -> str:
        """`0.483 [0.335, 0.634], Clopper–Pearson, effective n, n = 30`."""
        span = f"[{self.low:.3f}, {self.high:.3f}]"
        shown = span if self.estimate is None else f"{self.estimate:.3f} {span}"
        return f"{shown}, {self.method}, n = {self.n}"
