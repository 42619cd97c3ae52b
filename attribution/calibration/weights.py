"""A decision with calibrated weights."""

from __future__ import annotations

from dataclasses import replace

from attribution.calibration.fit import Calibration
from attribution.calibration.pairs import margin_left
from attribution.decision import ClaimDecision
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
