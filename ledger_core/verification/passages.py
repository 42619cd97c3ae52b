"""Texts cut into passages that a sentence embedder reads whole, and the words that two texts share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ledger_core.kernel.types import PPM

_WORD = re.compile(r"\w+")
_BREAKS = (re.compile(r"\n"), re.compile(r"(?<=[.!?])\s"), re.compile(r"\s"))
"""Where a passage may end, best first."""

_FUNCTION_WORDS = frozenset(
    """a about after all also an and any are as at be been before but by can could did do does for from had has have he
    her his i if in into is it its may more most no nor not of on one only or other our out over she should so some such
    than that the their them then there these they this those to under up us was we were what when where which while who
    will with would you your""".split()
)
"""English words that two texts share whatever they are about. In other languages nothing is left out, which lets more
through: that costs questions and no verdicts."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text; ``text == whole[start:start + len(text)]``, in characters."""

    start: int
    text: str


def passages(text: str, size: int) -> tuple[Passage, ...]:
    """Pieces of ``text`` of at most ``size`` characters that together are all of it, blank ones left out.

    A piece ends at a line break, else at the end of a sentence, else at a space, where one lies in its second half.
    """
    return tuple(Passage(start, text[start:stop]) for start, stop in _spans(text, size) if text[start:stop].strip())


def _spans(text: str, size: int) -> Iterator[tuple[int, int]]:
    start = 0
    while len(text) - start > size:
        stop = start + size
        for place in _BREAKS:
            ends = [found.end() for found in place.finditer(text, start + size // 2, stop)]
            if ends:
                stop = ends[-1]
                break
        yield start, stop
        start = stop
    yield start, len(text)


def words(text: str) -> frozenset[str]:
    """The words of ``text`` (NFKC, case folded), without the commonest; with them where there are no others."""
    found = frozenset(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
    return found - _FUNCTION_WORDS or found


def overlap_ppm(first: AbstractSet[str], second: AbstractSet[str]) -> int:
    """Overlap coefficient |A ∩ B| / min(|A|, |B|) in ppm, rounded down; 0 where one is empty.

    Not Jaccard: a short claim and a long page about it share few of the page's words and most of the claim's.
    """
    smaller = min(len(first), len(second))
    return len(first & second) * PPM // smaller if smaller else 0
