"""Recall and false edges of the rule over planted games on a background of odd interactions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from attribution.decision import RuleConfig, calibrate, decide, final_statistic
from attribution.games import planted as plant
from attribution.games.background import Background


@dataclass(frozen=True)
class Setting:
    """What a stratum draws its game from."""

    units: int
    strength: float
    order: tuple[int, ...]
    draw: np.random.Generator

    def some(self, least, most):
        """Between ``least`` and ``most`` units, or as many as there are."""
        return self.order[: self.draw.integers(least, most + 1)]


STRATA = {
    "null": lambda s: plant.null(s.units),
    "same-entity": lambda s: plant.naming(s.units, 0.0, None, s.order[0], s.draw.uniform(10, 30)),
    "single": lambda s: plant.single(s.units, s.strength, s.order[0]),
    "single+naming": lambda s: plant.naming(s.units, s.strength, *s.order[:2], s.draw.uniform(10, 30)),
    "redundant": lambda s: plant.copies(s.units, s.strength, s.order[:2]),
    "conjunctive": lambda s: plant.conjunctive(s.units, s.strength, s.some(2, 3)),
    "copies": lambda s: plant.copies(s.units, s.strength, s.some(3, 8)),
    "majority": lambda s: plant.majority(s.units, s.strength, s.order[: s.draw.choice([3, 5] if s.units > 5 else [3])]),
    "two-chains": lambda s: plant.two_chains(s.units, s.strength, s.order[:4]),
    "anchored": lambda s: plant.anchored_copies(s.units, s.strength, s.order[0], s.some(3, 9)[1:]),
    "paraphrase": lambda s: plant.paraphrase(s.units, s.strength, *s.order[:2]),
    "suppressor": lambda s: plant.suppressor(s.units, s.strength, *s.order[:2]),
    "saturating": lambda s: plant.saturating(s.units, s.strength, s.order[:3]),
}

SUPPORTED = tuple(STRATA)[2:]
"""Strata with true edges."""


@dataclass(frozen=True)
class Tally:
    """Outcomes over ``n`` claims of a stratum."""

    n: int
    complete: int
    """Claims whose every true edge was found."""
    false: int
    """Claims with at least one false edge."""
    cuts: int
    """Claims whose cuts of two or more are exactly the planted ones."""
    wrong_nulls: int
    """Claims in which a true edge was called null."""
    runs: float

    def __str__(self):
        return (
            f"all edges {self.complete}/{self.n} (lower {bounds(self.complete, self.n)[0]:.3f}), "
            f"false edge {self.false}/{self.n} (upper {bounds(self.false, self.n)[1]:.3f}), "
            f"exact cuts {self.cuts}/{self.n}, true edge called null {self.wrong_nulls}, runs {self.runs:.0f}"
        )


def bounds(k, n):
    """Clopper–Pearson, two-sided 95 %."""
    return (
        float(beta.ppf(0.025, k, n - k + 1)) if k else 0.0,
        float(beta.ppf(0.975, k + 1, n - k)) if k < n else 1.0,
    )


def planted(stratum, units, index, scale, strata=STRATA):
    draw = np.random.default_rng([index, units, list(strata).index(stratum)])
    order = tuple(int(unit) for unit in draw.permutation(units))
    game = strata[stratum](Setting(units, draw.uniform(4, 10), order, draw))
    return game.over(Background(units, int(draw.integers(2**31)), scale))


def calibrated(units, n, scale=1.0):
    """A floor from ``n`` plain null claims and ``n`` with an entry that names the entity."""
    return calibrate(
        *(
            [final_statistic(planted(family, units, 10**6 + i, scale), config=RuleConfig(seed=i)) for i in range(n)]
            for family in ("null", "same-entity")
        )
    )


def run(stratum, units, floor, n, scale=1.0):
    complete = false = cuts = wrong = runs = 0
    for i in range(n):
        game = planted(stratum, units, i, scale)
        found = decide(game, floor, RuleConfig(seed=i))
        complete += game.truth.edges <= found.edges
        false += bool(found.edges - game.truth.edges)
        cuts += {frozenset(cut.members) for cut in found.cuts} == {cut for cut in game.truth.cuts if len(cut) > 1}
        wrong += any(unit.verdict == "null" and unit.unit in game.truth.edges for unit in found.units)
        runs += found.runs
    return Tally(n, complete, false, cuts, wrong, runs / n)
