"""The commands beside the figures, executed on a home that holds two runs: each answers for every run by itself."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import duckdb
import pytest

from evals.metrics import Metric
from evals.report import commands

FULL, QUICK = "run-37fe3ee911d0aa", "run-cffcb296c217bb"
BASE = {"family": "planted-premise", "variant": "base", "premise_order": commands.BOTH}


@pytest.fixture
def lake() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE TABLE scenarios (tenant TEXT, project TEXT, scenario TEXT, family TEXT, variant TEXT)")
    connection.execute(
        "CREATE TABLE trials (tenant TEXT, project TEXT, scenario TEXT, arm TEXT, repeat INT, outcome TEXT, answer TEXT, row TEXT)"
    )
    connection.execute(
        "CREATE TABLE answer_attribution (tenant TEXT, project TEXT, scenario TEXT, arm TEXT, label TEXT, role TEXT, "
        "verdict TEXT, effect DOUBLE, low DOUBLE, high DOUBLE)"
    )
    counts = '{"true_claims_invalidated": 1, "true_claims": 3}'
    for project, scenarios in ((FULL, ("s1", "s2")), (QUICK, ("s1",))):
        for scenario in scenarios:
            connection.execute(
                "INSERT INTO scenarios VALUES ('eval', ?, ?, 'planted-premise', 'base')", [project, scenario]
            )
            for arm, outcome in (("2", "asserts_true"), ("2k", "asserts_false")):
                connection.execute(
                    "INSERT INTO trials VALUES ('eval', ?, ?, ?, 0, ?, 'berth 3', ?)",
                    [project, scenario, arm, outcome, counts],
                )
            connection.execute(
                "INSERT INTO answer_attribution VALUES ('eval', ?, ?, '2k', 'e1', 'premise', 'edge', 1, 0, 2)",
                [project, scenario],
            )
    yield connection
    connection.close()


def rows(lake: duckdb.DuckDBPyConnection, command: str) -> list[tuple[object, ...]]:
    program, subcommand, query = shlex.split(command.replace(r"\$", "$"))  # a shell undoes this escape, shlex does not
    assert (program, subcommand) == ("veritas", "sql")
    return lake.execute(query).fetchall()


def test_outcomes_are_counted_by_run(lake: duckdb.DuckDBPyConnection):
    found = rows(lake, commands.outcomes(BASE, "2"))
    assert found == [("run-37fe3ee911d0", "asserts_true", 2), ("run-cffcb296c217", "asserts_true", 1)]


def test_pairs_never_cross_runs(lake: duckdb.DuckDBPyConnection):
    found = rows(lake, commands.pairs(BASE, "2", "2k"))
    assert found == [
        ("run-37fe3ee911d0", "asserts_true", "asserts_false", 2),
        ("run-cffcb296c217", "asserts_true", "asserts_false", 1),
    ]


def test_sums_are_of_one_run(lake: duckdb.DuckDBPyConnection):
    found = rows(lake, commands.measurement(Metric.COLLATERAL, BASE, "2"))
    assert found == [("run-37fe3ee911d0", 2, 6), ("run-cffcb296c217", 1, 3)]


def test_a_transcript_and_the_causes_of_a_falsehood_name_their_run(lake: duckdb.DuckDBPyConnection):
    read = rows(lake, commands.transcript("s1"))
    assert [row[:2] for row in read] == [
        ("run-37fe3ee911d0", "2"),
        ("run-37fe3ee911d0", "2k"),
        ("run-cffcb296c217", "2"),
        ("run-cffcb296c217", "2k"),
    ]
    assert [row[0] for row in rows(lake, commands.causes("s2"))] == ["run-37fe3ee911d0"]
