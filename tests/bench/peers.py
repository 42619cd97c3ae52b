"""The plain ways that the ledger is timed beside, as durable as the ledger is."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from pathlib import Path
from uuid import UUID

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate

from ledger_core.kernel.statements import Statement


def connect(path: Path) -> sqlite3.Connection:
    """A write-ahead log, flushed at every commit."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


def one_table(path: Path) -> sqlite3.Connection:
    """A table of ids and bytes."""
    connection = connect(path)
    connection.execute("CREATE TABLE events (event_id TEXT NOT NULL PRIMARY KEY, statement BLOB NOT NULL) STRICT")
    connection.commit()
    return connection


def insert_one(connection: sqlite3.Connection, statement: Statement) -> None:
    """An INSERT and a commit."""
    connection.execute("INSERT INTO events VALUES (?, ?)", (statement.event_id, statement.canonical_bytes()))
    connection.commit()


def same_schema(path: Path) -> sqlite3.Connection:
    """The ledger's own tables and indexes, without the ledger."""
    connection = connect(path)
    schema = resources.files("ledger_core.stores").joinpath("schema.sql").read_text(encoding="utf-8")
    connection.executescript(schema)
    connection.commit()
    return connection


def insert_many(connection: sqlite3.Connection, statements: Sequence[Statement], first: int) -> None:
    """One `executemany` of finished rows into the ledger's schema, and a commit."""
    receipt, epoch, chain = b"r" * 350, "e" * 64, "c" * 64
    rows = [
        ("evidence", offset, 0, epoch, s.event_id, s.kind, s.source_fact_id, receipt, s.canonical_bytes(), chain)
        for offset, s in enumerate(statements, start=first)
    ]
    connection.executemany(
        "INSERT INTO events (family, committed_offset, shard, epoch_id, event_id, kind, source_fact_id, receipt,"
        " statement, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
    connection.commit()


class Noted(Aggregate):
    """What the `eventsourcing` library stores: an aggregate that holds the bytes."""

    def __init__(self, statement: str) -> None:
        self.statement = statement


def event_sourced(path: Path) -> Callable[[Statement], None]:
    """The `eventsourcing` library over SQLite, as its manual sets it up; it, too, flushes at every commit."""
    path.parent.mkdir(parents=True, exist_ok=True)
    app: Application[UUID] = Application(
        env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(path)},
    )

    def save(statement: Statement) -> None:
        app.save(Noted(statement.canonical_bytes().decode()))

    return save


def read_hash_parse(file: Path, blobs: Iterable[Path]) -> int:
    """Read every row and every blob, hash the bytes, parse the JSON; the number of rows."""
    reader = sqlite3.connect(file)
    count = 0
    for statement, receipt in reader.execute("SELECT statement, receipt FROM events ORDER BY family, committed_offset"):
        hashlib.sha256(statement).digest()
        json.loads(statement)
        hashlib.sha256(receipt).digest()
        json.loads(receipt)
        count += 1
    reader.close()
    for path in blobs:
        hashlib.sha256(path.read_bytes()).digest()
    return count
