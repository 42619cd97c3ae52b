from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.contrast import contrast, log_probability, uncontrasted
from attribution.errors import BlockError
from attribution.layout import Target, build_layout, tile


def layout_of(claim, *foils):
    ids, regions = tile([((1, 2), None), (claim, None)])
    target = Target("c", 2, 2 + len(claim), None, foils=foils)
    return build_layout(ids, regions, (), (target,), context_window=500)


def test_one_foil_is_the_difference_of_log_probabilities():
    layout = layout_of((5, 6, 7), (5, 8, 9))
    table = np.array([[-1.0, -2.0, -3.0, -1.0, -4.0, -0.5]])
    assert contrast(layout, table)[0, 0] == pytest.approx(-5.0 + 4.5)
    assert log_probability(layout, table)[0, 0] == pytest.approx(-6.0)
    assert uncontrasted(layout) == (False,)


def test_several_foils_are_averaged_as_probabilities_and_may_have_other_lengths():
    layout = layout_of((5, 6), (5, 8, 9), (7,))
    table = np.array([[-1.0, -2.0, -1.0, -3.0, -0.5, -2.5]])
    mean = (math.exp(-4.5) + math.exp(-2.5)) / 2
    assert contrast(layout, table)[0, 0] == pytest.approx(-3.0 - math.log(mean), abs=1e-12)


def test_tokens_before_the_first_difference_cancel_exactly():
    layout = layout_of((5, 6, 7), (5, 6, 8))
    table = np.array([[-1e9, -1e9, -0.25, -1e9, -1e9, -0.5], [0.0, -1.0, -0.25, 0.0, -1.0, -0.5]])
    assert contrast(layout, table)[:, 0].tolist() == [0.25, 0.25]


def test_without_foils_the_score_is_the_log_probability_and_says_so():
    layout = layout_of((5, 6))
    table = np.array([[-1.0, -2.0], [0.0, 0.0]])
    assert contrast(layout, table)[:, 0].tolist() == [-3.0, 0.0]
    assert uncontrasted(layout) == (True,)


def test_certain_and_all_but_impossible_claims_stay_finite_and_are_not_clipped():
    layout = layout_of((5,), (6,))
    table = np.array([[0.0, -4e4], [-4e4, 0.0], [-1e-300, -745.2]])
    assert contrast(layout, table)[:, 0].tolist() == [4e4, -4e4, 745.2]


def test_a_long_claim_is_not_divided_by_its_length():
    claim = tuple(range(10, 410))
    table = np.full((1, 400), -0.5)
    assert contrast(layout_of(claim), table)[0, 0] == pytest.approx(-200.0)


def test_a_table_of_another_width_is_refused():
    with pytest.raises(BlockError, match=r"shape \(2, 3\) does not belong to a layout of 2 scored tokens"):
        contrast(layout_of((5, 6)), np.zeros((2, 3)))


def test_a_layout_without_targets_has_no_scores():
    ids, regions = tile([((1, 2), None)])
    layout = build_layout(ids, regions, (), (), context_window=9)
    assert contrast(layout, np.empty((3, 0))).shape == (3, 0)
    assert log_probability(layout, np.empty((3, 0))).shape == (3, 0)


@given(
    shift=st.floats(-500, 0),
    values=st.lists(st.floats(-50, 0), min_size=3, max_size=3),
)
def test_what_lifts_claim_and_foils_alike_cancels(shift, values):
    layout = layout_of((5,), (6,), (7,))
    plain = contrast(layout, np.array([values]))
    shifted = contrast(layout, np.array([values]) + shift)
    np.testing.assert_allclose(plain, shifted, atol=1e-9)
