"""A share of trials with its interval."""

from __future__ import annotations

from dataclasses import dataclass

from attribution.errors import DecisionError


@dataclass(frozen=True, slots=True)
class Share:
    """``events`` of ``n`` independent trials."""

    events: int
    n: int
    low: float
    """Lower end of the two-sided 95 % Wilson interval."""
    high: float

    @property
    def value(self) -> float:
        """``events / n``."""
        return self.events / self.n

    def words(self) -> str:
        """As a report says it."""
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}], n = {self.n}"


def share(events: int, n: int) -> Share | None:
    """The share with its interval (Wilson, JASA 1927); None of no trial.

    Raises:
        DecisionError: counts that cannot be.
    """
    if not 0 <= events <= n:
        raise DecisionError(f"{events} events of {n} trials cannot be; count each trial once")
    if n == 0:
        return None
    from scipy.stats import binomtest

    interval = binomtest(events, n).proportion_ci(method="wilson")
    # At the ends the formula's zero or one carries rounding.
    return Share(events, n, max(0.0, float(interval.low)), min(1.0, float(interval.high)))
