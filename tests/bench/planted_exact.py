"""Games of order two, in which every main effect is known: who gets it right at the passes of two fold-overs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attribution.decision import Floor, RuleConfig, decide
from attribution.games import PRESENT, CountingGame
from tests.bench.planted_peers import ESTIMATORS
from tests.bench.sections import Document

_OPEN = Floor(1e6, 1e6, 199, "shipped")
"""A floor that nothing passes: the effects alone are looked at."""


class OrderTwo:
    """Random main effects and three pairs a unit, standard deviation five nats each."""

    def __init__(self, units: int, seed: int) -> None:
        draw = np.random.default_rng([seed, units])
        count = 3 * units if units > 1 else 0
        pairs = [sorted(draw.choice(units, 2, replace=False)) for _ in range(count)]
        self.units = units
        self._singles = draw.normal(0, 5, units)
        self._pairs = np.array(pairs, dtype=np.int64).reshape(count, 2)
        self._weights = draw.normal(0, 5, count)

    def values(self, states: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Nats, ``float64[mask]``; swapped is absent."""
        x = np.where(states == PRESENT, 1.0, -1.0)
        return np.asarray(x @ self._singles + (x[:, self._pairs[:, 0]] * x[:, self._pairs[:, 1]]) @ self._weights)

    def effects(self, varied: list[int]) -> NDArray[np.float64]:
        """True main effects of the ``varied`` units, the others present; Banzhaf and Shapley values agree on them."""
        inside = np.isin(np.arange(self.units), varied)
        truth = 2 * self._singles.copy()
        for one, other in ((0, 1), (1, 0)):
            fixed = ~inside[self._pairs[:, other]]
            np.add.at(truth, self._pairs[fixed, one], 2 * self._weights[fixed])
        return truth[varied]


def measure(units: int, n: int) -> Document:
    """Largest error over ``n`` games, nats, of ours and of the peers at the same passes."""
    worst: dict[str, float] = {}
    runs = 0
    for seed in range(n):
        game = OrderTwo(units, seed)
        counting = CountingGame(game)
        found = decide(counting, _OPEN, RuleConfig(seed=seed))
        runs = counting.runs
        known = [unit.unit for unit in found.units if unit.effect_nats is not None]
        effects = np.array([found.units[unit].effect_nats for unit in known])
        errors = {"cuts-v1": np.abs(effects - game.effects(known))}
        whole = game.effects(list(range(units)))
        for name, estimate in ESTIMATORS.items():
            errors[name] = np.abs(estimate(CountingGame(game), runs, seed) - whole)
        for name, error in errors.items():
            worst[name] = max(worst.get(name, 0.0), float(error.max()))
    return {"units": units, "n": n, "passes": runs, "seeds": f"games 0 to {n - 1}", "largest_error_nats": worst}
