"""The designs of a claim, its main effects, and the candidates that they leave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attribution.decision.config import RuleConfig
from attribution.decision.probe import Probe, all_present_and_all_swapped
from attribution.designs import Design, cube, foldover_pair
from attribution.errors import DecisionError
from attribution.estimators import PairedEffects, main_effects, paired_effects
from attribution.games.base import PRESENT, States
from attribution.stability import Stability, compare


def designs_for(units: int, config: RuleConfig) -> tuple[Design, ...]:
    """One cube for few units, else two fold-overs.

    Raises:
        DesignError: no design exists: three units or fewer without a cube.
    """
    return (cube(units),) if units <= config.cube_up_to else foldover_pair(units, config.seed)


def plan_design_states(units: int, config: RuleConfig) -> States:
    """The masks that a decision over ``units`` units is sure to want, distinct and in order, ``uint8[mask, unit]``.

    They depend on the number of units alone, so one block scores them for every claim of a trajectory. Design 2 is
    among them although a claim without candidates may do without it; what the rule asks further depends on scores.
    """
    if units == 0:
        return np.zeros((1, 0), dtype=np.uint8)
    rows = [all_present_and_all_swapped(units), *(design.states for design in designs_for(units, config))]
    return np.array(list({bytes(row): row for row in np.concatenate(rows)}.values()), dtype=np.uint8)


def measure_effects(
    probe: Probe, designs: Sequence[Design], tau: float, config: RuleConfig, *, lowerable: bool
) -> PairedEffects:
    """Effects under every design that is needed.

    Design 2 is skipped when design 1 leaves no candidate and no declared parent could be lowered by what it would show.

    Raises:
        DecisionError: designs over another number of units, none, or more than two.
    """
    if not 1 <= len(designs) <= 2 or any(design.units != probe.units for design in designs):  # noqa: PLR2004 - a pair
        raise DecisionError(
            f"{len(designs)} designs over {[design.units for design in designs]} units for a claim over {probe.units}; "
            "give one cube or two fold-overs, cut with Design.head"
        )
    exact = designs[0].name == "cube"
    first = main_effects(designs[0].states, probe.game.values(designs[0].states))
    second = None
    if len(designs) > 1 and (lowerable or bool(np.any(first >= tau / 2))):
        second = main_effects(designs[1].states, probe.game.values(designs[1].states))
    return paired_effects(first, second, exact=exact, confidence=config.confidence)


def candidates(effects: PairedEffects, tau: float) -> tuple[int, ...]:
    """K: units that every design grants ``τ/2``, strongest mean effect first."""
    ordered = np.argsort(-effects.mean, kind="stable")
    return tuple(int(unit) for unit in ordered if effects.lower()[unit] >= tau / 2)


def between_designs(
    probe: Probe, designs: Sequence[Design], effects: PairedEffects, threshold: float
) -> Stability | None:
    """Design 1 against design 2, at no run; None where design 2 was not run."""
    if effects.second is None:
        return None
    first, second = (probe.game.values(design.states) for design in designs)
    predicted = first.mean() + np.where(designs[1].states == PRESENT, 0.5, -0.5) @ effects.first
    return compare(effects.first, effects.second, predicted, second, threshold)
