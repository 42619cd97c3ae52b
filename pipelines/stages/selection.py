"""Which records of a tenant `veritas attribute` measures."""

from __future__ import annotations

import json
from typing import Any

from ledger_core.kernel.statements import Scope
from pipelines.errors import UsageError
from pipelines.lake import read_table
from pipelines.workspace import Workspace

LEAST_RESULTS = 2
_LISTED = 5


def shortest_records(at: Workspace, scope: Scope, count: int) -> tuple[str, ...]:
    """The ``count`` shortest records that have at least two tool results and, after them, words of the assistant.

    A tool call is no such text, although a response holds it as JSON. Length is in characters of all entries; ties go to
    the smaller key. Where fewer fit there are fewer.

    Raises:
        UsageError: none fits.
    """
    lengths: dict[str, int] = {}
    for row in read_table(at.lake(scope), "entries"):
        lengths[row["record"]] = lengths.get(row["record"], 0) + len(row["text"])
    eligible = {row["record"] for row in read_table(at.lake(scope), "generations") if _speaks_after_results(row)}
    if not eligible:
        raise UsageError(
            f"no record of {_name(scope)} has {LEAST_RESULTS} tool results with assistant text after them;"
            " name records with --record, or leave --shortest out to measure all"
        )
    ordered = sorted(eligible, key=lambda record: (lengths[record], record))
    return tuple(ordered[:count])


def _speaks_after_results(row: dict[str, Any]) -> bool:
    results = sum(json.loads(item)["kind"] == "entry.observed" for item in row["context"])
    return results >= LEAST_RESULTS and any(json.loads(claim)["form"] == "sentence" for claim in row["claims"])


def check_records(at: Workspace, scope: Scope, wanted: tuple[str, ...]) -> None:
    """Raise :class:`UsageError` for a record that the scope does not have."""
    known = sorted({row["record"] for row in read_table(at.lake(scope), "generations")})
    for record in wanted:
        if record not in known:
            more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
            there = f"are {', '.join(known[:_LISTED])}{more}" if known else "is none"
            raise UsageError(f"no record {record!r} in {_name(scope)}; there {there}")


def _name(scope: Scope) -> str:
    return f"{scope.tenant_namespace}/{scope.project_namespace}"
