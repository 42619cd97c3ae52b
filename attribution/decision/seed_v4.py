"""The gate `seed-v4`: the specification's pipeline to the letter, kept beside `cuts-v1` on the same scores.

ContextCite surrogates from independent random masks, leave-one-out validation, and a stability gate: mean Spearman
``ρ ≥ 0.6`` over the runs' weights. At or above it a unit is an edge when every run gives it a positive weight and leaving
it out lowers the claim; any other unit is measured at zero. Below it, or where ρ is undefined, declared edges are kept at
full weight and nothing else is said. The specification names the steps, not the validation's sign rule; this is ours.

Known to fail, which is why it is not the default: equal causes pass ρ half the time, redundant support never survives
leave-one-out, and null claims are as stable as true ones.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attribution.decision.probe import Probe
from attribution.decision.verdicts import PPM, ClaimDecision, Label, Statistics, UnitVerdict, uncalibrated_ppm
from attribution.designs import bernoulli
from attribution.errors import DecisionError
from attribution.estimators import Surrogate, contextcite, leave_one_out_effects, log_odds
from attribution.games.base import CountingGame, Game, States, Values
from attribution.stability import Stability, compare, mean_spearman, spearman

GATE = "seed-v4"

_FOUND_NATS = 0.25
"""Surrogate weight from which the report counts a unit as found; decides nothing."""


@dataclass(frozen=True)
class SeedV4Config:
    """Numbers of the specification's pipeline."""

    seeds: tuple[int, ...] = (0, 1)
    """One run of random masks each; runs share no draw."""

    ablations: int = 64
    """Random masks a run."""

    gate: float = 0.6
    """Least mean Spearman ρ across runs."""

    log_probability: bool = False
    """Whether the game's scores are ``log p`` (a claim without foil), to be turned into log-odds as the peer does."""

    def __post_init__(self) -> None:
        if len(set(self.seeds)) != len(self.seeds) or len(self.seeds) < 2 or min(self.seeds) < 0:  # noqa: PLR2004
            raise DecisionError(f"seeds {self.seeds}: stability needs two or more different seeds, none negative")
        if self.ablations < 1:
            raise DecisionError(f"{self.ablations} ablations fit nothing; the specification uses 64")


@dataclass(frozen=True, eq=False)
class SeedV4Decision:
    """What the specification's pipeline says about a claim, and its figures."""

    decision: ClaimDecision

    rho: float | None
    """Mean Spearman ρ across runs; None where a run's weights are constant or there are fewer than two units."""

    passed: bool
    """Whether the stability gate was passed."""

    weights: NDArray[np.float64]
    """``float64[run, unit]``: surrogate weights, nats; no row where a mask makes the claim certain (``log p = 0``)."""

    loo: NDArray[np.float64]
    """``float64[unit]``: leave-one-out effects, nats."""

    agreement: float | None
    """Spearman ρ of mean surrogate weights and leave-one-out effects."""

    kept: frozenset[int]
    """Declared parents kept because the gate was not passed."""


def decide_seed_v4(
    game: Game, declared: Collection[int], *, num_tokens: int, config: SeedV4Config | None = None
) -> SeedV4Decision:
    """Decide one claim by the specification's pipeline.

    Args:
        game: the claim; pass the `CountingGame` of the other gate to score shared masks once.
        declared: units that the agent declared as parents.
        num_tokens: length of the claim in tokens.
        config: the pipeline's numbers.

    Raises:
        DecisionError: a declared parent that the claim does not have; a claim without tokens.
        AttributionError: scores that are not finite.
    """
    rule = config or SeedV4Config()
    counting = game if isinstance(game, CountingGame) else CountingGame(game)
    if not set(declared) <= set(range(counting.units)):
        raise DecisionError(f"declared parents {sorted(declared)} are not all among the {counting.units} units")
    before = counting.runs
    loo = leave_one_out_effects(counting)
    runs = _runs(counting, rule)
    fits = [contextcite(masks, scores, num_tokens) for masks, scores in runs]
    weights = np.array([fit.weights for fit in fits], dtype=np.float64).reshape(len(fits), counting.units)
    rho = mean_spearman(list(weights))
    passed = rho is not None and rho >= rule.gate
    kept = frozenset() if passed else frozenset(declared)
    units = _validated(weights, loo) if passed else tuple(_unmeasured(u, u in kept) for u in range(counting.units))
    probe = Probe(counting)
    decision = ClaimDecision(
        result="grounded" if any(unit.verdict == "edge" for unit in units) else "undetermined",
        units=units,
        cuts=(),
        total_effect=probe.full - probe.replaced((), range(counting.units)),
        flags=("uncalibrated",),
        runs=counting.runs - before,
        statistics=Statistics(None, None, None, None, stability=_stability(runs, fits)),
    )
    agreement = spearman(weights.mean(axis=0), loo) if fits else None
    return SeedV4Decision(decision, rho, passed, weights, loo, agreement, kept)


def _runs(game: CountingGame, rule: SeedV4Config) -> list[tuple[States, Values]]:
    """Masks and log-odds of every run; none where a mask makes the claim certain, which has no finite log-odds.

    Mask r is drawn from its own seed, so runs lie a whole design apart.
    """
    masks = [bernoulli(game.units, rule.ablations, seed * rule.ablations).states for seed in rule.seeds]
    scores = [game.values(states) for states in masks]
    if rule.log_probability:
        if any(np.any(values >= 0) for values in scores):
            return []
        scores = [log_odds(values) for values in scores]
    return list(zip(masks, scores, strict=True))


def _stability(runs: Sequence[tuple[States, Values]], fits: Sequence[Surrogate]) -> Stability | None:
    """The first two runs side by side."""
    if not fits:
        return None
    masks, scores = runs[1]
    return compare(fits[0].weights, fits[1].weights, fits[0].predict(masks), scores, _FOUND_NATS)


def _validated(weights: Values, loo: Values) -> tuple[UnitVerdict, ...]:
    """Edges where every run's weight is positive and leaving the unit out lowers the claim; zero elsewhere."""
    passed = np.all(weights > 0, axis=0) & (loo > 0)
    return tuple(
        UnitVerdict(unit, "edge", weight, None, (), uncalibrated_ppm(weight))
        if passed[unit]
        else UnitVerdict(unit, "null", weight, None)
        for unit, weight in enumerate(map(float, weights.mean(axis=0)))
    )


def _unmeasured(unit: int, kept: bool) -> UnitVerdict:
    if kept:
        return UnitVerdict(unit, "edge", None, None, (Label("declared-kept"),), PPM)
    return UnitVerdict(unit, "undetermined", None, None)
