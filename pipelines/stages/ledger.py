"""Replay of a scope's ledger into its tables."""

from __future__ import annotations

from ledger_core.kernel.merkle import leaf_hash, root
from ledger_core.kernel.statements import Scope
from pipelines.lake import read_table
from pipelines.lake.parquet import EMPTY_ROOT
from pipelines.stages import replay
from pipelines.stages.replay import Rows
from pipelines.workspace import Workspace


def ledger_events_rows(at: Workspace, scope: Scope) -> Rows:
    """The evidence log, checked event by event while it is read."""
    with at.ledger(scope) as ledger:
        return replay.ledger_event_rows(ledger)


def input_root(at: Workspace, scope: Scope) -> str:
    """RFC 6962 root over the ids of the events that the tables are made from."""
    rows = read_table(at.lake(scope), "ledger_events")
    return root([leaf_hash(bytes.fromhex(row["event_id"])) for row in rows]).hex() if rows else EMPTY_ROOT


def entries_rows(at: Workspace, scope: Scope) -> Rows:
    """Entries with text and belief."""
    statements = replay.statements_of(read_table(at.lake(scope), "ledger_events"))
    with at.ledger(scope) as ledger:
        return replay.entry_rows(statements, ledger.policy(), ledger.read_blob)


def edges_rows(at: Workspace, scope: Scope) -> Rows:
    """Declared edges."""
    return replay.edge_rows(replay.statements_of(read_table(at.lake(scope), "ledger_events")))


def generations_rows(at: Workspace, scope: Scope) -> Rows:
    """Model calls."""
    statements = replay.statements_of(read_table(at.lake(scope), "ledger_events"))
    with at.ledger(scope) as ledger:
        return replay.generation_rows(statements, ledger.read_blob)
