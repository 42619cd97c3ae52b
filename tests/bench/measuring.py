"""Alternating rounds of two ways to do one thing, and what they say."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Comparison:
    """Ours against the plain way, round by round."""

    name: str
    plain: str
    """What ours is compared with."""
    per: str
    """What one ``unit`` of work is: an append, an event, a mask."""
    units: int
    """Units of work in a round."""
    ours_seconds: tuple[float, ...]
    plain_seconds: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Median over rounds of ours / plain; above 1 ours is slower."""
        return statistics.median(self.ratios)

    @property
    def ratios(self) -> tuple[float, ...]:
        """Ours / plain of each round."""
        return tuple(ours / plain for ours, plain in zip(self.ours_seconds, self.plain_seconds, strict=True))

    def document(self) -> dict[str, object]:
        """Everything, for the JSON file."""
        return asdict(self) | {"ratio": self.ratio, "ratios": self.ratios}

    def line(self) -> str:
        """One line for a person."""
        ours, plain = (
            statistics.median(seconds) / self.units * 1e6 for seconds in (self.ours_seconds, self.plain_seconds)
        )
        low, high = min(self.ratios), max(self.ratios)
        return (
            f"{self.name}: {self.ratio:.2f} x {self.plain} (rounds {low:.2f} to {high:.2f}); "
            f"{ours:.0f} against {plain:.0f} µs per {self.per}"
        )


def compare(
    name: str,
    ours: Callable[[], object],
    plain: Callable[[], object],
    *,
    against: str,
    per: str,
    units: int,
    rounds: int,
) -> Comparison:
    """Time ``ours`` and ``plain`` in turn, ``rounds`` times, the order changing from round to round."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for number in range(rounds):
        for is_ours in (number % 2 == 0, number % 2 == 1):
            found[is_ours].append(_seconds(ours if is_ours else plain))
    return Comparison(name, against, per, units, tuple(found[True]), tuple(found[False]))


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def machine() -> dict[str, object]:
    """What a reader needs to judge the absolute times."""
    return {
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "system": platform.system(),
    }
