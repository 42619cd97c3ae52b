"""What is known of one claim as a caller reads it: verdicts, effects alone, cuts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attribution.decision import ClaimDecision, RuleConfig, UnitVerdict
from attribution.decision.effects import measure_effects
from attribution.decision.probe import Probe
from attribution.designs import Design
from attribution.library.result import Cut, Source, SourceVerdict

_PPM = 1_000_000


def verdict_of(unit: UnitVerdict, source: Source) -> SourceVerdict:
    """A decided unit under its source's name."""
    interval = unit.interval if unit.interval is not None and all(np.isfinite(unit.interval)) else None
    return SourceVerdict(
        source=source,
        verdict=unit.verdict,
        effect_nats=unit.effect_nats,
        interval=interval,
        labels=tuple(label.name for label in unit.labels),
        weight=None if unit.ppm is None else unit.ppm / _PPM,
    )


def effects_alone(
    probe: Probe, designs: Sequence[Design], sources: Sequence[Source]
) -> tuple[tuple[SourceVerdict, ...], int]:
    """Effects with intervals of a claim that no floor is known for, and the ablations they took: nothing is decided."""
    effects = measure_effects(probe, designs, 0.0, RuleConfig(), lowerable=True)
    found = []
    for unit in range(probe.units):
        mean, margin = float(effects.mean[unit]), effects.margin
        interval = None if margin is None else (mean - margin, mean + margin)
        found.append(SourceVerdict(sources[unit], "undetermined", mean, interval, (), None))
    return tuple(found), probe.game.runs


def cuts_of(decision: ClaimDecision, sources: Sequence[Source], claim: str) -> tuple[Cut, ...]:
    """The cuts of a decision under its sources' names."""
    return tuple(Cut(claim, tuple(sources[member] for member in cut.members), cut.ppm / _PPM) for cut in decision.cuts)
