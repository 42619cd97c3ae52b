"""Version 1: events, heads and collisions; in PostgreSQL with the scope in every key."""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_SQLITE = (
    """
    CREATE TABLE events (
        family TEXT NOT NULL CHECK (family IN ('control', 'evidence')),
        committed_offset INTEGER NOT NULL CHECK (committed_offset >= 1),
        shard INTEGER NOT NULL,
        epoch_id TEXT NOT NULL,
        event_id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        source_fact_id TEXT NOT NULL,
        receipt BLOB NOT NULL,
        statement BLOB NOT NULL,
        chain TEXT NOT NULL,
        PRIMARY KEY (family, committed_offset)
    ) STRICT
    """,
    "CREATE INDEX events_by_fact ON events (source_fact_id, committed_offset)",
    """
    CREATE TABLE heads (
        family TEXT NOT NULL PRIMARY KEY,
        committed_offset INTEGER NOT NULL,
        chain TEXT NOT NULL,
        recorded_at TEXT NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE collisions (
        refused TEXT NOT NULL PRIMARY KEY,
        held TEXT NOT NULL,
        source_fact_id TEXT NOT NULL,
        received_at TEXT NOT NULL
    ) STRICT
    """,
)

_POSTGRESQL = (
    # The row that a writer of a scope holds: both families of the scope hang on it.
    "CREATE TABLE ledgers (tenant TEXT NOT NULL, project TEXT NOT NULL, PRIMARY KEY (tenant, project))",
    """
    CREATE TABLE events (
        tenant TEXT NOT NULL,
        project TEXT NOT NULL,
        family TEXT NOT NULL CHECK (family IN ('control', 'evidence')),
        committed_offset BIGINT NOT NULL CHECK (committed_offset >= 1),
        shard INTEGER NOT NULL,
        epoch_id TEXT NOT NULL,
        event_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        source_fact_id TEXT NOT NULL,
        receipt BYTEA NOT NULL,
        statement BYTEA NOT NULL,
        chain TEXT NOT NULL,
        PRIMARY KEY (tenant, project, family, committed_offset),
        UNIQUE (tenant, project, event_id)
    )
    """,
    "CREATE INDEX events_by_fact ON events (tenant, project, source_fact_id, committed_offset)",
    "CREATE INDEX policies ON events (tenant, project, committed_offset) WHERE kind = 'policy.activated'",
    """
    CREATE TABLE heads (
        tenant TEXT NOT NULL,
        project TEXT NOT NULL,
        family TEXT NOT NULL,
        committed_offset BIGINT NOT NULL,
        chain TEXT NOT NULL,
        recorded_at TEXT NOT NULL,
        PRIMARY KEY (tenant, project, family)
    )
    """,
    """
    CREATE TABLE collisions (
        tenant TEXT NOT NULL,
        project TEXT NOT NULL,
        refused TEXT NOT NULL,
        held TEXT NOT NULL,
        source_fact_id TEXT NOT NULL,
        received_at TEXT NOT NULL,
        ordinal BIGINT GENERATED ALWAYS AS IDENTITY,
        PRIMARY KEY (tenant, project, refused)
    )
    """,
)


def upgrade() -> None:
    """Create the tables."""
    for statement in _SQLITE if op.get_bind().dialect.name == "sqlite" else _POSTGRESQL:
        op.execute(statement)
