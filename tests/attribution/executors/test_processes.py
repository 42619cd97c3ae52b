from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from attribution.blocks import BlockCache, make_blocks, score_blocks
from attribution.errors import BlockError, BudgetError, ExecutorError, WorkerLostError
from attribution.executors import Deadline, SerialExecutor
from attribution.executors.pooled import ATTEMPTS
from attribution.executors.processes import ProcessExecutor
from tests.attribution.executors.recorded import (
    Recorded,
    Sums,
    SumScorer,
    all_states,
    begun,
    pids,
    small_layout,
)
from tests.tree import ROOT

LAYOUT = small_layout()
BLOCKS = make_blocks(SumScorer(), LAYOUT, all_states(), masks_per_block=1)
EXPECTED = [SumScorer().score(LAYOUT, block) for block in BLOCKS]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    folder = tmp_path / "trace"
    folder.mkdir()
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> BlockCache:
    return BlockCache(tmp_path / "blocks")


@pytest.fixture
def opened():
    executors: list[ProcessExecutor] = []

    def opening(spec, *, workers: int = 2, deadline: Deadline | None = None) -> ProcessExecutor:
        executors.append(ProcessExecutor(SumScorer(), spec, workers=workers, deadline=deadline))
        return executors[-1]

    yield opening
    for executor in executors:
        executor.close()


def same(tables: list[np.ndarray]) -> bool:
    return all(np.array_equal(table, expected) for table, expected in zip(tables, EXPECTED, strict=True))


def test_two_processes_compute_every_block_once_and_store_it(opened, trace, cache):
    executor = opened(Recorded(Sums(), trace, seconds=0.05))
    seen: list[tuple[int, int]] = []
    tables = score_blocks(executor, LAYOUT, BLOCKS, cache, progress=lambda done, total: seen.append((done, total)))
    assert same(tables)
    assert begun(trace) == sorted(block.digest for block in BLOCKS)
    assert len(pids(trace)) == 2
    assert os.getpid() not in pids(trace)
    assert seen == [(done, 9) for done in range(1, 10)]
    assert same([cache.get(block) for block in BLOCKS])
    assert not list(cache.folder.rglob(".*"))


def test_without_a_cache_tables_come_back_all_the_same(opened, trace):
    executor = opened(Recorded(Sums(), trace), workers=1)
    assert np.array_equal(executor.score(LAYOUT, BLOCKS[3]), EXPECTED[3])
    assert same(executor.score_all(LAYOUT, BLOCKS, None))


def test_identity_and_token_counts_are_the_scorers(opened, trace):
    executor, scorer = opened(Recorded(Sums(), trace)), SumScorer()
    assert (executor.id, executor.dtype, executor.plan) == (scorer.id, scorer.dtype, scorer.plan)
    assert executor.tokens(LAYOUT, BLOCKS[0]) == 5
    assert make_blocks(executor, LAYOUT, all_states())[0].digest == make_blocks(scorer, LAYOUT, all_states())[0].digest


def test_any_mix_of_executors_computes_each_block_once(opened, trace, cache):
    spec = Recorded(Sums(), trace)
    in_processes = opened(spec, workers=1)
    score_blocks(spec.open(), LAYOUT, BLOCKS[:2], cache)
    score_blocks(in_processes, LAYOUT, BLOCKS[1:5], cache)
    score_blocks(SerialExecutor(spec.open()), LAYOUT, BLOCKS[3:7], cache)
    assert same(score_blocks(in_processes, LAYOUT, BLOCKS, cache))
    assert begun(trace) == sorted(block.digest for block in BLOCKS)


def test_side_by_side_on_one_cache_each_block_is_computed_once(opened, trace, cache):
    """Two jobs with their own workers and a third in this process ask for the same blocks at the same time."""
    spec = Recorded(Sums(), trace, seconds=0.05)
    with ThreadPoolExecutor() as threads:
        jobs = [
            threads.submit(score_blocks, executor, LAYOUT, BLOCKS, cache)
            for executor in (opened(spec, workers=1), opened(spec, workers=1), SerialExecutor(spec.open()))
        ]
    assert all(same(job.result()) for job in jobs)
    assert begun(trace) == sorted(block.digest for block in BLOCKS)


def test_threads_share_the_workers(opened, trace, cache):
    executor = opened(Recorded(Sums(), trace, seconds=0.02))
    with ThreadPoolExecutor(4) as threads:
        jobs = [threads.submit(score_blocks, executor, LAYOUT, [block], cache) for block in BLOCKS]
    assert same([job.result()[0] for job in jobs])
    assert len(pids(trace)) <= 2


def test_the_block_of_a_killed_worker_is_handed_out_again_and_no_other(opened, trace, cache):
    (trace / "kill").touch()
    executor = opened(Recorded(Sums(), trace, seconds=0.05))
    assert same(score_blocks(executor, LAYOUT, BLOCKS, cache))
    assert executor.deaths == 1
    assert len(list(trace.glob("killed.*"))) == 1
    assert len(begun(trace)) == len(BLOCKS) + 1
    assert len(set(begun(trace))) == len(BLOCKS)


def test_a_block_that_no_worker_survives_is_given_up_and_the_rest_is_kept(opened, trace, cache):
    executor = opened(Recorded(Sums(), trace, dies=2), workers=1)
    deadly = make_blocks(SumScorer(), LAYOUT, all_states()[:2])
    with pytest.raises(WorkerLostError, match=r"handed out 3 times .*code -9.* fewer --workers"):
        score_blocks(executor, LAYOUT, [*BLOCKS[:4], *deadly], cache)
    assert begun(trace).count(deadly[0].digest) == ATTEMPTS
    assert cache.get(deadly[0]) is None
    assert same([*(cache.get(block) for block in BLOCKS[:4]), *EXPECTED[4:]])


def test_what_a_scorer_refuses_is_raised_here_and_the_workers_go_on(opened, trace, cache):
    executor = opened(Recorded(Sums(), trace, fails=2), workers=1)
    refused = make_blocks(SumScorer(), LAYOUT, all_states()[:2])
    with pytest.raises(BlockError, match="no scores for 2 masks"):
        score_blocks(executor, LAYOUT, refused, cache)
    assert same(score_blocks(executor, LAYOUT, BLOCKS, cache))
    assert len(pids(trace)) == 1


def test_a_worker_whose_scorer_is_another_refuses_the_block(opened, trace):
    blocks = make_blocks(SumScorer(), LAYOUT, all_states())
    SumScorer.plan, plan = "other", SumScorer.plan
    try:
        foreign = make_blocks(SumScorer(), LAYOUT, all_states())
    finally:
        SumScorer.plan = plan
    executor = opened(Recorded(Sums(), trace), workers=1)
    with pytest.raises(BlockError, match="make it anew"):
        executor.score_all(LAYOUT, foreign, None)
    assert len(executor.score_all(LAYOUT, blocks, None)) == 1


def test_time_ends_at_the_border_of_a_block_and_the_same_call_goes_on(opened, trace, cache):
    clock = iter([0.0, 10.0, 20.0, 61.0, 62.0])
    executor = opened(Recorded(Sums(), trace), workers=1, deadline=Deadline(1, now=lambda: next(clock)))
    with pytest.raises(BudgetError, match=r"1 minutes is used up; .* stored.* run the same command again"):
        score_blocks(executor, LAYOUT, BLOCKS, cache)
    kept = [block for block in BLOCKS if cache.get(block) is not None]
    assert kept == BLOCKS[:2]
    assert begun(trace) == sorted(block.digest for block in kept)
    assert len(score_blocks(executor, LAYOUT, kept, cache)) == 2  # what is stored is read even then
    assert same(score_blocks(SerialExecutor(Recorded(Sums(), trace).open()), LAYOUT, BLOCKS, cache))
    assert begun(trace) == sorted(block.digest for block in BLOCKS)


def test_blocks_in_work_when_the_time_ends_are_stored(opened, trace, cache):
    clock = iter([0.0, 1.0, 1.0, 61.0])
    executor = opened(Recorded(Sums(), trace, seconds=0.1), deadline=Deadline(1, now=lambda: next(clock)))
    with pytest.raises(BudgetError):
        score_blocks(executor, LAYOUT, BLOCKS, cache)
    assert len(begun(trace)) == 2
    assert sorted(block.digest for block in BLOCKS if cache.get(block) is not None) == begun(trace)


def test_a_closed_executor_has_no_processes_and_takes_nothing(opened, trace, cache):
    executor = opened(Recorded(Sums(), trace))
    score_blocks(executor, LAYOUT, BLOCKS[:2], cache)
    executor.close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids(trace))
    with pytest.raises(ExecutorError, match="closed"):
        score_blocks(executor, LAYOUT, BLOCKS, cache)
    assert same([*score_blocks(executor, LAYOUT, BLOCKS[:2], cache), *EXPECTED[2:]])


def test_closing_ends_a_block_in_work_and_leaves_nothing_half_stored(opened, trace, cache):
    executor = opened(Recorded(Sums(), trace, seconds=60), workers=1)
    with ThreadPoolExecutor(1) as threads:
        job = threads.submit(score_blocks, executor, LAYOUT, BLOCKS[:1], cache)
        _wait_for(lambda: begun(trace))
        executor.close()
        with pytest.raises(ExecutorError):
            job.result(timeout=20)
    assert cache.get(BLOCKS[0]) is None
    assert same([*score_blocks(Sums().open(), LAYOUT, BLOCKS[:1], cache), *EXPECTED[1:]])


def test_no_workers_are_refused(trace):
    with pytest.raises(BudgetError, match="0 workers"):
        ProcessExecutor(SumScorer(), Recorded(Sums(), trace), workers=0)


PARENT = """
import sys
from pathlib import Path
from attribution.blocks import BlockCache, score_blocks
from attribution.executors.processes import ProcessExecutor
from tests.attribution.executors.recorded import Recorded, Sums, SumScorer
from tests.attribution.executors.test_processes import BLOCKS, LAYOUT

if __name__ == "__main__":
    trace = Path(sys.argv[1])
    executor = ProcessExecutor(SumScorer(), Recorded(Sums(), trace, seconds=2), workers=2)
    score_blocks(executor, LAYOUT, BLOCKS, BlockCache(trace.parent / "blocks"))
"""


def test_workers_end_with_a_killed_parent_and_another_job_goes_on_from_there(trace, cache, tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(script), str(trace)], cwd=ROOT, env={**os.environ, "PYTHONPATH": "."}
    )
    try:
        _wait_for(lambda: len(begun(trace)) >= 2)
    finally:
        parent.kill()
        parent.wait()
    orphans = pids(trace)
    _wait_for(lambda: not any(_alive(pid) for pid in orphans))
    before = begun(trace)
    kept = {block.digest for block in BLOCKS if cache.get(block) is not None}
    spec = Recorded(Sums(), trace)
    assert same(score_blocks(SerialExecutor(spec.open()), LAYOUT, BLOCKS, cache))
    assert len(begun(trace)) - len(before) == len(BLOCKS) - len(kept)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def _wait_for(condition, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, threading.enumerate()
        time.sleep(0.05)
