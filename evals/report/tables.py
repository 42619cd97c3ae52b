"""The report's rows as Parquet, one file a table: nested figures become columns, nothing is left out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from evals.report.data import (
    AccountingRow,
    ArmRow,
    ChangeTable,
    ContrastRow,
    FoldRow,
    OutcomeRow,
    PartRow,
    RefusalRow,
    ReportData,
    SurvivalRow,
)
from evals.report.evidence import Cascade, PersistedRow, StabilityRow, Transcript, WhatIfRow
from evals.report.fields import Row
from evals.report.weights import ReliabilityRow

if TYPE_CHECKING:
    import pyarrow as pa

TABLES: dict[str, tuple[type[Row], Callable[[ReportData], Sequence[Row]]]] = {
    "criteria": (PartRow, lambda data: [part for criterion in data.criteria for part in criterion.parts]),
    "refused": (RefusalRow, lambda data: data.refused),
    "accounting": (AccountingRow, lambda data: data.accounting),
    "arms": (ArmRow, lambda data: data.arms),
    "outcomes": (OutcomeRow, lambda data: data.outcomes),
    "contrasts": (ContrastRow, lambda data: data.contrasts),
    "changes": (ChangeTable, lambda data: data.changes),
    "survival": (SurvivalRow, lambda data: data.survival),
    "folds": (FoldRow, lambda data: data.folds),
    "persisted": (PersistedRow, lambda data: data.persisted),
    "cascades": (Cascade, lambda data: data.cascades),
    "stability": (StabilityRow, lambda data: data.stability),
    "what_if": (WhatIfRow, lambda data: data.what_if),
    "reliability": (ReliabilityRow, lambda data: data.weights.reliability if data.weights else ()),
    "transcripts": (Transcript, lambda data: data.transcripts),
}
"""Table -> what a row is, and its rows. Lists inside a row are JSON text."""


def write_tables(folder: Path, data: ReportData) -> tuple[Path, ...]:
    """Write every table, the empty ones too; equal documents give equal bytes."""
    import pyarrow.parquet as pq

    written = []
    for name, (kind, rows_of) in TABLES.items():
        path = folder / f"{name}.parquet"
        pq.write_table(_table(kind, rows_of(data)), path, compression="zstd", store_schema=False)
        written.append(path)
    return tuple(written)


def _table(kind: type[Row], rows: Sequence[Row]) -> pa.Table:
    import pyarrow as pa

    flat = [_flat(row.model_dump(mode="json")) for row in rows]
    columns = _columns(kind)
    arrays = [pa.array([row[name] for row in flat], pa.type_for_alias(alias)) for name, alias in columns.items()]
    return pa.table(arrays, names=list(columns))


def _flat(document: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """One row: nested records become columns, lists become JSON text."""
    columns: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict):
            columns |= _flat(value, f"{prefix}{name}_")
        elif isinstance(value, list):
            columns[f"{prefix}{name}"] = json.dumps(value, ensure_ascii=False, allow_nan=False)
        else:
            columns[f"{prefix}{name}"] = value
    return columns


def _columns(kind: type[Row], prefix: str = "") -> dict[str, str]:
    """Column -> Arrow type of a row type, so that an empty table has the columns of a full one."""
    columns: dict[str, str] = {}
    for name, field in kind.model_fields.items():
        plain = _plain(field.annotation)
        if isinstance(plain, type) and issubclass(plain, Row):
            columns |= _columns(plain, f"{prefix}{name}_")
        else:
            columns[f"{prefix}{name}"] = _ARROW.get(plain, "string")
    return columns


def _plain(annotation: object) -> object:
    """The Python type under an optional or annotated one."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    inner = [part for part in get_args(annotation) if part is not type(None)]
    if get_origin(annotation) in (Union, UnionType) and len(inner) == 1:
        return _plain(inner[0])
    return annotation


_ARROW: dict[object, str] = {int: "int64", float: "double", bool: "bool"}
