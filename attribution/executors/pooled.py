"""Blocks handed to workers: what every executor with workers has in common.

The stored table is the only marker that a block is done. A worker that dies takes nothing with it but the block it was at,
which is handed out again; a worker that ends with an error of this project ends the job with that error.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait

from attribution.blocks import Block, BlockCache, Progress, Table
from attribution.errors import BudgetError, WorkerLostError
from attribution.executors.base import ScoringExecutor
from attribution.executors.budget import Deadline
from attribution.executors.worker import ScorerSpec, Task
from attribution.layout import TokenLayout
from attribution.scorers.base import Scorer
from ledger_core.kernel.digests import DigestHex

ATTEMPTS = 3
"""How often a block is handed out whose workers die: one that no worker survives must not be tried for ever."""


class PooledExecutor(ScoringExecutor):
    """A scorer whose blocks are computed by workers. Any number of threads may ask it at once.

    Args:
        scorer: the same scorer in this process, for identity and token counts; it scores nothing here.
        spec: how a worker opens it.
        workers: blocks computed at a time, one torch thread each.
        deadline: after which no block is begun.

    Raises:
        BudgetError: no worker at all.
    """

    def __init__(self, scorer: Scorer, spec: ScorerSpec, *, workers: int, deadline: Deadline | None = None) -> None:
        if workers < 1:
            raise BudgetError(f"{workers} workers compute nothing; give at least one")
        super().__init__(scorer, deadline)
        self.workers = workers
        self.deaths = 0
        """Blocks that were handed out again because their worker was gone."""
        self._spec = spec
        self._free = threading.Semaphore(workers)

    def score_all(
        self, layout: TokenLayout, blocks: Sequence[Block], cache: BlockCache | None, progress: Progress | None = None
    ) -> list[Table]:
        """Tables of ``blocks`` in order; what ``cache`` does not hold is computed by workers, who store it there.

        Raises:
            BudgetError: the time is over; what had begun is finished and stored.
            WorkerLostError: the workers of one block died :data:`ATTEMPTS` times.
            AttributionError: whatever a worker's scorer refuses.
        """
        known = {block.digest: None if cache is None else cache.whole(block, layout.columns) for block in blocks}
        tables = {digest: table for digest, table in known.items() if table is not None}
        missing = {block.digest: block for block in blocks if block.digest not in tables}
        tasks = [Task(self._spec, layout, block, cache.folder if cache else None) for block in missing.values()]
        if progress is not None and tables:
            progress(len(tables), len(known))
        for digest, table in self._computed(deque(tasks)):
            tables[digest] = table
            if progress is not None:
                progress(len(tables), len(known))
        return [tables[block.digest] for block in blocks]

    def _computed(self, queue: deque[Task]) -> Iterator[tuple[DigestHex, Table]]:
        """Every task's table, in the order in which they get done."""
        running: dict[Future[Table], Task] = {}
        deaths: Counter[DigestHex] = Counter()
        try:
            while queue or running:
                # A caller with no block in work waits for a place; one with some waits for them.
                while queue and self._free.acquire(blocking=not running):
                    task = queue.popleft()
                    running[self._begun(task)] = task
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    task = running.pop(future)
                    error = future.exception()
                    if error is None:
                        yield task.block.digest, future.result()
                    else:
                        self._require_a_lost_worker(task, error, deaths)
                        queue.append(task)
        except Exception:
            wait(running)  # what was begun is finished and stored
            raise

    def _begun(self, task: Task) -> Future[Table]:
        try:
            self._deadline.check()
            future = self.begin(task)
        except BaseException:
            self._free.release()
            raise
        future.add_done_callback(lambda _: self._free.release())
        return future

    def _require_a_lost_worker(self, task: Task, error: BaseException, deaths: Counter[DigestHex]) -> None:
        """Count the death that ``error`` speaks of; raise anything else, and what dies too often."""
        if not isinstance(error, self.losses):
            raise error
        deaths[task.block.digest] += 1
        if deaths[task.block.digest] == ATTEMPTS:
            raise WorkerLostError(
                f"block {task.block.digest[:12]} was handed out {ATTEMPTS} times and its worker died each time ({error}); "
                "what was scored is stored; where memory is short, run the same command with fewer --workers, or with "
                "--max-memory"
            ) from error
        self.deaths += 1

    @property
    @abstractmethod
    def losses(self) -> tuple[type[BaseException], ...]:
        """Errors that say that a worker is gone."""

    @abstractmethod
    def begin(self, task: Task) -> Future[Table]:
        """Hand ``task`` to a worker; starts them on first use and replaces those that are gone."""

    @abstractmethod
    def close(self) -> None:
        """End the workers, whatever they are at."""
