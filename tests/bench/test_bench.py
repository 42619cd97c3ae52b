from __future__ import annotations

import json

import pytest

from tests.bench.__main__ import main
from tests.bench.measuring import Comparison, compare


def test_a_ratio_is_the_median_over_rounds_and_names_both_sides():
    one = Comparison("append", "INSERT", "append", 2, (4.0, 9.0, 2.0), (2.0, 3.0, 2.0))
    assert one.ratios == (2.0, 3.0, 1.0)
    assert one.ratio == 2.0
    assert one.line() == "append: 2.00 x INSERT (rounds 1.00 to 3.00); 2000000 against 1000000 µs per append"
    assert one.document()["ratio"] == 2.0


def test_the_two_ways_take_turns_and_swap_who_is_first():
    calls = []
    found = compare("x", lambda: calls.append("o"), lambda: calls.append("p"), against="y", per="z", units=1, rounds=3)
    assert "".join(calls) == "oppoop"
    assert len(found.ours_seconds) == len(found.plain_seconds) == 3


def test_the_ledger_suite_measures_three_things(tmp_path, capsys):
    assert main(["ledger", "--small", "--out", str(tmp_path)]) == 0
    document = json.loads((tmp_path / "ledger.json").read_text())
    names = [one["name"] for one in document["comparisons"]]
    assert names == ["one durable append", "a batch in one transaction", "verify and fold"]
    assert [one["units"] for one in document["comparisons"]] == [20, 60, 63]
    assert document["small"]
    assert all(one["ratio"] > 0 for one in document["comparisons"])
    assert capsys.readouterr().out.count(" x ") == 3
    assert list(tmp_path.iterdir()) == [tmp_path / "ledger.json"]


def test_the_attribution_suite_checks_that_both_ways_agree(tiny_files, tmp_path, capsys):
    arguments = ["--model", str(tiny_files.path), "--cache", str(tmp_path), "--threads", "1"]
    assert main(["attribution", "--small", "--out", str(tmp_path), *arguments]) == 0
    few, whole = json.loads((tmp_path / "attribution.json").read_text())["comparisons"]
    assert few["units"] == 4
    assert few["per"] == "mask"
    assert whole["per"] == "trajectory"
    assert "one plain pass per mask and variant" in capsys.readouterr().out


def test_an_unknown_suite_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["speed"])
    assert "invalid choice: 'speed'" in capsys.readouterr().err
