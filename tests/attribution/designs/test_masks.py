import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.designs import bernoulli, cube, foldover, foldover_pair, keep_one, leave_one_out, next_order, screen
from attribution.errors import DesignError


def signs(design):
    return 2 * design.states.astype(np.int64) - 1


@given(units=st.integers(1, 100), seed=st.integers(0, 2**20))
@settings(max_examples=60, deadline=None)
def test_foldover_columns_are_orthogonal_and_rows_come_with_their_complement(units, seed):
    design = foldover(units, seed)
    x = signs(design)
    runs = 2 * next_order(units)
    assert design.states.shape == (runs, units)
    assert np.array_equal(x.T @ x, runs * np.eye(units, dtype=np.int64))
    assert np.array_equal(x[0::2], -x[1::2])
    assert np.all(x.sum(axis=0) == 0)


@given(units=st.integers(1, 40), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_foldover_keeps_main_effects_clear_of_pairs(units, seed):
    x = signs(foldover(units, seed))
    pairs = np.array([x[:, i] * x[:, j] for i, j in itertools.combinations(range(min(units, 12)), 2)])
    assert pairs.size == 0 or np.all(pairs @ x == 0)


def test_a_design_is_a_function_of_its_seed():
    assert np.array_equal(foldover(14, 3).states, foldover(14, 3).states)
    assert not np.array_equal(foldover(14, 3).states, foldover(14, 4).states)
    assert foldover(3, 7).states.tolist() == foldover(3, 7).states.tolist()


@given(units=st.integers(4, 80), seed=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_the_second_foldover_shares_at_most_half_its_masks(units, seed):
    first, second = foldover_pair(units, seed)
    shared = set(map(bytes, first.states)) & set(map(bytes, second.states))
    assert sum(bytes(row) in shared for row in second.states) <= len(second.states) / 2


@pytest.mark.parametrize("units", [1, 2, 3])
def test_two_foldovers_that_are_both_the_cube_are_refused(units):
    with pytest.raises(DesignError, match="use the cube"):
        foldover_pair(units, 0)


def test_cube_lists_every_mask_once():
    assert cube(0).states.shape == (1, 0)
    assert cube(1).states.tolist() == [[0], [1]]
    assert cube(2).states.tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert len(set(map(bytes, cube(6).states))) == 64
    with pytest.raises(DesignError, match="17 units"):
        cube(17)


@pytest.mark.parametrize(
    "build",
    [
        lambda: foldover(0, 1),
        lambda: leave_one_out(-1),
        lambda: keep_one(-1),
        lambda: bernoulli(3, 0, 1),
        lambda: screen(0, 1),
    ],
)
def test_designs_that_cannot_be_are_refused(build):
    with pytest.raises(DesignError):
        build()


def test_one_and_two_units():
    assert sorted(foldover(1, 0).states.tolist()) == [[0], [1]]
    assert sorted(foldover(2, 0).states.tolist()) == [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_leave_one_out_and_keep_one():
    assert leave_one_out(3).states.tolist() == [[1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert keep_one(2).states.tolist() == [[0, 0], [1, 0], [0, 1]]
    assert leave_one_out(0).states.shape == (1, 0)


def test_bernoulli_is_the_peers_stream():
    """Masks of context-cite 0.0.4's `_create_mask` for seeds 0 to 3, seven sources, keep 0.5."""
    assert bernoulli(7, 4, 0).states.tolist() == [
        [1, 1, 1, 1, 0, 1, 0],
        [0, 1, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 0],
        [1, 1, 0, 1, 1, 1, 0],
    ]


def test_head_keeps_rows_and_orthogonality():
    design = foldover(14, 5)
    x = signs(design.head(9))
    assert np.array_equal(x.T @ x, 32 * np.eye(9, dtype=np.int64))
    with pytest.raises(DesignError, match="15 units"):
        design.head(15)


@given(units=st.integers(1, 1000), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_a_screening_asks_about_each_half_both_ways_round(units, seed):
    states = screen(units, seed).states
    assert len(states) == 8 * max(1, (units - 1).bit_length())
    assert set(np.unique(states)) <= {1, 2}
    assert np.array_equal(states[0::2], 3 - states[1::2])
    assert np.all((states[0::2] == 1).sum(axis=1) == units // 2)


@pytest.mark.parametrize(("units", "runs"), [(2, 8), (129, 64), (500, 72), (1000, 80)])
def test_the_cost_of_a_screening_is_eight_logarithms(units, runs):
    assert screen(units, 0).states.shape == (runs, units)


def test_screenings_differ_by_seed_and_no_two_units_share_a_column():
    one, other = screen(1000, 0).states, screen(1000, 1).states
    assert np.array_equal(one, screen(1000, 0).states)
    assert not np.array_equal(one, other)
    assert len({bytes(column) for column in one.T}) == 1000


def test_a_design_within_a_wider_context_leaves_the_rest_present():
    wide = cube(2).within(5, (3, 1))
    assert wide.states.tolist() == [[1, 0, 1, 0, 1], [1, 0, 1, 1, 1], [1, 1, 1, 0, 1], [1, 1, 1, 1, 1]]
    assert wide.name == "cube"


@pytest.mark.parametrize("columns", [(0,), (0, 0), (0, 5), (0, 1, 2)])
def test_columns_that_cannot_hold_a_design_are_refused(columns):
    with pytest.raises(DesignError, match="name each unit once"):
        cube(2).within(5, columns)


def test_a_repeated_mask_is_run_once():
    head = foldover(14, 5).head(2)
    assert len(head.states) == 32
    assert sorted(map(tuple, head.distinct())) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert head.distinct()[0].tolist() == head.states[0].tolist()


def test_states_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        cube(2).states[0, 0] = 1
