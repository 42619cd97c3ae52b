from __future__ import annotations

import builtins

import numpy as np
import pytest

from attribution.blocks import BlockCache, make_blocks, score_blocks
from attribution.errors import BudgetError, ExecutorError, ExecutorMissingError
from attribution.executors import Execution, SerialExecutor, memory_plan, open_executor
from attribution.executors.budget import MIB
from attribution.executors.memory import ModelMemory
from attribution.executors.processes import ProcessExecutor
from attribution.scorers.transformers_scorer import TransformersScorer
from tests.attribution.scorers.trajectories import trajectory

STATES = np.array(
    [(a, b, c, d) for a in range(2) for b in range(2) for c in range(2) for d in range(2)], dtype=np.uint8
)


def test_the_default_is_the_scorer_itself_with_its_own_batch(tiny):
    executor = open_executor(Execution(), tiny, longest=200)
    plain = TransformersScorer(tiny)
    assert isinstance(executor, SerialExecutor)
    assert (executor.id, executor.plan, executor.workers) == (plain.id, plain.plan, 1)


def test_processes_give_the_bits_of_one_thread_here(tiny, tmp_path):
    """Whole, resumed from a block of the other kind, and with a batch of its own for each."""
    layout = trajectory(tiny)
    alone = TransformersScorer(tiny)
    blocks = make_blocks(alone, layout, STATES, masks_per_block=4)
    expected = score_blocks(alone, layout, blocks)
    executor = open_executor(Execution("processes", workers=2), tiny, longest=layout.longest())
    assert isinstance(executor, ProcessExecutor)
    try:
        cache = BlockCache(tmp_path)
        score_blocks(alone, layout, blocks[1:2], cache)
        found = score_blocks(executor, layout, blocks, cache)
        assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))
        assert np.array_equal(executor.score(layout, blocks[1]), expected[1])
    finally:
        executor.close()


def test_a_small_memory_budget_means_a_smaller_batch_under_another_identity(tiny):
    need = ModelMemory.of(tiny)
    tight = need(longest=900, chunk_tokens=100)
    execution = Execution(max_memory=-(-tight // MIB))
    plan = memory_plan(execution, tiny, longest=900)
    assert plan.chunk_tokens < 384
    assert plan.need <= execution.max_memory * MIB
    executor = open_executor(execution, tiny, longest=900)
    assert executor.plan == f"prefix-tree-v1/{plan.chunk_tokens}"
    assert executor.id != TransformersScorer(tiny).id
    with pytest.raises(BudgetError, match=r"MiB for sequences of 900 tokens, and the memory budget is 9 MiB"):
        open_executor(Execution(max_memory=9), tiny, longest=900)


def test_the_process_that_hands_out_the_work_counts_where_it_is_no_worker(tiny):
    need = ModelMemory.of(tiny)
    one = need(longest=900, chunk_tokens=384)
    fits_three = -(-(need.idle + 3 * one) // MIB)
    assert memory_plan(Execution("processes", workers=8, max_memory=fits_three), tiny, longest=900).workers == 3
    assert memory_plan(Execution(max_memory=-(-one // MIB)), tiny, longest=900).workers == 1


def test_an_unknown_executor_is_refused():
    with pytest.raises(ExecutorError, match="unknown executor 'threads'; choose one of serial, processes, ray"):
        Execution("threads")


def test_ray_that_is_not_installed_is_named_with_the_command_that_installs_it(tiny, monkeypatch):
    imported = builtins.__import__

    def without_ray(name, *args, **options):
        if name == "ray":
            raise ImportError(name)
        return imported(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without_ray)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "mine")
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with pytest.raises(ExecutorMissingError, match=r"pip install 'veritas-ledger\[ray\]'"):
        open_executor(Execution("ray", workers=2), tiny, longest=10)
    import os

    assert os.environ["RAY_AUTH_TOKEN"] == "mine"
    assert "RAY_AUTH_MODE" not in os.environ
