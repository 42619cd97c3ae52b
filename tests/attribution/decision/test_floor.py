import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.decision.floor import FinalStatistic, Floor, Undefined, calibrate, rank
from attribution.errors import DecisionError


@given(n=st.integers(1, 100_000))
@settings(max_examples=200)
def test_rank_is_the_ceiling_of_95_percent(n):
    assert rank(n) == math.ceil(95 * (n + 1) / 100)


def test_the_floor_is_the_190th_smallest_of_199():
    null = [FinalStatistic(i / 10, i / 5) for i in range(1, 200)]
    floor = calibrate(null[::-1])
    assert floor == Floor(tau=19.0, tau_total=38.0, n=199, status="shipped")


def test_few_null_claims_are_provisional_and_fewer_define_nothing():
    null = [FinalStatistic(float(i), 0.0) for i in range(1, 20)]
    assert calibrate(null) == Floor(tau=19.0, tau_total=0.5, n=19, status="provisional")
    undefined = calibrate(null[:18])
    assert isinstance(undefined, Undefined)
    assert "18" in undefined.reason
    assert isinstance(calibrate(), Undefined)


def test_a_floor_is_never_under_half_a_nat():
    assert calibrate([FinalStatistic(0.0, -3.0)] * 199) == Floor(0.5, 0.5, 199, "shipped")


def test_the_worst_family_sets_the_floor():
    plain = [FinalStatistic(1.0, 1.0)] * 100
    naming = [FinalStatistic(float(i), 0.0) for i in range(1, 100)]
    assert calibrate(plain, naming) == Floor(tau=95.0, tau_total=1.0, n=199, status="shipped")
    assert isinstance(calibrate(plain, naming[:18]), Undefined)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_another_null_claim_exceeds_the_floor_about_one_time_in_twenty(seed):
    draw = np.random.default_rng(seed)
    floor = calibrate([(x, x) for x in draw.gamma(2.0, 2.0, size=199)])
    exceeded = np.mean(draw.gamma(2.0, 2.0, size=4000) >= floor.tau)
    # The exceedance of one calibration is Beta(10, 190): its 1 − 10⁻⁵ quantile is 0.13.
    assert exceeded < 0.13


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.4, 1.0, 199, "shipped"), "under 0.5"),
        ((1.0, math.nan, 199, "shipped"), "under 0.5"),
        ((1.0, 1.0, 198, "shipped"), "198 null claims"),
        ((1.0, 1.0, 199, "provisional"), "199 null claims"),
        ((1.0, 1.0, 18, "provisional"), "18 null claims"),
    ],
)
def test_floors_that_no_calibration_gives_are_refused(arguments, message):
    with pytest.raises(DecisionError, match=message):
        Floor(*arguments)


def test_statistics_must_be_finite():
    with pytest.raises(DecisionError, match="not finite"):
        calibrate([(math.inf, 0.0)] * 19)
