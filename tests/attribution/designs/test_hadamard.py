import numpy as np
import pytest

from attribution.designs.galois import jacobsthal, prime_power
from attribution.designs.hadamard import constructible, hadamard, next_order
from attribution.errors import DesignError

UNREACHED = [92, 116, 156, 172, 184, 188, 232, 236]
"""Multiples of four up to 256 that Paley's constructions and their products do not reach."""


@pytest.mark.parametrize("above", range(0, 1024, 128))
def test_every_claimed_order_is_orthogonal(above):
    """Up to 1,024; float32 is exact for sums this small, and its product is fast."""
    for order in filter(constructible, range(above + 1, above + 129)):
        matrix = hadamard(order).astype(np.float32)
        assert np.all(np.abs(matrix) == 1), order
        assert np.array_equal(matrix @ matrix.T, order * np.eye(order, dtype=np.float32)), order


def test_only_the_known_multiples_of_four_are_out_of_reach():
    assert [n for n in range(4, 257, 4) if not constructible(n)] == UNREACHED


def test_two_hundred_orders_up_to_1024_leave_few_columns_spare():
    """Of the 256 multiples of four, 58 are out of reach; a design never has more than eleven columns that no unit uses."""
    assert sum(constructible(order) for order in range(1, 1025)) == 200
    assert max(next_order(units) - units for units in range(1, 1025)) == 11


@pytest.mark.parametrize(
    ("columns", "order"),
    [(1, 1), (2, 2), (3, 4), (5, 8), (13, 16), (14, 16), (21, 24), (92, 96), (129, 132), (256, 256)],
)
def test_next_order(columns, order):
    assert next_order(columns) == order


def test_orders_out_of_reach_name_the_next_one():
    with pytest.raises(DesignError, match=r"order 92 .* 96"):
        hadamard(92)
    with pytest.raises(DesignError, match="0 columns"):
        next_order(0)


def test_paley_is_preferred_to_sylvester():
    """In Sylvester's matrix of order 32 any three columns multiply to a fourth; in Paley's none do."""
    matrix = hadamard(32).astype(np.int64)
    product = matrix[:, 0] * matrix[:, 1] * matrix[:, 2]
    assert np.abs(product @ matrix).max() < 32


@pytest.mark.parametrize(
    ("q", "factors"), [(2, (2, 1)), (9, (3, 2)), (243, (3, 5)), (97, (97, 1)), (12, None), (1, None)]
)
def test_prime_power(q, factors):
    assert prime_power(q) == factors


@pytest.mark.parametrize("q", [5, 7, 9, 25, 27, 49])
def test_jacobsthal_rows_are_balanced_and_orthogonal_up_to_one(q):
    matrix = jacobsthal(q).astype(np.int64)
    assert np.all(matrix.sum(axis=1) == 0)
    assert np.array_equal(matrix @ matrix.T, q * np.eye(q, dtype=np.int64) - np.ones((q, q), dtype=np.int64))
    assert np.array_equal(matrix.T, matrix if q % 4 == 1 else -matrix)
