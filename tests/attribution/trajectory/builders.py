"""Generations made by hand, a tokenizer of one id a byte, and a scorer that is a pure function of the tokens seen."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np

from attribution.blocks import Block
from attribution.games.base import DELETED, PRESENT
from attribution.layout import TokenLayout
from attribution.models import ChatPieces
from attribution.trajectory import Claim, ContextItem, Generation, Trajectory, Wording, exact_trajectories
from ledger_core.kernel.digests import Prefix, domain_hex

NEWLINE = (10,)
START, END = 300, 301
CHAT = ChatPieces(
    start=START, end=END, newline=NEWLINE, roles={"system": (310,), "user": (311,), "assistant": (312,), "tool": (313,)}
)
WINDOW = 4096
NO_WORDING = Wording({}, {})


def tokenize(text: str) -> tuple[int, ...]:
    """One id a byte."""
    return tuple(text.encode())


def token_bytes(token: int) -> bytes:
    return bytes([token])


def text_of(ids: tuple[int, ...]) -> str:
    """The text of ``ids`` with the frame's ids shown."""
    shown = {START: "<", END: ">", 310: "system", 311: "user", 312: "assistant", 313: "tool"}
    return "".join(shown.get(token) or chr(token) for token in ids)


def exact_generation(
    record: str, step: int, pieces: list[tuple[str | None, str]], response: str, claims: list[tuple[str, int, int]]
) -> Generation:
    """A generation whose prompt is the concatenation of ``pieces`` (entry or None for template, text), each entry a unit."""
    items, at, unit = [], 0, 0
    for entry, text in pieces:
        stop = at + len(text.encode())
        kind = "template" if entry is None else "entry.observed"
        items.append(ContextItem(entry, kind, "tool", text, None if entry is None else unit, at, stop))
        unit += entry is not None
        at = stop
    prompt = "".join(text for _, text in pieces)
    return Generation(
        event_id=f"{record}-g{step}",
        record=record,
        step=step,
        context=tuple(items),
        response=response,
        claims=tuple(Claim(entry, start, stop, "sentence") for entry, start, stop in claims),
        prompt_ids=tokenize(prompt),
        response_ids=tokenize(response),
        weights_digest="0" * 64,
    )


def lay_out(*generations: Generation, wording: Wording = NO_WORDING, window: int = WINDOW) -> tuple[Trajectory, ...]:
    return exact_trajectories(generations, wording, tokenize=tokenize, token_bytes=token_bytes, context_window=window)


def two_step_record() -> tuple[Generation, ...]:
    """Two notes, a claim, another note, a second claim; the second prompt extends the first prompt and its response."""
    first = exact_generation(
        "r", 0, [(None, "N:"), ("a", "van is red."), ("b", "bus is blue.")], "red van.", [("c", 0, 8)]
    )
    second = exact_generation(
        "r",
        1,
        [(None, "N:"), ("a", "van is red."), ("b", "bus is blue."), ("c", "red van."), ("d", "cab is lime.")],
        "lime cab.",
        [("e", 0, 9)],
    )
    return first, second


class HashScorer:
    """Log-probabilities from a checksum of the tokens seen: any token more, less or elsewhere gives another number."""

    id = domain_hex(Prefix.CONFIG, b"checksum scorer")
    dtype = "float64"
    plan = "one by one"

    def __init__(self) -> None:
        self.blocks: list[tuple[TokenLayout, Block]] = []

    def score(self, layout: TokenLayout, block: Block) -> np.ndarray:
        self.blocks.append((layout, block))
        table = np.empty((len(block.states), layout.columns))
        for row, mask in enumerate(block.states):
            for span in layout.scored:
                seen = list(seen_before(layout, mask, span.target))
                for column, token in enumerate(layout.variants(span.target)[span.variant + 1], start=span.start):
                    table[row, column] = -1 - zlib.crc32(np.array([*seen, token], dtype="<u4").tobytes()) / 2**32
                    seen.append(token)
        return table


def seen_before(layout: TokenLayout, mask: np.ndarray, target: int) -> list[int]:
    """Tokens before a target under a mask, the target's own unit present."""
    claim = layout.targets[target]
    swaps = {number: list(unit.swap or ()) for number, unit in enumerate(layout.units)}
    tokens: list[int] = []
    for region in layout.regions:
        swap = swaps[region.unit].pop(0) if region.unit is not None and swaps[region.unit] else None
        if region.start <= claim.start < region.stop:
            return [*tokens, *layout.ids[region.start : claim.start]]
        state = PRESENT if region.unit in (None, claim.unit) else mask[region.unit]
        if state == PRESENT:
            tokens += layout.ids[region.start : region.stop]
        elif state != DELETED and swap is not None:
            tokens += swap
    raise AssertionError(target)


def without_ids(generation: Generation) -> Generation:
    return replace(generation, prompt_ids=None, response_ids=None)
