"""From recorded generations to token layouts: one agent's growing context as one sequence, every claim a target in it.

`records` holds what is read from the ledger, `exact` lays out boundary-recorded generations from the very token ids the agent
saw, `foreign` renders imported transcripts under a stated template, `scores` runs ablations over a laid-out trajectory once for
all its claims. `regeneration`, `total_effects` and `placebos` check what is measured on it.
"""

from attribution.trajectory.exact import exact_trajectories
from attribution.trajectory.foreign import TEMPLATE, foreign_trajectory
from attribution.trajectory.records import (
    Claim,
    ContextItem,
    Generation,
    Trajectory,
    TrajectoryClaim,
    TrajectoryUnit,
    Wording,
)
from attribution.trajectory.scores import ClaimGame, TrajectoryScores, keep_targets
from attribution.trajectory.wording import wording_of_texts

__all__ = [
    "TEMPLATE",
    "Claim",
    "ClaimGame",
    "ContextItem",
    "Generation",
    "Trajectory",
    "TrajectoryClaim",
    "TrajectoryScores",
    "TrajectoryUnit",
    "Wording",
    "exact_trajectories",
    "foreign_trajectory",
    "keep_targets",
    "wording_of_texts",
]
