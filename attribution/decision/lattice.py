"""The lattice of joint absences of a few units, everything else present, and what can be read off it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np

from attribution.decision.probe import Probe
from attribution.games.base import Values


@dataclass(frozen=True)
class Loss:
    """What the claim loses with a unit while ``context`` is absent too."""

    context: tuple[int, ...]
    """W."""

    nats: float
    """``ℓ(N∖W) − ℓ(N∖W∖i)``."""


@dataclass(frozen=True)
class Bars:
    """How much a claim of this size may lose and still stand, and how much of it a hidden unit must decide."""

    slack: float
    """Nats: a claim that loses more is lost."""

    decisive: float
    """Nats: the least that a unit must cost behind a non-empty absence."""

    @classmethod
    def of(cls, tau: float, whole: float) -> Self:
        """``max(τ, ½ whole)`` and ``max(τ, ¼ whole)``.

        Half, not a quarter, parts standing from lost: at a quarter the background of five deleted copies, or one of
        three saturating sources, already counts as losing the claim and hides the members of its cut.
        """
        return cls(max(tau, whole / 2), max(tau, whole / 4))


@dataclass(frozen=True, eq=False)
class Lattice:
    """``ℓ(N∖R)`` for every subset ``R`` of ``pool``."""

    pool: tuple[int, ...]
    scores: dict[frozenset[int], float]
    bars: Bars

    @classmethod
    def measure(cls, probe: Probe, pool: Collection[int], tau: float, total: float) -> Self:
        """Score all ``2^k`` joint absences of ``pool`` in one batch.

        The claim's size is what the pool loses it, or the total effect where the pool misses most of that: copies
        outside the pool would make every ripple inside look like the claim.
        """
        members = tuple(pool)
        subsets = [frozenset(chosen) for size in range(len(members) + 1) for chosen in combinations(members, size)]
        scores = dict(zip(subsets, map(float, probe.without(subsets)), strict=True))
        together = scores[frozenset()] - scores[frozenset(members)]
        return cls(members, scores, Bars.of(tau, together if together >= total / 2 else total))

    def lost(self, members: Collection[int]) -> float:
        """``ℓ(N) − ℓ(N∖R)``, nats."""
        return self.scores[frozenset()] - self.scores[frozenset(members)]

    def values(self) -> Values:
        """``float64[2^k]``: ``ℓ`` with the units of the pool present that the bits of the row name, all else present."""
        subsets = (
            frozenset(unit for place, unit in enumerate(self.pool) if not row >> place & 1)
            for row in range(2 ** len(self.pool))
        )
        return np.array([self.scores[absent] for absent in subsets], dtype=np.float64)

    def stands(self, absent: Collection[int]) -> bool:
        """Whether the claim holds without ``absent``."""
        return self.lost(absent) <= self.bars.slack

    def losses(self, unit: int) -> list[Loss]:
        """Losses with ``unit`` over all absences of others under which the claim stands; the empty one first."""
        others = [other for other in self.pool if other != unit]
        return [
            Loss(context, self.scores[frozenset(context)] - self.scores[frozenset((*context, unit))])
            for size in range(len(others) + 1)
            for context in combinations(others, size)
            if not context or self.stands(context)
        ]

    def strongest(self, unit: int) -> float:
        """``D_i``, nats."""
        return max(loss.nats for loss in self.losses(unit))

    def hidden_by(self, unit: int) -> Loss | None:
        """The loss behind the smallest non-empty absence that makes ``unit`` decisive; of several, the largest loss."""
        decisive = [loss for loss in self.losses(unit) if loss.context and loss.nats >= self.bars.decisive]
        return min(decisive, key=lambda loss: (len(loss.context), -loss.nats), default=None)

    def suffices(self, unit: int) -> bool:
        """Whether the claim stands with ``unit`` alone of the pool."""
        return self.stands([other for other in self.pool if other != unit])

    def minimal_cuts(self, among: Collection[int]) -> list[frozenset[int]]:
        """Minimal subsets of ``among`` without which the claim does not stand."""
        allowed = [unit for unit in self.pool if unit in among]
        found: list[frozenset[int]] = []
        for size in range(1, len(allowed) + 1):
            for chosen in map(frozenset, combinations(allowed, size)):
                if not any(cut <= chosen for cut in found) and not self.stands(chosen):
                    found.append(chosen)
        return found

    def brinks(self, among: Collection[int]) -> list[frozenset[int]]:
        """Maximal non-empty subsets of ``among`` without which the claim stands, the largest first."""
        allowed = [unit for unit in self.pool if unit in among]
        found: list[frozenset[int]] = []
        for size in range(len(allowed), 0, -1):
            for chosen in map(frozenset, combinations(allowed, size)):
                if not any(chosen <= brink for brink in found) and self.stands(chosen):
                    found.append(chosen)
        return found
