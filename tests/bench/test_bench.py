from __future__ import annotations

import json
from collections import Counter

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, fold
from ledger_core.stores.projections import LedgerProjection
from ledger_core.stores.verify import verify
from tests.bench.__main__ import main
from tests.bench.measuring import Comparison, Timing, compare, growth, memory, table
from tests.bench.sections import Kept
from tests.bench.trajectories import batches, fill, in_memory, open_ledger


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


LEDGER_LINES = [
    "one durable append",
    "one durable append beside a library",
    "a batch of 60 in one transaction",
    "verify and fold",
    "verify and fold, growth",
    "verify and fold, memory",
    "append in batches, growth",
    "belief pass, growth",
    "PostgreSQL: one durable append",
    "PostgreSQL: a batch of 60 in one transaction",
    "service, 16 clients in one process beside it",
]


@pytest.mark.slow
def test_the_ledger_suite_says_each_line_with_its_target_and_whether_it_is_kept(tmp_path, capsys):
    assert main(["ledger", "--small", "--out", str(tmp_path)]) == 0
    document = json.loads((tmp_path / "ledger.json").read_text())
    findings = document["comparisons"]
    assert [one["name"] for one in findings] == LEDGER_LINES
    assert [one.get("units") for one in findings[:4]] == [20, 20, 60, 700]
    assert document["small"]
    assert all(one["ratio"] > 0 for one in findings[:4])
    targets = [[goal["what"] for goal in one["goals"]] for one in findings]
    assert targets[:4] == [["speed", "CPU per append"], [], ["speed"], ["time", "peak memory"]]
    assert targets[5] == ["peak memory of a million events"]
    assert capsys.readouterr().out.count("target") == 0
    rows = (tmp_path / "ledger.md").read_text().splitlines()
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows if row.startswith("| ")][2:] == LEDGER_LINES
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger.json", "ledger.md"]


def test_a_goal_is_met_up_to_its_bound_and_said_in_its_own_terms():
    one = Comparison("append", "INSERT", "append", 1, (1.0, 1.0), (0.8, 0.8), (250e-6, 250e-6), (0.1, 0.1))
    held = one.fast(at_least=0.8).thrifty(at_most=250).slow(at_most=1.2)
    assert [goal.met for goal in held.goals] == [True, True, False]
    assert held.row() == (
        "append",
        "1000000 (250 CPU) µs per append",
        "800000 (100000 CPU) µs, INSERT",
        "1.25 (1.25–1.25; CPU 0.00)",
        "speed ≥ 0.8 ×; CPU per append ≤ 250 µs; time ≤ 1.2 ×",
        "0.8 ×: pass; 250 µs: pass; 1.25 ×: MISSED",
    )
    assert held.line() == (
        "append: 1.25 x INSERT (rounds 1.25 to 1.25; CPU 0.00); 1000000 (250 CPU) against 800000 (100000 CPU) µs per append"
    )
    assert table([held]).count("\n") == 3


def test_memory_is_told_for_each_event_and_for_a_million():
    found = memory("x", (700, 60.0), (10_700, 64.0))
    # 4 MiB for 10,000 events are 419 bytes each; 989,300 more of them are 395.7 MiB on top of 64.
    assert found.measured == "64 MiB at 10700 events, 419 bytes for each event more, 460 MiB at a million by that"
    assert [goal.met for goal in found.goals] == [True]
    assert not memory("x", (700, 60.0), (10_700, 65.0)).goals[0].met


def test_growth_is_held_to_linear_and_a_fifth():
    assert growth("x", 1.0, 12.0, times=10, per="events").goals[0].met
    worse = growth("x", 1.0, 12.1, times=10, per="events")
    assert not worse.goals[0].met
    assert worse.measured == "1.00 s, then 12.10 s for 10 times as many events"


def test_work_may_say_itself_what_it_took():
    found = compare("x", lambda: Timing(3.0, 2.0), lambda: Timing(1.5, 1.0), against="y", per="z", units=1, rounds=2)
    assert (found.ratio, found.cpu_micros) == (2.0, 2e6)


def test_trajectories_are_as_many_as_asked_for_and_no_two_alike(tmp_path):
    with open_ledger(tmp_path) as ledger:
        fill(ledger, 400)
        kinds = Counter(event.statement.kind for event in ledger.events())
        assert kinds["verdict.filed"] == 2 * kinds["cascade.fired"] == 2
        judgements = (
            "verdict.filed",
            "independence.assessed",
            "cascade.fired",
            "cascade.refused",
            "reputation.adjusted",
        )
        assert 400 <= ledger.count() - sum(kinds[kind] for kind in judgements) < 430
        assert len(LedgerProjection(ledger).state().retractions) == 1
        verify(ledger).require()
    found = list(batches(3_600))
    assert [len(batch.quarrels) for batch in found] == [9, 0]
    ids = [statement.event_id for batch in found for statement in batch.book.statements]
    assert len(set(ids)) == len(ids)
    state = fold(in_memory(400), SEED_V4_CLUSTERS)
    assert 400 <= len(state.entries) < 420
    assert state.retractions


def test_the_attribution_suite_checks_that_both_ways_agree(tiny_files, tmp_path, capsys):
    arguments = ["--model", str(tiny_files.path), "--cache", str(tmp_path), "--threads", "1"]
    assert main(["attribution", "--small", "--out", str(tmp_path), *arguments, "--sections", "prefix-tree"]) == 0
    few, whole = json.loads((tmp_path / "attribution.json").read_text())["comparisons"]
    assert few["units"] == 4
    assert few["per"] == "mask"
    assert whole["per"] == "trajectory"
    assert "one plain pass per mask and variant" in capsys.readouterr().out


def test_a_section_that_is_finished_is_read_not_measured_again(tmp_path):
    kept = Kept(tmp_path)
    assert kept.get("a/one", lambda: {"n": 3, "pair": (1, 2)}) == {"n": 3, "pair": [1, 2]}
    assert kept.get("a/one", lambda: pytest.fail("measured twice")) == {"n": 3, "pair": [1, 2]}
    with pytest.raises(ZeroDivisionError):
        kept.get("two", lambda: {"n": 1 // 0})
    assert [path.name for path in tmp_path.rglob("*.json")] == ["one.json"]


def test_an_unknown_section_is_refused_with_those_there_are(tmp_path):
    with pytest.raises(SystemExit, match=r"no section nothing; there are .*prefix-tree"):
        main(["attribution", "--small", "--out", str(tmp_path), "--sections", "nothing"])


def test_an_unknown_suite_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["speed"])
    assert "invalid choice: 'speed'" in capsys.readouterr().err
