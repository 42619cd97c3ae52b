"""The study as a Markdown table, with the Monte-Carlo error that its number of draws leaves."""

from __future__ import annotations

import math
from collections.abc import Iterable

from evals.simulation.study import Cell, Rates

HEAD = ("world", "clusters × trials", "correlation", "method", "coverage", "misses above", "misses below", "mean width")


def monte_carlo_error(draws: int, rate: float = 0.025) -> float:
    """Standard error of a rate of misses; of the nominal one unless said."""
    return math.sqrt(rate * (1.0 - rate) / draws)


def rows(cell: Cell, found: Iterable[Rates]) -> list[tuple[str, ...]]:
    """One row a method; misses in per cent of all draws."""
    where = (cell.world.name, f"{cell.design.clusters} × {cell.design.size}", f"{cell.design.icc:g}")
    return [
        (
            *where,
            rates.method,
            f"{100 * rates.coverage:.1f} %",
            f"{100 * rates.above / rates.draws:.2f} %",
            f"{100 * rates.below / rates.draws:.2f} %",
            f"{rates.width:.3f}",
        )
        for rates in found
    ]


def table(lines: Iterable[tuple[str, ...]]) -> str:
    """The rows under their head."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (HEAD, tuple("---" for _ in HEAD), *lines))
