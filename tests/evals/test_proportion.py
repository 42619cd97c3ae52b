"""Clopper–Pearson and Wilson against direct tail enumeration and the score equation."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.errors import StatisticsError
from evals.statistics import Interval, Undefined, clopper_pearson, clopper_pearson_bound, wilson


def upper_tail(events: int, n: int, p: float) -> float:
    """P(X ≥ events) by enumeration."""
    return math.fsum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(events, n + 1))


def bisect(increasing, target: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(middle) < target else (low, middle)
    return (low + high) / 2


@pytest.mark.parametrize("n", [1, 2, 7, 12, 24, 40])
def test_clopper_pearson_inverts_the_binomial_tails(n):
    for events in range(n + 1):
        interval = clopper_pearson(events, n)
        assert isinstance(interval, Interval)
        low = 0.0 if events == 0 else bisect(lambda p, e=events: upper_tail(e, n, p), 0.025)
        high = 1.0 if events == n else bisect(lambda p, e=events: upper_tail(e + 1, n, p), 0.975)
        assert interval.low == pytest.approx(low, abs=1e-9)
        assert interval.high == pytest.approx(high, abs=1e-9)
        assert (interval.method, interval.n, interval.level) == ("Clopper–Pearson", n, 0.95)


def test_one_sided_bound_is_the_end_of_the_two_sided_interval():
    upper = clopper_pearson_bound(3, 30, side="upper")
    lower = clopper_pearson_bound(3, 30, side="lower")
    both = clopper_pearson(3, 30)
    assert (upper.low, upper.high) == (0.0, pytest.approx(both.high, abs=1e-12))
    assert (lower.low, lower.high) == (pytest.approx(both.low, abs=1e-12), 1.0)
    assert upper.level == pytest.approx(0.975)


def test_nothing_in_24_does_not_exclude_a_tenth():
    assert clopper_pearson(0, 24).high == pytest.approx(1 - 0.025 ** (1 / 24), abs=1e-12)
    assert clopper_pearson(0, 35).high > 0.10 > clopper_pearson(0, 36).high


@pytest.mark.parametrize("n", [1, 5, 24, 100])
def test_wilson_solves_the_score_equation(n):
    z2 = 1.959963984540054**2
    for events in range(n + 1):
        interval = wilson(events, n)
        p = events / n
        for end in (interval.low, interval.high):
            assert n * (p - end) ** 2 == pytest.approx(z2 * end * (1 - end), abs=1e-9)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_proportion_never_has_a_zero_error(counts):
    events, n = counts
    for interval in (clopper_pearson(events, n), wilson(events, n)):
        assert 0.0 <= interval.low <= events / n <= interval.high <= 1.0
        assert interval.high - interval.low > 1 / (n + 5)


def test_no_data_is_a_value_and_not_zero():
    for result in (clopper_pearson(0, 0), clopper_pearson_bound(0, 0, side="upper"), wilson(0, 0)):
        assert result == Undefined("no trial was scored")


@pytest.mark.parametrize("events", [math.nan, math.inf, -math.inf, -1, 6])
def test_impossible_counts_are_refused_by_value(events):
    with pytest.raises(StatisticsError, match=str(events)):
        clopper_pearson(events, 5)
    with pytest.raises(StatisticsError):
        wilson(events, 5)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, math.nan])
def test_impossible_levels_are_refused(level):
    with pytest.raises(StatisticsError):
        clopper_pearson(1, 5, level=level)
