"""kill -9 at seeded moments over all stages: what is run again ends where an undisturbed run ends."""

from __future__ import annotations

import random
import signal

import pytest

from tests.e2e.attempts import INSIDE, after, attempt, result

pytestmark = pytest.mark.slow

MOMENTS = 10
SEED = 20260131
APPENDING = "write eval/trials"
"""The stage whose kill strikes between two statements of one transaction."""


def moments(stages, seed: int) -> list[tuple[str, int]]:
    """``MOMENTS`` stages in order: the mark before each, and the step after it at which to kill."""
    draw = random.Random(seed)
    appending = next(place for place, (_, steps) in enumerate(stages) if steps[-1] == APPENDING)
    others = [place for place in range(1, len(stages)) if place != appending]
    found = []
    for place in sorted([appending, *draw.sample(others, MOMENTS - 1)]):
        mark, steps = stages[place]
        eligible = [n for n, step in enumerate(steps, start=1) if place != appending or step == INSIDE]
        found.append((mark, draw.choice(eligible)))
    return found


def test_ten_kills_in_one_home_do_not_show_in_the_end(undisturbed, tiny_wide, tmp_path):
    last_words = []
    for mark, offset in moments(undisturbed.stages, SEED):
        died = attempt(tmp_path, tiny_wide, after(mark, offset))
        assert died.status == -signal.SIGKILL, (mark, offset)
        last_words.append(died.steps[-1])
    assert INSIDE in last_words
    assert attempt(tmp_path, tiny_wide, now=None).status == 0
    assert result(tmp_path) == result(undisturbed.home)


def test_a_kill_between_two_statements_of_one_transaction_leaves_none_of_it(undisturbed, tiny_wide, tmp_path):
    mark, steps = next((mark, steps) for mark, steps in undisturbed.stages if steps[-1] == "write eval/scenario_events")
    inside = [place for place, step in enumerate(steps, start=1) if step == INSIDE]
    died = attempt(tmp_path, tiny_wide, after(mark, random.Random(SEED).choice(inside)))
    assert (died.status, died.steps[-1]) == (-signal.SIGKILL, INSIDE)
    assert attempt(tmp_path, tiny_wide).status == 0
    assert result(tmp_path) == result(undisturbed.home)
