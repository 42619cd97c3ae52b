"""The same blocks by every executor, run twice, resumed, and with a worker killed: which cells of the tables differ in any bit.

Every process has one torch thread. Beside it the same blocks with two threads, and in bfloat16: what may differ, and by how much.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attribution.blocks import Block, BlockCache, make_blocks, score_blocks
from attribution.designs import cube
from attribution.executors import Execution, ModelSpec, PooledExecutor, open_executor
from attribution.executors.processes import ProcessExecutor
from attribution.layout import TokenLayout
from attribution.models import ModelFiles, load_language_model
from attribution.scorers.transformers_scorer import TransformersScorer
from evals.null_floors import BINS, null_trajectories
from tests.attribution.executors.recorded import Recorded
from tests.bench.measuring import Figure, Goal
from tests.bench.sections import Bench, Document

WORKERS = 2
MASKS_PER_BLOCK = 8


def run(bench: Bench) -> Iterator[Figure]:
    """A figure for every way to compute the same blocks again."""
    masks = bench.one_of(small=16, default=64, full=64)
    files = bench.language.files
    try:
        for name, measure in WAYS.items():
            if name == "ray" and find_spec("ray") is None:
                continue
            found = bench.kept.get(f"executors-{name}", lambda measure=measure: _differences(files, masks, measure))
            yield _figure(name, found)
    finally:
        torch.set_num_threads(bench.threads)


class _Work:
    """One trajectory's blocks, and their tables as one thread in this process computes them."""

    def __init__(self, files: ModelFiles, masks: int) -> None:
        self.files = files
        self.language = load_language_model(files, threads=1)
        self.layout: TokenLayout = next(null_trajectories(self.language, BINS[0], BINS[0].plain)).layout
        states = cube(len(self.layout.units)).states[::-1]
        self.states = np.ascontiguousarray(states[:masks])
        self.scorer = TransformersScorer(self.language)
        self.expected = self.tables(self.scorer)

    @property
    def blocks(self) -> list[Block]:
        return self.blocks_of(self.scorer)

    def blocks_of(self, scorer: Any) -> list[Block]:
        return make_blocks(scorer, self.layout, self.states, masks_per_block=MASKS_PER_BLOCK)

    def tables(self, scorer: Any, cache: BlockCache | None = None) -> np.ndarray:
        return np.concatenate(score_blocks(scorer, self.layout, self.blocks_of(scorer), cache))

    def by(self, executor: PooledExecutor, cache: BlockCache | None = None) -> np.ndarray:
        try:
            return self.tables(executor, cache)
        finally:
            executor.close()


def _again(work: _Work, _: Path) -> np.ndarray:
    return work.tables(TransformersScorer(load_language_model(work.files, threads=1)))


def _resumed(work: _Work, folder: Path) -> np.ndarray:
    """Every other block is there, one of them cut off in the middle."""
    cache = BlockCache(folder)
    score_blocks(work.scorer, work.layout, work.blocks[::2], cache)
    path = cache.path(work.blocks[0])
    path.write_bytes(path.read_bytes()[:-100])
    return work.tables(work.scorer, cache)


def _in(name: str) -> Any:
    def measure(work: _Work, folder: Path) -> np.ndarray:
        execution = Execution(name, workers=WORKERS)  # type: ignore[arg-type]
        executor = open_executor(execution, work.language, longest=work.layout.longest())
        assert isinstance(executor, PooledExecutor)
        return work.by(executor, BlockCache(folder))

    return measure


def _killed(work: _Work, folder: Path) -> np.ndarray:
    trace = folder / "trace"
    trace.mkdir()
    (trace / "kill").touch()
    executor = ProcessExecutor(work.scorer, Recorded(ModelSpec(work.files), trace), workers=WORKERS)
    found = work.by(executor, BlockCache(folder / "blocks"))
    assert executor.deaths == 1, "no worker was killed"
    return found


def _two_threads(work: _Work, _: Path) -> np.ndarray:
    torch.set_num_threads(2)
    try:
        return work.tables(work.scorer)
    finally:
        torch.set_num_threads(1)


def _bfloat16(work: _Work, _: Path) -> np.ndarray:
    return work.tables(TransformersScorer(load_language_model(work.files, threads=1, dtype="bfloat16")))


WAYS = {
    "second run": _again,
    "resumed": _resumed,
    "processes": _in("processes"),
    "processes, one killed": _killed,
    "ray": _in("ray"),
    "two threads": _two_threads,
    "bfloat16": _bfloat16,
}
MAY_DIFFER = {"two threads", "bfloat16"}


def _differences(files: ModelFiles, masks: int, measure: Any) -> Document:
    work = _work(files, masks)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(work, Path(folder))
    return {
        "masks": len(found),
        "cells": int(found.size),
        "differ": int((found.view(np.uint64) != work.expected.view(np.uint64)).sum()),
        "largest_nats": float(np.abs(found - work.expected).max()),
        "blocks": len(work.blocks),
    }


_works: dict[tuple[ModelFiles, int], _Work] = {}


def _work(files: ModelFiles, masks: int) -> _Work:
    """Made once, and only where some way is still to be measured."""
    key = (files, masks)
    if key not in _works:
        _works[key] = _Work(files, masks)
    torch.set_num_threads(1)
    return _works[key]


def _figure(name: str, found: Document) -> Figure:
    measured = (
        f"{found['differ']} of {found['cells']} scores differ, at most {found['largest_nats']:.2g} nats "
        f"({found['masks']} masks in {found['blocks']} blocks)"
    )
    goal = Goal("scores that differ in any bit", found["differ"], 0, at_most=True, unit="")
    return Figure(f"float32, one thread here, against: {name}", measured, () if name in MAY_DIFFER else (goal,))
