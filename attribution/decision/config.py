"""What may vary in the rule `cuts-v1`, with its defaults; part of every recipe."""

from __future__ import annotations

from dataclasses import dataclass

from attribution.errors import DecisionError


@dataclass(frozen=True)
class RuleConfig:
    """Numbers of `cuts-v1` that are not the floor."""

    seed: int = 0
    """Seed of the fold-over designs."""

    cube_up_to: int = 6
    """Units up to which all masks are run."""

    enumerate_up_to: int = 6
    """Candidates whose joint absences are enumerated (``2^k`` masks)."""

    null_threshold: float = 0.25
    """Equivalence bound in nats under which a unit is `null`; the ledger's policy sets it."""

    confidence: float = 0.90
    """Two-sided confidence of intervals."""

    largest_cut: int = 16
    """Members at which the search for a cut among many copies gives up."""

    def __post_init__(self) -> None:
        if not 0 <= self.cube_up_to <= 12 or not 1 <= self.enumerate_up_to <= 12:  # noqa: PLR2004 - 4,096 masks
            raise DecisionError(
                f"cube_up_to {self.cube_up_to} and enumerate_up_to {self.enumerate_up_to} double the runs with each "
                "unit; choose 0 to 12 and 1 to 12"
            )
        if not self.null_threshold > 0 or self.largest_cut < 1 or not 0 < self.confidence < 1:
            raise DecisionError(
                f"null_threshold {self.null_threshold}, largest_cut {self.largest_cut}, confidence {self.confidence}: "
                "need a positive bound, at least one member and a probability"
            )
