"""Exact power indices and pairwise interactions from a full cube, in nats.

Banzhaf: the mean marginal contribution over all subsets of the others. Shapley: the mean over all orders. The interaction of
two units is the same mean of what each adds to the marginal contribution of the other (Grabisch & Roubens, "An axiomatic
approach to the concept of interaction among players in cooperative games", 1999).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from attribution.errors import DecisionError


def banzhaf(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """``float64[unit]`` from ``float64[2^unit]``, values in the row order of ``designs.cube``.

    Raises:
        DecisionError: a number of values that is no power of two.
    """
    marginals = _marginals(values)
    return np.array([column.mean() for column, _ in marginals], dtype=np.float64)


def shapley(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """``float64[unit]``, as :func:`banzhaf`; the values sum to ``v(everything) − v(nothing)``.

    Raises:
        DecisionError: a number of values that is no power of two.
    """
    marginals = _marginals(values)
    units = len(marginals)
    weights = np.array([1 / (units * math.comb(units - 1, size)) for size in range(units)])
    return np.array([float(column @ weights[sizes]) for column, sizes in marginals], dtype=np.float64)


def banzhaf_interactions(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """``float64[unit, unit]``, symmetric: Banzhaf interactions off the diagonal, Banzhaf values on it.

    Args:
        values: ``float64[2^unit]`` in the row order of ``designs.cube``.

    Raises:
        DecisionError: a number of values that is no power of two.
    """
    return _with_pairs(values, banzhaf(values), lambda units, _: 1 / 2 ** (units - 2))


def shapley_interactions(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """``float64[unit, unit]``, symmetric: Shapley interactions off the diagonal, Shapley values on it.

    Args:
        values: ``float64[2^unit]`` in the row order of ``designs.cube``.

    Raises:
        DecisionError: a number of values that is no power of two.
    """
    return _with_pairs(values, shapley(values), lambda units, size: 1 / ((units - 1) * math.comb(units - 2, size)))


def _with_pairs(
    values: NDArray[np.float64], diagonal: NDArray[np.float64], weight: Callable[[int, int], float]
) -> NDArray[np.float64]:
    """A matrix of weighted sums of second differences; ``weight(units, size)`` is that of a subset of the other units."""
    units = len(diagonal)
    matrix = np.diag(diagonal)
    rows = np.arange(len(values))
    sizes = np.array([int(row).bit_count() for row in rows], dtype=np.int64)
    weights = np.array([weight(units, size) for size in range(units - 1)])
    for i, j in itertools.combinations(range(units), 2):
        one, other = 1 << i, 1 << j
        neither = rows[rows & (one | other) == 0]
        seconds = values[neither | one | other] - values[neither | one] - values[neither | other] + values[neither]
        matrix[i, j] = matrix[j, i] = float(seconds @ weights[sizes[neither]])
    return matrix


def _marginals(values: NDArray[np.float64]) -> list[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """For every unit, its marginal contribution to each subset of the others, and that subset's size."""
    units = len(values).bit_length() - 1
    if values.ndim != 1 or len(values) != 2**units:
        raise DecisionError(f"{values.shape} values are not a full cube; score designs.cube(units) in its own order")
    rows = np.arange(len(values))
    sizes = np.array([int(row).bit_count() for row in rows], dtype=np.int64)
    out = []
    for unit in range(units):
        without = rows[rows >> unit & 1 == 0]
        out.append((values[without | 1 << unit] - values[without], sizes[without]))
    return out
