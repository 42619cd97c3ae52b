"""Trajectories of boundary-recorded generations: the scored ids are the ids the agent saw.

The generations of one record whose prompts extend one another (each prompt begins with the previous prompt and response) are one
sequence, laid out by the context regions of the last one. Where a prompt does not extend the one before, a new trajectory begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from attribution.errors import LayoutError
from attribution.layout import Region, Target, Unit, admissible_foils, build_layout, claim_token_span
from attribution.trajectory.records import (
    Claim,
    ContextItem,
    Generation,
    Trajectory,
    TrajectoryClaim,
    TrajectoryUnit,
    Wording,
)
from attribution.trajectory.swaps import fit_swap

Tokenize = Callable[[str], tuple[int, ...]]
TokenBytes = Callable[[int], bytes]


def exact_trajectories(
    generations: Sequence[Generation],
    wording: Wording,
    *,
    tokenize: Tokenize,
    token_bytes: TokenBytes,
    context_window: int,
) -> tuple[Trajectory, ...]:
    """Lay out boundary-recorded ``generations``, each record's in step order.

    Raises:
        LayoutError: a generation without token ids, or regions that do not tile its prompt.
        ContextWindowError: a trajectory longer than ``context_window`` tokens.
    """
    ordered = sorted(generations, key=lambda generation: (generation.record, generation.step))
    return tuple(
        _lay_out(chain, wording, tokenize, token_bytes, context_window)
        for _, group in groupby(ordered, key=lambda generation: generation.record)
        for chain in _chains(list(group))
    )


def _chains(generations: Sequence[Generation]) -> Iterator[list[Generation]]:
    chain: list[Generation] = []
    said: tuple[int, ...] = ()
    for generation in generations:
        prompt, response = _ids(generation)
        if chain and prompt[: len(said)] != said:
            yield chain
            chain = []
        chain.append(generation)
        said = prompt + response
    if chain:
        yield chain


def _ids(generation: Generation) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if generation.prompt_ids is None or generation.response_ids is None:
        raise LayoutError(
            f"generation {generation.event_id} has no token ids; it is a foreign one, lay it out with foreign_trajectory"
        )
    return generation.prompt_ids, generation.response_ids


def ablatable(generation: Generation) -> frozenset[str]:
    """Entries of the generation's recorded context that can be ablated."""
    return frozenset(item.entry for item in generation.context if item.unit is not None and item.entry is not None)


def units_before(regions: Sequence[Region], start: int, own: int | None) -> int:
    """Units with a region that begins before token ``start``, but for ``own``: they are the first ones in token order."""
    return len({region.unit for region in regions if region.start < start} - {own, None})


def number_units(items: Sequence[ContextItem]) -> tuple[tuple[TrajectoryUnit, ...], dict[int, int]]:
    """Units in token order, and the map from a generation's own unit numbers to theirs."""
    numbers: dict[int, int] = {}
    members: list[list[ContextItem]] = []
    for item in items:
        if item.unit is None or item.entry is None:
            continue
        if item.unit not in numbers:
            numbers[item.unit] = len(members)
            members.append([])
        members[numbers[item.unit]].append(item)
    units = tuple(
        TrajectoryUnit(
            entries=tuple(item.entry for item in group if item.entry is not None),
            named=next((i.entry for i in group if i.kind == "entry.observed" and i.entry), group[-1].entry or ""),
        )
        for group in members
    )
    return units, numbers


def _lay_out(
    chain: Sequence[Generation], wording: Wording, tokenize: Tokenize, token_bytes: TokenBytes, context_window: int
) -> Trajectory:
    last = chain[-1]
    prompt, response = _ids(last)
    ids = prompt + response
    units, numbers = number_units(last.context)
    unit_of_entry = {entry: index for index, unit in enumerate(units) for entry in unit.entries}
    regions = [_region(item, numbers) for item in last.context]
    if response:
        regions.append(Region(len(prompt), len(ids), None))
    targets: list[Target] = []
    claims: list[TrajectoryClaim] = []
    for generation in chain:
        for claim in generation.claims:
            start, stop = _token_span(generation, claim, token_bytes)
            own = unit_of_entry.get(claim.entry)
            foils = admissible_foils(ids[start:stop], map(tokenize, wording.foils.get(claim.entry, ())))
            claims.append(
                TrajectoryClaim(
                    entry=claim.entry,
                    generation=generation.event_id,
                    target=len(targets),
                    units=units_before(regions, start, own),
                    context=ablatable(generation),
                    contrasted=bool(foils),
                )
            )
            targets.append(Target(claim.entry, start, stop, own, foils))
    swaps: list[list[tuple[int, ...]]] = [[] for _ in units]
    for region, item in zip(regions, last.context, strict=False):
        if region.unit is not None:
            original = tuple(ids[region.start : region.stop])
            swaps[region.unit].append(fit_swap(original, item.text, wording.swaps.get(item.entry or ""), tokenize))
    layout = build_layout(
        ids=ids,
        regions=tuple(regions),
        units=tuple(
            Unit(key=unit.named, label=unit.named[:12], swap=tuple(swaps[index])) for index, unit in enumerate(units)
        ),
        targets=tuple(targets),
        context_window=context_window,
    )
    return Trajectory(f"{last.record}/{last.step}", layout, units, tuple(claims), "exact", ())


def _region(item: ContextItem, numbers: dict[int, int]) -> Region:
    if item.token_start is None or item.token_stop is None:
        raise LayoutError(f"context region of entry {item.entry} has no token bounds in an exact generation")
    return Region(item.token_start, item.token_stop, None if item.unit is None else numbers[item.unit])


def _token_span(generation: Generation, claim: Claim, token_bytes: TokenBytes) -> tuple[int, int]:
    prompt, response = _ids(generation)
    lengths = [len(token_bytes(token)) for token in response]
    start, stop = claim_token_span(lengths, claim.byte_start, claim.byte_stop)
    return len(prompt) + start, len(prompt) + stop
