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

    Cut or padded with filler to the length of the text, so that no later position moves and what surrounds the text in
    its region, such as a line break, stays where it was.

    Args:
        original: the region's ids.
        text: the entry's text inside the region.
        swap: matched text from the scenario, if it gives one.
        tokenize: exact tokenizer.
    """
    start, stop = _place(original, tokenize(text))
    replacement = swap if swap is not None else matched_swap(text)
    ids = () if replacement is None else tokenize(replacement)
    filler = tokenize(FILLER)
    while len(ids) < stop - start:
        ids = ids + filler
    return original[:start] + ids[: stop - start] + original[stop:]


def _place(region: tuple[int, ...], text: tuple[int, ...]) -> tuple[int, int]:
    """Where ``text`` stands in ``region``; all of it where it is not found."""
    for start in range(len(region) - len(text) + 1):
        if region[start : start + len(text)] == text:
            return start, start + len(text)
    return 0, len(region)
