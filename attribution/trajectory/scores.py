"""Ablations over a laid-out trajectory, scored once for all its claims and cached by content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attribution.blocks import BlockCache, make_blocks, score_blocks
from attribution.contrast import contrast, log_probability
from attribution.games.base import PRESENT, States, Values
from attribution.scorers.base import Scorer
from attribution.trajectory.records import Trajectory, TrajectoryClaim


@dataclass(frozen=True, slots=True)
class MaskScores:
    """All targets of a trajectory under one mask, in nats."""

    contrast: Values
    """``float64[target]``: log-odds of the claim against its foils, or its log-probability where it has none."""
    log_probability: Values
    """``float64[target]``: log-probability of the whole claim."""


class TrajectoryScores:
    """Scores of every claim of a trajectory under every mask asked for so far.

    Masks are scored in the order in which they are first asked for, so a resumed run asks for the same blocks and finds them
    in the cache.
    """

    def __init__(self, trajectory: Trajectory, scorer: Scorer, cache: BlockCache | None) -> None:
        self.trajectory = trajectory
        self._scorer = scorer
        self._cache = cache
        self._rows: dict[bytes, MaskScores] = {}

    def require(self, states: States) -> None:
        """Score the masks of ``states`` (``uint8[mask, unit]``) that are not known yet."""
        keys = list(dict.fromkeys(row.tobytes() for row in states if row.tobytes() not in self._rows))
        if not keys:
            return
        layout = self.trajectory.layout
        masks = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), len(layout.units))
        tables = score_blocks(self._scorer, layout, make_blocks(self._scorer, layout, masks), self._cache)
        table = np.concatenate(tables)
        for key, odds, logs in zip(keys, contrast(layout, table), log_probability(layout, table), strict=True):
            self._rows[key] = MaskScores(odds, logs)

    def under(self, states: States) -> list[MaskScores]:
        """Scores under each mask of ``states``, in order."""
        self.require(states)
        return [self._rows[row.tobytes()] for row in states]

    def rows(self) -> Iterator[tuple[str, MaskScores]]:
        """Every mask scored so far, as a string of unit states, with its scores."""
        for key, scores in self._rows.items():
            yield "".join(map(str, key)), scores


class ClaimGame:
    """One claim as a game over the units before it; later units are inert for it and stay present."""

    def __init__(self, scores: TrajectoryScores, claim: TrajectoryClaim) -> None:
        self._scores = scores
        self._claim = claim

    @property
    def units(self) -> int:
        """Units that stand before the claim."""
        return self._claim.units

    def values(self, states: States) -> Values:
        """Log-odds in nats, ``float64[mask]``."""
        return np.array([row.contrast[self._claim.target] for row in self._under(states)], dtype=np.float64)

    def log_probabilities(self, states: States) -> Values:
        """Log-probability of the whole claim in nats, ``float64[mask]``: what the ContextCite surrogate is fitted to."""
        return np.array([row.log_probability[self._claim.target] for row in self._under(states)], dtype=np.float64)

    def _under(self, states: States) -> list[MaskScores]:
        whole = np.full((len(states), len(self._scores.trajectory.units)), PRESENT, dtype=np.uint8)
        whole[:, : self._claim.units] = states
        return self._scores.under(whole)
