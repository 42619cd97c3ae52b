"""Placebos: the same context in another order, and an entry that says nothing in every place.

A rule that finds causes finds them wherever they stand, and finds none in filler. Both are counted with intervals; neither decides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attribution.decision.verdicts import ClaimDecision
from attribution.errors import LayoutError
from attribution.layout import Ids, Region, TokenLayout, Unit
from attribution.shares import Share, share
from attribution.trajectory.records import Trajectory, TrajectoryUnit
from attribution.trajectory.swaps import FILLER, fit_swap

Measure = Callable[[Trajectory], Mapping[str, ClaimDecision]]
"""Claim entry to decision, such as a `Measurer` gives it."""
Piece = tuple[Ids, int | None]
"""Tokens and the unit that they belong to."""
_FILLER_KEY = "placebo"


@dataclass(frozen=True, slots=True)
class OrderPlacebo:
    """Two orders of one context, compared claim by claim and unit by unit."""

    kept: Share | None
    """Edges of the original order that are edges in the other one; None without any."""
    same: Share | None
    """Pairs of claim and unit that are an edge in both orders or in neither."""
    shift_nats: float | None
    """Mean absolute difference of an effect; None where none is defined in both."""


@dataclass(frozen=True, slots=True)
class PositionPlacebo:
    """An entry of neutral filler, in one place after another."""

    edges: Share | None
    """Pairs of claim and place at which the filler is an edge: all of them false."""
    largest_nats: float | None
    """Largest absolute effect of the filler; None where none is defined."""


def order_placebo(trajectories: Sequence[Trajectory], measure: Measure, *, seed: int = 0) -> OrderPlacebo:
    """Measure each trajectory in its own order and in a random one.

    What moves are the entries before the first claim; the frames around them stay. A trajectory with fewer than two of them is
    left out.
    """
    draw = np.random.RandomState(seed)
    before, after, shifts = [], [], []
    for trajectory in trajectories:
        movable = entries_before_claims(trajectory)
        if len(movable) < 2:  # noqa: PLR2004 - one entry has one order
            continue
        shuffled = _another_order(movable, draw)
        moved = reordered(trajectory, dict(zip(movable, shuffled, strict=True)))
        old, new = measure(trajectory), measure(moved)
        content = {place: shuffled[number] for number, place in enumerate(movable)}
        for entry in old.keys() & new.keys():
            there = {content.get(unit.unit, unit.unit): unit for unit in new[entry].units}
            for unit in old[entry].units:
                other = there[unit.unit]
                before.append(unit.verdict == "edge")
                after.append(other.verdict == "edge")
                if unit.effect_nats is not None and other.effect_nats is not None:
                    shifts.append(abs(unit.effect_nats - other.effect_nats))
    pairs = list(zip(before, after, strict=True))
    return OrderPlacebo(
        kept=share(sum(was and is_ for was, is_ in pairs), sum(before)),
        same=share(sum(was == is_ for was, is_ in pairs), len(pairs)),
        shift_nats=float(np.mean(shifts)) if shifts else None,
    )


def position_placebo(
    trajectories: Sequence[Trajectory],
    measure: Measure,
    tokenize: Callable[[str], Ids],
    *,
    frame: tuple[Ids, Ids] = ((), ()),
) -> PositionPlacebo:
    """Put filler before each of the entries that precede the claims, one place at a time, and measure again.

    Args:
        trajectories: laid-out trajectories.
        measure: as in :func:`order_placebo`.
        tokenize: exact tokenizer.
        frame: ids before and after an entry that is a message of its own.
    """
    verdicts, effects = [], []
    for trajectory in trajectories:
        for place in entries_before_claims(trajectory):
            found = measure(with_filler(trajectory, place, tokenize, frame=frame))
            filler = [decision.units[place] for decision in found.values()]
            verdicts += [unit.verdict == "edge" for unit in filler]
            effects += [abs(unit.effect_nats) for unit in filler if unit.effect_nats is not None]
    return PositionPlacebo(share(sum(verdicts), len(verdicts)), max(effects, default=None))


def entries_before_claims(trajectory: Trajectory) -> tuple[int, ...]:
    """Units of one region that stand before every claim and are none themselves."""
    layout = trajectory.layout
    first = min((target.start for target in layout.targets), default=0)
    own = {target.unit for target in layout.targets}
    places: dict[int, list[Region]] = {}
    for region in layout.regions:
        if region.unit is not None:
            places.setdefault(region.unit, []).append(region)
    return tuple(
        unit
        for unit, regions in sorted(places.items())
        if len(regions) == 1 and regions[0].stop <= first and unit not in own
    )


def reordered(trajectory: Trajectory, content: Mapping[int, int]) -> Trajectory:
    """``trajectory`` with the texts of units exchanged: place ``u`` holds what unit ``content[u]`` says.

    Raises:
        LayoutError: a mapping that is no permutation of units with one region each.
    """
    layout = trajectory.layout
    if sorted(content) != sorted(content.values()) or not set(content) <= set(entries_before_claims(trajectory)):
        raise LayoutError(f"{dict(content)} does not permute entries before the claims; exchange those alone")
    text = {region.unit: layout.ids[region.start : region.stop] for region in layout.regions}
    pieces: list[Piece] = [
        (
            layout.ids[region.start : region.stop]
            if region.unit is None or region.unit not in content
            else text[content[region.unit]],
            region.unit,
        )
        for region in layout.regions
    ]
    units = tuple(
        replace(unit, swap=layout.units[content[number]].swap) if number in content else unit
        for number, unit in enumerate(layout.units)
    )
    return replace(trajectory, layout=_rebuilt(layout, pieces, units, {}))


def with_filler(
    trajectory: Trajectory, place: int, tokenize: Callable[[str], Ids], *, frame: tuple[Ids, Ids] = ((), ())
) -> Trajectory:
    """``trajectory`` with an entry of neutral text before unit ``place``, whose number it takes; later units move up by one.

    Raises:
        LayoutError: a unit that does not stand before every claim.
    """
    layout = trajectory.layout
    if place not in entries_before_claims(trajectory):
        raise LayoutError(f"unit {place} is no entry before the claims; filler can stand before those alone")
    words = tokenize(FILLER)
    filler = Unit(_FILLER_KEY, _FILLER_KEY, (fit_swap(words, FILLER, None, tokenize),))
    pieces: list[Piece] = []
    renumbered = {unit: unit + (unit >= place) for unit in range(len(layout.units))}
    for region in layout.regions:
        if region.unit == place:
            pieces += [(words, place), ((*frame[1], *frame[0]), None)]
        pieces.append(
            (layout.ids[region.start : region.stop], None if region.unit is None else renumbered[region.unit])
        )
    units = (*layout.units[:place], filler, *layout.units[place:])
    named = TrajectoryUnit((_FILLER_KEY,), _FILLER_KEY)
    return replace(
        trajectory,
        layout=_rebuilt(layout, pieces, units, renumbered),
        units=(*trajectory.units[:place], named, *trajectory.units[place:]),
        claims=tuple(replace(claim, units=claim.units + 1) for claim in trajectory.claims),
    )


def _rebuilt(
    layout: TokenLayout, pieces: Sequence[Piece], units: tuple[Unit, ...], renumbered: Mapping[int, int]
) -> TokenLayout:
    """A layout of ``pieces``; whatever was put in or exchanged stands before the claims, so these move as one."""
    ids: list[int] = []
    regions = []
    for tokens, unit in pieces:
        regions.append(Region(len(ids), len(ids) + len(tokens), unit))
        ids.extend(tokens)
    by = len(ids) - len(layout.ids)
    targets = tuple(
        replace(
            target,
            start=target.start + by,
            stop=target.stop + by,
            unit=None if target.unit is None else renumbered.get(target.unit, target.unit),
        )
        for target in layout.targets
    )
    return replace(layout, ids=tuple(ids), regions=tuple(regions), units=units, targets=targets)


def _another_order(items: Collection[int], draw: np.random.RandomState) -> list[int]:
    """A random order that is not the given one."""
    given = list(items)
    while True:
        order = [given[number] for number in draw.permutation(len(given))]
        if order != given:
            return order
