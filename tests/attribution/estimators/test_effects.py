import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.designs import cube, foldover, foldover_pair
from attribution.errors import DecisionError
from attribution.estimators import (
    banzhaf,
    banzhaf_interactions,
    leave_one_out_effects,
    main_effects,
    paired_effects,
    shapley,
    shapley_interactions,
)
from attribution.games.background import Background
from attribution.games.planted import single


class Table:
    """A game whose scores are a polynomial in ±1 presence."""

    def __init__(self, units, terms):
        self.units = units
        self.terms = terms

    def values(self, states):
        x = np.where(states == 1, 1.0, -1.0)
        return sum((c * np.prod(x[:, list(term)], axis=1) for term, c in self.terms.items()), np.zeros(len(x)))


def order_two(units, seed):
    draw = np.random.default_rng(seed)
    terms = {term: draw.normal(0, 20) for r in (0, 1, 2) for term in itertools.combinations(range(units), r)}
    return Table(units, terms)


@given(units=st.integers(1, 40), seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_foldover_is_exact_for_games_of_order_two(units, seed):
    game = order_two(units, seed)
    design = foldover(units, seed)
    found = main_effects(design.states, game.values(design.states))
    assert np.max(np.abs(found - [2 * game.terms[(i,)] for i in range(units)])) < 1e-9


@given(units=st.integers(4, 30), seed=st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_order_two_games_have_no_spread(units, seed):
    game = order_two(units, seed)
    one, two = foldover_pair(units, seed)
    effects = [main_effects(d.states, game.values(d.states)) for d in (one, two)]
    paired = paired_effects(*effects, exact=False, confidence=0.9)
    assert paired.spread < 1e-9
    assert paired.margin < 1e-9


def test_spread_and_margin_by_hand():
    paired = paired_effects(np.array([1.0, 2.0]), np.array([3.0, 2.0]), exact=False, confidence=0.9)
    assert paired.mean.tolist() == [2.0, 2.0]
    assert paired.spread == pytest.approx(math.sqrt(4 / 8))
    assert paired.margin == pytest.approx(2.919985580355516 * math.sqrt(0.5))
    assert paired.lower().tolist() == [1.0, 2.0]
    assert paired.upper().tolist() == [3.0, 2.0]


def test_one_design_has_no_interval_unless_it_is_exact():
    e = np.array([1.0])
    assert paired_effects(e, None, exact=False, confidence=0.9).margin is None
    assert paired_effects(e, None, exact=True, confidence=0.9).margin == 0.0


def test_the_cube_gives_banzhaf_and_shapley():
    """Majority of three, by hand: each unit decides 2 of the 4 subsets of the others, and a third of all orders."""
    states = cube(3).states
    values = (states.sum(axis=1) >= 2).astype(np.float64)
    assert banzhaf(values).tolist() == [0.5, 0.5, 0.5]
    assert shapley(values) == pytest.approx([1 / 3] * 3)
    assert main_effects(states, values) == pytest.approx([0.5] * 3)


def test_banzhaf_and_shapley_differ_where_they_should():
    """``a or (b and c)``."""
    states = cube(3).states.astype(bool)
    values = (states[:, 0] | (states[:, 1] & states[:, 2])).astype(np.float64)
    assert banzhaf(values).tolist() == [0.75, 0.25, 0.25]
    assert shapley(values) == pytest.approx([2 / 3, 1 / 6, 1 / 6])


@given(units=st.integers(1, 7), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_shapley_is_efficient_and_banzhaf_is_the_main_effect(units, seed):
    values = np.random.default_rng(seed).normal(0, 10, 2**units)
    assert shapley(values).sum() == pytest.approx(values[-1] - values[0])
    assert banzhaf(values) == pytest.approx(main_effects(cube(units).states, values))


def subsets(units):
    return [frozenset(chosen) for r in range(len(units) + 1) for chosen in itertools.combinations(sorted(units), r)]


@given(units=st.integers(1, 5), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_values_and_interactions_are_those_of_their_definitions(units, seed):
    """Shapley by all orders, Banzhaf by all subsets, interactions by second differences with their textbook weights."""
    values = np.random.default_rng(seed).normal(0, 10, 2**units)

    def worth(members):
        return float(values[sum(1 << unit for unit in members)])

    orders = list(itertools.permutations(range(units)))
    own_shapley = [
        sum(worth({*order[: order.index(i)], i}) - worth(order[: order.index(i)]) for order in orders) / len(orders)
        for i in range(units)
    ]
    own_banzhaf = [np.mean([worth(s | {i}) - worth(s) for s in subsets(set(range(units)) - {i})]) for i in range(units)]
    assert shapley(values) == pytest.approx(own_shapley, abs=1e-9)
    assert banzhaf(values) == pytest.approx(own_banzhaf, abs=1e-9)
    both = np.zeros((2, units, units))
    np.fill_diagonal(both[0], own_shapley)
    np.fill_diagonal(both[1], own_banzhaf)
    for i, j in itertools.permutations(range(units), 2):
        for s in subsets(set(range(units)) - {i, j}):
            second = worth(s | {i, j}) - worth(s | {i}) - worth(s | {j}) + worth(s)
            orderings = math.factorial(len(s)) * math.factorial(units - len(s) - 2) / math.factorial(units - 1)
            both[0, i, j] += second * orderings
            both[1, i, j] += second / 2 ** (units - 2)
    assert shapley_interactions(values) == pytest.approx(both[0], abs=1e-9)
    assert banzhaf_interactions(values) == pytest.approx(both[1], abs=1e-9)


def test_values_and_interactions_are_those_of_the_peer():
    from shapiq.game_theory.exact import ExactComputer

    states = cube(6).states.astype(bool)
    values = np.random.default_rng(5).normal(0, 10, 64)

    def game(coalitions):
        return values[coalitions.astype(np.int64) @ (1 << np.arange(6))]

    peer = ExactComputer(n_players=6, game=game)
    assert game(states).tolist() == values.tolist()
    for index, ours in (("SII", shapley_interactions(values)), ("BII", banzhaf_interactions(values))):
        theirs = peer(index, order=2)
        for pair in itertools.combinations(range(6), 2):
            assert ours[pair] == pytest.approx(theirs[pair], abs=1e-9)
    for index, ours in (("SV", shapley(values)), ("BV", banzhaf(values))):
        theirs = peer(index, order=1)
        assert ours == pytest.approx([theirs[(unit,)] for unit in range(6)], abs=1e-9)


def test_interactions_of_a_pair_by_hand():
    """``a and b``, eight nats: together they add eight more than apart; a third unit adds nothing to anything."""
    values = 8.0 * cube(3).states[:, :2].all(axis=1)
    expected = np.array([[4.0, 8.0, 0.0], [8.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    assert shapley_interactions(values) == pytest.approx(expected)
    assert banzhaf_interactions(values) == pytest.approx(expected)


def test_leave_one_out_is_blind_to_redundant_support():
    class EitherOf:
        units = 3

        def values(self, states):
            return 5.0 * (states[:, :2] == 1).any(axis=1) + 2.0 * (states[:, 2] == 1)

    assert leave_one_out_effects(EitherOf()).tolist() == [0.0, 0.0, 2.0]


def test_no_units_no_effects():
    assert banzhaf(np.array([3.0])).shape == (0,)
    assert shapley_interactions(np.array([3.0])).shape == (0, 0)
    assert main_effects(cube(0).states, np.array([3.0])).shape == (0,)


def test_refusals():
    with pytest.raises(DecisionError, match="half present"):
        main_effects(np.ones((2, 2), dtype=np.uint8), np.zeros(2))
    with pytest.raises(DecisionError, match="full cube"):
        banzhaf(np.zeros(3))
    with pytest.raises(DecisionError, match="confidence"):
        paired_effects(np.zeros(1), np.zeros(1), exact=False, confidence=1.0)
    with pytest.raises(DecisionError, match="pair"):
        paired_effects(np.zeros(1), np.zeros(2), exact=False, confidence=0.9)


def covered(units, seeds):
    """Units whose 90 % interval holds their true effect, over games of a single cause and odd interactions."""
    hits = width = 0
    for seed in seeds:
        background = Background(units, seed)
        game = single(units, 6.0).over(background)
        truth = background.main_effects() + 6.0 * (np.arange(units) == 0)
        effects = [main_effects(design.states, game.values(design.states)) for design in foldover_pair(units, seed)]
        paired = paired_effects(*effects, exact=False, confidence=0.9)
        hits += int(np.sum(np.abs(paired.mean - truth) <= paired.margin))
        width += 2 * paired.margin
    return hits / (units * len(seeds)), width / len(seeds)


@pytest.mark.parametrize("units", [8, 14, 20])
def test_intervals_cover_on_games_with_odd_interactions(units):
    coverage, width = covered(units, range(100))
    assert 0.88 <= coverage <= 0.93
    assert width < 0.7
