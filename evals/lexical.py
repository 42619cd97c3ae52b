"""A cheap rival of measurement: keep a declared parent when it shares enough words with the claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from evals.mentions import fold

THRESHOLD_PPM = 500_000
"""Share of the claim's terms that a parent must hold to be kept; fixed before data."""

_PPM = 1_000_000
_TERM = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_SHORTEST_WORD = 3
_STOP_WORDS = frozenset(
    "the and for from with that this these those are was were has have had his her its their our your not but who whom"
    " whose which what when where how why can could will would should may might must shall does did done been being than"
    " then there here into onto over under out off per all any each every some such only also just".split()
)


def terms(text: str) -> frozenset[str]:
    """Content words (three letters or more, no stop word, without case and accents) and numbers of ``text``."""
    found = _TERM.findall(fold(text))
    return frozenset(term.replace(",", "") for term in found if term[0].isdigit() or _is_content(term))


def _is_content(word: str) -> bool:
    return len(word) >= _SHORTEST_WORD and word not in _STOP_WORDS


def overlap_ppm(claim: str, parent: str) -> int:
    """Share of the claim's terms that ``parent`` holds, in ppm, rounded down; 0 for a claim without terms."""
    wanted = terms(claim)
    return len(wanted & terms(parent)) * _PPM // len(wanted) if wanted else 0


def kept_parents(
    claim: str, parents: Mapping[str, str] | Iterable[tuple[str, str]], threshold_ppm: int = THRESHOLD_PPM
) -> tuple[str, ...]:
    """Keys of the declared ``parents`` (key, text) whose overlap with ``claim`` reaches the threshold, in order."""
    return tuple(key for key, text in dict(parents).items() if overlap_ppm(claim, text) >= threshold_ppm)
