"""Total effects: what deleting one entry costs the claims after it, through the claims between.

Measured edges are direct effects. The belief function's fold carries them along paths; here its prediction is checked on a sample,
by deleting the entry and generating every later step again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from attribution.decision.verdicts import ClaimDecision
from attribution.layout import Ids
from attribution.shares import Share, share
from attribution.trajectory.records import Trajectory, TrajectoryClaim
from attribution.trajectory.regeneration import Generate, Regeneration
from ledger_core.belief.attenuation import attenuations, remaining_of
from ledger_core.belief.state import Hyperedge
from ledger_core.kernel.types import EventId, U

Asserts = Callable[[TrajectoryClaim, Ids], bool]
"""Whether a response asserts what a claim asserts."""

_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Predicted:
    """What a deletion is predicted to cost a later claim, 0 to 1."""

    direct: float
    """By its measured edges alone."""
    total: float
    """By the fold, through the claims between."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One prediction and what became of the claim."""

    unit: int
    claim: str
    predicted: Predicted
    lost: bool
    """Whether the response that was generated in the claim's place no longer asserts it."""


@dataclass(frozen=True, slots=True)
class TotalEffectCheck:
    """A sample of deletions, counted. A claim is predicted to fall from a predicted loss of one half on."""

    total: Share | None
    """Right predictions by the fold; None of no pair."""
    direct: Share | None
    """Right predictions by direct effects alone."""
    fallen_found: Share | None
    """Of the claims that fell, those that the fold said would."""
    standing_found: Share | None
    """Of the claims that stood, those that the fold said would."""
    brier: float | None
    """Mean squared error of the fold's loss."""
    unstable: int
    """Claims left out because they are not said again with nothing deleted."""

    def line(self) -> str:
        """One line for a report."""
        if self.total is None or self.direct is None:
            return f"total effects by the fold: no pair to check ({self.unstable} claims are not said again)"
        return (
            f"total effects by the fold: right for {self.total.words()}; direct effects alone {self.direct.words()}; "
            f"{self.unstable} claims are not said again with nothing deleted"
        )


def predict(trajectory: Trajectory, decisions: Mapping[str, ClaimDecision], unit: int) -> dict[str, Predicted]:
    """Loss of every claim after ``unit`` when it is deleted, by claim entry.

    Args:
        trajectory: laid-out trajectory.
        decisions: claim entry to its measured edges and cuts; a claim without one depends on nothing.
        unit: the unit that is deleted.
    """
    names = [EventId(one.named) for one in trajectory.units]
    node_of = {entry: names[number] for number, one in enumerate(trajectory.units) for entry in one.entries}
    hyperedges: dict[EventId, tuple[Hyperedge, ...]] = defaultdict(tuple)
    for claim in trajectory.claims:
        if claim.entry in decisions:
            node = node_of.get(claim.entry, EventId(claim.entry))
            hyperedges[node] += _hyperedges(decisions[claim.entry], names)
    leaves = [EventId(claim.entry) for claim in trajectory.claims if claim.entry not in node_of]
    left = attenuations([*names, *leaves], hyperedges, {names[unit]}, retracted_ppm=0)
    alone = {names[unit]: 0}
    return {
        claim.entry: Predicted(1 - remaining_of(hyperedges[node], alone) / U, 1 - left[node] / U)
        for claim in trajectory.claims
        if unit < claim.units and (node := node_of.get(claim.entry, EventId(claim.entry))) != names[unit]
    }


def check_total_effects(
    trajectory: Trajectory,
    decisions: Mapping[str, ClaimDecision],
    units: Collection[int],
    generate: Generate,
    asserts: Asserts,
) -> tuple[tuple[Checked, ...], int]:
    """Delete each of ``units`` alone, generate every later step again, and compare with the fold.

    Returns the checked pairs, and how many claims were left out because they are not said again with nothing deleted.
    """
    again = Regeneration(trajectory, generate)
    speaks = {claim.entry: claim for claim in trajectory.claims}
    anew = again.later(())
    stable = {entry for entry, claim in speaks.items() if asserts(claim, anew[claim.generation])}
    checked = []
    for unit in units:
        said = again.later([unit])
        for entry, predicted in predict(trajectory, decisions, unit).items():
            claim = speaks[entry]
            if entry in stable and claim.generation in said:
                checked.append(Checked(unit, entry, predicted, lost=not asserts(claim, said[claim.generation])))
    return tuple(checked), len(speaks) - len(stable)


def summarise(checked: Collection[Checked], unstable: int) -> TotalEffectCheck:
    """Counts and intervals over the pairs of any number of trajectories."""
    by_fold = [(one.predicted.total >= _HALF, one.lost) for one in checked]
    fallen = [said for said, lost in by_fold if lost]
    standing = [said for said, lost in by_fold if not lost]
    errors = [(one.predicted.total - one.lost) ** 2 for one in checked]
    return TotalEffectCheck(
        total=share(sum(said == lost for said, lost in by_fold), len(by_fold)),
        direct=share(sum((one.predicted.direct >= _HALF) == one.lost for one in checked), len(checked)),
        fallen_found=share(sum(fallen), len(fallen)),
        standing_found=share(len(standing) - sum(standing), len(standing)),
        brier=sum(errors) / len(errors) if errors else None,
        unstable=unstable,
    )


def _hyperedges(decision: ClaimDecision, names: list[EventId]) -> tuple[Hyperedge, ...]:
    alone = [Hyperedge((names[one.unit],), one.ppm) for one in decision.units if one.verdict == "edge" and one.ppm]
    together = [Hyperedge(tuple(sorted(names[member] for member in cut.members)), cut.ppm) for cut in decision.cuts]
    return (*alone, *together)
