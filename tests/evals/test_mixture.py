"""Loss against gain: the mixture by hand, Fieller by a scan over shares, no zero width, and what no data can say."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.errors import StatisticsError
from evals.statistics import Interval, Undefined, break_even_share, cluster_difference, mixture


def side(left_only: int, right_only: int, n: int, start: int = 0):
    """One unit a wording, n wordings."""
    cells = [(1.0, 0.0)] * left_only + [(0.0, 1.0)] * right_only + [(1.0, 1.0)] * (n - left_only - right_only)
    return {f"w{start + k:03}": [cell] for k, cell in enumerate(cells)}


def test_the_mixture_by_hand():
    """Opposite ends are added in squares: (1 − π)(U − L) and π(G − l)."""
    loss, gain = side(6, 1, 40), side(18, 2, 40, start=40)
    found = mixture(loss, gain)
    assert not isinstance(found, Undefined)
    first, second = cluster_difference(loss), cluster_difference(gain)
    assert (found.loss, found.gain, found.opposed) == (first, second, 0.0)
    at = found.at(0.25)
    assert at.estimate == pytest.approx(0.75 * 5 / 40 - 0.25 * 16 / 40)
    above = math.hypot(0.75 * (first.high - first.estimate), 0.25 * (second.estimate - second.low))
    below = math.hypot(0.75 * (first.estimate - first.low), 0.25 * (second.high - second.estimate))
    assert at.high == pytest.approx(at.estimate + above)
    assert at.low == pytest.approx(at.estimate - below)
    assert at.method == "MOVER"


def test_the_share_holds_every_share_whose_cost_could_be_zero():
    found = mixture(side(8, 1, 40), side(18, 2, 40, start=40))
    share = found.break_even()
    assert isinstance(share, Interval)
    assert share.estimate == pytest.approx((7 / 40) / (7 / 40 + 16 / 40))
    inside = [k / 1000 for k in range(1001) if found.at(k / 1000).low <= 0.0 <= found.at(k / 1000).high]
    assert share.low == pytest.approx(inside[0], abs=1e-3)
    assert share.high == pytest.approx(inside[-1], abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(*[st.integers(0, 12)] * 4)
def test_the_bound_lies_below_a_half_only_if_half_wrong_ones_are_paid_for(lost, kept, gained, spoiled):
    found = mixture(side(lost, kept, 24), side(gained, spoiled, 24))
    share = found.break_even()
    if isinstance(share, Undefined):
        assert lost <= kept
        assert gained <= spoiled
        return
    assert 0.0 <= share.low <= share.estimate <= share.high <= 1.0
    assert (share.high < 0.5) == (found.at(0.5).high < 0.0 and found.at(1.0).high < 0.0)
    assert (share.low > 0.5) == (found.at(0.5).low > 0.0 and found.at(0.0).low > 0.0)
    assert share.high > share.low or share.low in (0.0, 1.0)  # cut off where the share would leave its range


def test_no_loss_at_all_still_has_a_width():
    share = break_even_share(side(0, 0, 40), side(16, 0, 40))
    assert (share.low, share.estimate) == (0.0, 0.0)
    assert 0.05 < share.high < 0.5


def test_without_a_gain_nothing_pays():
    share = break_even_share(side(10, 0, 40), side(0, 0, 40))
    assert (share.estimate, share.high) == (1.0, 1.0)
    assert share.low > 0.5
    assert break_even_share(side(0, 3, 40), side(0, 2, 40)) == Undefined(
        "neither a gain nor a loss: nothing breaks even"
    )


def test_clusters_that_lose_more_and_gain_less_widen_the_interval():
    names = [f"w{k}" for k in range(40)]
    loses = {name: [(1.0, 0.0) if k < 12 else (1.0, 1.0)] for k, name in enumerate(names)}
    same = {name: [(1.0, 0.0) if k < 20 else (1.0, 1.0)] for k, name in enumerate(names)}
    other = {name: [(1.0, 1.0) if k < 20 else (1.0, 0.0)] for k, name in enumerate(names)}
    together, opposed = mixture(loses, same), mixture(loses, other)
    assert together.opposed == 0.0
    assert opposed.opposed == pytest.approx(math.sqrt(12 * 20 / (28 * 20)))
    assert opposed.at(0.5).high > together.at(0.5).high


def test_no_population_is_undefined_and_bad_values_are_refused():
    assert break_even_share({}, side(1, 0, 5)) == Undefined("no scenario was scored in both arms")
    assert break_even_share(side(1, 0, 5), {"w": []}) == Undefined("no scenario was scored in both arms")
    with pytest.raises(StatisticsError, match="'w1'"):
        break_even_share(side(1, 0, 5), {"w1": [(math.nan, 0.0)]})
    with pytest.raises(StatisticsError, match=r"share 1\.5"):
        mixture(side(1, 0, 5), side(1, 0, 5)).at(1.5)
