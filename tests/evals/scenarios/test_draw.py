"""Draws: a known stream, uniformity, independence of what else is drawn."""

from __future__ import annotations

from collections import Counter

import pytest

from evals.errors import ScenarioError
from evals.scenarios.draw import Draw


def test_the_stream_is_fixed() -> None:
    draw = Draw("g", 1)
    assert [draw.below(1000) for _ in range(5)] == [589, 171, 145, 598, 161]
    assert Draw("g", 1).token(6) == "0d09d7"


def test_labels_do_not_run_together() -> None:
    assert Draw("a", "bc").token(16) != Draw("ab", "c").token(16)
    assert Draw("a", 1).token(16) != Draw("a", 2).token(16)


def test_draws_are_uniform() -> None:
    draw = Draw("uniform")
    counts = Counter(draw.below(7) for _ in range(7000))
    chi_square = sum((counts[i] - 1000) ** 2 / 1000 for i in range(7))
    assert chi_square < 22.5  # the 0.999 quantile of chi-square with 6 degrees of freedom


def test_distinct_members_do_not_clash() -> None:
    chosen = Draw("d").distinct(range(100), 5, lambda left, right: left // 10 == right // 10)
    assert len({member // 10 for member in chosen}) == 5


def test_too_small_a_pool_is_refused() -> None:
    with pytest.raises(ScenarioError, match="a pool of 3 does not hold 4"):
        Draw("d").distinct("abc", 4, lambda left, right: left == right)
    with pytest.raises(ScenarioError, match="cannot draw below 0"):
        Draw("d").pick([])
