"""`veritas report --compare`: two runs by name, what differs between them, and the pairs that moved."""

from __future__ import annotations

import re

import pytest

from evals.report.write import write_report
from tests.evals.report.sample import RUN
from tests.evals.report.test_compare import runs
from tests.pipelines.cli.conftest import Veritas

__all__ = ["runs"]


@pytest.fixture
def folders(runs, tmp_path):
    *_, left, right = runs
    for name, data in (("a", left), ("b", right)):
        write_report(tmp_path / name, data, RUN)
    return tmp_path / "a", tmp_path / "b"


def test_two_runs_are_set_side_by_side(veritas: Veritas, folders, tmp_path):
    done = veritas("report", "--compare", *folders, "--out", tmp_path / "both")
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].startswith("left   run-37fe3ee911d0: K1 ")
    assert lines[1].startswith("right  run-another: K1 ")
    assert re.search(r"^  agent +local +other$", done.out, re.MULTILINE)
    (moved,) = (line for line in lines if line.lstrip().startswith("planted-premise/base accuracy, arm 2 "))
    assert re.search(r" \+\d+\.\d\u202fpp +\+\d", moved), "the left run is right more often"
    assert lines[-1] == f"Comparison: {tmp_path / 'both' / 'compare.html'}"
    assert " differences over up to 80 scenarios that both runs asked, " in lines[-2]


def test_a_run_differs_in_nothing_from_itself(veritas: Veritas, folders):
    out = veritas("report", "--compare", folders[0], folders[0]).out
    assert "differs" not in out
    assert out.rstrip().endswith("that both runs asked, 0 of them not 0.")
