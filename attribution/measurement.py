"""One claim's measurement: both gates on the same scores, and the recipe that says exactly how.

A `Measurer` binds a scorer, its floors and the rule's numbers; it takes a laid-out trajectory and yields one result a claim.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from attribution.blocks import BlockCache, make_blocks
from attribution.decision import ClaimDecision, Floor, RuleConfig, Undefined, decide
from attribution.decision.effects import designs_for
from attribution.decision.floor_table import FloorTable
from attribution.decision.seed_v4 import SeedV4Config, SeedV4Decision, decide_seed_v4
from attribution.designs import Design, bernoulli, cube, leave_one_out
from attribution.errors import DecisionError
from attribution.games.base import PRESENT, CountingGame, States
from attribution.scorers.base import Scorer
from attribution.trajectory import ClaimGame, Trajectory, TrajectoryClaim, TrajectoryScores, keep_targets

Gate = Literal["cuts-v1", "seed-v4"]
GATES: tuple[Gate, ...] = ("cuts-v1", "seed-v4")
UNCONTRASTED = "/uncontrasted"
"""Suffix of the template under which floors of claims without a foil are filed: their scores are bare log-probabilities."""
_LEAST_FOLDOVER = 4
"""Units below which no fold-over design exists; a cube is run instead."""


@dataclass(frozen=True, slots=True)
class ClaimMeasurement:
    """A claim under both gates."""

    claim: TrajectoryClaim
    floor: Floor | Undefined
    cuts: ClaimDecision
    seed_v4: SeedV4Decision | None
    """None for a claim without units or without a floor: nothing was scored."""
    scores: Mapping[str, float]
    """States of the claim's units as digits -> score in nats (bare log-probability where there is no foil), for every mask
    that was scored for this claim."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The numbers of a measurement that are not the floor."""

    rule: RuleConfig
    seed_v4: SeedV4Config


class Measurer:
    """Measures trajectories with one scorer, one table of floors and one set of numbers."""

    def __init__(
        self,
        scorer: Scorer,
        floors: FloorTable,
        *,
        weights_digest: str,
        template: str,
        cache: BlockCache | None,
        scale: Scale | None = None,
    ) -> None:
        self._scorer = scorer
        self._floors = floors
        self._weights_digest = weights_digest
        self._template = template
        self._cache = cache
        self._scale = scale or Scale(RuleConfig(), SeedV4Config())

    def measure(self, trajectory: Trajectory, declared: Mapping[str, Collection[int]]) -> Iterator[ClaimMeasurement]:
        """Measure every claim of ``trajectory``, in order.

        Args:
            trajectory: laid-out trajectory.
            declared: claim entry -> units declared as its parents.
        """
        floors = {claim.entry: self.floor(trajectory, claim) for claim in trajectory.claims}
        cut = _with_floors(trajectory, floors)
        scored = {claim.entry: claim for claim in cut.claims}
        scores = TrajectoryScores(cut, self._scorer, self._cache)
        designs = self._trajectory_designs(cut)
        shared = self._shared_masks(cut, designs)
        if len(shared):
            scores.require(shared)
        for claim in trajectory.claims:
            floor = floors[claim.entry]
            if isinstance(floor, Undefined):
                yield ClaimMeasurement(claim, floor, decide(_Unscored(claim.units), floor), None, {})
            else:
                measured = self._measure(scores, scored[claim.entry], floor, designs, declared.get(claim.entry, ()))
                yield replace(measured, claim=claim)

    def sure_work(self, trajectory: Trajectory) -> tuple[int, int]:
        """Masks and tokens that a measurement of ``trajectory`` scores at least, prefixes shared."""
        cut = _with_floors(trajectory, {claim.entry: self.floor(trajectory, claim) for claim in trajectory.claims})
        masks = self._shared_masks(cut, self._trajectory_designs(cut))
        blocks = make_blocks(self._scorer, cut.layout, masks)
        return len(masks), sum(self._scorer.tokens(cut.layout, block) for block in blocks)

    def recipe(self, trajectory: Trajectory, measurement: ClaimMeasurement, gate: Gate) -> dict[str, Any]:
        """Everything that decides the measurement's numbers, without floats (nats as decimal strings)."""
        floor = measurement.floor
        return {
            "gate": gate,
            "scorer": self._scorer.id,
            "dtype": self._scorer.dtype,
            "plan": self._scorer.plan,
            "weights": self._weights_digest,
            "template": self._template,
            "fidelity": trajectory.fidelity,
            "floors": self._floors.digest(),
            "floor": {"undefined": floor.reason} if isinstance(floor, Undefined) else _plain(asdict(floor)),
            "rule": _plain(asdict(self._scale.rule)),
            "seed_v4": _plain(asdict(self._scale.seed_v4)),
            "contrasted": measurement.claim.contrasted,
            "layout": trajectory.layout.digest,
            "dropped": list(trajectory.dropped),
        }

    def floor(self, trajectory: Trajectory, claim: TrajectoryClaim) -> Floor | Undefined:
        """The floor of a claim's bin."""
        target = trajectory.layout.targets[claim.target]
        return self._floors.lookup(
            tokens=target.stop - target.start,
            units=claim.units,
            weights=self._weights_digest,
            template=self._template if claim.contrasted else f"{self._template}{UNCONTRASTED}",
            dtype=self._scorer.dtype,
        )

    def _trajectory_designs(self, trajectory: Trajectory) -> tuple[Design, ...]:
        widest = max((claim.units for claim in trajectory.claims), default=0)
        return designs_for(widest, self._scale.rule) if widest else ()

    def _shared_masks(self, trajectory: Trajectory, designs: tuple[Design, ...]) -> States:
        """Masks over all units that serve every claim: one pass scores them all."""
        width = len(trajectory.layout.units)
        if not designs:
            return np.zeros((0, width), dtype=np.uint8)
        numbers = self._scale.seed_v4
        used = designs[0].units
        masks = [design.states for design in designs]
        if designs[0].name != "cube":
            masks.append(leave_one_out(used).states)
            masks += [bernoulli(used, numbers.ablations, seed * numbers.ablations).states for seed in numbers.seeds]
        stacked = np.concatenate(masks)
        whole = np.full((len(stacked), width), PRESENT, dtype=np.uint8)
        whole[:, :used] = stacked
        return whole

    def _claim_designs(self, claim: TrajectoryClaim, designs: tuple[Design, ...]) -> tuple[Design, ...]:
        if claim.units <= self._scale.rule.cube_up_to or claim.units < _LEAST_FOLDOVER:
            return (cube(claim.units),)
        return tuple(design.head(claim.units) for design in designs)

    def _measure(
        self,
        scores: TrajectoryScores,
        claim: TrajectoryClaim,
        floor: Floor,
        designs: tuple[Design, ...],
        declared: Collection[int],
    ) -> ClaimMeasurement:
        trajectory = scores.trajectory
        recording = _Recording(ClaimGame(scores, claim))
        game = CountingGame(recording)
        exact = trajectory.fidelity == "exact"
        cuts = decide(
            game,
            floor,
            self._scale.rule,
            designs=self._claim_designs(claim, designs) if claim.units else None,
            lowerable=exact,
        )
        target = trajectory.layout.targets[claim.target]
        seed_v4 = (
            decide_seed_v4(game, declared, num_tokens=target.stop - target.start, config=self._seed_v4_config(claim))
            if claim.units
            else None
        )
        return ClaimMeasurement(claim, floor, cuts, seed_v4, recording.seen)

    def _seed_v4_config(self, claim: TrajectoryClaim) -> SeedV4Config:
        numbers = self._scale.seed_v4
        return SeedV4Config(numbers.seeds, numbers.ablations, numbers.gate, log_probability=not claim.contrasted)


def _with_floors(trajectory: Trajectory, floors: Mapping[str, Floor | Undefined]) -> Trajectory:
    """``trajectory`` with the claims that have a floor alone: for the others nothing could be decided, so nothing is run."""
    kept = [claim for claim in trajectory.claims if isinstance(floors[claim.entry], Floor)]
    layout = keep_targets(trajectory.layout, [claim.target for claim in kept])
    return replace(
        trajectory,
        layout=layout,
        claims=tuple(replace(claim, target=position) for position, claim in enumerate(kept)),
    )


@dataclass(frozen=True)
class _Unscored:
    """A claim without a floor: it has units, and nobody asks for its values."""

    units: int

    def values(self, states: States) -> np.ndarray[Any, np.dtype[np.float64]]:
        raise DecisionError(f"{len(states)} masks were asked for a claim over {self.units} units without a floor")


class _Recording:
    """Passes masks to a game and remembers every score: the rows a measurement rests on."""

    def __init__(self, inner: ClaimGame) -> None:
        self._inner = inner
        self.seen: dict[str, float] = {}

    @property
    def units(self) -> int:
        return self._inner.units

    def values(self, states: States) -> np.ndarray[Any, np.dtype[np.float64]]:
        values = self._inner.values(states)
        for row, value in zip(states, values, strict=True):
            self.seen["".join(map(str, row))] = float(value)
        return values


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Floats as decimal strings, tuples as lists: what the strict profile admits."""
    plain: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, bool | int | str) or value is None:
            plain[key] = value
        elif isinstance(value, float):
            plain[key] = repr(value)
        else:
            plain[key] = list(value)
    return plain
