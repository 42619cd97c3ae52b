"""Background: the small interactions of everything with everything that a real model adds to every claim.

A teacher-forced score has no sampling noise; what looks like noise is un-modelled interaction, most of it of odd order
(main effects, triples), which fold-overs cannot separate. It is fixed by its seed: the same mask, the same score.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from attribution.games.base import DELETED, PRESENT, States, Values


@dataclass(frozen=True, eq=False)
class Background:
    """Random interactions of order one to five among ``units`` units, in nats."""

    units: int
    seed: int
    scale: float = 1.0
    """Multiplier: 1 is mild (a unit moves a claim by about 0.1 nats), 2 doubled."""

    triples: int = 6
    """Interactions of order three a unit; the odd ones that alias onto main effects."""

    _terms: tuple[tuple[NDArray[np.int64], NDArray[np.float64]], ...] = field(init=False, repr=False)
    _swap: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        draw = np.random.default_rng(self.seed)
        terms = []
        # (order, number of interactions, standard deviation of a coefficient in nats)
        plan = [
            (1, self.units, 0.05),
            (2, 3 * self.units, 0.03),
            (3, self.triples * self.units, 0.03),
            (5, self.units, 0.02),
        ]
        for order, count, deviation in plan:
            if order <= self.units:
                members = np.array(
                    [draw.choice(self.units, order, replace=False) for _ in range(count)], dtype=np.int64
                )
                terms.append((members, self.scale * deviation * draw.standard_t(4, size=count)))
        object.__setattr__(self, "_terms", tuple(terms))
        object.__setattr__(self, "_swap", draw.uniform(-1, 1, size=self.units))

    def values(self, states: States) -> Values:
        """Score in nats, ``float64[mask]``; a swapped unit counts as present in part, in a share of its own."""
        x = np.where(states == PRESENT, 1.0, np.where(states == DELETED, -1.0, self._swap)).T.copy()
        total = np.zeros(len(states))
        for members, coefficients in self._terms:
            product = x[members[:, 0]]
            for column in members.T[1:]:
                product *= x[column]
            total += coefficients @ product
        return total

    def main_effects(self, varied: Collection[int] | None = None) -> NDArray[np.float64]:
        """``float64[unit]``: what presence is worth on average over all masks of the ``varied`` units, others present; nats.

        By default all units are varied and higher interactions average out. A unit that is not varied has 0.
        """
        effects = np.zeros(self.units)
        inside = np.ones(self.units, dtype=np.bool_)
        if varied is not None:
            inside[:] = False
            inside[list(varied)] = True
        for members, coefficients in self._terms:
            alone = inside[members].sum(axis=1) == 1
            units = members[alone][inside[members[alone]]]
            np.add.at(effects, units, 2 * coefficients[alone])
        return effects
