"""What a gate says about one claim: plain values, in nats and ppm, ready to become `edges.measured`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from attribution.stability import Stability

Verdict = Literal["edge", "null", "undetermined", "opposes"]
Result = Literal["grounded", "ungrounded", "diffuse", "undetermined"]
LabelName = Literal["necessary", "redundant-with", "sufficient", "conjunct-with", "partial", "declared-kept"]
Flag = Literal["provisional-floor", "uncalibrated"]
Exactness = Literal["exact", "exact to order 2"]

PPM = 1_000_000


@dataclass(frozen=True, order=True)
class Label:
    """How a unit takes part in carrying the claim."""

    name: LabelName

    partners: tuple[int, ...] = ()
    """The units that the label is about: the set W of `redundant-with`, the one unit of `conjunct-with`."""


@dataclass(frozen=True)
class UnitVerdict:
    """The verdict on one unit."""

    unit: int
    verdict: Verdict

    effect_nats: float | None
    """ē: the mean effect of the unit's presence; None where no design was scored."""

    interval: tuple[float, float] | None
    """(low, high) of the effect, nats; None where a single inexact design leaves it open."""

    labels: tuple[Label, ...] = ()

    ppm: int | None = None
    """Weight of the unit alone, for an `edge`: near 0 where others would carry the claim without it."""

    strongest_nats: float | None = None
    """D: the most the claim loses with the unit, over enumerated absences of others; None if not enumerated."""

    swap_nats: float | None = None
    """What the claim loses when the unit is replaced by matched text; None if not checked."""

    def has(self, name: LabelName) -> bool:
        """Whether the unit bears the label."""
        return any(label.name == name for label in self.labels)


@dataclass(frozen=True)
class Cut:
    """A minimal set of two or more edges whose joint absence loses the claim: an AND-group of the belief function."""

    members: tuple[int, ...]
    """Units, ascending."""

    lost_nats: float
    """``ℓ(N) − ℓ(N∖R)``."""

    margin_nats: float
    """``ℓ(N∖R)``: the margin left, the predictor of a calibrated weight."""

    ppm: int
    """Weight of the set."""


@dataclass(frozen=True)
class Statistics:
    """The figures behind a decision."""

    tau: float | None
    """Floor of a single effect, nats."""

    tau_total: float | None
    """Floor of the total effect, nats."""

    spread: float | None
    """s: standard error of a mean effect, nats."""

    exactness: Exactness | None
    """Set where ``spread`` is 0."""

    candidates: tuple[int, ...] = ()
    """K: units that every design grants half a floor, strongest first."""

    residual_nats: float | None = None
    """``ℓ(N) − ℓ(edges present, everything else swapped)``: what the edges found do not explain."""

    stability: Stability | None = None
    """The two designs, or runs, side by side: reported, never a veto; None where only one was run."""


@dataclass(frozen=True)
class ClaimDecision:
    """Everything that a gate found out about one claim."""

    result: Result
    units: tuple[UnitVerdict, ...]
    """One verdict a unit, in order."""

    cuts: tuple[Cut, ...]
    total_effect: float | None
    """``ℓ(N) − ℓ(every unit swapped)``, nats; None where it was not scored."""

    flags: tuple[Flag, ...]
    runs: int
    """Distinct masks scored for this decision: the gate's cost."""

    statistics: Statistics

    @property
    def edges(self) -> frozenset[int]:
        """Units with an edge to the claim."""
        return frozenset(unit.unit for unit in self.units if unit.verdict == "edge")


def uncalibrated_ppm(lost_nats: float) -> int:
    """``1 − exp(−max(0, lost))`` in ppm: the weight of a set until regeneration calibrates one.

    The loss is rounded to milli-nats first, so that scorers that differ in the fifth digit write the same integer.
    """
    return round(-math.expm1(-max(0.0, round(lost_nats, 3))) * PPM)
