"""Matched replacement of a region's tokens: same length, same place."""

from __future__ import annotations

from collections.abc import Callable

from attribution.foils import matched_swap

FILLER = " There is nothing of note to report here at this time."
"""Neutral text that stands in where an entry holds nothing that could be exchanged."""


def fit_swap(
    original: tuple[int, ...], text: str, swap: str | None, tokenize: Callable[[str], tuple[int, ...]]
) -> tuple[int, ...]:
    """Token ids that replace ``original``: the scenario's swap, else the text with its values exchanged, else filler.

    Cut or padded with filler to the original's length, so that no later position moves.

    Args:
        original: the region's ids.
        text: the entry's text inside the region.
        swap: matched text from the scenario, if it gives one.
        tokenize: exact tokenizer.
    """
    replacement = swap if swap is not None else matched_swap(text)
    filler = tokenize(FILLER)
    if replacement is None:
        ids: tuple[int, ...] = ()
    else:
        entry_ids = tokenize(text)
        place = _find(original, entry_ids)
        new_ids = tokenize(replacement)
        ids = new_ids if place is None else original[:place] + new_ids + original[place + len(entry_ids) :]
    while len(ids) < len(original):
        ids = ids + filler
    return ids[: len(original)]


def _find(haystack: tuple[int, ...], needle: tuple[int, ...]) -> int | None:
    if not needle:
        return None
    for start in range(len(haystack) - len(needle) + 1):
        if haystack[start : start + len(needle)] == needle:
            return start
    return None
