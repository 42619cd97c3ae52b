"""What runs in a worker: a scorer opened once, and blocks computed with it, one torch thread."""

from __future__ import annotations

import os
import signal
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

from attribution.blocks import Block, BlockCache, Table, run_block
from attribution.layout import TokenLayout
from attribution.models.files import ModelFiles
from attribution.models.language import Device, Dtype
from attribution.scorers.base import Scorer
from attribution.scorers.transformers_scorer import CHUNK_TOKENS

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_INTERRUPTED = 130


class ScorerSpec(Hashable, Protocol):
    """How a worker makes its scorer: a small value that can be sent to it."""

    def open(self) -> Scorer:
        """The scorer, with one torch thread; its id must be the one that the blocks were made for."""
        ...


@dataclass(frozen=True)
class ModelSpec:
    """A language model on a disk that every worker reads under the same path."""

    files: ModelFiles
    dtype: Dtype = "float32"
    device: Device = "cpu"
    chunk_tokens: int = CHUNK_TOKENS

    def open(self) -> Scorer:
        """See :meth:`ScorerSpec.open`."""
        from attribution.models.language import load_language_model
        from attribution.scorers.transformers_scorer import TransformersScorer

        language = load_language_model(self.files, threads=1, dtype=self.dtype, device=self.device)
        return TransformersScorer(language, chunk_tokens=self.chunk_tokens)


@dataclass(frozen=True)
class Task:
    """One block to be computed."""

    spec: ScorerSpec
    layout: TokenLayout
    block: Block
    folder: Path | None
    """Folder of the block cache that the table is stored in before it is given back; None: it is only given back."""


@lru_cache(maxsize=1)
def _opened(spec: ScorerSpec) -> Scorer:
    return spec.open()


def compute(task: Task) -> Table:
    """The table of a task's block, read where another worker has stored it meanwhile."""
    cache = None if task.folder is None else BlockCache(task.folder)
    return run_block(_opened(task.spec), task.layout, task.block, cache)


def serve(tasks: Connection) -> None:
    """Main function of a worker process: answer every task that comes with ``(table, None)`` or ``(None, error)``.

    Ends with the parent, whose end of the pipe closes with it however it dies, and at once on Ctrl-C: the parent says what
    there is to say, and a block that is not stored was not begun.
    """
    for variable in _THREAD_VARIABLES:
        os.environ[variable] = "1"
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    while True:
        try:
            task = tasks.recv()
        except EOFError:
            return
        try:
            answer: tuple[Table | None, Exception | None] = (compute(task), None)
        except Exception as error:  # noqa: BLE001 - raised again where the task came from
            answer = (None, error)
        try:
            tasks.send(answer)
        except BrokenPipeError:
            return
