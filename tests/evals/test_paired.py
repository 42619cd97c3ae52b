"""Tango, Newcombe and McNemar against direct likelihood maximisation and enumeration."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from evals.errors import StatisticsError
from evals.statistics import PairedTable, Undefined, mcnemar_exact, newcombe, tango

Z = 1.959963984540054


def table(left_only, right_only, n, both=0):
    return PairedTable(both=both, left_only=left_only, right_only=right_only, neither=n - left_only - right_only - both)


def profile_score(left: int, right: int, n: int, delta: float) -> float:
    """The score statistic with the nuisance found by maximising the trinomial likelihood numerically."""

    def minus_log_likelihood(q: float) -> float:
        cells = ((left, q + delta), (right, q), (n - left - right, 1 - 2 * q - delta))
        return -sum(count * math.log(max(p, 1e-300)) for count, p in cells if count)

    low, high = max(0.0, -delta), (1 - delta) / 2
    found = minimize_scalar(minus_log_likelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-13})
    q = min((low, high, found.x), key=minus_log_likelihood)
    return (left - right - n * delta) / math.sqrt(n * (2 * q + delta - delta**2))


@pytest.mark.parametrize(
    ("left", "right", "n"), [(12, 2, 50), (5, 0, 20), (1, 1, 12), (3, 9, 40), (0, 7, 25), (10, 10, 24)]
)
def test_tango_is_the_root_of_the_profile_score(left, right, n):
    interval = tango(table(left, right, n))
    d = (left - right) / n
    low = brentq(lambda x: profile_score(left, right, n, x) - Z, -1 + 1e-9, d - 1e-9)
    high = brentq(lambda x: profile_score(left, right, n, x) + Z, d + 1e-9, 1 - 1e-9)
    assert interval.low == pytest.approx(low, abs=2e-6)
    assert interval.high == pytest.approx(high, abs=2e-6)
    assert (interval.method, interval.n) == ("Tango score", n)


def test_published_example_of_fifty_pairs():
    example = PairedTable(both=36, left_only=12, right_only=2, neither=0)
    assert tango(example).low == pytest.approx(0.0611, abs=5e-5)
    assert tango(example).high == pytest.approx(0.3447, abs=5e-5)
    assert newcombe(example).low == pytest.approx(0.0569, abs=5e-5)
    assert newcombe(example).high == pytest.approx(0.3404, abs=5e-5)


def wilson_ends(events: int, n: int) -> tuple[float, float]:
    """Roots of the score equation n(p − x)² = z²x(1 − x), by bisection on either side of p."""
    p = events / n

    def distance(x: float) -> float:
        return n * (p - x) ** 2 - Z**2 * x * (1 - x)

    low = 0.0 if events == 0 else brentq(distance, 0.0, p - 1e-9)
    high = 1.0 if events == n else brentq(distance, p + 1e-9, 1.0)
    return low, high


@pytest.mark.parametrize(
    ("both", "left", "right", "neither"),
    [(36, 12, 2, 0), (20, 3, 9, 8), (0, 7, 0, 18), (5, 5, 5, 5), (1, 0, 0, 23), (10, 0, 0, 0), (2, 9, 1, 30)],
)
def test_newcombe_from_the_ends_of_two_score_equations(both, left, right, neither):
    """Method 10 as published: φ = (ad − max(bc, …))/√(margins), the numerator corrected by n/2 where it is positive."""
    n = both + left + right + neither
    first, second = wilson_ends(both + left, n), wilson_ends(both + right, n)
    p, q = (both + left) / n, (both + right) / n
    margins = (both + left) * (right + neither) * (both + right) * (left + neither)
    cross = both * neither - left * right
    cross = max(cross - n / 2, 0) if cross > 0 else cross
    phi = cross / math.sqrt(margins) if margins else 0.0

    def distance(one: float, other: float) -> float:
        return math.sqrt(one**2 - 2 * phi * one * other + other**2)

    found = newcombe(PairedTable(both=both, left_only=left, right_only=right, neither=neither))
    assert found.low == pytest.approx(p - q - distance(p - first[0], second[1] - q), abs=1e-9)
    assert found.high == pytest.approx(p - q + distance(first[1] - p, q - second[0]), abs=1e-9)


@pytest.mark.parametrize("n", [1, 12, 40, 200])
def test_no_discordance_still_has_a_width(n):
    interval = tango(table(0, 0, n, both=n))
    assert interval.high == pytest.approx(Z**2 / (n + Z**2), abs=1e-9)
    assert interval.low == pytest.approx(-(Z**2) / (n + Z**2), abs=1e-9)


def test_identical_arms_need_73_units_to_exclude_a_twentieth():
    assert tango(table(0, 0, 72)).high > 0.05 > tango(table(0, 0, 73)).high


def test_all_pairs_discordant_one_way():
    for n in (1, 25, 40):
        assert tango(table(n, 0, n)).high == 1.0
        assert tango(table(0, n, n)).low == -1.0
    assert tango(table(0, 40, 40)).high == pytest.approx(-0.824757, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_swapping_the_arms_negates_every_interval(both, left, right, neither):
    forward = PairedTable(both=both, left_only=left, right_only=right, neither=neither)
    backward = PairedTable(both=both, left_only=right, right_only=left, neither=neither)
    if forward.n == 0:
        assert isinstance(tango(forward), Undefined)
        return
    for method in (tango, newcombe):
        assert method(forward).low == pytest.approx(-method(backward).high, abs=1e-9)
        assert method(forward).high - method(forward).low > 0.0
    assert mcnemar_exact(forward).value == mcnemar_exact(backward).value


@pytest.mark.parametrize("method", [tango, newcombe])
def test_coverage_by_enumeration_of_every_table(method):
    """Exact coverage at n = 14 over a grid of truths: both are approximate, neither may fall far below its level."""
    n = 14
    intervals = {}
    for left in range(n + 1):
        for right in range(n + 1 - left):
            for both in range(n + 1 - left - right):
                found = method(table(left, right, n, both=both))
                intervals[both, left, right] = (found.low, found.high)
    for p11, p10, p01 in ((0.2, 0.3, 0.1), (0.6, 0.2, 0.1), (0.1, 0.45, 0.05), (0.3, 0.15, 0.15)):
        covered = 0.0
        p00 = 1 - p11 - p10 - p01
        for (both, left, right), (low, high) in intervals.items():
            if low <= p10 - p01 <= high:
                ways = math.comb(n, both) * math.comb(n - both, left) * math.comb(n - both - left, right)
                covered += ways * p11**both * p10**left * p01**right * p00 ** (n - both - left - right)
        assert covered > 0.925, (p11, p10, p01)


def test_mcnemar_by_enumeration_of_every_assignment():
    for left in range(7):
        for right in range(7):
            discordant = left + right
            probability = [math.comb(discordant, k) / 2**discordant for k in range(discordant + 1)]
            expected = sum(p for p in probability if p <= probability[left] * (1 + 1e-12))
            found = mcnemar_exact(table(left, right, 20))
            assert found.value == pytest.approx(min(1.0, expected), abs=1e-12)
            assert found.n == discordant


def test_six_of_six_is_a_thirty_second():
    assert mcnemar_exact(table(6, 0, 10)).value == pytest.approx(1 / 32)


def test_no_pairs_is_undefined_and_bad_cells_are_refused():
    empty = PairedTable(both=0, left_only=0, right_only=0, neither=0)
    for method in (tango, newcombe, mcnemar_exact):
        assert method(empty) == Undefined("no scenario was scored in both arms")
    for bad in (math.nan, math.inf, -1):
        with pytest.raises(StatisticsError, match="left_only"):
            PairedTable(both=0, left_only=bad, right_only=0, neither=1)
    with pytest.raises(StatisticsError, match="not whole"):
        mcnemar_exact(table(0.5, 0, 3))


def test_pairs_are_counted_by_cell():
    pairs = [(True, True), (True, False), (True, False), (False, True), (False, False)]
    assert PairedTable.of(pairs) == PairedTable(both=1, left_only=2, right_only=1, neither=1)
