"""Deterministic Parquet: equal rows give equal files and an equal row root, whatever order they were made in.

A table is written to a temporary name, flushed and renamed, so a reader sees the old file or the new one and nothing between.
The row root is the RFC 6962 root over the rows in key order: it names the *logical* content, independent of compression and
library version, and is the Dagster data version of every asset that does not replay the ledger itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ledger_core.kernel.merkle import leaf_hash, root
from pipelines.errors import LakeError, MissingTableError, OutdatedTableError
from pipelines.lake.schemas import TABLES, Table

Row = Mapping[str, Any]

EMPTY_ROOT = "empty"
"""Row root of a table without rows (RFC 6962 has no tree of size 0 here)."""

_ROOT_KEY = b"veritas.row_root"


def _leaf(table: Table, row: Row) -> bytes:
    """Canonical bytes of one row: a JSON array in column order; floats in shortest round-trip form."""
    values = [row[name] for name, _ in table.columns]
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(
        "utf-8", "surrogatepass"
    )


def row_root(table: Table, rows: Sequence[Row]) -> str:
    """RFC 6962 root over ``rows``, which stand in key order."""
    if not rows:
        return EMPTY_ROOT
    return root([leaf_hash(_leaf(table, row)) for row in rows]).hex()


def _sorted_rows(table: Table, rows: Iterable[Row]) -> list[Row]:
    expected = {name for name, _ in table.columns}
    listed = list(rows)
    for row in listed:
        if set(row) != expected:
            difference = sorted(set(row) ^ expected)
            raise LakeError(
                f"table {table.name}: a row has columns other than the schema's; they differ in {difference}"
            )
    keyed = sorted(((tuple(row[name] for name in table.key), row) for row in listed), key=lambda pair: pair[0])
    for (left, _), (right, _) in pairwise(keyed):
        if left == right:
            raise LakeError(f"table {table.name}: two rows share the key {dict(zip(table.key, left, strict=True))}")
    return [row for _, row in keyed]


def write_table(folder: Path, name: str, rows: Iterable[Row]) -> str:
    """Write ``rows`` as ``folder/name.parquet`` and return the row root.

    Raises:
        LakeError: a row that does not fit the schema, or two rows with one key; nothing is written.
    """
    table = TABLES[name]
    ordered = _sorted_rows(table, rows)
    try:
        digest = row_root(table, ordered)
        columns = {column: [row[column] for row in ordered] for column, _ in table.columns}
        data = pa.table(columns, schema=table.schema)
    except (ValueError, TypeError, pa.ArrowException) as error:
        raise LakeError(f"table {name}: a value does not fit its column: {error}") from error
    data = data.replace_schema_metadata({_ROOT_KEY: digest.encode()})
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.parquet"
    temporary = path.with_suffix(f".parquet.{os.getpid()}.tmp")
    pq.write_table(data, temporary, compression="zstd", version="2.6", write_statistics=True)
    with temporary.open("rb") as handle:
        os.fsync(handle.fileno())
    temporary.replace(path)
    return digest


def read_table(folder: Path, name: str) -> list[dict[str, Any]]:
    """Rows of ``folder/name.parquet`` in key order.

    Raises:
        MissingTableError: the asset has not been materialised here.
        OutdatedTableError: another version wrote it and it lacks a column.
        LakeError: the file is not readable or its rows are not what its root says.
    """
    path = folder / f"{name}.parquet"
    if not path.exists():
        raise MissingTableError(
            f"table {name} is not in {folder}; materialise it with `veritas run` or in `veritas dev`"
        )
    try:
        data = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise LakeError(f"{path} cannot be read ({error}); delete it and materialise it again") from error
    lacking = [column for column, _ in TABLES[name].columns if column not in data.schema.names]
    if lacking:
        raise OutdatedTableError(
            f"table {name} in {folder} has no column {', '.join(lacking)}: another version wrote it; the command of its "
            "run makes it again"
        )
    rows: list[dict[str, Any]] = data.to_pylist()
    recorded = (data.schema.metadata or {}).get(_ROOT_KEY, b"").decode()
    if recorded != row_root(TABLES[name], rows):
        raise LakeError(f"{path} does not hold the rows its root names; delete it and materialise it again")
    return rows


def stored_root(folder: Path, name: str) -> str:
    """Row root recorded in ``folder/name.parquet``."""
    path = folder / f"{name}.parquet"
    if not path.exists():
        raise MissingTableError(
            f"table {name} is not in {folder}; materialise it with `veritas run` or in `veritas dev`"
        )
    metadata = pq.read_schema(path).metadata or {}
    return str(metadata.get(_ROOT_KEY, b"").decode())
