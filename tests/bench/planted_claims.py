"""The planted claims of the benchmark: which, how strong, over what background, and the effects that they truly have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attribution.designs import cube
from attribution.estimators import banzhaf
from attribution.games import PRESENT
from attribution.games import planted as plant
from attribution.games.planted import PlantedGame
from tests.attribution.decision.simulation import STRATA as TESTED
from tests.attribution.decision.simulation import planted

NULLS = ("null", "same-entity")
STRATA = {
    **{name: TESTED[name] for name in ("null", "same-entity", "single", "single+naming", "redundant", "conjunctive")},
    **{f"copies-{r}": (lambda s, r=r: plant.copies(s.units, s.strength, s.order[:r])) for r in range(3, 9)},
    **{name: TESTED[name] for name in ("majority", "two-chains", "anchored", "suppressor", "paraphrase", "saturating")},
    "many": lambda s: plant.many(s.units, 8 * s.draw.uniform(2, 5), s.order[:8]),
}
"""Strength is 4 to 10 nats, of `many` 2 to 5 nats a cause; a namer adds 10 to 30."""

NEEDS = {
    "single+naming": 2,
    "redundant": 2,
    "conjunctive": 3,
    **{f"copies-{r}": r for r in range(3, 9)},
    "majority": 3,
    "two-chains": 4,
    "anchored": 9,
    "suppressor": 2,
    "paraphrase": 2,
    "saturating": 3,
    "many": 8,
}
"""Units without which a stratum cannot be planted; one for the others."""

SUPPORTED = tuple(name for name in STRATA if name not in NULLS)
TARGETED = ("single", "redundant", "conjunctive", *(f"copies-{r}" for r in range(3, 9)), "majority")
"""Strata for whose recall a target is set."""

SCALES = {"mild": 1.0, "doubled": 2.0}
CALIBRATION = 10**6
"""Null claims of a floor are numbered from here on, so that none is tested."""


def strata_over(units: int) -> tuple[str, ...]:
    """Strata that fit a context of ``units`` units."""
    return tuple(name for name in STRATA if NEEDS.get(name, 1) <= units)


def claim(stratum: str, units: int, index: int, background: str) -> PlantedGame:
    """Claim ``index`` of a stratum; the generator's seed is (index, units, place of the stratum)."""
    return planted(stratum, units, index, SCALES[background], STRATA)


def true_effects(game: PlantedGame, varied: Sequence[int]) -> dict[int, float]:
    """What presence is worth on average over all masks of the ``varied`` units, the others present: unit -> nats."""
    assert game.background is not None
    effects = game.background.main_effects(varied)
    named = {unit for unit, _ in game.naming}
    relevant = sorted((game.truth.edges | game.truth.opposes | named) & set(varied))
    states = np.full((2 ** len(relevant), game.units), PRESENT, dtype=np.uint8)
    states[:, relevant] = cube(len(relevant)).states
    effects[relevant] += banzhaf(game.over(None).values(states))
    return {unit: float(effects[unit]) for unit in varied}
