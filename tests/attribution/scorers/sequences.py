"""The slow and obvious way to score: build every sequence, run it alone, read off the probabilities."""

from __future__ import annotations

import numpy as np
import torch

from attribution.games.base import DELETED, PRESENT
from attribution.layout import TokenLayout
from attribution.models import LanguageModel


def naive_prefix(layout: TokenLayout, mask: np.ndarray, target: int) -> list[int]:
    """Tokens the model sees before the target, with the target's own unit present."""
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
        elif state != DELETED:
            tokens += swap
    raise AssertionError(target)


def naive_table(language: LanguageModel, layout: TokenLayout, states: np.ndarray) -> np.ndarray:
    """``float64[mask, column]`` by one plain ``model(input_ids)`` per mask, target and variant."""
    table = np.empty((len(states), layout.columns))
    for row, mask in enumerate(states):
        for span in layout.scored:
            prefix = naive_prefix(layout, mask, span.target)
            variant = list(layout.variants(span.target)[span.variant + 1])
            with torch.inference_mode():
                logits = language.model(torch.tensor([prefix + variant])).logits[0].double()
            places = range(len(prefix) - 1, len(prefix) - 1 + len(variant))
            table[row, span.start : span.stop] = logits.log_softmax(1)[places, variant].numpy()
    return table
