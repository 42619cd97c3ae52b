"""Exact power indices from a full cube, in nats.

Banzhaf: the mean marginal contribution over all subsets of the others. Shapley: the mean over all orders.
"""

from __future__ import annotations

import math

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
