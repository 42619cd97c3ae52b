"""The peers on the same planted claims, each given as many passes as `cuts-v1` took on that very claim.

A peer ranks units and names no threshold, so each gets its own floor as ours does: the 95 % rank of its largest score over plain
null claims, never under half a nat. Claims with a namer are left out of a peer's floor, which would else be what naming is worth
and hide every cause; so its false edges there are what it costs to have no swap.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from attribution.decision import Floor, RuleConfig, decide, decide_seed_v4, final_statistic
from attribution.decision.floor import LEAST_NATS, rank
from attribution.designs import bernoulli
from attribution.estimators import contextcite, leave_one_out_effects
from attribution.games.base import CountingGame
from tests.attribution.decision.simulation import bounds
from tests.bench.planted_claims import CALIBRATION, NULLS, TARGETED, claim, strata_over
from tests.bench.planted_rule import floor_of
from tests.bench.sections import Document

TOKENS = 10
"""Length of a planted claim for context-cite, whose penalty is on log-odds a token."""

DEFAULT_ABLATIONS = 64
"""context-cite's own."""

STRATA = (*NULLS, *TARGETED, "two-chains")
Scores = NDArray[np.float64]
Estimate = Callable[[CountingGame, int, int], Scores]
"""(claim, passes, seed) -> ``float64[unit]``, nats."""


def surrogate(game: CountingGame, passes: int, seed: int) -> Scores:
    """context-cite's weights from ``passes`` of its random masks."""
    masks = bernoulli(game.units, passes, seed * passes).states
    return contextcite(masks, game.values(masks), TOKENS).weights


def surrogate_default(game: CountingGame, _: int, seed: int) -> Scores:
    """context-cite's weights from its default number of masks."""
    return surrogate(game, DEFAULT_ABLATIONS, seed)


def leave_one_out(game: CountingGame, _passes: int, _seed: int) -> Scores:
    """Leave-one-out effects, at ``units + 1`` passes."""
    return leave_one_out_effects(game)


def kernel_shap(game: CountingGame, passes: int, seed: int) -> Scores:
    """Shapley values as `shapiq`'s KernelSHAP estimates them from ``passes`` coalitions."""
    from shapiq import KernelSHAP

    with warnings.catch_warnings():
        # It warns where there are fewer passes than units, which is the point of comparing there.
        warnings.simplefilter("ignore")
        found = KernelSHAP(n=game.units, random_state=seed).approximate(
            passes, lambda coalitions: game.values(coalitions.astype(np.uint8))
        )
    return np.array([found[(unit,)] for unit in range(game.units)], dtype=np.float64)


ESTIMATORS: dict[str, Estimate] = {
    "context-cite": surrogate,
    "context-cite, 64 masks": surrogate_default,
    "leave-one-out": leave_one_out,
    "KernelSHAP": kernel_shap,
}


def measure(units: int, background: str, n: int, nulls: int, family: int) -> Document:
    """Tallies of ours, `seed-v4` and every peer over the same claims."""
    floor = floor_of(units, background, family)
    floors = _floors(units, background, family)
    names = [name for name in STRATA if name in strata_over(units)]
    return {
        "units": units,
        "background": background,
        "floors": {"cuts-v1": floor.tau, **floors},
        "seeds": f"claims 0 to {max(n, nulls) - 1}, floors {CALIBRATION} to {CALIBRATION + family - 1}",
        "strata": {
            name: _tallies(name, units, background, nulls if name in NULLS else n, floor, floors) for name in names
        },
    }


def _floors(units: int, background: str, family: int) -> dict[str, float]:
    largest: dict[str, list[float]] = {name: [] for name in ESTIMATORS}
    for index in range(family):
        ours = CountingGame(claim("null", units, CALIBRATION + index, background))
        final_statistic(ours, config=RuleConfig(seed=index))
        for name, estimate in ESTIMATORS.items():
            game = CountingGame(claim("null", units, CALIBRATION + index, background))
            largest[name].append(float(estimate(game, ours.runs, index).max()))
    return {name: max(LEAST_NATS, sorted(values)[rank(family) - 1]) for name, values in largest.items()}


def _tallies(
    stratum: str, units: int, background: str, n: int, floor: Floor, floors: dict[str, float]
) -> dict[str, Document]:
    counts: dict[str, dict[str, float]] = {
        name: dict.fromkeys(("complete", "false", "runs", "passed"), 0) for name in ("cuts-v1", "seed-v4", *ESTIMATORS)
    }
    for index in range(n):
        game = claim(stratum, units, index, background)

        def count(name: str, edges: frozenset[int], runs: int, truth: frozenset[int] = game.truth.edges) -> None:
            counts[name]["complete"] += truth <= edges
            counts[name]["false"] += bool(edges - truth)
            counts[name]["runs"] += runs

        found = decide(game, floor, RuleConfig(seed=index))
        count("cuts-v1", found.edges, found.runs)
        v4 = decide_seed_v4(CountingGame(game), (), num_tokens=TOKENS)
        counts["seed-v4"]["passed"] += v4.passed
        count("seed-v4", v4.decision.edges, v4.decision.runs)
        for name, estimate in ESTIMATORS.items():
            counting = CountingGame(game)
            scores = estimate(counting, found.runs, index)
            count(name, frozenset(np.flatnonzero(scores >= floors[name]).tolist()), counting.runs)
    return {
        name: {
            "n": n,
            "complete": int(one["complete"]),
            "complete_95": bounds(int(one["complete"]), n),
            "false": int(one["false"]),
            "false_95": bounds(int(one["false"]), n),
            "runs": one["runs"] / n,
            **({"passed": int(one["passed"])} if name == "seed-v4" else {}),
        }
        for name, one in counts.items()
    }
