"""The gate `cuts-v1`: which units a claim rests on, alone or together, and which it does not.

An edge needs a loss above the floor that null claims set, in every design, and again when the unit's text is replaced
by matched text about the same entity. Weights are about sets: the chance that the claim is gone when the set is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from attribution.decision.config import RuleConfig
from attribution.decision.effects import Explored, between_designs, designs_for, explore, sharpened
from attribution.decision.floor import LEAST_NATS, FinalStatistic, Floor, Undefined
from attribution.decision.labels import labels_of
from attribution.decision.lattice import Lattice
from attribution.decision.probe import Probe
from attribution.decision.search import Findings, excess, judge_candidates, search
from attribution.decision.verdicts import (
    ClaimDecision,
    Cut,
    Exactness,
    Flag,
    Result,
    Statistics,
    UnitVerdict,
    Verdict,
    uncalibrated_ppm,
)
from attribution.designs import Design
from attribution.games.base import Game

GATE = "cuts-v1"

_EXACT_NATS = 1e-9
"""A spread under this is rounding: the game has no interaction that aliases."""


def decide(
    game: Game,
    floor: Floor | Undefined,
    config: RuleConfig | None = None,
    *,
    designs: Sequence[Design] | None = None,
    swappable: Collection[int] | None = None,
    lowerable: bool = True,
) -> ClaimDecision:
    """Decide one claim.

    Args:
        game: the claim; pass a `CountingGame` to share runs between gates.
        floor: what null claims show under the same scorer; where `Undefined` nothing is run and nothing decided.
        config: the rule's numbers.
        designs: one cube, two fold-overs or one screening over the claim's units, such as the heads of a whole
            trajectory's designs; by default the claim's own.
        swappable: units with matched replacement text, all by default; others never become edges.
        lowerable: whether a declared parent could lose weight by this measurement; if not, a second design is run only
            for a claim with candidates.

    Raises:
        AttributionError: scores that are not finite, or designs that do not fit the claim.
    """
    rule = config or RuleConfig()
    probe = Probe(game, swappable)
    before = probe.game.runs
    if isinstance(floor, Undefined):
        return _undecided(probe.units)
    if probe.units == 0:
        # An empty context carries nothing: its total effect is 0 by definition, at no run.
        nothing = Statistics(floor.tau, floor.tau_total, 0.0, "exact", residual_nats=0.0)
        return ClaimDecision("ungrounded", (), (), 0.0, _flags(floor), 0, nothing)
    chosen = designs_for(probe.units, rule) if designs is None else designs
    explored = explore(probe, chosen, floor.tau, rule, lowerable=lowerable)
    findings = search(probe, explored, floor.tau, floor.tau_total, rule)
    sharp = replace(explored, effects=sharpened(probe, explored, findings.lattice, rule))
    result = _result(findings, floor)
    cuts = _cuts(probe, findings)
    nulls = _nulls(probe, sharp, findings, floor.tau, rule) if result != "diffuse" else frozenset()
    against = _opposing(probe, sharp, floor.tau)
    units = tuple(_unit(unit, sharp, findings, nulls, against) for unit in range(probe.units))
    statistics = Statistics(
        floor.tau,
        floor.tau_total,
        sharp.effects.spread,
        _exactness(sharp),
        findings.candidates,
        findings.residual,
        between_designs(probe, explored, floor.tau / 2),
    )
    return ClaimDecision(result, units, cuts, findings.total, _flags(floor), probe.game.runs - before, statistics)


def final_statistic(
    game: Game,
    tau_inside: float = LEAST_NATS,
    config: RuleConfig | None = None,
    *,
    designs: Sequence[Design] | None = None,
) -> FinalStatistic:
    """``max_i D_i`` and the total effect of a null claim, in nats, for `floor.calibrate`.

    ``tau_inside`` stands for the floor inside the choice of candidates and the slack.

    Raises:
        AttributionError: as :func:`decide`.
    """
    rule = config or RuleConfig()
    probe = Probe(game)
    if probe.units == 0:
        return FinalStatistic(0.0, 0.0)
    chosen = designs_for(probe.units, rule) if designs is None else designs
    explored = explore(probe, chosen, tau_inside, rule, lowerable=False)
    findings = judge_candidates(probe, explored.candidates(tau_inside), tau_inside, rule)
    largest = max((e.final for e in findings.evidence.values()), default=0.0)
    return FinalStatistic(largest, excess(probe, explored, (), range(probe.units)))


def _result(findings: Findings, floor: Floor) -> Result:
    if findings.edges:
        return "grounded"
    return "ungrounded" if findings.excess < floor.tau_total else "diffuse"


def _cuts(probe: Probe, findings: Findings) -> tuple[Cut, ...]:
    """AND-groups: minimal cuts of two or more edges; a single unit's weight stands in its verdict."""
    edges = findings.edges
    sets = [cut for cut in findings.lattice.minimal_cuts(edges) if len(cut) > 1]
    sets += [cut for cut in findings.wide_cuts if cut <= edges and not any(known <= cut for known in sets)]
    ordered = sorted({tuple(sorted(cut)) for cut in sets}, key=lambda members: (len(members), members))
    left = probe.without(ordered)
    return tuple(
        Cut(members, probe.full - float(margin), float(margin), uncalibrated_ppm(probe.full - float(margin)))
        for members, margin in zip(ordered, left, strict=True)
    )


def _nulls(probe: Probe, explored: Explored, findings: Findings, tau: float, rule: RuleConfig) -> frozenset[int]:
    """Units shown to be equivalent to nothing: not a failure to reject.

    Needs every statistic of the unit plus its interval under the bound, and a claim that its edges explain: behind an
    unexplained residual any unit may be one of many copies. Where not all joint absences were scored, the residual must
    also lie under a single unit's floor, and in a screened context nothing is null: copies outside the focus, always
    present, would make the one inside look idle.
    """
    effects, cube = explored.effects, explored.designs[0].name == "cube"
    if effects.margin is None or not findings.explained or len(explored.focus) < probe.units:
        return frozenset()
    if not cube and abs(findings.residual) >= tau:
        return frozenset()
    widest = np.maximum(np.abs(effects.lower()), np.abs(effects.upper()))
    largest = np.maximum(widest, np.abs(effects.mean) + effects.margin)
    small = [
        explored.focus[place]
        for place in np.flatnonzero(largest < rule.null_threshold)
        if explored.focus[place] not in findings.evidence
    ]
    if not cube:
        return frozenset(small)
    # A cube has scored every joint absence already.
    pool = findings.lattice.pool
    return frozenset(
        unit
        for unit in small
        if max(abs(loss.nats) for loss in Lattice.measure(probe, (*pool, unit), tau, findings.total).losses(unit))
        < rule.null_threshold
    )


def _opposing(probe: Probe, explored: Explored, tau: float) -> frozenset[int]:
    """Units that every design shows at ``−τ`` or below and whose deletion raises the claim by ``τ``.

    Without the deletion, triples of true causes that alias onto an idle unit in both designs make it oppose.
    """
    if explored.effects.margin is None:
        return frozenset()
    listed = [explored.focus[place] for place in np.flatnonzero(explored.effects.upper() <= -tau)]
    raised = probe.without([[unit] for unit in listed]) - probe.full
    return frozenset(unit for unit, gain in zip(listed, raised, strict=True) if gain >= tau)


def _unit(
    unit: int, explored: Explored, findings: Findings, nulls: Collection[int], against: Collection[int]
) -> UnitVerdict:
    effect, interval = explored.effect(unit)
    known = findings.evidence.get(unit)
    verdict: Verdict = "undetermined"
    if known is not None and known.edge:
        verdict = "edge"
    elif unit in against:
        verdict = "opposes"
    elif unit in nulls:
        verdict = "null"
    return UnitVerdict(
        unit=unit,
        verdict=verdict,
        effect_nats=effect,
        interval=interval,
        labels=labels_of(unit, findings) if verdict == "edge" else (),
        ppm=uncalibrated_ppm(known.alone) if known is not None and verdict == "edge" else None,
        strongest_nats=None if known is None else known.strongest,
        swap_nats=None if known is None else known.swap,
    )


def _undecided(units: int) -> ClaimDecision:
    verdicts = tuple(UnitVerdict(unit, "undetermined", None, None) for unit in range(units))
    return ClaimDecision("undetermined", verdicts, (), None, ("uncalibrated",), 0, Statistics(None, None, None, None))


def _flags(floor: Floor) -> tuple[Flag, ...]:
    return ("provisional-floor", "uncalibrated") if floor.status == "provisional" else ("uncalibrated",)


def _exactness(explored: Explored) -> Exactness | None:
    if explored.designs[0].name == "cube":
        return "exact"
    effects = explored.effects
    return "exact to order 2" if effects.spread is not None and effects.spread < _EXACT_NATS else None
