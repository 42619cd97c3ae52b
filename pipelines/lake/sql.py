"""`veritas sql`: read-only DuckDB over the lake, one view per table with the scope's tenant and project as columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.errors import LakeError, MissingTableError, UsageError
from pipelines.lake.schemas import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def query(lake: Path, statement: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows of ``statement`` over the tables below ``lake``.

    Raises:
        MissingTableError: the lake holds no table yet.
        LakeError: a table's file is damaged.
        UsageError: DuckDB refuses the statement; its message is kept.
    """
    import duckdb

    connection = duckdb.connect(":memory:")
    try:
        _create_views(connection, lake)
        connection.execute(f"SET allowed_directories = ['{_quoted(lake)}/']")
        connection.execute("SET enable_external_access = false")
        parsed = duckdb.extract_statements(statement)
        if [found.type for found in parsed] != [duckdb.StatementType.SELECT]:
            raise UsageError("sql: give exactly one SELECT; the lake is read-only")
        result = connection.execute(statement)
        names = [column[0] for column in result.description or ()]
        return names, result.fetchall()
    except duckdb.IOException as error:
        raise _damaged(lake, error) from error
    except duckdb.CatalogException as error:
        raise UsageError(f"sql: {_first_paragraph(error)}; `veritas sql` lists the tables") from error
    except duckdb.Error as error:
        raise UsageError(f"sql: {_first_paragraph(error)}") from error
    finally:
        connection.close()


def _create_views(connection: DuckDBPyConnection, lake: Path) -> None:
    """One view per table that the lake holds for any scope; a column that an older file lacks is null there."""
    import duckdb

    found = False
    for name in sorted(TABLES):
        if not any(lake.glob(f"*/*/{name}.parquet")):
            continue
        found = True
        pattern = _quoted(lake / "*" / "*" / f"{name}.parquet")
        try:
            connection.execute(
                f"CREATE VIEW {name} AS SELECT split_part(filename, '/', -3) AS tenant, "  # noqa: S608 - names are ours
                f"split_part(filename, '/', -2) AS project, * EXCLUDE (filename) "
                f"FROM read_parquet('{pattern}', filename = true, union_by_name = true)",
            )
        except duckdb.Error as error:
            raise _damaged(lake, error) from error
    if not found:
        raise MissingTableError(f"no table below {lake} yet; `veritas run` writes them")


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _damaged(lake: Path, error: Exception) -> LakeError:
    return LakeError(f"{lake}: a table cannot be read ({_first_paragraph(error)}); delete it and materialise it again")


def _first_paragraph(error: Exception) -> str:
    """DuckDB's message without the drawing of where in the statement it is."""
    return str(error).split("\n\n", 1)[0]
