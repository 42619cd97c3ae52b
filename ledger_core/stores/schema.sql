-- One ledger file: the log of one scope. Columns beside `statement`, `receipt` and `chain` are indexes over them, which
-- verification recomputes; `heads` lets a reader notice that the end of a log is gone.
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
) STRICT;
CREATE INDEX events_by_fact ON events (source_fact_id, committed_offset);
CREATE TABLE heads (
    family TEXT NOT NULL PRIMARY KEY,
    committed_offset INTEGER NOT NULL,
    chain TEXT NOT NULL,
    recorded_at TEXT NOT NULL
) STRICT;
CREATE TABLE collisions (
    refused TEXT NOT NULL PRIMARY KEY,
    held TEXT NOT NULL,
    source_fact_id TEXT NOT NULL,
    received_at TEXT NOT NULL
) STRICT;
