"""Cluster intervals: effective numbers by hand, hand-offs to closed forms, no zero error, monotone near unanimity."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from evals.errors import StatisticsError
from evals.statistics import (
    PairedTable,
    Undefined,
    clopper_pearson,
    cluster_difference,
    cluster_proportion,
    sign_flip,
    tango,
)

Z = 1.959963984540054
T_9 = 2.2621571627409915
"""97.5 % quantile of t with 9 degrees of freedom (tables: 2.262)."""


def variance_of_mean(means):
    mean = sum(means) / len(means)
    return sum((m - mean) ** 2 for m in means) / (len(means) - 1) / len(means)


def test_the_effective_number_of_trials_by_hand():
    means = [0.25, 0.5, 0.5, 0.75, 0.5, 0.0, 1.0, 0.5, 0.0, 1.0]
    values = {f"w{k}": [1.0] * round(4 * mean) + [0.0] * (4 - round(4 * mean)) for k, mean in enumerate(means)}
    effective = 0.5 * 0.5 / variance_of_mean(means) * (Z / T_9) ** 2
    assert 10 < effective < 40
    interval = cluster_proportion(values)
    assert interval.estimate == pytest.approx(0.5)
    assert interval.low == pytest.approx(beta.ppf(0.025, effective / 2, effective / 2 + 1))
    assert interval.high == pytest.approx(1 - interval.low)
    assert (interval.method, interval.n) == ("Clopper–Pearson, effective n", 10)


def test_a_difference_is_taken_inside_each_cluster():
    shifts = [0, 1, 1, 2, 1, 0, 2, 2, 0, 1]
    pairs = {f"w{k}": [(1.0, 0.0)] * shift + [(1.0, 1.0)] * (2 - shift) for k, shift in enumerate(shifts)}
    effective = 0.5 * 0.5 / variance_of_mean([shift / 2 for shift in shifts]) * (Z / T_9) ** 2
    assert 10 < effective < 20
    interval = cluster_difference(pairs)
    table = PairedTable(both=effective / 2, left_only=effective / 2, right_only=0, neither=0)
    assert interval.estimate == pytest.approx(0.5)
    assert interval.low == pytest.approx(tango(table).low)
    assert interval.high == pytest.approx(tango(table).high)
    assert (interval.method, interval.n) == ("Tango score, effective n", 10)


def test_equal_trials_count_once_and_independent_ones_at_most_once_each():
    """Four copies of each trial say what one says, but for the degrees of freedom; means that agree gain nothing."""
    one = {f"w{k}": [float(k < 20)] for k in range(60)}
    copied = {name: trials * 4 for name, trials in one.items()}
    assert cluster_proportion(copied).low == pytest.approx(cluster_proportion(one).low, abs=0.004)
    assert cluster_proportion(copied).low < cluster_proportion(one).low
    alike = {f"w{k}": [1.0, 1.0, 0.0, 0.0] if k % 9 else [1.0, 1.0, 1.0, 0.0] for k in range(60)}
    total = sum(sum(trials) for trials in alike.values())
    assert cluster_proportion(alike).low == pytest.approx(clopper_pearson(total, 240).low)


def test_one_trial_a_cluster_is_the_closed_form():
    values = {f"w{k}": [float(k < 3)] for k in range(20)}
    assert cluster_proportion(values) == clopper_pearson(3, 20)
    pairs = {f"w{k}": [(float(k < 9), float(k < 2))] for k in range(20)}
    assert cluster_difference(pairs) == tango(PairedTable(both=2, left_only=7, right_only=0, neither=11))


def test_unanimity_counts_clusters_and_not_trials():
    values = {f"w{k}": [0.0] * 8 for k in range(25)}
    interval = cluster_proportion(values)
    assert interval.high == pytest.approx(clopper_pearson(0, 25).high)
    assert (interval.method, interval.n) == ("Clopper–Pearson on clusters", 25)


def test_one_event_is_no_better_news_than_none():
    none = {f"w{k}": [0.0] * 8 for k in range(25)}
    one = none | {"w0": [1.0] + [0.0] * 7}
    assert cluster_proportion(one).high >= cluster_proportion(none).high
    assert cluster_proportion(one).method == "Clopper–Pearson, effective n, no tighter than unanimity"


def test_a_few_worse_clusters_are_no_better_news_than_none():
    for worse in range(41):
        pairs = {f"w{k}": [(0.0, 1.0 if k < worse else 0.0), (0.0, 0.0)] for k in range(40)}
        assert cluster_difference(pairs).low <= tango(PairedTable(both=0, left_only=0, right_only=0, neither=40)).low


def test_the_same_mean_in_every_cluster_has_an_error():
    values = {f"w{k}": [1.0, 0.0] for k in range(25)}
    interval = cluster_proportion(values)
    assert interval.estimate == 0.5
    assert interval.high - interval.low > 0.3
    pairs = {f"w{k}": [(1.0, 0.0), (0.0, 0.0)] for k in range(25)}
    difference = cluster_difference(pairs)
    assert difference.estimate == 0.5
    assert difference.high - difference.low > 0.2


cluster_sizes = st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=6), min_size=1, max_size=12)


@settings(max_examples=150)
@given(cluster_sizes)
def test_no_zero_error_and_order_does_not_matter(lists):
    values = {f"w{k}": trials for k, trials in enumerate(lists)}
    interval = cluster_proportion(values)
    assert 0.0 <= interval.low <= interval.estimate <= interval.high <= 1.0
    assert interval.high - interval.low > 0.01
    assert cluster_proportion(dict(reversed(values.items()))) == interval
    pairs = {name: [(v, 1.0 - v if k % 2 else v) for k, v in enumerate(trials)] for name, trials in values.items()}
    difference = cluster_difference(pairs)
    assert difference.high - difference.low > 0.01
    assert cluster_difference(dict(reversed(pairs.items()))) == difference


def test_empty_clusters_and_empty_sets_are_undefined():
    assert cluster_proportion({}) == Undefined("no trial was scored")
    assert cluster_proportion({"w": []}) == Undefined("no trial was scored")
    assert isinstance(cluster_difference({"w": []}), Undefined)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.1, 1.1])
def test_values_outside_the_unit_interval_are_refused(bad):
    with pytest.raises(StatisticsError, match="'w7'"):
        cluster_proportion({"w7": [bad]})
    with pytest.raises(StatisticsError, match="'w7'"):
        cluster_difference({"w7": [(0.0, bad)]})


def test_sign_flip_is_exact_for_few_clusters():
    differences = [0.5, 0.25, -0.125, 0.75, 1.0]
    total = abs(sum(differences))
    flips = itertools.product((-1, 1), repeat=5)
    expected = sum(abs(sum(s * d for s, d in zip(row, differences, strict=True))) >= total for row in flips) / 32
    found = sign_flip(differences, seed=0)
    assert found.value == expected
    assert found.method == "exact sign-flip"


def test_sign_flip_on_equal_steps_is_the_binomial():
    assert sign_flip([0.5] * 6 + [0.0] * 4, seed=1).value == 2 / 64


def test_sign_flip_counts_many_clusters_exactly():
    differences = [1.0] * 13 + [-1.0] * 5 + [1 / 3, -1 / 3]
    exact = sum(
        math.comb(18, k) * ways
        for k in range(19)
        for ways, third in ((1, 2), (2, 0), (1, -2))
        if abs(3 * (2 * k - 18) + third) >= 24
    )
    found = sign_flip(differences, seed=7)
    assert found.value == exact / 2**20
    assert found.method == "exact sign-flip"


def test_sign_flip_off_the_grid_is_seeded_and_near_the_exact_value():
    differences = [math.sqrt(k + 2) / 5 * (-1 if k % 4 == 3 else 1) for k in range(16)]
    rows = (np.arange(2**16)[:, None] >> np.arange(16) & 1) * 2 - 1
    exact = float(np.mean(np.abs(rows @ np.array(differences)) >= sum(differences) - 1e-12))
    found = sign_flip(differences, seed=7, draws=20_000)
    assert found == sign_flip(differences, seed=7, draws=20_000)
    assert found.value != sign_flip(differences, seed=8, draws=20_000).value
    assert found.value == pytest.approx(exact, abs=0.006)
    assert found.method == "sign-flip, 20000 draws, seed 7"


def test_sign_flip_is_never_zero_and_refuses_what_is_no_number():
    uneven = [1.0 + k * math.pi * 1e-9 for k in range(40)]
    assert sign_flip(uneven, seed=3, draws=1_000).value >= 1 / 1_001
    assert isinstance(sign_flip([], seed=0), Undefined)
    assert sign_flip([0.0, 0.0], seed=0).value == 1.0
    for bad in (math.nan, math.inf):
        with pytest.raises(StatisticsError):
            sign_flip([0.5, bad], seed=0)
    with pytest.raises(StatisticsError, match="0 draws"):
        sign_flip([0.5] * 20, seed=0, draws=0)
