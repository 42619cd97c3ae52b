"""Near-duplicates among many texts: candidates by locality-sensitive hashing or all pairs, then the exact Jaccard.

Hashing only ever proposes. A table built at the threshold itself would miss half of the pairs just above it; this one is
built far below it, so that what a proposal costs is an exact comparison and not a missed copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from ledger_core.belief.similarity import Wording, jaccard_ppm

BANDS: Final = 42
ROWS: Final = 3
"""A pair of Jaccard J is proposed with probability 1 − (1 − J³)⁴²: 0.9999999 at 0.70, 0.996 at 0.50, 0.29 at 0.20."""

LEAST_HASHED: Final = 500_000
"""Below this threshold, in ppm, too many pairs would be missed, and all are compared."""

ALL_PAIRS: Final = 400
"""Up to so many texts all pairs are compared: exact, and no dearer than hashing."""

_SEED: Final = 1


@dataclass(frozen=True, slots=True, order=True)
class NearDuplicate:
    """Two texts whose exact Jaccard lies above the threshold."""

    first: str
    second: str
    jaccard_ppm: int


def near_duplicates(
    wordings: Mapping[str, Wording], threshold_ppm: int, *, all_pairs: int = ALL_PAIRS
) -> tuple[NearDuplicate, ...]:
    """The pairs of ``wordings`` above ``threshold_ppm``, each once and sorted; texts without a shingle match nobody."""
    names = sorted(name for name, wording in wordings.items() if wording.shingles)
    exhaustive = len(names) <= all_pairs or threshold_ppm < LEAST_HASHED
    candidates = combinations(names, 2) if exhaustive else _proposed({name: wordings[name] for name in names})
    return tuple(sorted(_exact(candidates, wordings, threshold_ppm)))


def _exact(
    candidates: Iterable[tuple[str, str]], wordings: Mapping[str, Wording], threshold_ppm: int
) -> Iterator[NearDuplicate]:
    for first, second in candidates:
        found = jaccard_ppm(wordings[first].shingles, wordings[second].shingles)
        if found > threshold_ppm:
            yield NearDuplicate(first, second, found)


def _proposed(wordings: Mapping[str, Wording]) -> set[tuple[str, str]]:
    # Imported here: numpy and the hash tables cost more than most callers ever need.
    from datasketch import MinHash, MinHashLSH

    table = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    pairs: set[tuple[str, str]] = set()
    for name, wording in wordings.items():
        sketch = MinHash(num_perm=BANDS * ROWS, seed=_SEED)
        sketch.update_batch([shingle.encode("utf-8", "surrogatepass") for shingle in sorted(wording.shingles)])
        pairs.update((min(name, other), max(name, other)) for other in table.query(sketch))
        table.insert(name, sketch)
    return pairs
