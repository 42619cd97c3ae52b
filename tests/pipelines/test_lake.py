from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipelines.errors import LakeError, MissingTableError, UsageError
from pipelines.lake import TABLES, read_table, row_root, stored_root, write_table
from pipelines.lake.sql import query

PAGE = Path(__file__).resolve().parents[2] / "docs" / "pipelines.md"
EDGES = [
    {"claim": "c2", "parent": "p1", "ppm": 5},
    {"claim": "c1", "parent": "p2", "ppm": 1_000_000},
    {"claim": "c1", "parent": "p1", "ppm": 0},
]


def test_rows_come_back_in_key_order(tmp_path: Path):
    write_table(tmp_path, "edges", EDGES)
    assert [(row["claim"], row["parent"], row["ppm"]) for row in read_table(tmp_path, "edges")] == [
        ("c1", "p1", 0),
        ("c1", "p2", 1_000_000),
        ("c2", "p1", 5),
    ]


def test_row_root_is_rfc_6962_over_the_rows(tmp_path: Path):
    def leaf(text: str) -> bytes:
        return hashlib.sha256(b"\x00" + text.encode()).digest()

    left = hashlib.sha256(b"\x01" + leaf('["c1","p1",0]') + leaf('["c1","p2",1000000]')).digest()
    expected = hashlib.sha256(b"\x01" + left + leaf('["c2","p1",5]')).hexdigest()
    assert write_table(tmp_path, "edges", EDGES) == expected
    assert stored_root(tmp_path, "edges") == expected


def test_order_of_arrival_leaves_no_trace_in_the_file(tmp_path: Path):
    write_table(tmp_path / "a", "edges", EDGES)
    write_table(tmp_path / "b", "edges", reversed(EDGES))
    assert (tmp_path / "a" / "edges.parquet").read_bytes() == (tmp_path / "b" / "edges.parquet").read_bytes()


def test_polars_reads_the_lake_lazily_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    row = {"repeat": 0, "family": "f", "answer": "", "prompt": "", "prompt_digest": "", "answer_ids": [], "row": "{}"}
    for project, outcomes in (("run-1", ("asserts_true", "asserts_true", "abstains")), ("run-2", ("abstains",))):
        rows = [
            row | {"scenario": f"s{n}", "arm": "2", "outcome": outcome, "event_id": f"e{n}"}
            for n, outcome in enumerate(outcomes)
        ]
        write_table(tmp_path / "data" / "lake" / "eval" / project, "trials", rows)
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(import polars.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(example, {})
    cells = [
        [cell.strip() for cell in line.split("┆")] for line in capsys.readouterr().out.splitlines() if "run-" in line
    ]
    assert [[cell.strip("│ ") for cell in line] for line in cells] == [
        ["run-1", "2", "abstains", "1"],
        ["run-1", "2", "asserts_true", "2"],
        ["run-2", "2", "abstains", "1"],
    ]


def test_a_table_of_another_version_is_named_and_does_not_hide_the_others(tmp_path: Path):
    write_table(tmp_path / "eval" / "run-2", "edges", EDGES)
    older = tmp_path / "eval" / "run-1"
    write_table(older, "edges", EDGES[:1])
    whole = pq.read_table(older / "edges.parquet")
    pq.write_table(whole.drop_columns(["ppm"]).replace_schema_metadata(whole.schema.metadata), older / "edges.parquet")
    with pytest.raises(LakeError, match=r"table edges in .* has no column ppm: another version wrote it"):
        read_table(older, "edges")
    _, rows = query(tmp_path, "SELECT project, claim, ppm FROM edges ORDER BY ALL")
    assert rows == [("run-1", "c2", None), ("run-2", "c1", 0), ("run-2", "c1", 1_000_000), ("run-2", "c2", 5)]


def test_an_empty_table_has_a_root_of_its_own(tmp_path: Path):
    assert write_table(tmp_path, "edges", []) == "empty"
    assert read_table(tmp_path, "edges") == []


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([EDGES[0], EDGES[0]], "two rows share the key"),
        ([{"claim": "c", "parent": "p"}], r"differ in \['ppm'\]"),
        ([{**EDGES[0], "extra": 1}], r"differ in \['extra'\]"),
        ([{**EDGES[0], "ppm": "many"}], "does not fit its column"),
    ],
)
def test_rows_that_do_not_fit_are_refused_and_nothing_is_written(tmp_path: Path, rows: list, complaint: str):
    with pytest.raises(LakeError, match=complaint):
        write_table(tmp_path, "edges", rows)
    assert list(tmp_path.iterdir()) == []


def test_a_float_that_is_no_number_is_refused(tmp_path: Path):
    row = {"claim": "c", "unit": "u", "effect": float("nan")}
    with pytest.raises(LakeError, match="does not fit its column"):
        write_table(tmp_path, "loo_effects", [row])


def test_a_missing_table_names_the_way_out(tmp_path: Path):
    with pytest.raises(MissingTableError, match="veritas run"):
        read_table(tmp_path, "edges")


def test_a_table_whose_rows_were_exchanged_is_refused(tmp_path: Path):
    import pyarrow.parquet as pq

    write_table(tmp_path, "edges", EDGES)
    path = tmp_path / "edges.parquet"
    table = pq.read_table(path)
    pq.write_table(table.slice(0, 2).replace_schema_metadata(table.schema.metadata), path)
    with pytest.raises(LakeError, match="does not hold the rows"):
        read_table(tmp_path, "edges")


def test_a_truncated_table_is_refused(tmp_path: Path):
    write_table(tmp_path, "edges", EDGES)
    path = tmp_path / "edges.parquet"
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(LakeError, match="delete it and materialise it again"):
        read_table(tmp_path, "edges")


def test_sql_sees_every_table_with_its_scope(tmp_path: Path):
    write_table(tmp_path / "eval" / "run-1", "edges", EDGES)
    write_table(tmp_path / "samples" / "imported", "edges", EDGES[:1])
    names, rows = query(tmp_path, "SELECT tenant, project, count(*) AS n FROM edges GROUP BY ALL ORDER BY tenant")
    assert names == ["tenant", "project", "n"]
    assert rows == [("eval", "run-1", 3), ("samples", "imported", 1)]


@pytest.mark.parametrize("statement", ["SELECT * FROM nothing", "SELECT", "COPY edges TO '/tmp/x.csv'"])
def test_sql_refuses_with_the_reason(tmp_path: Path, statement: str):
    write_table(tmp_path / "eval" / "run-1", "edges", EDGES)
    with pytest.raises(UsageError, match="sql:"):
        query(tmp_path, statement)


def test_sql_reads_no_other_file(tmp_path: Path):
    write_table(tmp_path / "lake" / "eval" / "run-1", "edges", EDGES)
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    with pytest.raises(UsageError, match="sql:"):
        query(tmp_path / "lake", f"SELECT * FROM read_csv('{secret}')")


def test_every_key_names_columns():
    for table in TABLES.values():
        names = [name for name, _ in table.columns]
        assert set(table.key) <= set(names)
        assert len(names) == len(set(names))


def test_equal_rows_have_equal_roots_in_another_process():
    code = (
        "from pipelines.lake import row_root, TABLES;"
        "print(row_root(TABLES['loo_effects'], [{'claim':'c','unit':'u','effect':0.1+0.2}]))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == row_root(TABLES["loo_effects"], [{"claim": "c", "unit": "u", "effect": 0.1 + 0.2}])
