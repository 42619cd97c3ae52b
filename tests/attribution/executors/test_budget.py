from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.blocks import BlockCache, make_blocks, score_blocks
from attribution.errors import BudgetError
from attribution.executors import Deadline, SerialExecutor, plan_memory
from attribution.executors.budget import CHUNKS, MIB
from tests.attribution.executors.recorded import SumScorer, all_states, small_layout


def need(*, longest: int, chunk_tokens: int) -> int:
    return 100 * MIB + longest * chunk_tokens * 256


def test_without_a_bound_the_wanted_workers_get_the_preferred_batch():
    plan = plan_memory(None, need, longest=1000, workers=3, beside=50 * MIB)
    assert (plan.workers, plan.chunk_tokens) == (3, 384)
    assert plan.need == 50 * MIB + 3 * need(longest=1000, chunk_tokens=384)


@pytest.mark.parametrize(
    ("mib", "workers", "chunk"),
    [(10_000, 4, 384), (850, 4, 384), (600, 2, 384), (250, 1, 384), (240, 1, 192), (175, 1, 96), (165, 1, 48)],
)
def test_workers_are_given_up_before_the_batch_is(mib, workers, chunk):
    """One worker: 193.75 MiB at 384 tokens, 146.9 at 192, 123.4 at 96, 111.7 at 48; and 50 MiB beside them."""
    plan = plan_memory(mib * MIB, need, longest=1000, workers=4, beside=50 * MIB)
    assert (plan.workers, plan.chunk_tokens) == (workers, chunk)
    assert plan.need <= mib * MIB


def test_what_cannot_fit_is_refused_with_both_numbers():
    with pytest.raises(
        BudgetError, match=r"needs 162 MiB for sequences of 1000 tokens.* is 160 MiB; give --max-memory 162"
    ):
        plan_memory(160 * MIB, need, longest=1000, workers=4, beside=50 * MIB)
    assert plan_memory(162 * MIB, need, longest=1000, workers=4, beside=50 * MIB).workers == 1
    with pytest.raises(BudgetError, match="0 workers"):
        plan_memory(None, need, longest=1, workers=0)


@given(
    limit=st.integers(100, 5000), longest=st.integers(1, 9000), workers=st.integers(1, 32), beside=st.integers(0, 300)
)
def test_a_plan_keeps_its_bound_and_no_larger_one_does(limit, longest, workers, beside):
    try:
        plan = plan_memory(limit * MIB, need, longest=longest, workers=workers, beside=beside * MIB)
    except BudgetError:
        assert beside * MIB + need(longest=longest, chunk_tokens=CHUNKS[-1]) > limit * MIB
        return
    assert plan.need <= limit * MIB
    if plan.workers < workers:
        one_more = (plan.workers + 1) * need(longest=longest, chunk_tokens=plan.chunk_tokens)
        assert beside * MIB + one_more > limit * MIB
    if plan.chunk_tokens != CHUNKS[0]:
        larger = CHUNKS[CHUNKS.index(plan.chunk_tokens) - 1]
        assert beside * MIB + need(longest=longest, chunk_tokens=larger) > limit * MIB


def test_a_budget_of_no_time_is_refused():
    for minutes in (0, -1, float("nan")):
        with pytest.raises(BudgetError, match="lets nothing begin"):
            Deadline(minutes)
    Deadline().check()


def test_in_this_process_time_ends_at_the_border_of_a_block_too(tmp_path):
    layout, cache = small_layout(), BlockCache(tmp_path)
    clock = iter([0.0, 30.0, 59.9, 60.0, 60.1])
    executor = SerialExecutor(SumScorer(), Deadline(1, now=lambda: next(clock)))
    blocks = make_blocks(executor, layout, all_states(), masks_per_block=2)
    seen: list[tuple[int, int]] = []
    with pytest.raises(BudgetError, match="1 minutes"):
        score_blocks(executor, layout, blocks, cache, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 5), (2, 5)]
    assert [cache.get(block) is not None for block in blocks] == [True, True, False, False, False]
    assert len(score_blocks(executor, layout, blocks[:2], cache)) == 2
    with pytest.raises(BudgetError):
        executor.score(layout, blocks[0])
