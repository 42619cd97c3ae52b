"""The exact-token contract: which ids are scored, which spans can be ablated, which are claims.

The ids of the full context are the ids the agent saw. An ablation removes a unit's token spans or puts swap ids
in their place; ids outside the spans and response ids never change. Nothing here renders or tokenises.
What the layout calls a *unit* is a place, not a text: two entries with equal text are two units.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from attribution.errors import ContextWindowError, LayoutError
from ledger_core.kernel.digests import DigestHex, Prefix, domain_hex

CLAIM_VARIANT = -1
"""``ScoredSpan.variant`` of the claim itself; foils count from 0."""

Ids = tuple[int, ...]


@dataclass(frozen=True)
class Region:
    """Tokens ``[start, stop)`` that belong to one unit, or to nobody (template, system prompt, question)."""

    start: int
    stop: int
    unit: int | None


@dataclass(frozen=True)
class Unit:
    """What is ablated together: an entry, or a tool call with its result."""

    key: str
    """Event id of the entry."""
    label: str
    """What a reader sees."""
    swap: tuple[Ids, ...] | None = None
    """Replacement ids, one tuple per region of the unit in token order; ``None`` when there is no matched text."""


@dataclass(frozen=True)
class Target:
    """A claim: tokens ``[start, stop)`` whose probability is scored."""

    key: str
    start: int
    stop: int
    unit: int | None
    """The unit the claim itself is for later targets; ``None`` for a leaf, such as the final answer."""
    foils: tuple[Ids, ...] = ()
    """Full ids of the claim with its value swapped."""


@dataclass(frozen=True)
class ScoredSpan:
    """Columns ``[start, stop)`` of a score table: the tokens of one variant of one target, in order."""

    target: int
    variant: int
    """-1 for the claim, k for its k-th foil."""
    start: int
    stop: int


@dataclass(frozen=True)
class TokenLayout:
    """A whole trajectory in exact tokens. Made and checked by :func:`build_layout`."""

    ids: Ids
    regions: tuple[Region, ...]
    """Tile ``ids`` in order."""
    units: tuple[Unit, ...]
    targets: tuple[Target, ...]
    window: int | None = None
    """Tokens kept when the trajectory was cut to fit; ``None`` when it is whole."""

    @cached_property
    def scored(self) -> tuple[ScoredSpan, ...]:
        """Columns of a score table: per target its claim, then its foils."""
        variants = [
            (target, variant, len(ids))
            for target in range(len(self.targets))
            for variant, ids in enumerate(self.variants(target), start=CLAIM_VARIANT)
        ]
        stops = list(accumulate(length for _, _, length in variants))
        return tuple(
            ScoredSpan(target, variant, stop - length, stop)
            for (target, variant, length), stop in zip(variants, stops, strict=True)
        )

    @property
    def columns(self) -> int:
        """Number of scored tokens: the width of a score table."""
        return self.scored[-1].stop if self.scored else 0

    def variants(self, target: int) -> tuple[Ids, ...]:
        """Ids of the claim, then of its foils."""
        claim = self.targets[target]
        return (self.ids[claim.start : claim.stop], *claim.foils)

    def antecedents(self, target: int) -> tuple[int, ...]:
        """Units with a region before the target, its own apart: the only ones that can move its score."""
        claim = self.targets[target]
        return tuple(
            sorted(
                {
                    region.unit
                    for region in self.regions
                    if region.unit is not None and region.unit != claim.unit and region.stop <= claim.start
                }
            )
        )

    def outside(self) -> tuple[int, ...]:
        """Units of which the window kept no region: they cannot be measured here, which is not the same as null."""
        seen = {region.unit for region in self.regions}
        return tuple(unit for unit in range(len(self.units)) if unit not in seen)

    def longest(self) -> int:
        """Tokens of the longest sequence any mask can make the model see."""
        if not self.targets:
            return len(self.ids)
        starts = [region.start for region in self.regions]
        growth = self._swap_growth()
        grown = [0, *accumulate(growth)]
        reaches = []
        for number, target in enumerate(self.targets):
            home = bisect_right(starts, target.start) - 1
            own = sum(growth[place] for place in self._places.get(target.unit, ()) if place < home)
            reaches.append(target.start + grown[home] - own + max(map(len, self.variants(number))))
        return max(reaches)

    @cached_property
    def digest(self) -> DigestHex:
        """Content address over ids, regions, swaps, targets, foils and window; keys and labels carry no score."""
        content = {
            "ids": self.ids,
            "regions": [[region.start, region.stop, region.unit] for region in self.regions],
            "swaps": [unit.swap for unit in self.units],
            "targets": [[target.start, target.stop, target.unit, target.foils] for target in self.targets],
            "window": self.window,
        }
        return domain_hex(Prefix.LAYOUT, json.dumps(content, sort_keys=True, separators=(",", ":")).encode())

    @cached_property
    def _places(self) -> dict[int | None, list[int]]:
        """Region numbers of every unit, in token order."""
        places: dict[int | None, list[int]] = {}
        for place, region in enumerate(self.regions):
            places.setdefault(region.unit, []).append(place)
        return places

    def _swap_growth(self) -> list[int]:
        """Per region, the tokens by which its swap is longer than its text, or 0."""
        growth = [0] * len(self.regions)
        for number, unit in enumerate(self.units):
            for place, swap in zip(self._places.get(number, ()), unit.swap or (), strict=False):
                growth[place] = max(0, len(swap) - (self.regions[place].stop - self.regions[place].start))
        return growth


def tile(pieces: Iterable[tuple[Sequence[int], int | None]]) -> tuple[Ids, tuple[Region, ...]]:
    """Join token pieces, each owned by a unit or by nobody, into ids and the regions that tile them.

    Neighbouring pieces stay apart even when one unit owns both: a tool call and its result swap separately.
    """
    ids: list[int] = []
    regions = []
    for piece, unit in pieces:
        regions.append(Region(len(ids), len(ids) + len(piece), unit))
        ids.extend(piece)
    return tuple(ids), tuple(regions)


def claim_token_span(token_byte_lengths: Sequence[int], byte_start: int, byte_end: int) -> tuple[int, int]:
    """Tokens ``[start, stop)`` of the claim that is bytes ``[byte_start, byte_end)`` of a response.

    A token belongs to the claim that holds its **last byte**. Byte-level vocabularies glue a space to the word
    after it, so a claim keeps its first word although the space before it is no part of the claim; a token that
    runs over a claim's end belongs to what follows. Claims that do not share bytes never share tokens, and a
    character spread over several tokens is split only where the claim itself splits it.

    Args:
        token_byte_lengths: bytes of each response token, in order.
        byte_start: first byte of the claim.
        byte_end: byte after its last.

    Raises:
        LayoutError: a range that is empty or leaves the response, or in which no token ends.
    """
    total = sum(token_byte_lengths)
    if not 0 <= byte_start < byte_end <= total:
        raise LayoutError(f"bytes [{byte_start}, {byte_end}) are no range of a response of {total} bytes")
    ends = list(accumulate(token_byte_lengths))
    inside = [
        index
        for index, (end, length) in enumerate(zip(ends, token_byte_lengths, strict=True))
        if length and byte_start < end <= byte_end
    ]
    if not inside:
        raise LayoutError(
            f"no token ends within bytes [{byte_start}, {byte_end}): the claim lies inside one token; "
            "widen it to its word"
        )
    return inside[0], inside[-1] + 1


def admissible_foils(claim: Ids, foils: Iterable[Ids]) -> tuple[Ids, ...]:
    """The foils that can be contrasted with ``claim``, in order and once each.

    A foil that equals the claim, begins it or begins with it is left out: one of the two events then contains
    the other, so their odds say nothing about the value.
    """
    kept = dict.fromkeys(tuple(foil) for foil in foils)
    return tuple(foil for foil in kept if foil and not _is_prefix(foil, claim) and not _is_prefix(claim, foil))


def _is_prefix(short: Ids, long: Ids) -> bool:
    return long[: len(short)] == short


def build_layout(
    ids: Sequence[int],
    regions: Sequence[Region],
    units: Sequence[Unit],
    targets: Sequence[Target],
    *,
    context_window: int,
    window: int | None = None,
) -> TokenLayout:
    """Check the parts of a trajectory against each other and freeze them.

    Args:
        ids: the exact tokens of the whole trajectory.
        regions: tile ``ids`` in order; an empty entry has an empty region.
        units: what can be ablated; every unit has at least one region.
        targets: claims, each within one region of its own unit (or of nobody, when it is a leaf).
        context_window: the most tokens the model can see.
        window: keep at most so many tokens: the leading regions that belong to nobody (system prompt) and the
            end of the trajectory. A unit that loses all its tokens is listed by ``outside()``.

    Raises:
        LayoutError: parts that do not fit, a claim with nothing fixed before it, an inadmissible foil or swap.
        ContextWindowError: some mask would show the model more tokens than ``context_window``.
    """
    layout = TokenLayout(tuple(ids), tuple(regions), tuple(units), tuple(targets))
    _check_regions(layout)
    _check_units(layout)
    for target in layout.targets:
        _check_target(layout, target)
    if window is not None and len(layout.ids) > window:
        layout = _cut(layout, window)
    if layout.longest() > context_window:
        raise ContextWindowError(
            f"the trajectory needs {layout.longest()} tokens and the model sees {context_window}; "
            "shorten it, or keep its end with a window (--window)"
        )
    return layout


def _check_regions(layout: TokenLayout) -> None:
    edges = [0, *(edge for region in layout.regions for edge in (region.start, region.stop)), len(layout.ids)]
    for left, right in zip(edges[::2], edges[1::2], strict=True):
        if left != right:
            raise LayoutError(
                f"regions do not tile the {len(layout.ids)} tokens: one ends at {left}, the next begins at {right}"
            )
    for region in layout.regions:
        if region.stop < region.start:
            raise LayoutError(f"region [{region.start}, {region.stop}) runs backwards")
        if region.unit is not None and not 0 <= region.unit < len(layout.units):
            raise LayoutError(
                f"region [{region.start}, {region.stop}) names unit {region.unit}, there are {len(layout.units)}"
            )
    _require_unique("unit", [unit.key for unit in layout.units])
    _require_unique("target", [target.key for target in layout.targets])


def _check_units(layout: TokenLayout) -> None:
    owned: dict[int | None, list[Region]] = {}
    for region in layout.regions:
        owned.setdefault(region.unit, []).append(region)
    for number, unit in enumerate(layout.units):
        places = owned.get(number)
        if not places:
            raise LayoutError(f"unit {unit.key!r} has no region; give an empty entry an empty region")
        if unit.swap is None:
            continue
        if len(unit.swap) != len(places):
            raise LayoutError(
                f"unit {unit.key!r} has {len(places)} regions and {len(unit.swap)} swap texts; give one per region"
            )
        for place, swap in zip(places, unit.swap, strict=True):
            if not swap and place.stop > place.start:
                raise LayoutError(f"unit {unit.key!r} swaps tokens for nothing; that is a deletion, not a swap")


def _check_target(layout: TokenLayout, target: Target) -> None:
    if not 0 <= target.start < target.stop <= len(layout.ids):
        raise LayoutError(
            f"target {target.key!r} is [{target.start}, {target.stop}), no span of {len(layout.ids)} tokens"
        )
    home = next(region for region in layout.regions if region.start <= target.start < region.stop)
    if target.stop > home.stop or target.unit != home.unit:
        raise LayoutError(
            f"target {target.key!r} of unit {target.unit} is [{target.start}, {target.stop}), but the region there is "
            f"[{home.start}, {home.stop}) of unit {home.unit}; a claim lies within one region of its own unit"
        )
    fixed = sum(
        max(0, min(region.stop, target.start) - region.start) for region in layout.regions if region.unit is None
    )
    if not fixed:
        raise LayoutError(
            f"target {target.key!r} has no fixed token before it, so a mask could leave the model an empty prompt; "
            "begin with the template's opening tokens"
        )
    claim = layout.ids[target.start : target.stop]
    if admissible_foils(claim, target.foils) != target.foils:
        raise LayoutError(
            f"target {target.key!r} has a foil that is repeated, equals its claim, begins it or begins with it; "
            "keep what admissible_foils() returns, or end claim and foils with the token that follows"
        )


def _require_unique(noun: str, keys: Sequence[str]) -> None:
    repeated = [key for key, count in Counter(keys).items() if count > 1]
    if repeated:
        raise LayoutError(f"{noun} key {repeated[0]!r} is used twice; equal texts are distinct {noun}s, with own keys")


def _cut(layout: TokenLayout, window: int) -> TokenLayout:
    """Drop the tokens after the fixed head that make ``layout`` longer than ``window``."""
    head = next((region.start for region in layout.regions if region.unit is not None), 0)
    resume = len(layout.ids) - window + head
    first = min((target.start for target in layout.targets), default=len(layout.ids))
    if window <= head or resume > first:
        needed = len(layout.ids) - first + head
        raise ContextWindowError(
            f"a window of {window} tokens cannot hold the {head} fixed tokens at the start and everything from the "
            f"first claim on ({needed} tokens together); widen it or score later claims alone"
        )

    def moved(edge: int) -> int:
        return edge if edge <= head else max(head, edge - (resume - head))

    regions: list[Region] = []
    swaps: dict[int, list[Ids]] = {number: [] for number in range(len(layout.units))}
    rank: Counter[int] = Counter()
    for region in layout.regions:
        gone = head <= region.start and region.stop <= resume
        if not gone:
            regions.append(Region(moved(region.start), moved(region.stop), region.unit))
        if region.unit is None:
            continue
        swap = layout.units[region.unit].swap
        if swap is not None and not gone:
            text = swap[rank[region.unit]]
            swaps[region.unit].append(text[max(0, resume - region.start) :] or text[-1:])
        rank[region.unit] += 1
    cut = TokenLayout(
        ids=layout.ids[:head] + layout.ids[resume:],
        regions=tuple(regions),
        units=tuple(
            replace(unit, swap=None if unit.swap is None else tuple(swaps[number]))
            for number, unit in enumerate(layout.units)
        ),
        targets=tuple(replace(target, start=moved(target.start), stop=moved(target.stop)) for target in layout.targets),
        window=window,
    )
    for target in cut.targets:
        _check_target(cut, target)
    return cut
