"""Floors for random models, and what a call lays out."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from attribution.decision import Floor
from attribution.decision.floor_table import FloorRow, FloorTable
from attribution.library.placing import IN_PLACE
from attribution.measurement import UNCONTRASTED
from attribution.scorers.transformers_scorer import TransformersScorer
from attribution.trajectory import TEMPLATE


def floors(language, tau=0.5):
    """Floors that a random model's effects pass."""
    return FloorTable.of(
        FloorRow.of(
            Floor(tau, tau, 199, "shipped"),
            tokens=(1, 4096),
            units=(1, 64),
            weights=language.files.weights_digest,
            template=template + suffix,
            dtype="float32",
        )
        for template in (TEMPLATE, IN_PLACE)
        for suffix in ("", UNCONTRASTED)
    )


@contextmanager
def layouts_seen():
    """The layouts that are scored inside the block, in order."""
    seen = []
    score = TransformersScorer.score

    def recording(self, layout, block):
        seen.append(layout)
        return score(self, layout, block)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransformersScorer, "score", recording)
        yield seen
