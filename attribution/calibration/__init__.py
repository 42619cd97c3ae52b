"""Weights of cuts from regenerated answers: how sure it is that a claim falls with what it rests on.

`pairs` holds and collects what is learnt from, `fit` calibrates and validates, `weights` gives a decision its calibrated
weights. A decision without a calibration keeps its uncalibrated ones and says so.
"""

from attribution.calibration.fit import Calibration, Reliability, Uncalibrated, calibrate
from attribution.calibration.pairs import Deletion, Pair, Placebos, collect, learnt_from
from attribution.calibration.weights import reweigh, uncalibrated_brier

__all__ = [
    "Calibration",
    "Deletion",
    "Pair",
    "Placebos",
    "Reliability",
    "Uncalibrated",
    "calibrate",
    "collect",
    "learnt_from",
    "reweigh",
    "uncalibrated_brier",
]
