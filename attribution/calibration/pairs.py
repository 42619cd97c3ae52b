"""What a calibration learns from: a set was deleted, this much of the claim's margin was left, and this is what was said."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from attribution.errors import DecisionError
from attribution.games.base import DELETED, PRESENT
from attribution.measurement import ClaimMeasurement

Asserts = Callable[[frozenset[int]], bool]
"""Whether the answer that is generated again with these units deleted still asserts the claim."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One deleted cut and what became of its claim."""

    scenario: str
    """What shares its wording and its facts: never on both sides of a fold."""
    margin_nats: float
    """``ℓ(N∖R)``: the claim's score with the cut deleted."""
    lost: bool
    """Whether the answer generated without the cut no longer asserts the claim."""


@dataclass(frozen=True, slots=True)
class Placebos:
    """Deletions of units that were shown to have no effect: how often an answer changes by itself."""

    n: int
    lost: int

    def __post_init__(self) -> None:
        if not 0 <= self.lost <= self.n:
            raise DecisionError(f"{self.lost} of {self.n} placebo deletions cannot have lost their claim")

    @property
    def rate(self) -> float | None:
        """Share of placebo deletions that lost the claim; None without any."""
        return self.lost / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Deletion:
    """Units of one claim that were deleted, and what became of it."""

    scenario: str
    """As in :class:`Pair`."""
    members: tuple[int, ...]
    placebo: bool
    """Whether the members are a unit without effect, and no cut."""
    loss_nats: float
    """``ℓ(N) − ℓ(N∖R)``: what an uncalibrated weight is made of."""
    margin_nats: float
    """``ℓ(N∖R)``."""
    lost: bool


def collect(measured: ClaimMeasurement, scenario: str, asserts: Asserts) -> tuple[Deletion, ...]:
    """Cuts and placebos of one measured claim; none where the model does not say the claim again with nothing deleted.

    Every edge and every cut is deleted, and as a placebo every `null` unit.

    Raises:
        DecisionError: a set whose margin was not scored.
    """
    decision = measured.cuts
    if not decision.edges or not asserts(frozenset()):
        return ()
    sets: list[tuple[tuple[int, ...], bool]] = [((unit,), False) for unit in sorted(decision.edges)]
    sets += [(cut.members, False) for cut in decision.cuts]
    sets += [((unit.unit,), True) for unit in decision.units if unit.verdict == "null"]
    full = margin_left(measured, ())
    left = [margin_left(measured, members) for members, _ in sets]
    return tuple(
        Deletion(scenario, members, placebo, full - margin, margin, lost=not asserts(frozenset(members)))
        for (members, placebo), margin in zip(sets, left, strict=True)
    )


def learnt_from(deletions: Iterable[Deletion]) -> tuple[tuple[Pair, ...], Placebos]:
    """What :func:`attribution.calibration.calibrate` takes: cuts as pairs, the others counted."""
    listed = tuple(deletions)
    pairs = tuple(Pair(each.scenario, each.margin_nats, each.lost) for each in listed if not each.placebo)
    placebos = [each.lost for each in listed if each.placebo]
    return pairs, Placebos(len(placebos), sum(placebos))


def margin_left(measured: ClaimMeasurement, members: Collection[int]) -> float:
    """``ℓ(N∖R)`` in nats, as it was scored when the claim was decided.

    Raises:
        DecisionError: a set that was not scored.
    """
    absent = frozenset(members)
    key = "".join(str(DELETED if unit in absent else PRESENT) for unit in range(measured.claim.units))
    if key not in measured.scores:
        raise DecisionError(
            f"the margin without the units {sorted(absent)} was never scored; ask for it while deciding"
        )
    return measured.scores[key]


def outcomes(pairs: Iterable[Pair]) -> tuple[int, int]:
    """Pairs that lost their claim, and pairs that kept it."""
    flags = [pair.lost for pair in pairs]
    return sum(flags), len(flags) - sum(flags)
