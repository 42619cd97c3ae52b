"""Trajectories of imported transcripts: another model's text under this project's template, hence `proxy` fidelity.

The last generation's context and response are the whole transcript. Each message is framed as ChatML and every entry's text is
tokenised by itself, so that its span is exact; template and tokenisation belong to the measurement's recipe.
"""

from __future__ import annotations

from collections import Counter
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
    last = generations[-1]
    items = _transcript(last)
    sizes = [len(tokenize(item.text)) for item in items]
    growth = _foil_growth(items, sizes, wording, tokenize)
    limit = min(window or context_window, context_window - growth)
    whole = _length(items, sizes, chat)
    dropped: list[str] = []
    if whole > limit:
        if window is None:
            raise ContextWindowError(
                f"the transcript {last.record} needs {whole + growth} tokens and the model sees {context_window}; "
                f"give --window {context_window} to leave out its oldest entries"
            )
        items, dropped = _fit(items, sizes, limit, chat, answer=len(last.context))
    return _build(generations, items, tuple(dropped), wording, tokenize, chat, context_window)


def _transcript(last: Generation) -> list[ContextItem]:
    items = list(last.context)
    next_unit = 1 + max((item.unit for item in items if item.unit is not None), default=-1)
    encoded = last.response.encode()
    for offset, claim in enumerate(last.claims):
        text = encoded[claim.byte_start : claim.byte_stop].decode("utf-8", "replace")
        items.append(ContextItem(claim.entry, "claim", "assistant", text, next_unit + offset))
    return items


def _opens_message(speaker: str | None, role: str) -> bool:
    """Whether an entry begins a message: an assistant's sentences and calls share one, whoever else speaks begins anew."""
    return role != speaker or role in ("user", "tool")


def _length(items: Sequence[ContextItem], sizes: Sequence[int], chat: ChatPieces) -> int:
    """Tokens of the laid-out ``items``."""
    roles = [item.role for item in items]
    frames = sum(
        len(chat.opening(role)) + len(chat.closing)
        for speaker, role in zip([None, *roles], roles, strict=False)
        if _opens_message(speaker, role)
    )
    return frames + sum(sizes)


def _foil_growth(
    items: Sequence[ContextItem], sizes: Sequence[int], wording: Wording, tokenize: Callable[[str], tuple[int, ...]]
) -> int:
    """Tokens by which the longest foil outgrows its claim."""
    growths = [
        len(tokenize(foil)) - size
        for item, size in zip(items, sizes, strict=True)
        for foil in wording.foils.get(item.entry or "", ())
    ]
    return max(0, *growths) if growths else 0


def _fit(
    items: Sequence[ContextItem], sizes: Sequence[int], limit: int, chat: ChatPieces, answer: int
) -> tuple[list[ContextItem], list[str]]:
    """Drop the oldest whole units before item ``answer`` until the rest fits."""
    doomed: set[int] = set()
    texts = sum(sizes)
    size_of: Counter[int | None] = Counter()
    for item, size in zip(items, sizes, strict=True):
        size_of[item.unit] += size

    def kept() -> list[int]:
        return [place for place, item in enumerate(items) if item.unit not in doomed]

    def length() -> int:
        return _length([items[place] for place in kept()], [sizes[place] for place in kept()], chat)

    for unit in dict.fromkeys(item.unit for item in items[:answer] if item.unit is not None):
        doomed.add(unit)
        texts -= size_of[unit]
        # Without the frames first: they cost a pass over all that is left.
        if texts <= limit and length() <= limit:
            dropped = [item.entry for item in items if item.unit in doomed and item.entry is not None]
            return [items[place] for place in kept()], dropped
    raise ContextWindowError(
        f"system prompt, question and last answer alone have {length()} tokens, over the window of {limit}; "
        "widen it, or use a model that sees more"
    )


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
        if _opens_message(speaker, item.role):
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
