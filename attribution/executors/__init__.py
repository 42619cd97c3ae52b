"""Where blocks are computed: in this process, in several processes, or on a Ray cluster. See the README."""

from attribution.executors.budget import Deadline, MemoryNeed, MemoryPlan, plan_memory
from attribution.executors.choice import EXECUTORS, Execution, ExecutorName, memory_plan, open_executor
from attribution.executors.pooled import PooledExecutor
from attribution.executors.serial import SerialExecutor
from attribution.executors.worker import ModelSpec, ScorerSpec

__all__ = [
    "EXECUTORS",
    "Deadline",
    "Execution",
    "ExecutorName",
    "MemoryNeed",
    "MemoryPlan",
    "ModelSpec",
    "PooledExecutor",
    "ScorerSpec",
    "SerialExecutor",
    "memory_plan",
    "open_executor",
    "plan_memory",
]
