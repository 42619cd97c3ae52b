"""Holm step by step; the largest p decides an intersection–union."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from evals.errors import StatisticsError
from evals.statistics import Interval, PValue, Undefined, holm, intersection_union


def p(value: float) -> PValue:
    return PValue(value=value, method="exact McNemar", n=9)


def by_definition(values):
    """The largest, over all hypotheses no less significant than this one, of p times how many are no more significant."""

    def factor(k):
        return sum((other, j) >= (values[k], k) for j, other in enumerate(values))

    return [
        min(1.0, max(factor(k) * values[k] for k in range(len(values)) if (values[k], k) <= (value, i)))
        for i, value in enumerate(values)
    ]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_steps_down(values):
    assert [found.value for found in holm([p(v) for v in values])] == pytest.approx(by_definition(values))


def test_holm_is_what_statsmodels_gives():
    values = [0.04, 0.001, 0.3, 0.02, 0.02]
    assert [found.value for found in holm([p(v) for v in values])] == pytest.approx(
        multipletests(values, method="holm")[1]
    )


def test_one_p_value_that_stands_twice_counts_twice():
    same = p(0.01)
    assert [found.value for found in holm([same, same, p(0.5)])] == [0.03, 0.03, 0.5]


def test_holm_keeps_undefined_and_does_not_count_it():
    gap = Undefined("no scenario was scored in both arms")
    found = holm([p(0.01), gap, p(0.03)])
    assert found[1] is gap
    assert (found[0].value, found[2].value) == (0.02, 0.03)
    assert found[0].method == "exact McNemar, Holm over 2"
    assert holm([gap]) == (gap,)
    assert holm([]) == ()


def test_intersection_union_is_the_largest():
    assert intersection_union([p(0.01), p(0.04), p(0.02)]).value == 0.04
    gap = Undefined("nothing")
    assert intersection_union([p(0.01), gap]) is gap
    assert isinstance(intersection_union([]), Undefined)


def test_results_refuse_what_they_cannot_be():
    for bad in (float("nan"), 1.5, -0.1):
        with pytest.raises(StatisticsError):
            p(bad)
    for low, high, estimate in ((0.5, 0.1, 0.3), (0.1, 0.5, 0.9), (float("nan"), 1.0, 0.5)):
        with pytest.raises(StatisticsError):
            Interval(low=low, high=high, method="Wilson", n=3, level=0.95, estimate=estimate)
