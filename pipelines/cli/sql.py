"""`veritas sql`: DuckDB over the lake."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.state import state_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def command(
    context: typer.Context,
    statement: Annotated[
        str | None,
        typer.Argument(
            metavar="SELECT", help="One SELECT, e.g. 'SELECT * FROM measured_edges'; left out: the tables there are."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Rows as JSON lines and nothing else.")] = False,
) -> None:
    """Query the lake's tables with SQL; every table has the columns tenant and project."""
    from pipelines.lake.sql import query

    lake = state_of(context).settings().lake
    names, rows = _tables(lake) if statement is None else query(lake, statement)
    if as_json:
        _print_lines(names, rows)
    else:
        _print_table(names, rows)


def _tables(lake: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    from pipelines.lake.schemas import TABLES

    return ["table", "scopes", "key", "description"], [
        (name, sum(1 for _ in lake.glob(f"*/*/{name}.parquet")), ", ".join(table.key), table.description)
        for name, table in sorted(TABLES.items())
    ]


def _print_lines(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    import json

    columns = _distinct(names)
    for row in rows:
        record = {name: _plain(value) for name, value in zip(columns, row, strict=True)}
        typer.echo(json.dumps(record, allow_nan=False))


def _print_table(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from pipelines.cli.output import console, printable

    table = Table()
    for index, name in enumerate(names):
        numbers = all(isinstance(row[index], int | float | None) for row in rows)
        table.add_column(Text(printable(name)), justify="right" if numbers else "left")
    for row in rows:
        table.add_row(*(Text("" if value is None else printable(str(value))) for value in row))
    console().print(table)


def _distinct(names: Sequence[str]) -> list[str]:
    """``names`` with a number behind each that stood there before: a JSON object holds a name once."""
    taken: set[str] = set()
    distinct: list[str] = []
    for name in names:
        candidate, count = name, 1
        while candidate in taken:
            candidate, count = f"{name}_{count}", count + 1
        taken.add(candidate)
        distinct.append(candidate)
    return distinct


def _plain(value: Any) -> Any:
    """``value`` as JSON has it: what is not a number is null, what JSON has no word for is text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value)
