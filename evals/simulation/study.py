"""Draws worlds and counts how often each method misses the truth on either side.

A miss above (the whole interval lies below the truth) is a wrong PASS of a criterion "upper bound below the truth", and a
wrong KILL of "lower bound above the truth"; a miss below the other way round. Each is allowed α = 0.025.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from evals.errors import StatisticsError
from evals.simulation.worlds import BreakEvenWorld, Design, PairWorld, ShareWorld
from evals.statistics import (
    Interval,
    PairedTable,
    Undefined,
    break_even_share,
    clopper_pearson,
    cluster_difference,
    cluster_proportion,
    tango,
)

Counts = tuple[tuple[int, ...], ...]
"""Per cluster its trials by cell, clusters in sorted order: what an interval depends on."""
Method = Callable[[Any], Interval | Undefined]

DECIDES = "over clusters (decides)"
NAIVE = "over trials"
BARE = "t over clusters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One line of a study: a world, a design, and who is asked."""

    world: ShareWorld | PairWorld | BreakEvenWorld
    design: Design


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How one method did on one cell."""

    method: str
    draws: int
    above: int
    """Draws whose interval lies wholly below the truth."""
    below: int
    """Draws whose interval lies wholly above it."""
    undefined: int
    width: float
    """Mean of high − low over the defined ones."""

    @property
    def coverage(self) -> float:
        """Share of draws whose interval holds the truth."""
        return 1.0 - (self.above + self.below + self.undefined) / self.draws


def simulate(cell: Cell, *, draws: int, seed: int) -> tuple[Rates, ...]:
    """Draw ``draws`` data sets of a cell; the same arguments give the same rates, whatever else is simulated.

    Raises:
        StatisticsError: no draw.
    """
    import numpy as np

    if draws < 1:
        raise StatisticsError(f"{draws} draws simulate nothing; pass at least 1")
    label = f"{seed}/{cell.world}/{cell.design}"
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(hashlib.sha256(label.encode()).digest()[:16])))
    methods = {name: lru_cache(maxsize=None)(method) for name, method in _methods(cell).items()}
    found: dict[str, list[Interval | Undefined]] = {name: [] for name in methods}
    for _ in range(draws):
        key = _key(cell.world.draw(cell.design, generator))
        for name, method in methods.items():
            found[name].append(method(key))
    return tuple(_rates(name, intervals, cell.world.truth) for name, intervals in found.items())


def _rates(method: str, found: list[Interval | Undefined], truth: float) -> Rates:
    known = [interval for interval in found if isinstance(interval, Interval)]
    return Rates(
        method=method,
        draws=len(found),
        above=sum(interval.high < truth for interval in known),
        below=sum(interval.low > truth for interval in known),
        undefined=len(found) - len(known),
        width=math.fsum(interval.high - interval.low for interval in known) / max(1, len(known)),
    )


def _key(drawn: Any) -> Any:
    """Hashable counts; clusters are exchangeable unless two samples share them."""
    if isinstance(drawn, tuple):
        return tuple(zip(*(tuple(map(tuple, side.tolist())) for side in drawn), strict=True))
    rows = drawn.tolist()
    return tuple(sorted(tuple(row) if isinstance(row, list) else (row,) for row in rows))


def _methods(cell: Cell) -> Mapping[str, Method]:
    size = cell.design.size
    if isinstance(cell.world, BreakEvenWorld):
        return MappingProxyType({DECIDES: lambda key: break_even_share(*_sides(key))})
    if isinstance(cell.world, PairWorld):
        return MappingProxyType(
            {
                DECIDES: lambda key: cluster_difference(_pairs(key)),
                NAIVE: lambda key: tango(_table(key)),
                BARE: lambda key: _bare_t([(row[1] - row[2]) / size for row in key]),
            }
        )
    return MappingProxyType(
        {
            DECIDES: lambda key: cluster_proportion(_values(key, size)),
            NAIVE: lambda key: clopper_pearson(sum(row[0] for row in key), size * len(key)),
            BARE: lambda key: _bare_t([row[0] / size for row in key]),
        }
    )


def _values(key: Counts, size: int) -> dict[str, list[float]]:
    return {f"{k}": [1.0] * row[0] + [0.0] * (size - row[0]) for k, row in enumerate(key)}


_UNITS = ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0))


def _pairs(key: Counts) -> dict[str, list[tuple[float, float]]]:
    return {
        f"{k}": [unit for unit, count in zip(_UNITS, row, strict=True) for _ in range(count)]
        for k, row in enumerate(key)
    }


def _sides(key: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]) -> tuple[Any, Any]:
    return _pairs(tuple(loss for loss, _ in key)), _pairs(tuple(gain for _, gain in key))


def _table(key: Counts) -> PairedTable:
    both, left_only, right_only, neither = (sum(column) for column in zip(*key, strict=True))
    return PairedTable(both=both, left_only=left_only, right_only=right_only, neither=neither)


def _bare_t(means: list[float]) -> Interval | Undefined:
    """Student's t over cluster means, as often used: what it misses is seen beside what decides."""
    from scipy.stats import t

    count = len(means)
    if count < 2:  # noqa: PLR2004 - a variance needs two
        return Undefined("one cluster has no variance")
    mean = math.fsum(means) / count
    variance = math.fsum((value - mean) ** 2 for value in means) / (count - 1)
    reach = float(t.isf(0.025, count - 1)) * math.sqrt(variance / count)
    return Interval(low=mean - reach, high=mean + reach, method=BARE, n=count, level=0.95, estimate=mean)
