"""Alternating rounds of two ways to do one thing, what they say, and the bounds that the numbers are held to."""

from __future__ import annotations

import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True)
class Goal:
    """A bound on one number."""

    what: str
    value: float
    bound: float
    at_most: bool
    """Whether the value may not exceed the bound; otherwise it may not fall below it."""
    unit: str

    @property
    def met(self) -> bool:
        """Whether the value keeps the bound."""
        return self.value <= self.bound if self.at_most else self.value >= self.bound

    @property
    def target(self) -> str:
        """The bound in words."""
        return f"{self.what} {'≤' if self.at_most else '≥'} {self.bound:g} {self.unit}"

    @property
    def verdict(self) -> str:
        """The value and whether it keeps the bound."""
        return f"{self.value:.3g} {self.unit}: {'pass' if self.met else 'MISSED'}"


@dataclass(frozen=True)
class Timing:
    """What one round took."""

    seconds: float
    cpu_seconds: float
    """Of this process and of those that it started for the work, user and system."""


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
    ours_cpu_seconds: tuple[float, ...] = ()
    plain_cpu_seconds: tuple[float, ...] = ()
    goals: tuple[Goal, ...] = ()

    @property
    def ratio(self) -> float:
        """Median over rounds of ours / plain; above 1 ours is slower."""
        return statistics.median(self.ratios)

    @property
    def ratios(self) -> tuple[float, ...]:
        """Ours / plain of each round."""
        return tuple(ours / plain for ours, plain in zip(self.ours_seconds, self.plain_seconds, strict=True))

    @property
    def cpu_ratio(self) -> float:
        """Median over rounds of ours / plain in processor time; NaN where it was not measured."""
        pairs = zip(self.ours_cpu_seconds, self.plain_cpu_seconds, strict=True)
        return statistics.median([ours / plain for ours, plain in pairs]) if any(self.plain_cpu_seconds) else math.nan

    @property
    def micros(self) -> tuple[float, float]:
        """Median microseconds per unit, ours and plain."""
        ours, plain = (
            statistics.median(seconds) / self.units * 1e6 for seconds in (self.ours_seconds, self.plain_seconds)
        )
        return ours, plain

    @property
    def cpu_micros(self) -> float:
        """Median microseconds of processor time per unit of ours; NaN where it was not measured."""
        return statistics.median(self.ours_cpu_seconds) / self.units * 1e6 if self.ours_cpu_seconds else math.nan

    @property
    def plain_cpu_micros(self) -> float:
        """As :attr:`cpu_micros`, of the plain way."""
        return statistics.median(self.plain_cpu_seconds) / self.units * 1e6 if self.plain_cpu_seconds else math.nan

    @property
    def _cpu_ratio(self) -> str:
        return "" if math.isnan(self.cpu_ratio) else f"; CPU {self.cpu_ratio:.2f}"

    def fast(self, *, at_least: float) -> Comparison:
        """Held to a speed relative to the plain way."""
        return self.held(Goal("speed", 1 / self.ratio, at_least, at_most=False, unit="×"))

    def slow(self, *, at_most: float) -> Comparison:
        """Held to a time relative to the plain way."""
        return self.held(Goal("time", self.ratio, at_most, at_most=True, unit="×"))

    def thrifty(self, *, at_most: float) -> Comparison:
        """Held to microseconds of processor time per unit."""
        return self.held(Goal(f"CPU per {self.per}", self.cpu_micros, at_most, at_most=True, unit="µs"))

    def held(self, goal: Goal) -> Comparison:
        """Held to ``goal`` as well."""
        return replace(self, goals=(*self.goals, goal))

    def document(self) -> dict[str, object]:
        """Everything, for the JSON file."""
        ratios = {"ratio": self.ratio, "ratios": self.ratios}
        cpu = {} if math.isnan(self.cpu_ratio) else {"cpu_ratio": self.cpu_ratio}
        return asdict(self) | ratios | cpu | {"met": [goal.met for goal in self.goals]}

    def line(self) -> str:
        """One line for a person."""
        ours, plain = self.micros
        low, high = min(self.ratios), max(self.ratios)
        cpu = _cpu_of(self.cpu_micros)
        return (
            f"{self.name}: {self.ratio:.2f} x {self.plain} (rounds {low:.2f} to {high:.2f}{self._cpu_ratio}); "
            f"{ours:.0f}{cpu} against {plain:.0f}{_cpu_of(self.plain_cpu_micros)} µs per {self.per}"
        )

    def row(self) -> tuple[str, ...]:
        """Name, measured, peer, ratio, target and verdict, for the table."""
        ours, plain = self.micros
        cpu = _cpu_of(self.cpu_micros)
        low, high = min(self.ratios), max(self.ratios)
        return (
            self.name,
            f"{ours:.0f}{cpu} µs per {self.per}",
            f"{plain:.0f}{_cpu_of(self.plain_cpu_micros)} µs, {self.plain}",
            f"{self.ratio:.2f} ({low:.2f}–{high:.2f}{self._cpu_ratio})",
            *_goal_cells(self.goals),
        )


@dataclass(frozen=True)
class Figure:
    """Something measured that has no peer: memory, growth, a throughput."""

    name: str
    measured: str
    goals: tuple[Goal, ...] = ()

    def document(self) -> dict[str, object]:
        """Everything, for the JSON file."""
        return asdict(self) | {"met": [goal.met for goal in self.goals]}

    def line(self) -> str:
        """One line for a person."""
        return f"{self.name}: {self.measured}"

    def row(self) -> tuple[str, ...]:
        """As :meth:`Comparison.row`."""
        return (self.name, self.measured, "", "", *_goal_cells(self.goals))


Finding = Comparison | Figure


def _cpu_of(micros: float) -> str:
    return "" if math.isnan(micros) else f" ({micros:.0f} CPU)"


def _goal_cells(goals: Sequence[Goal]) -> tuple[str, str]:
    return "; ".join(goal.target for goal in goals), "; ".join(goal.verdict for goal in goals)


def table(findings: Sequence[Finding]) -> str:
    """The findings as a table in Markdown."""
    header = ("what", "measured", "peer", "ours / peer", "target", "verdict")
    rows = [header, tuple("---" for _ in header), *(finding.row() for finding in findings)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


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
    """Time ``ours`` and ``plain`` in turn, ``rounds`` times, the order changing from round to round.

    Either may return a :class:`Timing`, taken where the work was done; otherwise it is timed here.
    """
    found: dict[bool, list[Timing]] = {True: [], False: []}
    for number in range(rounds):
        for is_ours in (number % 2 == 0, number % 2 == 1):
            found[is_ours].append(timed(ours if is_ours else plain))
    seconds, cpu = (
        [tuple(getattr(timing, field) for timing in found[is_ours]) for is_ours in (True, False)]
        for field in ("seconds", "cpu_seconds")
    )
    return Comparison(name, against, per, units, *seconds, *cpu)


def timed(work: Callable[[], object]) -> Timing:
    """What ``work`` takes, or what it says that it took."""
    cpu, began = time.process_time(), time.perf_counter()
    result = work()
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return result if isinstance(result, Timing) else Timing(seconds, cpu)


def growth(name: str, small: float, large: float, *, times: int, per: str) -> Figure:
    """Seconds for ``times`` as much work, held to linear and a fifth."""
    excess = large / small / times
    measured = f"{small:.2f} s, then {large:.2f} s for {times} times as many {per}"
    return Figure(name, measured, (Goal("time per unit grows", excess, 1.2, at_most=True, unit="×"),))


def memory(name: str, small: tuple[int, float], large: tuple[int, float], *, at_most: float = 512) -> Figure:
    """Peak memory of a process over two numbers of events, each with its peak in MiB; held to ``at_most`` at a million."""
    (few, less), (many, more) = small, large
    each = (more - less) / (many - few)
    million = max(more, more + each * (1_000_000 - many))
    by_that = f"{each * 2**20:.0f} bytes for each event more, {million:.0f} MiB at a million by that"
    measured = f"{more:.0f} MiB at {many} events, {by_that}"
    return Figure(
        name, measured, (Goal("peak memory of a million events", million, at_most, at_most=True, unit="MiB"),)
    )


def machine() -> dict[str, object]:
    """What a reader needs to judge the absolute times."""
    return {
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "system": platform.system(),
    }
