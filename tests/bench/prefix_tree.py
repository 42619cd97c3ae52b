"""The prefix tree against one plain pass per mask, claim and foil, on a trajectory of the default job."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from attribution.blocks import make_blocks
from attribution.designs import cube
from attribution.models import LanguageModel
from attribution.scorers.transformers_scorer import TransformersScorer
from evals.null_floors import BINS, null_trajectories
from tests.attribution.scorers.sequences import naive_table
from tests.bench.measuring import Comparison, compare
from tests.bench.sections import Bench

TOLERANCE_NATS = 1e-3
"""By which one token's score may differ between the two ways in float32."""


def run(bench: Bench) -> Iterator[Comparison]:
    """Eight masks and the whole trajectory, three rounds each."""
    masks, rounds = bench.one_of(small=(4, 1), default=(8, 3), full=(8, 3))
    document = bench.kept.get(
        "prefix-tree", lambda: {"comparisons": [asdict(one) for one in _compare(bench.language, masks, rounds)]}
    )
    return (Comparison(**one) for one in document["comparisons"])


def _compare(language: LanguageModel, masks: int, rounds: int) -> list[Comparison]:
    """Both ways over the first ``masks`` masks of the cube and over as many as the trajectory needs, checked to agree."""
    trajectory = next(null_trajectories(language, BINS[0], BINS[0].plain))
    layout = trajectory.layout
    scorer = TransformersScorer(language)
    whole = cube(len(layout.units)).states[::-1]
    states = np.ascontiguousarray(whole[:masks])

    def ours(rows: np.ndarray) -> np.ndarray:
        blocks = make_blocks(scorer, layout, rows)
        return np.concatenate([scorer.score(layout, block) for block in blocks])

    difference = float(np.abs(ours(states) - naive_table(language, layout, states)).max())
    if not difference < TOLERANCE_NATS:
        raise AssertionError(f"the two ways differ by {difference} nats: the ratio would mean nothing")
    settings = {"against": "one plain pass per mask and variant", "rounds": rounds}
    return [
        compare(
            f"{len(states)} masks of a trajectory of {len(layout.ids)} tokens and {len(layout.units)} units",
            lambda: ours(states),
            lambda: naive_table(language, layout, states),
            per="mask",
            units=len(states),
            **settings,
        ),
        compare(
            f"a whole trajectory of {len(whole)} masks",
            lambda: ours(whole),
            lambda: naive_table(language, layout, whole),
            per="trajectory",
            units=1,
            **settings,
        ),
    ]
