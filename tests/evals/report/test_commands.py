"""The commands beside the figures, executed on a home that holds two runs: each answers for the run that it names."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import duckdb
import pytest

from evals.metrics import Metric
from evals.report.commands import BOTH, Recompute, gate, why

FULL, QUICK = "run-37fe3ee911d0aa", "run-cffcb296c217bb"
OF_FULL = Recompute("run-37fe3ee911d0", "veritas evaluate --seed 7 --gate cuts-v1")
OF_QUICK = Recompute("run-cffcb296c217", "veritas evaluate --quick --seed 7 --gate cuts-v1")
BASE = {"family": "planted-premise", "variant": "base", "premise_order": BOTH}


@pytest.fixture
def lake() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE TABLE scenarios (tenant TEXT, project TEXT, scenario TEXT, family TEXT, variant TEXT)")
    connection.execute(
        "CREATE TABLE trials (tenant TEXT, project TEXT, scenario TEXT, arm TEXT, repeat INT, outcome TEXT, answer TEXT, "
        "prompt_digest TEXT, row TEXT)"
    )
    connection.execute(
        "CREATE TABLE answer_attribution (tenant TEXT, project TEXT, scenario TEXT, arm TEXT, label TEXT, role TEXT, "
        "verdict TEXT, effect DOUBLE, low DOUBLE, high DOUBLE, reason TEXT)"
    )
    connection.execute(
        "CREATE TABLE stability_report (tenant TEXT, project TEXT, cuts_v1_result TEXT, cuts_v1_edges TEXT[], "
        "seed_v4_passes BOOLEAN, seed_v4_edges TEXT[], rho_seeds DOUBLE, runs INT)"
    )
    counts = '{"true_claims_invalidated": 1, "true_claims": 3, "correction_in_context": true}'
    for project, scenarios in ((FULL, ("s1", "s2")), (QUICK, ("s1",))):
        for scenario in scenarios:
            connection.execute(
                "INSERT INTO scenarios VALUES ('eval', ?, ?, 'planted-premise', 'base')", [project, scenario]
            )
            # Arms 2k and 2m show one and the same prompt, so its one measurement stands under 2k.
            for arm, outcome in (("2", "asserts_true"), ("2k", "asserts_false"), ("2m", "asserts_false")):
                connection.execute(
                    "INSERT INTO trials VALUES ('eval', ?, ?, ?, 0, ?, 'berth 3', ?, ?)",
                    [project, scenario, arm, outcome, f"{scenario}{outcome}", counts],
                )
            connection.execute(
                "INSERT INTO answer_attribution VALUES ('eval', ?, ?, '2k', 'e1', 'premise', 'edge', 1, 0, 2, '')",
                [project, scenario],
            )
    for tenant, project in (("eval", FULL), ("eval", FULL), ("eval", QUICK), ("samples", "planted-chat")):
        connection.execute(
            "INSERT INTO stability_report VALUES (?, ?, 'grounded', ['a', 'b'], false, ['a'], 0.5, 16)",
            [tenant, project],
        )
    yield connection
    connection.close()


def rows(lake: duckdb.DuckDBPyConnection, command: str) -> list[tuple[object, ...]]:
    program, subcommand, query = shlex.split(command.replace(r"\$", "$"))  # a shell undoes this escape, shlex does not
    assert (program, subcommand) == ("veritas", "sql")
    return lake.execute(query).fetchall()


def test_trials_and_outcomes_are_those_of_the_named_run(lake: duckdb.DuckDBPyConnection):
    assert rows(lake, OF_FULL.trials()) == [("asserts_false", 4), ("asserts_true", 2)]
    assert rows(lake, OF_QUICK.trials()) == [("asserts_false", 2), ("asserts_true", 1)]
    assert rows(lake, OF_FULL.outcomes(BASE, "2")) == [("asserts_true", 2)]
    assert rows(lake, OF_QUICK.outcomes(BASE, "2")) == [("asserts_true", 1)]
    assert rows(lake, OF_FULL.outcomes({"family": "null"}, "2")) == []


def test_pairs_never_cross_runs(lake: duckdb.DuckDBPyConnection):
    assert rows(lake, OF_FULL.pairs(BASE, "2", "2k")) == [("asserts_true", "asserts_false", 2)]
    assert rows(lake, OF_QUICK.pairs(BASE, "2", "2k")) == [("asserts_true", "asserts_false", 1)]


def test_sums_are_of_one_run(lake: duckdb.DuckDBPyConnection):
    assert rows(lake, OF_FULL.measurement(Metric.COLLATERAL, BASE, "2")) == [(2, 6)]
    assert rows(lake, OF_QUICK.measurement(Metric.COLLATERAL, BASE, "2")) == [(1, 3)]
    assert rows(lake, OF_FULL.measurement(Metric.ACCURACY, BASE, "2")) == [("asserts_true", 2)]


def test_survival_counts_what_was_in_the_context(lake: duckdb.DuckDBPyConnection):
    assert rows(lake, OF_FULL.survival("planted-premise", ("base", "other"), "2")) == [("asserts_true", 2, 2)]
    assert rows(lake, OF_FULL.survival("planted-premise", ("other",), "2")) == []


def test_a_transcript_and_the_causes_of_a_falsehood_are_of_the_run(lake: duckdb.DuckDBPyConnection):
    assert [row[:2] for row in rows(lake, OF_QUICK.transcript("s1"))] == [
        ("2", "asserts_true"),
        ("2k", "asserts_false"),
        ("2m", "asserts_false"),
    ]
    assert rows(lake, OF_QUICK.causes("s2")) == []
    assert [row[:4] for row in rows(lake, OF_FULL.causes("s2"))] == [("2k", "e1", "premise", "edge")]


def test_arms_that_showed_one_prompt_share_the_causes_of_its_answer(lake: duckdb.DuckDBPyConnection):
    assert rows(lake, OF_FULL.causes_of("2k")) == [("premise", 2)]
    assert rows(lake, OF_FULL.causes_of("2m")) == [("premise", 2)]
    assert rows(lake, OF_FULL.causes_of("2")) == []
    lake.execute("DELETE FROM answer_attribution WHERE scenario = 's2'")
    assert rows(lake, OF_FULL.causes_of("2m")) == [("no entry", 1), ("premise", 1)]


def test_a_gate_is_counted_over_the_ledgers_that_are_named(lake: duckdb.DuckDBPyConnection):
    both = ("eval/run-37fe3ee911d0", "samples/planted-chat")
    assert rows(lake, gate("cuts-v1", both)) == [("grounded", 3, 6, 0.5, 48), (None, 3, 6, 0.5, 48)]
    assert rows(lake, gate("seed-v4", both[1:])) == [
        ("declared edges kept", 1, 1, 0.5, 16),
        (None, 1, 1, 0.5, 16),
    ]


def test_why_names_one_ledger():
    assert why("ab" * 32, "eval/run-37fe3ee911d0") == (
        f"veritas why {'ab' * 32} --tenant eval --project run-37fe3ee911d0"
    )
