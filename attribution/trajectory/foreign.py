"""Trajectories of imported transcripts: another model's text under this project's template, hence `proxy` fidelity.

The last generation's context and response are the whole transcript. Each message is framed as ChatML and every entry's text is
tokenised by itself, so that its span is exact; template and tokenisation belong to the measurement's recipe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from attribution.errors import ContextWindowError
from attribution.layout import Region, Target, Unit, admissible_foils, build_layout
from attribution.models import ChatPieces
from attribution.trajectory.exact import ablatable, number_units, units_before
from attribution.trajectory.records import (
    ContextItem,
    Generation,
    Trajectory,
    TrajectoryClaim,
    Wording,
)
from attribution.trajectory.swaps import fit_swap

TEMPLATE = "chatml-entries-v1"
"""Name of the layout rule, part of every recipe: ChatML frames, entries tokenised one by one."""


@dataclass
class _Sequence:
    """Ids and regions while they grow."""

    ids: list[int] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    items: list[ContextItem | None] = field(default_factory=list)

    def add(self, ids: Sequence[int], unit: int | None, item: ContextItem | None) -> tuple[int, int]:
        start = len(self.ids)
        self.ids.extend(ids)
        self.regions.append(Region(start, len(self.ids), unit))
        self.items.append(item)
        return start, len(self.ids)


def foreign_trajectory(
    generations: Sequence[Generation],
    wording: Wording,
    *,
    tokenize: Callable[[str], tuple[int, ...]],
    chat: ChatPieces,
    context_window: int,
    window: int | None = None,
) -> Trajectory:
    """Lay out the imported ``generations`` of one record, in step order.

    Args:
        generations: at least one; each context holds the earlier entries.
        wording: foils and swaps, from a scenario or made from the text.
        tokenize: exact tokenizer.
        chat: ChatML pieces.
        context_window: the model's limit, in tokens.
        window: if given, the oldest ablatable entries are left out until the transcript fits this many tokens;
            they are named in :attr:`Trajectory.dropped` and recorded.

    Raises:
        ContextWindowError: the transcript does not fit; the message names both sizes.
    """
    items = _transcript(generations)
    limit = min(window or context_window, context_window)
    sizes = [len(tokenize(item.text)) + _FRAME for item in items]
    dropped: list[str] = []
    if sum(sizes) > limit:
        if window is None:
            raise ContextWindowError(
                f"the transcript {generations[-1].record} has {sum(sizes)} tokens, the model sees {context_window}; "
                f"give --window {context_window} to leave out its oldest entries"
            )
        items, dropped = _fit(items, sizes, limit)
    return _build(generations, items, tuple(dropped), wording, tokenize, chat, context_window)


_FRAME = 6
"""Upper bound of the frame's tokens around one entry."""


def _transcript(generations: Sequence[Generation]) -> list[ContextItem]:
    last = generations[-1]
    items = list(last.context)
    next_unit = 1 + max((item.unit for item in items if item.unit is not None), default=-1)
    encoded = last.response.encode()
    for offset, claim in enumerate(last.claims):
        text = encoded[claim.byte_start : claim.byte_stop].decode("utf-8", "replace")
        items.append(ContextItem(claim.entry, "claim", "assistant", text, next_unit + offset))
    return items


def _fit(items: list[ContextItem], sizes: list[int], limit: int) -> tuple[list[ContextItem], list[str]]:
    """Drop the oldest whole units until the rest fits."""
    total = sum(sizes)
    doomed: set[int] = set()
    for item in items:
        if total <= limit:
            break
        if item.unit is None or item.unit in doomed:
            continue
        doomed.add(item.unit)
        total -= sum(size for size, other in zip(sizes, items, strict=True) if other.unit == item.unit)
    if total > limit:
        raise ContextWindowError(f"system prompt and question alone have {total} tokens, over the window of {limit}")
    kept = [item for item in items if item.unit not in doomed]
    dropped = [item.entry for item in items if item.unit in doomed and item.entry is not None]
    return kept, dropped


def _build(
    generations: Sequence[Generation],
    items: Sequence[ContextItem],
    dropped: tuple[str, ...],
    wording: Wording,
    tokenize: Callable[[str], tuple[int, ...]],
    chat: ChatPieces,
    context_window: int,
) -> Trajectory:
    units, numbers = number_units(items)
    unit_of_entry = {entry: index for index, unit in enumerate(units) for entry in unit.entries}
    generation_of = {claim.entry: generation for generation in generations for claim in generation.claims}
    sequence = _Sequence()
    spans: dict[str, tuple[int, int]] = {}
    speaker: str | None = None
    for item in items:
        if item.role != speaker or item.role in ("user", "tool"):
            if speaker is not None:
                sequence.add(chat.closing, None, None)
            sequence.add(chat.opening(item.role), None, None)
            speaker = item.role
        span = sequence.add(tokenize(item.text), None if item.unit is None else numbers[item.unit], item)
        if item.entry is not None:
            spans[item.entry] = span
    if speaker is not None:
        sequence.add(chat.closing, None, None)
    targets: list[Target] = []
    claims: list[TrajectoryClaim] = []
    for item in items:
        entry = item.entry
        if entry is None or entry not in generation_of or spans[entry][0] == spans[entry][1]:
            continue
        start, stop = spans[entry]
        foils = admissible_foils(tuple(sequence.ids[start:stop]), map(tokenize, wording.foils.get(entry, ())))
        own = unit_of_entry.get(entry)
        speaking = generation_of[entry]
        claims.append(
            TrajectoryClaim(
                entry=entry,
                generation=speaking.event_id,
                target=len(targets),
                units=units_before(sequence.regions, start, own),
                context=ablatable(speaking),
                contrasted=bool(foils),
            )
        )
        targets.append(Target(entry, start, stop, own, foils))
    swaps: list[list[tuple[int, ...]]] = [[] for _ in units]
    for region, placed in zip(sequence.regions, sequence.items, strict=True):
        if region.unit is not None and placed is not None:
            original = tuple(sequence.ids[region.start : region.stop])
            swaps[region.unit].append(fit_swap(original, placed.text, wording.swaps.get(placed.entry or ""), tokenize))
    layout = build_layout(
        ids=tuple(sequence.ids),
        regions=tuple(sequence.regions),
        units=tuple(
            Unit(key=unit.named, label=unit.named[:12], swap=tuple(swaps[index])) for index, unit in enumerate(units)
        ),
        targets=tuple(targets),
        context_window=context_window,
    )
    return Trajectory(generations[-1].record, layout, units, tuple(claims), "proxy", dropped)
