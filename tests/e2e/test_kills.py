"""kill -9 at seeded moments over all stages: what is run again ends where an undisturbed run ends."""

from __future__ import annotations

import random
import signal

import pytest

from tests.e2e.attempts import INSIDE, after, attempt, result

pytestmark = pytest.mark.slow

MOMENTS = 10
SEED = 20260131


def moments(stages, seed: int) -> list[tuple[str, int]]:
    """``MOMENTS`` stages in order, each with the step at which it is to be killed."""
    draw = random.Random(seed)
    chosen = sorted(draw.sample(range(1, len(stages)), MOMENTS))
    return [(stages[place][0], draw.randint(1, len(stages[place][1]))) for place in chosen]


def test_ten_kills_in_one_home_do_not_show_in_the_end(undisturbed, tiny_wide, tmp_path):
    killed = []
    for mark, offset in moments(undisturbed.stages, SEED):
        died = attempt(
            tmp_path, tiny_wide, after(mark, offset), now=None if killed else "2026-01-31T12:00:00.000000000Z"
        )
        assert died.status == -signal.SIGKILL, (mark, offset)
        killed.append(died.steps[-1])
    assert len(killed) == MOMENTS
    assert attempt(tmp_path, tiny_wide, now=None).status == 0
    assert result(tmp_path) == result(undisturbed.home)


@pytest.mark.parametrize("stage", ["write samples/edges_upsert", "write eval/scenario_events", "write eval/trials"])
def test_a_kill_with_events_written_and_not_committed_leaves_none_of_them(undisturbed, tiny_wide, tmp_path, stage):
    mark, steps = next((mark, steps) for mark, steps in undisturbed.stages if steps[-1] == stage)
    inside = [place for place, step in enumerate(steps, start=1) if step == INSIDE]
    offset = random.Random(stage).choice(inside)
    died = attempt(tmp_path, tiny_wide, after(mark, offset))
    assert (died.status, died.steps[-1]) == (-signal.SIGKILL, INSIDE)
    assert attempt(tmp_path, tiny_wide).status == 0
    assert result(tmp_path) == result(undisturbed.home)


def test_a_kill_before_anything_was_written_leaves_a_run_that_can_start(undisturbed, tiny_wide, tmp_path):
    died = attempt(tmp_path, tiny_wide, lambda _: True)
    assert (died.status, len(died.steps)) == (-signal.SIGKILL, 1)
    assert attempt(tmp_path, tiny_wide).status == 0
    assert result(tmp_path) == result(undisturbed.home)
