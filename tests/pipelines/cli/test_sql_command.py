"""`veritas sql`: rows for people and for programs, and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.lake import TABLES, write_table
from tests.pipelines.cli.conftest import Veritas

EDGES = [{"claim": "c1", "parent": "p1", "ppm": 250_000}, {"claim": "c2", "parent": "[red]p2", "ppm": 1}]


@pytest.fixture
def lake(home: Path) -> Path:
    write_table(home / "lake" / "eval" / "run-1", "edges", EDGES)
    return home / "lake"


def test_rows_as_a_table(veritas: Veritas, lake: Path):
    del lake
    done = veritas("sql", "SELECT tenant, parent, ppm FROM edges ORDER BY ppm")
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.out.splitlines() if line.startswith("│")]
    assert cells == [["eval", "[red]p2", "1"], ["eval", "p1", "250000"]]
    assert (done.code, done.err) == (0, "")


def test_rows_as_json_lines_say_only_what_json_can(veritas: Veritas, lake: Path):
    del lake
    statement = "SELECT 1 AS a, 2 AS a, 'nan'::DOUBLE AS n, 1.5::DECIMAL(4,2) AS d, [DATE '2026-01-31'] AS l, NULL AS z"
    (line,) = veritas("sql", statement, "--json").out.splitlines()
    assert json.loads(line) == {"a": 1, "a_1": 2, "n": None, "d": "1.50", "l": ["2026-01-31"], "z": None}


def test_no_row_is_no_output(veritas: Veritas, lake: Path):
    del lake
    assert veritas("sql", "SELECT * FROM edges WHERE ppm < 0", "--json").out == ""


def test_without_a_statement_the_tables_are_listed(veritas: Veritas, lake: Path):
    del lake
    rows = [json.loads(line) for line in veritas("sql", "--json").out.splitlines()]
    assert [row["table"] for row in rows] == sorted(TABLES)
    assert {row["table"]: row["scopes"] for row in rows}["edges"] == 1
    assert {row["scopes"] for row in rows if row["table"] != "edges"} == {0}


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("SELECT * FROM nothing", "`veritas sql` lists the tables"),
        ("SELECT * FROM measured_edges", "`veritas sql` lists the tables"),
        ("SELEC 1", "syntax error"),
        ("DROP VIEW edges", "exactly one SELECT"),
        ("SELECT 1; SELECT 2", "exactly one SELECT"),
        ("", "exactly one SELECT"),
    ],
)
def test_what_is_no_question_to_the_lake_is_a_usage_error(veritas: Veritas, lake: Path, statement: str, complaint: str):
    del lake
    assert complaint in veritas("sql", statement).refused(2)


def test_an_empty_lake_names_the_command_that_fills_it(veritas: Veritas, home: Path):
    assert "`veritas run` writes them" in veritas("sql", "SELECT 1").refused()
    assert not home.exists()


def test_a_damaged_table_is_named(veritas: Veritas, lake: Path):
    path = lake / "eval" / "run-1" / "edges.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    refusal = veritas("sql", "SELECT * FROM edges").refused()
    assert str(path) in refusal
    assert "materialise it again" in refusal
