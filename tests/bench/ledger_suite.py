"""The ledger against bare SQLite and bare hashing, on the same disk and the same bytes."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
from pathlib import Path

from ledger_core.belief import SEED_V4_CLUSTERS, fold
from ledger_core.belief.policies import SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.statements import Statement
from ledger_core.stores import Ledger
from ledger_core.stores.verify import verify
from tests.bench.measuring import Comparison, compare
from tests.ledger_core.belief.book import SCOPE, Book

NOW = "2026-03-01T12:00:00.000000000Z"


def run(folder: Path, *, appends: int = 200, events: int = 5_000, rounds: int = 5) -> list[Comparison]:
    """Every comparison of the suite, in ``folder``, whose disk is what is measured."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        place = Path(name)
        return [
            _single_appends(place / "single", appends, rounds),
            _batch_appends(place / "batch", events, rounds),
            _verify_and_fold(place / "verify", events, rounds),
        ]


def _single_appends(place: Path, appends: int, rounds: int) -> Comparison:
    ledger, bare = _ledger(place), _bare(place)
    mine, theirs = (iter(_given(ledger, appends * rounds)) for _ in range(2))

    def ours() -> None:
        for _ in range(appends):
            ledger.append((next(mine),), role="recorder")

    def plain() -> None:
        for _ in range(appends):
            statement = next(theirs)
            bare.execute("INSERT INTO events VALUES (?, ?)", (statement.event_id, statement.canonical_bytes()))
            bare.commit()

    found = compare(
        "one durable append",
        ours,
        plain,
        against="a bare INSERT and commit",
        per="append",
        units=appends,
        rounds=rounds,
    )
    _require_equal(ledger, bare)
    return found


def _batch_appends(place: Path, events: int, rounds: int) -> Comparison:
    ledger, bare = _ledger(place), _bare(place)
    mine, theirs = (_given(ledger, events * rounds) for _ in range(2))
    parts = [slice(number * events, (number + 1) * events) for number in range(rounds)]
    ours_next, plain_next = iter(parts), iter(parts)

    def ours() -> None:
        ledger.append(mine[next(ours_next)], role="recorder")

    def plain() -> None:
        rows = [(statement.event_id, statement.canonical_bytes()) for statement in theirs[next(plain_next)]]
        bare.executemany("INSERT INTO events VALUES (?, ?)", rows)
        bare.commit()

    found = compare(
        "a batch in one transaction",
        ours,
        plain,
        against="a bare executemany and commit",
        per="event",
        units=events,
        rounds=rounds,
    )
    _require_equal(ledger, bare)
    return found


def _verify_and_fold(place: Path, events: int, rounds: int) -> Comparison:
    ledger = _ledger(place)
    book = _trajectories(events)
    ledger.put_blobs([(data, TEXT) for data in book.blobs.values()])
    ledger.append(book.statements, role="recorder")
    blobs = [path for path in (place / "ours").rglob("blobs/**/*") if path.is_file()]
    (file,) = (place / "ours").rglob("ledger.sqlite3")

    def ours() -> None:
        verify(ledger).require()
        fold((event.statement for event in ledger.events()), SEED_V4_CLUSTERS)

    def plain() -> None:
        reader = sqlite3.connect(file)
        rows = reader.execute("SELECT statement, receipt FROM events ORDER BY family, committed_offset").fetchall()
        reader.close()
        for statement, receipt in rows:
            hashlib.sha256(statement).digest()
            json.loads(statement), json.loads(receipt)
        for path in blobs:
            hashlib.sha256(path.read_bytes()).digest()

    return compare(
        "verify and fold",
        ours,
        plain,
        against="reading, hashing and parsing the same bytes",
        per="event",
        units=len(book.statements),
        rounds=rounds,
    )


def _ledger(place: Path) -> Ledger:
    return Ledger.open(
        place / "ours", SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME, principal="bench"
    )


def _bare(place: Path) -> sqlite3.Connection:
    """A table as durable as the ledger's: write-ahead log, flushed at every commit."""
    connection = sqlite3.connect(place / "bare.sqlite3")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE events (event_id TEXT NOT NULL PRIMARY KEY, statement BLOB NOT NULL) STRICT")
    connection.commit()
    return connection


def _given(ledger: Ledger, count: int) -> list[Statement]:
    """Statements over one blob that is durable already, so that an append is an append and nothing else."""
    ledger.put_blob(b"hello", TEXT)
    book = Book()
    for _ in range(count):
        book.given(text="hello")
    return book.statements


def _trajectories(events: int) -> Book:
    """Runs of an agent: a question, an observation and a claim on it, then a second claim on the first."""
    book = Book()
    while len(book.statements) < events:
        question, observed = book.given(), book.seal(f"h{len(book.statements)}.example")
        claim = book.claim(book.generation([question, observed]), [observed])
        book.claim(book.generation([question, observed, claim]), [claim])
    return book


def _require_equal(ledger: Ledger, bare: sqlite3.Connection) -> None:
    """Both hold the same statements, byte for byte."""
    ours = {event.event_id: event.encoded for event in ledger.events()}
    if ours != dict(bare.execute("SELECT event_id, statement FROM events")):
        raise AssertionError("the two ways did not store the same statements: the ratio would mean nothing")
