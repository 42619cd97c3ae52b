"""Ledgers to measure on: runs of an agent, as many as asked for, never more of them in memory than one batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ledger_core.belief import SEED_V4_CLUSTERS
from ledger_core.belief.policies import SEED_V4_CLUSTERS_NAME
from ledger_core.harness.verdicts import VerdictDesk
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.statements import Statement
from ledger_core.kernel.types import EventId
from ledger_core.stores import Ledger
from tests.ledger_core.belief.book import SCOPE, Book

NOW = "2026-03-01T12:00:00.000000000Z"
EVENTS_A_RUN = 7
"""A question, a seal and its observation, a generation and its claim, a second generation and a claim on the first."""
ENTRIES_A_RUN = 4
RUNS_A_BATCH = 500
RUNS_A_QUARREL = 50
"""One run in so many of the first batch has its observation contradicted by two others: retraction is part of it all."""


def open_ledger(place: Path) -> Ledger:
    """The ledger of the benches under ``place``."""
    return Ledger.open(
        place, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME, principal="bench"
    )


def given(ledger: Ledger, count: int, start: int = 0) -> list[Statement]:
    """Messages over one blob that is durable already, so that an append is an append and nothing else."""
    ledger.put_blob(b"hello", TEXT)
    book = Book()
    book._count = start
    for _ in range(count):
        book.given(text="hello")
    return book.statements


@dataclass(frozen=True)
class Batch:
    """Whole runs, and who contradicts whom in them."""

    book: Book
    quarrels: tuple[tuple[EventId, tuple[EventId, ...]], ...]
    """(target, those who contradict it): observations of the book."""


def batches(events: int) -> Iterator[Batch]:
    """Whole runs, ``events`` statements or a few more in all."""
    written = 0
    while written < events:
        book = Book()
        book._count = written * 3  # keys are numbered from here on, so that no two books tell of the same fact
        quarrels = []
        runs = 0
        while len(book.statements) < min(events - written, RUNS_A_BATCH * EVENTS_A_RUN):
            observed = _run(book)
            runs += 1
            if written == 0 and runs % RUNS_A_QUARREL == 0:
                others = tuple(book.seal(f"{side}{book._count}.example", "hello") for side in "xy")
                quarrels.append((observed, others))
        written += len(book.statements)
        yield Batch(book, tuple(quarrels))


def _run(book: Book) -> EventId:
    question, observed = book.given(text="hello"), book.seal(f"h{book._count}.example", "hello")
    claim = book.claim(book.generation([question, observed]), [observed], text="hello")
    book.claim(book.generation([question, observed, claim]), [claim], text="hello")
    return observed


def fill(ledger: Ledger, events: int) -> None:
    """Append ``events`` statements or a few more, a batch a transaction, and file the verdicts."""
    for batch in batches(events):
        ledger.put_blobs([(data, TEXT) for data in batch.book.blobs.values()])
        ledger.append(batch.book.statements, role="recorder")
        if batch.quarrels:
            desk = VerdictDesk(ledger)
            for target, others in batch.quarrels:
                for other in others:
                    desk.file(target=target, candidate=other, verdict="contradict", recipe="bench")


def in_memory(entries: int) -> list[Statement]:
    """Statements with at least ``entries`` entries, verdicts and all, for a fold without a ledger."""
    statements: list[Statement] = []
    for batch in batches(entries * EVENTS_A_RUN // ENTRIES_A_RUN):
        for target, others in batch.quarrels:
            batch.book.contradict(target, *others)
        statements.extend(batch.book.statements)
    return statements
