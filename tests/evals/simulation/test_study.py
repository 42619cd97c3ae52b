"""Rates: counted as defined, the same for the same seed, and at their level where the truth can be enumerated."""

from __future__ import annotations

import json
import math
import re

import pytest

from evals.errors import StatisticsError
from evals.simulation import BreakEvenWorld, Cell, Design, PairWorld, ShareWorld, simulate
from evals.simulation.__main__ import DRAWS, SEED, main
from evals.simulation.cells import CELLS
from evals.simulation.page import HEAD, monte_carlo_error, rows, table
from evals.simulation.study import BARE, DECIDES, NAIVE
from evals.statistics import clopper_pearson
from tests.tree import ROOT

SHARE = Cell(world=ShareWorld("share", 0.1), design=Design(40, 5, 0.7))


def by_method(cell, draws=300, seed=3):
    return {rates.method: rates for rates in simulate(cell, draws=draws, seed=seed)}


def test_a_cell_is_the_same_for_the_same_seed_and_for_no_other():
    first = simulate(SHARE, draws=60, seed=1)
    simulate(Cell(world=ShareWorld("other", 0.2), design=Design(12, 2, 0.0)), draws=5, seed=1)
    assert simulate(SHARE, draws=60, seed=1) == first
    assert simulate(SHARE, draws=60, seed=2) != first
    assert {rates.draws for rates in first} == {60}
    assert all(rates.coverage == 1 - (rates.above + rates.below + rates.undefined) / 60 for rates in first)


def test_trials_that_are_not_independent_are_seen_by_the_method_that_decides_alone():
    """Five alike trials a cluster: the naive interval is too short, t leans to one side, the effective number holds."""
    rates = by_method(SHARE)
    assert rates[NAIVE].coverage < 0.85
    assert rates[BARE].above / 300 > 0.04
    assert rates[DECIDES].above / 300 < 0.05
    assert rates[DECIDES].coverage > 0.93
    assert rates[NAIVE].width < rates[DECIDES].width


def test_independent_trials_keep_the_closed_form():
    for world in (ShareWorld("share", 0.1), PairWorld("pair", 0.2, 0.1)):
        rates = by_method(Cell(world=world, design=Design(40, 1, 0.0)), draws=200)
        assert (rates[DECIDES].above, rates[DECIDES].below) == (rates[NAIVE].above, rates[NAIVE].below)
        assert rates[DECIDES].width == pytest.approx(rates[NAIVE].width)


def test_pairs_and_break_evens_are_covered():
    pair = by_method(Cell(world=PairWorld("pair", 0.05, 0.15), design=Design(40, 2, 0.3)))
    assert pair[DECIDES].coverage > 0.93
    world = BreakEvenWorld("b", PairWorld("loss", 0.37, 0.02), PairWorld("gain", 0.37, 0.02))
    (share,) = by_method(Cell(world=world, design=Design(40, 2, 0.3)), draws=150).values()
    assert share.coverage > 0.93
    assert 0.1 < share.width < 0.5


def test_clopper_pearson_keeps_its_level_at_every_truth_by_enumeration():
    """Exact one-sided errors over a fine grid: never above α = 0.025, at the n of our runs."""
    for n in (12, 40, 73):
        intervals = [clopper_pearson(k, n) for k in range(n + 1)]
        ways = [math.comb(n, k) for k in range(n + 1)]
        for step in range(1, 200):
            p = step / 200
            chance = [ways[k] * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
            assert math.fsum(c for c, i in zip(chance, intervals, strict=True) if i.high < p) <= 0.025
            assert math.fsum(c for c, i in zip(chance, intervals, strict=True) if i.low > p) <= 0.025


def test_no_draw_is_no_study():
    with pytest.raises(StatisticsError, match="0 draws"):
        simulate(SHARE, draws=0, seed=1)


def test_the_command_prints_a_row_a_method_and_writes_its_counts(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("evals.simulation.__main__.CELLS", (SHARE, CELLS[-1]))
    assert main(["--draws", "20", "--seed", "9", "--json", str(tmp_path / "counts.json")]) == 0
    printed = capsys.readouterr().out
    assert "20 draws a line, seed 9; standard error of a rate of 2.5 %: 3.49 points." in printed
    assert [line.split(" | ")[3] for line in printed.splitlines() if line.startswith("| ")][2:] == [
        *(DECIDES, NAIVE, BARE),
        DECIDES,
    ]
    counts = json.loads((tmp_path / "counts.json").read_text())
    assert [row["draws"] for row in counts] == [20] * 4
    assert counts[0]["truth"] == 0.1


def test_the_page_shows_the_lines_of_the_study_and_no_others():
    """The table in docs/simulation.md was printed by the command: the same worlds, designs and methods in the same order."""
    page = (ROOT / "docs/simulation.md").read_text(encoding="utf-8")
    shown = [tuple(line.strip("| \n").split(" | ")[:4]) for line in page.splitlines() if line.startswith("| ")]
    expected = [row[:4] for cell in CELLS for row in rows(cell, _methods_of(cell))]
    start = shown.index(HEAD[:4])
    assert shown[start + 2 : start + 2 + len(expected)] == expected
    assert f"{DRAWS:,} draws a line, seed {SEED}" in page
    assert re.search(r"python -m evals\.simulation\b", page)
    assert table([]).splitlines()[0].count("|") == len(HEAD) + 1
    assert monte_carlo_error(10_000) == pytest.approx(0.00156, abs=1e-5)


def _methods_of(cell):
    return simulate(cell, draws=1, seed=0)
