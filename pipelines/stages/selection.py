"""Which records of a tenant `veritas attribute` measures."""

from __future__ import annotations

import json
from typing import Any

from ledger_core.kernel.statements import Scope
from pipelines.errors import UsageError
from pipelines.lake import read_table
from pipelines.workspace import Workspace

LEAST_RESULTS = 2


def shortest_records(at: Workspace, scope: Scope, count: int) -> tuple[str, ...]:
    """The ``count`` shortest records that have at least two tool results with assistant text after them.

    Length is in characters of all entries; ties go to the smaller key.
    """
    lengths: dict[str, int] = {}
    for row in read_table(at.lake(scope), "entries"):
        lengths[row["record"]] = lengths.get(row["record"], 0) + len(row["text"])
    eligible = {row["record"] for row in read_table(at.lake(scope), "generations") if _speaks_after_results(row)}
    ordered = sorted(eligible, key=lambda record: (lengths[record], record))
    return tuple(ordered[:count])


def _speaks_after_results(row: dict[str, Any]) -> bool:
    context = [json.loads(item) for item in row["context"]]
    results = sum(1 for item in context if item["kind"] == "entry.observed")
    return results >= LEAST_RESULTS and bool(row["response"].strip())


def check_records(at: Workspace, scope: Scope, wanted: tuple[str, ...]) -> None:
    """Raise :class:`UsageError` for a record that the scope does not have."""
    known = {row["record"] for row in read_table(at.lake(scope), "generations")}
    for record in wanted:
        if record not in known:
            listed = ", ".join(sorted(known)[:5])
            raise UsageError(f"no record {record!r} in {scope.tenant_namespace}; there are {listed} and so on")
