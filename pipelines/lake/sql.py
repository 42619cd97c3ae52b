"""`veritas sql`: read-only DuckDB over the lake, one view per table with the scope's tenant and project as columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelines.errors import MissingTableError, UsageError
from pipelines.lake.schemas import TABLES


def query(lake: Path, statement: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows of ``statement`` over the tables below ``lake``.

    Raises:
        MissingTableError: the lake holds no table yet.
        UsageError: DuckDB refuses the statement; its message is kept.
    """
    import duckdb

    connection = duckdb.connect(":memory:")
    found = False
    for name in sorted(TABLES):
        if not any(lake.glob(f"*/*/{name}.parquet")):
            continue
        found = True
        pattern = str(lake / "*" / "*" / f"{name}.parquet").replace("'", "''")
        connection.execute(
            f"CREATE VIEW {name} AS SELECT split_part(filename, '/', -3) AS tenant, "  # noqa: S608 - names are ours
            f"split_part(filename, '/', -2) AS project, * EXCLUDE (filename) "
            f"FROM read_parquet('{pattern}', filename = true)",
        )
    if not found:
        raise MissingTableError(f"no table below {lake} yet; `veritas run` writes them")
    try:
        connection.execute(f"SET allowed_directories = ['{str(lake).replace(chr(39), chr(39) * 2)}/']")
        connection.execute("SET enable_external_access = false")
        parsed = duckdb.extract_statements(statement)
        if [found.type for found in parsed] != [duckdb.StatementType.SELECT]:
            raise UsageError("sql: give exactly one SELECT; the lake is read-only")
        result = connection.execute(statement)
        names = [column[0] for column in result.description or ()]
        return names, result.fetchall()
    except duckdb.Error as error:
        raise UsageError(f"sql: {error}") from error
    finally:
        connection.close()
