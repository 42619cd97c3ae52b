"""How ablations are computed: executor, workers, budgets, arithmetic. Nothing here says what is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pipelines.settings import ExecutorName, Settings

if TYPE_CHECKING:
    from attribution.executors import Deadline, PooledExecutor, SerialExecutor
    from attribution.models import LanguageModel
    from attribution.models.language import Device, Dtype
    from attribution.trajectory import Trajectory

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Computing:
    """Where and within which bounds a command computes."""

    executor: ExecutorName
    workers: int
    """Blocks computed at a time; one where the executor is `serial`."""
    threads: int
    """Torch threads of every process that runs the model. The last bits of a score follow from it."""
    dtype: Dtype = "float32"
    device: Device = "cpu"
    max_memory: int | None = None
    """MiB of all processes together."""
    deadline: Deadline | None = None
    """After which no block is begun."""
    ray_address: str | None = None

    @classmethod
    def of(
        cls,
        settings: Settings,
        *,
        dtype: Dtype = "float32",
        device: Device = "cpu",
        max_memory: int | None = None,
        max_minutes: float | None = None,
        ray_address: str | None = None,
    ) -> Computing:
        """What ``settings`` say; workers compute with one thread each, and so does what hands out their work.

        Args:
            settings: executor, workers and threads.
            dtype: arithmetic of the model.
            device: where the model is.
            max_memory: MiB of all processes together.
            max_minutes: from now on.
            ray_address: of a running cluster.

        Raises:
            BudgetError: no time at all.
        """
        from attribution.executors import Deadline

        serial = settings.executor == "serial"
        return cls(
            executor=settings.executor,
            workers=1 if serial else settings.workers,
            threads=settings.threads if serial else 1,
            dtype=dtype,
            device=device,
            max_memory=max_memory,
            deadline=Deadline(max_minutes),
            ray_address=ray_address,
        )

    @contextmanager
    def opened(
        self, language: LanguageModel, trajectories: Sequence[Trajectory]
    ) -> Iterator[SerialExecutor | PooledExecutor]:
        """The executor for ``trajectories``; workers start with the first block that is missing, and end with the block.

        Raises:
            BudgetError: the memory budget is too small for the longest of them.
            ExecutorMissingError: the executor's package is not installed.
        """
        from attribution.executors import Deadline, Execution, open_executor

        execution = Execution(
            executor=self.executor,
            workers=self.workers,
            max_memory=self.max_memory,
            deadline=self.deadline or Deadline(),
            ray_address=self.ray_address,
        )
        longest = max((trajectory.layout.longest() for trajectory in trajectories), default=1)
        executor = open_executor(execution, language, longest=longest)
        try:
            yield executor
        finally:
            executor.close()


def side_by_side(
    work: Callable[[Item], Result], items: Sequence[Item], *, workers: int, abandon: Callable[[], None]
) -> Iterator[Result]:
    """Results of ``work`` in the order of ``items``; with several workers so many items are at work at a time, and one more.

    Args:
        work: called in threads of this process where there are several workers: it waits for them, and decides.
        items: what to work on.
        workers: how many items keep the workers busy.
        abandon: called when a person or the system ends the command, so that nothing is waited for. After an error what
            was begun is finished, which stores it.
    """
    if workers == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(workers + 1) as threads:
        futures = [threads.submit(work, item) for item in items]
        try:
            for future in futures:
                yield future.result()
        except BaseException as end:
            for future in futures:
                future.cancel()
            if not isinstance(end, Exception):
                abandon()
            raise
