"""A scorer for tests of executors that leaves a trace of every block it begins, and dies, waits or fails on request."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from attribution.blocks import Block, Table
from attribution.errors import BlockError
from attribution.executors import ScorerSpec
from attribution.layout import Target, TokenLayout, Unit, build_layout, tile
from attribution.scorers.base import Scorer


@dataclass(frozen=True)
class Sums:
    """Opens a scorer whose every cell is known."""

    def open(self) -> Scorer:
        return SumScorer()


class SumScorer:
    """Scores a mask by its code."""

    id = "5" * 64
    dtype = "float64"
    plan = "sum"

    def tokens(self, layout: TokenLayout, block: Block) -> int:
        return len(layout.ids) * len(block.states)

    def score(self, layout: TokenLayout, block: Block) -> Table:
        codes = block.states @ (3.0 ** np.arange(block.states.shape[1]))
        return codes[:, None] + np.arange(layout.columns) / 8


@dataclass(frozen=True)
class Recorded:
    """Opens ``inner`` so that each block is noted in ``trace`` as ``<digest>.<pid>`` when it is begun.

    While ``trace/kill`` is there, the worker that takes it away dies by SIGKILL in the middle of its block.
    """

    inner: ScorerSpec
    trace: Path
    seconds: float = 0.0
    """Of sleep in the middle of every block."""
    dies: int | None = None
    """Rows of the blocks that no worker survives."""
    fails: int | None = None
    """Rows of the blocks that are refused."""

    def open(self) -> Scorer:
        return _RecordedScorer(self)


class _RecordedScorer:
    def __init__(self, spec: Recorded) -> None:
        self._spec = spec
        self._scorer = spec.inner.open()
        self.id, self.dtype, self.plan = self._scorer.id, self._scorer.dtype, self._scorer.plan
        self.tokens = self._scorer.tokens

    def score(self, layout: TokenLayout, block: Block) -> Table:
        (self._spec.trace / f"{block.digest}.{os.getpid()}").touch()
        table = self._scorer.score(layout, block)
        time.sleep(self._spec.seconds)
        if self._takes_the_kill() or len(block.states) == self._spec.dies:
            os.kill(os.getpid(), signal.SIGKILL)
        if len(block.states) == self._spec.fails:
            raise BlockError(f"no scores for {len(block.states)} masks")
        return table

    def _takes_the_kill(self) -> bool:
        try:
            (self._spec.trace / "kill").rename(self._spec.trace / f"killed.{os.getpid()}")
        except FileNotFoundError:
            return False
        return True


def begun(trace: Path) -> list[str]:
    """Digests of the blocks that were begun, one for each time."""
    return sorted(path.name.split(".")[0] for path in trace.iterdir() if not path.name.startswith("kill"))


def pids(trace: Path) -> set[int]:
    """Processes that began a block."""
    return {int(path.name.split(".")[1]) for path in trace.iterdir() if not path.name.startswith("kill")}


def small_layout() -> TokenLayout:
    """Two units and one claim of two tokens."""
    ids, regions = tile([((1,), None), ((2,), 0), ((3,), 1), ((4, 5), None)])
    units = (Unit("a", "a", ((6,),)), Unit("b", "b", ((7,),)))
    return build_layout(ids, regions, units, (Target("c", 3, 5, None),), context_window=9)


def all_states() -> np.ndarray:
    """Every mask over two units."""
    return np.array([(a, b) for a in range(3) for b in range(3)], dtype=np.uint8)
