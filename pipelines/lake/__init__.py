"""The lake: deterministic Parquet tables below ``<home>/lake/<tenant>/<project>/``, and SQL over them."""

from pipelines.lake.parquet import read_table, row_root, stored_root, write_table
from pipelines.lake.schemas import TABLES, Table

__all__ = ["TABLES", "Table", "read_table", "row_root", "stored_root", "write_table"]
