"""Worlds: shares as told, trials of one cluster as alike as told, nothing that is no design."""

from __future__ import annotations

import numpy as np
import pytest

from evals.errors import StatisticsError
from evals.simulation import BreakEvenWorld, Design, PairWorld, ShareWorld


def intra_class(counts: np.ndarray, size: int) -> float:
    """One-way analysis-of-variance estimate of the intra-class correlation of 0/1 trials."""
    clusters, shares = len(counts), counts / size
    between = size * shares.var(ddof=1)
    within = float((counts * (1 - shares)).sum()) / (clusters * (size - 1))
    return (between - within) / (between + (size - 1) * within)


@pytest.mark.parametrize("icc", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("truth", [0.1, 0.5])
def test_shares_and_correlations_are_as_told(truth, icc):
    drawn = ShareWorld("s", truth).draw(Design(20_000, 4, icc), np.random.default_rng(5))
    assert drawn.mean() / 4 == pytest.approx(truth, abs=0.012)
    assert intra_class(drawn, 4) == pytest.approx(icc, abs=0.02)


def test_pairs_have_their_cells_and_their_difference():
    world = PairWorld("p", 0.15, 0.05, both=0.3)
    drawn = world.draw(Design(20_000, 3, 0.4), np.random.default_rng(6))
    assert drawn.shape == (20_000, 4)
    assert set(drawn.sum(axis=1)) == {3}
    assert drawn.mean(axis=0) / 3 == pytest.approx([0.3, 0.15, 0.05, 0.5], abs=0.012)
    assert world.truth == pytest.approx(0.10)
    assert intra_class(drawn[:, 1], 3) == pytest.approx(0.4, abs=0.02)


def test_a_cell_without_mass_stays_empty():
    drawn = PairWorld("p", 0.05, 0.0).draw(Design(500, 4, 0.3), np.random.default_rng(7))
    assert drawn[:, 2].sum() == 0


def test_a_break_even_is_the_share_of_the_loss():
    world = BreakEvenWorld("b", PairWorld("loss", 0.12, 0.02), PairWorld("gain", 0.32, 0.02))
    assert world.truth == pytest.approx(0.25)


@pytest.mark.parametrize("wrong", [(0, 1, 0.0), (1, 0, 0.0), (1, 1, -0.1), (1, 1, 1.1)])
def test_what_is_no_design_is_refused(wrong):
    with pytest.raises(StatisticsError, match="is no design"):
        Design(*wrong)
