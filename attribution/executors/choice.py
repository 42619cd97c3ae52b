"""Which executor, with how many workers, within which budgets: one value, and the executor made from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from attribution.errors import ExecutorError
from attribution.executors.budget import MIB, Deadline, MemoryPlan, plan_memory
from attribution.executors.memory import ModelMemory
from attribution.executors.pooled import PooledExecutor
from attribution.executors.serial import SerialExecutor
from attribution.executors.worker import ModelSpec
from attribution.scorers.transformers_scorer import CHUNK_TOKENS, TransformersScorer

if TYPE_CHECKING:
    from attribution.models import LanguageModel

ExecutorName = Literal["serial", "processes", "ray"]
EXECUTORS: tuple[ExecutorName, ...] = ("serial", "processes", "ray")


@dataclass(frozen=True, slots=True)
class Execution:
    """How blocks are computed. The defaults are one process without budgets."""

    executor: ExecutorName = "serial"
    workers: int = 1
    """Blocks computed at a time, one torch thread each; `serial` computes one at a time with the threads it has."""
    max_memory: int | None = None
    """MiB of all processes together."""
    deadline: Deadline = field(default_factory=Deadline)
    ray_address: str | None = None
    """Of a running cluster; None: `ray` starts a private one on this machine."""

    def __post_init__(self) -> None:
        if self.executor not in EXECUTORS:
            raise ExecutorError(f"unknown executor {self.executor!r}; choose one of {', '.join(EXECUTORS)}")


def memory_plan(execution: Execution, language: LanguageModel, *, longest: int) -> MemoryPlan:
    """Workers and batch that fit into the memory budget; see :func:`attribution.executors.budget.plan_memory`.

    Raises:
        BudgetError: not even one worker fits.
    """
    need = ModelMemory.of(language)
    serial = execution.executor == "serial"
    return plan_memory(
        None if execution.max_memory is None else execution.max_memory * MIB,
        need,
        longest=longest,
        workers=1 if serial else execution.workers,
        beside=0 if serial else need.idle,
        chunks=tuple(CHUNK_TOKENS >> halved for halved in range(4)),
    )


def open_executor(execution: Execution, language: LanguageModel, *, longest: int) -> SerialExecutor | PooledExecutor:
    """The executor for scoring sequences of at most ``longest`` tokens with ``language``; close it when done.

    Nothing is started before the first block is missing.

    Raises:
        BudgetError: not even one worker fits into the memory budget.
        ExecutorMissingError: the executor's package is not installed.
    """
    plan = memory_plan(execution, language, longest=longest)
    scorer = TransformersScorer(language, chunk_tokens=plan.chunk_tokens)
    if execution.executor == "serial":
        return SerialExecutor(scorer, execution.deadline)
    spec = ModelSpec(language.files, language.dtype, language.device, plan.chunk_tokens)
    if execution.executor == "processes":
        from attribution.executors.processes import ProcessExecutor

        return ProcessExecutor(scorer, spec, workers=plan.workers, deadline=execution.deadline)
    from attribution.executors.ray_cluster import RayExecutor

    return RayExecutor(scorer, spec, workers=plan.workers, deadline=execution.deadline, address=execution.ray_address)
