import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from attribution.errors import DecisionError
from attribution.stability import (
    compare,
    cross_design_r2,
    jaccard,
    lds,
    lenth_margin,
    mean_spearman,
    spearman,
    thresholded_spearman,
)

vectors = st.integers(2, 30).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-3, 3), min_size=n, max_size=n) for _ in range(2)])
)


@given(pair=vectors)
@settings(max_examples=100, deadline=None)
def test_spearman_is_scipys_where_it_is_defined(pair):
    a, b = (np.array(side, dtype=np.float64) for side in pair)
    mine = spearman(a, b)
    if len(set(pair[0])) == 1 or len(set(pair[1])) == 1:
        assert mine is None
    else:
        assert mine == pytest.approx(spearmanr(a, b).statistic)


def test_undefined_is_a_value():
    flat, slope = np.zeros(4), np.arange(4.0)
    assert spearman(flat, slope) is None
    assert spearman(np.zeros(0), np.zeros(0)) is None
    assert mean_spearman([slope]) is None
    assert mean_spearman([slope, slope, flat]) is None
    assert jaccard([], []) is None
    assert lds(flat, slope) is None
    assert cross_design_r2(slope, flat) is None
    assert lenth_margin(np.array([1.0, 2.0])) is None


def test_right_values():
    slope = np.arange(4.0)
    assert mean_spearman([slope, slope, slope[::-1].copy()]) == pytest.approx(-1 / 3)
    assert thresholded_spearman(np.array([0.1, -0.2, 5.0]), np.array([-0.2, 0.1, 4.0]), 0.5) == pytest.approx(1.0)
    assert spearman(np.array([0.1, -0.2, 5.0]), np.array([-0.2, 0.1, 4.0])) == pytest.approx(0.5)
    assert jaccard([1, 2], [2, 3]) == pytest.approx(1 / 3)
    assert cross_design_r2(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 6.0])) == pytest.approx(1 - 9 / 14)


def test_a_perfect_single_cause_surrogate_has_a_low_lds():
    """Why LDS is no veto: exact predictions of noise-free halves plus ties elsewhere rank far below one."""
    actual = np.concatenate([np.linspace(0, 0.1, 8), 5 + np.linspace(0, 0.1, 8)])
    predicted = np.repeat([0.0, 5.0], 8)
    assert lds(predicted, actual) == pytest.approx(0.8676, abs=1e-3)


def test_lenth_finds_nothing_when_most_units_are_active():
    mostly_active = np.array([5.0, 5.1, 4.9, 5.2, 0.1, 4.8])
    assert lenth_margin(mostly_active) > 5.2
    one_active = np.array([5.0, 0.1, -0.1, 0.05, 0.0, 0.1, -0.05])
    assert lenth_margin(one_active) < 5.0


def test_vectors_that_do_not_pair_are_refused():
    with pytest.raises(DecisionError, match="pair"):
        spearman(np.zeros(2), np.zeros(3))
    with pytest.raises(DecisionError, match="predictions"):
        cross_design_r2(np.zeros(2), np.zeros(3))


def test_two_runs_side_by_side():
    first, second = np.array([3.0, 0.1, 0.0, 1.0]), np.array([2.0, 0.0, 0.1, 0.2])
    figures = compare(first, second, np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 6.0]), 0.5)
    assert figures.rho == pytest.approx(0.8)
    assert figures.thresholded_rho == pytest.approx(0.816496580927726)
    assert figures.jaccard == 0.5
    assert figures.lds == pytest.approx(1.0)
    assert figures.r2 == pytest.approx(1 - 9 / 14)
    assert figures.lenth_nats == pytest.approx(lenth_margin(np.array([2.5, 0.05, 0.05, 0.6])))
