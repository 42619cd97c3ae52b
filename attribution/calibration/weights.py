"""A decision with calibrated weights, and how well the uncalibrated ones do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from attribution.calibration.fit import Calibration
from attribution.calibration.pairs import Deletion, margin_left
from attribution.decision import ClaimDecision
from attribution.decision.verdicts import PPM, uncalibrated_ppm
from attribution.measurement import ClaimMeasurement


def reweigh(measured: ClaimMeasurement, calibration: Calibration) -> ClaimDecision:
    """The decision of ``measured`` with the weights of its edges and cuts calibrated, no longer flagged `uncalibrated`.

    Nothing is decided anew: verdicts, labels and cuts are the same.

    Raises:
        DecisionError: an edge whose margin was not scored.
    """
    decision = measured.cuts
    return replace(
        decision,
        units=tuple(
            replace(unit, ppm=calibration.ppm(margin_left(measured, [unit.unit]))) if unit.verdict == "edge" else unit
            for unit in decision.units
        ),
        cuts=tuple(replace(cut, ppm=calibration.ppm(cut.margin_nats)) for cut in decision.cuts),
        flags=tuple(flag for flag in decision.flags if flag != "uncalibrated"),
    )


def uncalibrated_brier(deletions: Iterable[Deletion]) -> float | None:
    """Mean squared error of ``1 − exp(−max(0, loss))`` over the cuts among ``deletions``; None without any."""
    errors = [(uncalibrated_ppm(cut.loss_nats) / PPM - cut.lost) ** 2 for cut in deletions if not cut.placebo]
    return sum(errors) / len(errors) if errors else None
