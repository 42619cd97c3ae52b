"""What a job may use: a moment after which no block is begun, and memory that bounds workers and batches."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from attribution.errors import BudgetError

MIB = 1 << 20
CHUNKS = (384, 192, 96, 48)
"""Tokens of one forward pass that a plan chooses from, the scorer's own first; below the last, the passes get too many."""


class Deadline:
    """The moment after which no further block is begun; one that is being computed is finished and stored.

    Args:
        minutes: from now on; None for no end.
        now: a monotonic clock, in seconds.

    Raises:
        BudgetError: a budget that is not positive.
    """

    def __init__(self, minutes: float | None = None, now: Callable[[], float] = time.monotonic) -> None:
        if minutes is not None and not minutes > 0:
            raise BudgetError(f"a time budget of {minutes:g} minutes lets nothing begin; give more, or none")
        self._minutes = minutes
        self._now = now
        self._began = now()

    def check(self) -> None:
        """Raise :class:`BudgetError` once the time is over."""
        if self._minutes is None or self._now() - self._began < 60 * self._minutes:
            return
        raise BudgetError(
            f"the time budget of {self._minutes:g} minutes is used up; what was scored is stored, nothing was written to a "
            "ledger; run the same command again, with more time or the same, to go on from here"
        )


class MemoryNeed(Protocol):
    """Bytes that one process with a scorer takes at most."""

    def __call__(self, *, longest: int, chunk_tokens: int) -> int:
        """Bytes for sequences of at most ``longest`` tokens in passes of ``chunk_tokens``."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """What fits."""

    workers: int
    chunk_tokens: int
    """Tokens of one forward pass; part of a scorer's identity."""
    need: int
    """Bytes that all processes take at most."""


def plan_memory(
    limit: int | None,
    need: MemoryNeed,
    *,
    longest: int,
    workers: int,
    beside: int = 0,
    chunks: tuple[int, ...] = CHUNKS,
) -> MemoryPlan:
    """As many of ``workers`` as fit into ``limit`` bytes; the batch shrinks only where not even one does.

    Fewer workers give the same bits, a smaller batch does not: it is another plan and another scorer's identity. So the
    plan follows from its arguments alone, never from what the machine has free just now.

    Args:
        limit: bytes for all processes together; None for no bound.
        need: bytes of one worker.
        longest: tokens of the longest sequence.
        workers: how many are wanted.
        beside: bytes of the process that hands out the work, where it is none of the workers.
        chunks: batches to choose from, the preferred one first.

    Raises:
        BudgetError: one worker with the smallest batch does not fit; the message names both sizes.
    """
    if workers < 1:
        raise BudgetError(f"{workers} workers compute nothing; give at least one")
    if limit is None:
        each = need(longest=longest, chunk_tokens=chunks[0])
        return MemoryPlan(workers, chunks[0], beside + workers * each)
    for chunk in chunks:
        each = need(longest=longest, chunk_tokens=chunk)
        fitting = min(workers, (limit - beside) // each)
        if fitting >= 1:
            return MemoryPlan(fitting, chunk, beside + fitting * each)
    least = beside + need(longest=longest, chunk_tokens=chunks[-1])
    raise BudgetError(
        f"one worker needs {-(-least // MIB)} MiB for sequences of {longest} tokens, and the memory budget is "
        f"{limit // MIB} MiB; give --max-memory {-(-least // MIB)}, cut the transcripts with --window, or use a smaller model"
    )
