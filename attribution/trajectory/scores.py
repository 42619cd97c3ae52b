"""Ablations over a laid-out trajectory, scored once for all its claims and cached by content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from attribution.blocks import BlockCache, make_blocks, score_blocks
from attribution.contrast import contrast
from attribution.games.base import PRESENT, States, Values
from attribution.layout import TokenLayout
from attribution.scorers.base import Scorer
from attribution.trajectory.records import Trajectory, TrajectoryClaim


class TrajectoryScores:
    """Scores of every claim of a trajectory under every mask asked for so far.

    Masks are scored in the order in which they are first asked for, so a resumed run asks for the same blocks and finds them
    in the cache.
    """

    def __init__(self, trajectory: Trajectory, scorer: Scorer, cache: BlockCache | None) -> None:
        self.trajectory = trajectory
        self._scorer = scorer
        self._cache = cache
        self._rows: dict[bytes, Values] = {}
        self._by_head: dict[int, dict[bytes, Values]] = {}

    def require(self, states: States) -> None:
        """Score the masks of ``states`` (``uint8[mask, unit]``) that are not known yet."""
        keys = list(dict.fromkeys(row.tobytes() for row in states if row.tobytes() not in self._rows))
        if not keys:
            return
        layout = self.trajectory.layout
        masks = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), len(layout.units))
        tables = score_blocks(self._scorer, layout, make_blocks(self._scorer, layout, masks), self._cache)
        for key, odds in zip(keys, contrast(layout, np.concatenate(tables)), strict=True):
            self._rows[key] = odds
            for width, heads in self._by_head.items():
                heads.setdefault(key[:width], odds)

    def under(self, states: States) -> list[Values]:
        """``float64[target]`` under each mask of ``states``, in order: log-odds against the foils, or ``log p`` without any."""
        self.require(states)
        return [self._rows[row.tobytes()] for row in states]

    def known(self, head: bytes) -> Values | None:
        """``float64[target]`` under a scored mask that begins with the states ``head``, if there is one.

        A claim does not see its own unit nor any later one, so every mask with the same states before it scores it equally.
        """
        if len(head) not in self._by_head:
            heads: dict[bytes, Values] = {}
            for key, odds in self._rows.items():
                heads.setdefault(key[: len(head)], odds)
            self._by_head[len(head)] = heads
        return self._by_head[len(head)].get(head)

    def alone(self, target: int) -> TrajectoryScores:
        """An empty table over what one target can see, for it alone."""
        cut = replace(self.trajectory, layout=keep_targets(self.trajectory.layout, (target,)))
        return TrajectoryScores(cut, self._scorer, self._cache)


class ClaimGame:
    """One claim as a game over the units before it.

    Masks that the trajectory has scored for all claims are read there; any other mask is scored for this claim alone, over the
    trajectory cut off behind it, which costs no token that the claim cannot see.
    """

    def __init__(self, shared: TrajectoryScores, claim: TrajectoryClaim) -> None:
        self._shared = shared
        self._claim = claim
        self._own: TrajectoryScores | None = None

    @property
    def units(self) -> int:
        """Units before the claim."""
        return self._claim.units

    def values(self, states: States) -> Values:
        """Log-odds of the claim against its foils, or its log-probability where it has none, in nats: ``float64[mask]``."""
        known = [self._shared.known(row.tobytes()) for row in states]
        fresh = [row for row, scores in zip(states, known, strict=True) if scores is None]
        alone: Iterator[Values] = iter(())
        if fresh:
            own = self._own_scores()
            whole = np.full((len(fresh), len(own.trajectory.layout.units)), PRESENT, dtype=np.uint8)
            whole[:, : self._claim.units] = np.stack(fresh)
            alone = iter(own.under(whole))
        return np.array(
            [next(alone)[0] if scores is None else scores[self._claim.target] for scores in known], dtype=np.float64
        )

    def _own_scores(self) -> TrajectoryScores:
        if self._own is None:
            self._own = self._shared.alone(self._claim.target)
        return self._own


def keep_targets(layout: TokenLayout, targets: Sequence[int]) -> TokenLayout:
    """``layout`` with some of its targets alone, cut off behind the last of them: no token that none of them can see."""
    kept = tuple(layout.targets[target] for target in targets)
    end = max((target.stop for target in kept), default=0)
    regions = tuple(replace(region, stop=min(region.stop, end)) for region in layout.regions if region.start < end)
    places = Counter(region.unit for region in regions if region.unit is not None)
    width = max(places, default=-1) + 1
    units = tuple(
        unit if unit.swap is None else replace(unit, swap=unit.swap[: places[index]])
        for index, unit in enumerate(layout.units[:width])
    )
    return replace(layout, ids=layout.ids[:end], regions=regions, units=units, targets=kept)
