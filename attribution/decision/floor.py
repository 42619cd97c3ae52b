"""The floor: how large an effect a claim that nothing supports shows by itself.

It comes from null claims, not from repetition: a deterministic score repeats its artefacts. With ``n`` exchangeable
null claims the ``⌈0.95(n+1)⌉``-th smallest statistic is exceeded by another null claim with probability at most 0.05.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from attribution.errors import DecisionError

LEAST_NATS = 0.5
"""No floor lies below this, whatever the null claims show."""

SHIPPED_FROM = 199
"""Null claims from which a floor is good enough to ship."""

PROVISIONAL_FROM = 19
"""Null claims from which the 95 % rank exists at all: ``⌈0.95 · 20⌉ = 19``."""

_LEVEL_PERCENT = 95

FloorStatus = Literal["shipped", "provisional"]


class FinalStatistic(NamedTuple):
    """What the decision rule compares with the floor, for one claim, in nats."""

    largest: float
    """The largest floor that any unit would pass: ``max_i`` of its loss or twice its swap, the lesser; 0 without candidates.

    Not ``max_i D_i`` alone: among claims with a same-entity distractor that would set the floor at what naming is worth.
    """

    total: float
    """``ℓ(N) − ℓ(every unit swapped)``."""


@dataclass(frozen=True)
class Floor:
    """Thresholds below which an effect is what null claims show too."""

    tau: float
    """Floor of a single unit's statistic, nats; at least 0.5."""

    tau_total: float
    """Floor of the total effect, nats; at least 0.5."""

    n: int
    """Null claims it was computed from."""

    status: FloorStatus

    def __post_init__(self) -> None:
        if not (self.tau >= LEAST_NATS and self.tau_total >= LEAST_NATS):
            raise DecisionError(f"floor ({self.tau}, {self.tau_total}) is under {LEAST_NATS} nats; calibrate it")
        if self.n < PROVISIONAL_FROM or (self.n < SHIPPED_FROM) != (self.status == "provisional"):
            raise DecisionError(
                f"a floor from {self.n} null claims cannot be `{self.status}`: `shipped` needs {SHIPPED_FROM}, "
                f"`provisional` {PROVISIONAL_FROM}"
            )


@dataclass(frozen=True)
class Undefined:
    """No floor: no edge can be told from what null claims show."""

    reason: str
    """Why, and what would define it."""


def calibrate(*families: Sequence[FinalStatistic | tuple[float, float]]) -> Floor | Undefined:
    """The floor of null claims, from ``(largest, total)`` of each, in nats.

    Claims are exchangeable only within a family (plain ones, ones with a same-entity distractor, …), so each family gives
    its own rank and the highest holds: a floor from a mixture of halves lets one half exceed it twice as often.

    `Undefined` where a family has fewer than 19 claims; `provisional` below 199 in all.

    Raises:
        DecisionError: a statistic that is not finite.
    """
    counts = [len(family) for family in families]
    if not counts or min(counts) < PROVISIONAL_FROM:
        return Undefined(
            f"null claims a family: {counts or 'none'}; each needs {PROVISIONAL_FROM}, all together {SHIPPED_FROM} to ship"
        )
    n = sum(counts)
    return Floor(
        tau=max(_quantile([largest for largest, _ in family]) for family in families),
        tau_total=max(_quantile([total for _, total in family]) for family in families),
        n=n,
        status="shipped" if n >= SHIPPED_FROM else "provisional",
    )


def rank(n: int) -> int:
    """``⌈0.95(n+1)⌉``, in integers: 0.95 has no exact binary form."""
    return -(-_LEVEL_PERCENT * (n + 1) // 100)


def _quantile(values: Sequence[float]) -> float:
    if not all(map(math.isfinite, values)):
        raise DecisionError("a null claim's statistic is not finite; score in log space, without clipping")
    return max(LEAST_NATS, sorted(values)[rank(len(values)) - 1])
