"""`veritas sql`: DuckDB over the lake."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli.state import state_of


def command(
    context: typer.Context,
    statement: Annotated[
        str, typer.Argument(help="A SELECT over the lake's tables, e.g. 'SELECT * FROM measured_edges'.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Rows as JSON lines.")] = False,
) -> None:
    """Query the lake's tables with SQL; every table has the columns tenant and project."""
    import json

    from pipelines.lake.sql import query

    names, rows = query(state_of(context).settings().lake, statement)
    if as_json:
        for row in rows:
            typer.echo(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, default=str))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*names)
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row))
    Console().print(table)
