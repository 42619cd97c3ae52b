"""Near-duplicates: what hashing proposes is decided exactly, and what lies above the threshold is proposed."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from ledger_core.belief.similarity import Wording, jaccard_ppm
from ledger_core.verification.near_duplicates import ALL_PAIRS, NearDuplicate, near_duplicates


def by_characters(count: int, start: int = 0) -> str:
    """A text of ``count`` shingles, all distinct."""
    return "".join(chr(0x4E00 + start + n) for n in range(count + 4))


def corpus(rng: random.Random) -> dict[str, Wording]:
    """Families of texts that share 60 to 100 % of their words."""
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(4000)]
    texts = {}
    for family in range(16):
        base = rng.sample(words, 40)
        for member in range(4):
            kept = [word if rng.random() > member * 0.06 else rng.choice(words) for word in base]
            texts[f"{family}-{member}"] = Wording(" ".join(kept), None)
    return texts


def test_a_pair_at_the_threshold_is_none_and_one_above_is():
    base = by_characters(100)
    wordings = {
        "whole": Wording(base, None),
        "at": Wording(base[:74], None),
        "above": Wording(base[:75], None),
        "apart": Wording(by_characters(100, start=500), None),
        "empty": Wording("abcd", None),
    }
    assert near_duplicates(wordings, 700_000) == (
        NearDuplicate("above", "at", 985_916),
        NearDuplicate("above", "whole", 710_000),
    )


def test_hashing_finds_what_all_pairs_find():
    wordings = corpus(random.Random(7))
    exact = near_duplicates(wordings, 700_000, all_pairs=len(wordings))
    assert near_duplicates(wordings, 700_000, all_pairs=0) == exact
    assert len(exact) == sum(
        jaccard_ppm(one.shingles, other.shingles) > 700_000 for one, other in combinations(wordings.values(), 2)
    )
    assert len(exact) > 15


@pytest.mark.parametrize("threshold", [300_000, 499_999])
def test_below_the_reach_of_hashing_all_pairs_are_compared(threshold):
    wordings = corpus(random.Random(11))
    assert near_duplicates(wordings, threshold, all_pairs=0) == near_duplicates(wordings, threshold)
    assert len(wordings) < ALL_PAIRS


def test_nothing_is_near_nothing():
    assert near_duplicates({}, 700_000) == ()
    assert near_duplicates({"a": Wording("", None), "b": Wording("", None)}, 0) == ()
