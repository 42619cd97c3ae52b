"""The designs of a claim, its main effects, and the candidates that they leave.

A context of more than 128 units is screened first: a design of ``8·⌈log₂ d⌉`` masks ranks all units, of very many another
one ranks the likeliest quarter, and two fold-overs measure the *focus* that remains, with all others present. What the
screening overlooks is found by the residual check, which asks about every unit, whatever its rank; a unit outside the
focus has no effect, and nothing is `null`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attribution.decision.config import RuleConfig
from attribution.decision.lattice import Lattice
from attribution.decision.probe import Probe, all_present_and_all_swapped
from attribution.designs import Design, cube, foldover_pair, screen
from attribution.errors import DecisionError
from attribution.estimators import PairedEffects, banzhaf, main_effects, paired_effects
from attribution.games.base import DELETED, PRESENT, SWAPPED, States, Values
from attribution.stability import Stability, compare

SCREENED_ABOVE = 128
"""Units above which a context is screened: two fold-overs would take 528 masks there, and grow with the context."""

FOCUS_UNITS = 24
"""Units that a screening hands on to fold-overs; a Hadamard order, so that no column is spare."""

EXCESS_ROWS = 16
"""Masks of a screening whose halves stand for half of a context, in complementary pairs so that every unit counts alike."""


@dataclass(frozen=True, eq=False)
class Explored:
    """Which units' main effects are known, and in what order units are worth asking about."""

    focus: tuple[int, ...]
    """Units whose effects were measured, ascending: all of them, unless the context was screened."""

    effects: PairedEffects
    """Of the focus, in its order."""

    order: tuple[int, ...]
    """All units, the likeliest first."""

    designs: tuple[Design, ...]
    """What the effects were contrasted from, over all units."""

    halves: tuple[frozenset[int], ...] = ()
    """Random halves of a screened context, each beside its complement; none unless it was screened."""

    def candidates(self, tau: float) -> tuple[int, ...]:
        """K: units that every design grants ``τ/2``, strongest mean effect first."""
        ordered = np.argsort(-self.effects.mean, kind="stable")
        return tuple(self.focus[place] for place in ordered if self.effects.lower()[place] >= tau / 2)

    def effect(self, unit: int) -> tuple[float | None, tuple[float, float] | None]:
        """Mean effect of a unit and its interval, nats; None for what was not measured."""
        if unit not in self.focus:
            return None, None
        mean, margin = float(self.effects.mean[self.focus.index(unit)]), self.effects.margin
        return mean, None if margin is None else (mean - margin, mean + margin)


def explore(probe: Probe, designs: Sequence[Design], tau: float, config: RuleConfig, *, lowerable: bool) -> Explored:
    """Main effects under every design that is needed, of all units or of the likeliest of many.

    Raises:
        DecisionError: as :func:`measure_effects`.
    """
    screened = bool(designs) and designs[0].name == "screen"
    if screened and probe.units > FOCUS_UNITS:
        return _screened(probe, designs, tau, config, lowerable=lowerable)
    chosen = designs_for(probe.units, config) if screened else tuple(designs)
    effects = measure_effects(probe, chosen, tau, config, lowerable=lowerable)
    return Explored(tuple(range(probe.units)), effects, _ordered(range(probe.units), effects.mean), chosen)


def _screened(probe: Probe, designs: Sequence[Design], tau: float, config: RuleConfig, *, lowerable: bool) -> Explored:
    """Effects of the focus that a screening, and of very many units another one of its likeliest quarter, leaves."""
    focus: tuple[int, ...] = tuple(range(probe.units))
    order = _ordered(focus, measure_effects(probe, designs, tau, config, lowerable=lowerable).mean)
    while len(focus) > FOCUS_UNITS:
        width = len(focus) // 4 if len(focus) >= 8 * FOCUS_UNITS else FOCUS_UNITS
        focus = tuple(sorted(order[:width]))
        if width > FOCUS_UNITS:
            again = screen(width, config.seed).within(probe.units, focus)
            order = (*_ordered(focus, _contrast(probe, again, focus)), *order[width:])
    chosen = tuple(design.within(probe.units, focus) for design in designs_for(len(focus), config))
    effects = _contrasts(probe, chosen, focus, tau, config, lowerable=lowerable)
    halves = tuple(frozenset(np.flatnonzero(row == SWAPPED).tolist()) for row in designs[0].states[:EXCESS_ROWS])
    return Explored(focus, effects, (*_ordered(focus, effects.mean), *order[len(focus) :]), chosen, halves)


def _ordered(units: Sequence[int], effects: Values) -> tuple[int, ...]:
    return tuple(units[place] for place in np.argsort(-effects, kind="stable"))


def designs_for(units: int, config: RuleConfig) -> tuple[Design, ...]:
    """One cube for few units, two fold-overs for more, one screening for very many.

    Raises:
        DesignError: no design exists: three units or fewer without a cube.
    """
    if units <= config.cube_up_to:
        return (cube(units),)
    return (screen(units, config.seed),) if units > SCREENED_ABOVE else foldover_pair(units, config.seed)


def plan_design_states(units: int, config: RuleConfig) -> States:
    """The masks that a decision over ``units`` units is sure to want, distinct and in order, ``uint8[mask, unit]``.

    They depend on the number of units alone, so one block scores them for every claim of a trajectory. Design 2 is
    among them although a claim without candidates may do without it; what the rule asks further depends on scores.
    """
    if units == 0:
        return np.zeros((1, 0), dtype=np.uint8)
    designs = designs_for(units, config)
    rows = np.concatenate([all_present_and_all_swapped(units), *(design.states for design in designs)])
    return Design(designs[0].name, rows, config.seed).distinct()


def measure_effects(
    probe: Probe, designs: Sequence[Design], tau: float, config: RuleConfig, *, lowerable: bool
) -> PairedEffects:
    """Effects of all units under every design that is needed; contrasts of a screening rank units and have no interval.

    Design 2 is skipped when design 1 leaves no candidate and no declared parent could be lowered by what it would show.

    Raises:
        DecisionError: designs over another number of units, none, or more than two.
    """
    if not 1 <= len(designs) <= 2 or any(design.units != probe.units for design in designs):  # noqa: PLR2004 - a pair
        raise DecisionError(
            f"{len(designs)} designs over {[design.units for design in designs]} units for a claim over {probe.units}; "
            "give one cube or two fold-overs, cut with Design.head"
        )
    return _contrasts(probe, designs, range(probe.units), tau, config, lowerable=lowerable)


def _contrasts(
    probe: Probe, designs: Sequence[Design], columns: Sequence[int], tau: float, config: RuleConfig, *, lowerable: bool
) -> PairedEffects:
    """Effects of the units in ``columns``, which the designs vary."""
    exact = designs[0].name == "cube"
    first = _contrast(probe, designs[0], columns)
    second = None
    if len(designs) > 1 and (lowerable or bool(np.any(first >= tau / 2))):
        second = _contrast(probe, designs[1], columns)
    return paired_effects(first, second, exact=exact, confidence=config.confidence)


def _contrast(probe: Probe, design: Design, columns: Sequence[int]) -> Values:
    return main_effects(design.states[:, list(columns)], scores(probe, design))


def scores(probe: Probe, design: Design) -> Values:
    """The claim's scores under a design, ``float64[mask]``, nats; what has no matched text is deleted where it is to be swapped."""
    states = design.states
    bare = [unit for unit in range(probe.units) if unit not in probe.swappable]
    if bare and bool(np.any(states == SWAPPED)):
        states = states.copy()
        states[:, bare] = np.where(states[:, bare] == SWAPPED, np.uint8(DELETED), states[:, bare])
    return probe.game.values(states)


def sharpened(probe: Probe, explored: Explored, lattice: Lattice, config: RuleConfig) -> PairedEffects:
    """The effects again, at no run, with what the lattice already knows taken out of the alias error.

    Joint absences of the strongest units were scored one by one, so their interactions of odd order, which would alias onto
    other units, are known with all else present. The contrast is taken of what they leave over, and their own mean marginal
    contribution, exact, is added back: a control variate, right whatever the lattice says and exact where it says all.
    """
    effects = explored.effects
    pool = [unit for unit in lattice.pool if unit in explored.focus]
    if effects.second is None or len(pool) < 3 or len(pool) < len(lattice.pool):  # noqa: PLR2004 - order three aliases
        return effects
    known = lattice.values()
    again = []
    for design in explored.designs:
        rows = (design.states[:, pool] == PRESENT).astype(np.int64) @ (1 << np.arange(len(pool)))
        left = main_effects(design.states[:, list(explored.focus)], scores(probe, design) - known[rows])
        left[[explored.focus.index(unit) for unit in pool]] += banzhaf(known)
        again.append(left)
    return paired_effects(again[0], again[1], exact=False, confidence=config.confidence)


def between_designs(probe: Probe, explored: Explored, threshold: float) -> Stability | None:
    """Design 1 against design 2, at no run; None where design 2 was not run."""
    effects, designs = explored.effects, explored.designs
    if effects.second is None:
        return None
    first, second = (scores(probe, design) for design in designs)
    states = designs[1].states[:, list(explored.focus)]
    predicted = first.mean() + np.where(states == PRESENT, 0.5, -0.5) @ effects.first
    return compare(effects.first, effects.second, predicted, second, threshold)
