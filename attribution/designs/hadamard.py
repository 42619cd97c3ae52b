"""Hadamard matrices by Paley's two constructions and Kronecker products (Sylvester's among them).

Paley's come first: in Sylvester's the product of any three columns is another column, so one interaction of order three
falls whole on one unit; in Paley's it spreads over many (R. E. A. C. Paley, "On orthogonal matrices", 1933).
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from attribution.designs.galois import jacobsthal, prime_power
from attribution.errors import DesignError

_SYLVESTER = np.array([[1, 1], [1, -1]], dtype=np.int8)


def hadamard(order: int) -> NDArray[np.int8]:
    """``int8[order, order]`` of ±1 with ``H Hᵀ = order · I``, read-only.

    Raises:
        DesignError: an order that these constructions do not reach; the message names the next one that they do.
    """
    if not constructible(order):
        raise DesignError(
            f"no Hadamard matrix of order {order} by Paley or Kronecker; the next constructible order is "
            f"{next_order(max(order, 1))}"
        )
    return _build(order)


def next_order(columns: int) -> int:
    """The least constructible order with at least ``columns`` columns.

    Raises:
        DesignError: fewer than one column.
    """
    if columns < 1:
        raise DesignError(f"a design of {columns} columns is empty; a claim without units needs no design")
    order = columns
    while not constructible(order):
        order += 1
    return order


@cache
def constructible(order: int) -> bool:
    """Whether :func:`hadamard` reaches ``order``."""
    if order in (1, 2):
        return True
    if order < 1 or order % 4:
        return False
    return _paley_one(order) or _paley_two(order) or _factor(order) is not None


def _paley_one(order: int) -> bool:
    return order % 4 == 0 and prime_power(order - 1) is not None


def _paley_two(order: int) -> bool:
    q = order // 2 - 1
    return order % 4 == 0 and q % 4 == 1 and prime_power(q) is not None


def _factor(order: int) -> int | None:
    """The least ``a > 1`` such that ``a`` and ``order / a`` are both constructible."""
    return next(
        (a for a in range(2, int(order**0.5) + 1) if order % a == 0 and constructible(a) and constructible(order // a)),
        None,
    )


@lru_cache(maxsize=32)
def _build(order: int) -> NDArray[np.int8]:
    matrix = _construct(order)
    matrix.flags.writeable = False
    return matrix


def _construct(order: int) -> NDArray[np.int8]:
    if order == 1:
        return np.ones((1, 1), dtype=np.int8)
    if order == 2:  # noqa: PLR2004 - Sylvester's seed
        return _SYLVESTER.copy()
    if _paley_one(order):
        return np.eye(order, dtype=np.int8) + _bordered(order - 1, corner=-1)
    if _paley_two(order):
        conference = _bordered(order // 2 - 1, corner=1)
        turn = np.array([[1, -1], [-1, -1]], dtype=np.int8)
        return np.kron(conference, _SYLVESTER) + np.kron(np.eye(order // 2, dtype=np.int8), turn)
    a = _factor(order)
    assert a is not None, f"order {order} passed constructible() without a construction"
    return np.kron(_build(a), _build(order // a)).astype(np.int8)


def _bordered(q: int, corner: int) -> NDArray[np.int8]:
    """Jacobsthal's matrix with a border of ones, the column's sign ``corner``: skew for −1, symmetric for 1."""
    matrix = np.zeros((q + 1, q + 1), dtype=np.int8)
    matrix[0, 1:] = 1
    matrix[1:, 0] = corner
    matrix[1:, 1:] = jacobsthal(q)
    return matrix
