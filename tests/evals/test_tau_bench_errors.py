"""Trials of one task are not independent: errors by task on published tau-bench runs, against the naive ones."""

from __future__ import annotations

import json
import math
from collections import defaultdict

import pytest

from evals.statistics import clopper_pearson, cluster_proportion
from tests.shared import shared_path

FILE = "data/tau-bench/gpt-4o-airline-a.json"


@pytest.fixture(scope="module")
def by_task() -> dict[str, list[float]]:
    rewards: dict[str, list[float]] = defaultdict(list)
    for run in json.loads(shared_path(FILE).read_text()):
        rewards[f"{run['task_id']}"].append(float(run["reward"]))
    return dict(rewards)


def test_the_error_by_task_is_half_as_large_again_as_the_naive_one(by_task):
    """Thirty tasks, four trials each: the variance of the mean is 2.3 times that of 120 independent trials."""
    assert {len(rewards) for rewards in by_task.values()} == {4}
    assert len(by_task) == 30
    means = [sum(rewards) / 4 for rewards in by_task.values()]
    share = sum(means) / 30
    naive = math.sqrt(share * (1 - share) / 120)
    clustered = math.sqrt(sum((mean - share) ** 2 for mean in means) / 29 / 30)
    assert share == pytest.approx(58 / 120)
    assert clustered / naive == pytest.approx(1.53, abs=0.02)


def test_the_interval_that_decides_is_as_wide_as_the_tasks_make_it(by_task):
    found, naive = cluster_proportion(by_task), clopper_pearson(58, 120)
    assert found.estimate == naive.estimate == pytest.approx(58 / 120)
    assert (found.method, found.n) == ("Clopper–Pearson, effective n", 30)
    assert 1.45 < (found.high - found.low) / (naive.high - naive.low) < 1.65
