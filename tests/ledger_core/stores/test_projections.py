"""Belief kept beside a ledger is the fold of that ledger at its present head, or it is not used."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, STRICT_CLUSTERS, fold
from ledger_core.belief.policies import SEED_V4_CLUSTERS_NAME
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import StoreError
from ledger_core.stores import Ledger, projections
from ledger_core.stores.projections import LedgerProjection
from tests.ledger_core.belief.book import SCOPE, Book
from tests.properties.ledgers import story_of

NOW = "2026-03-01T12:00:00.000000000Z"


def opened(home: Path) -> Ledger:
    return Ledger.open(home, SCOPE, now=NOW, policy=SEED_V4_CLUSTERS, policy_name=SEED_V4_CLUSTERS_NAME)


def told(ledger: Ledger, book: Book, start: int = 0) -> None:
    ledger.put_blobs([(data, TEXT) for data in book.blobs.values()])
    ledger.append(book.statements[start:], role="admin")


def folded(ledger: Ledger, policy=None):
    return fold((event.statement for event in ledger.events()), policy or ledger.policy())


@pytest.fixture
def book() -> Book:
    book = Book()
    premise = book.seal("p.example")
    book.claim(book.generation([premise]), [premise])
    book.contradict(premise, book.seal("a.example"), book.seal("b.example"))
    return book


@pytest.mark.invariant("REPLAY-01")
def test_it_follows_the_ledger(tmp_path, book):
    with opened(tmp_path) as ledger:
        kept = LedgerProjection(ledger)
        assert kept.state() == folded(ledger)
        assert kept.head is None
        told(ledger, book)
        assert kept.state() == folded(ledger)
        assert kept.head == ledger.head()
        start = len(book.statements)
        book.reverse(next(s.event_id for s in book.statements if s.kind == "verdict.filed"))
        told(ledger, book, start)
        assert kept.state().retractions == {}
        assert kept.state() == folded(ledger)


def test_it_reads_only_what_is_new(tmp_path, book, monkeypatch):
    with opened(tmp_path) as ledger:
        told(ledger, book)
        kept = LedgerProjection(ledger)
        kept.state()
        start = len(book.statements)
        book.given()
        told(ledger, book, start)
        read = []
        real = projections.Projection.extend
        monkeypatch.setattr(
            projections.Projection, "extend", lambda self, found: real(self, (read.append(s) or s for s in found))
        )
        assert kept.state() == folded(ledger)
        assert read == book.statements[start:]


def test_another_policy_in_force_is_another_fold(tmp_path, book):
    premise, spare = book.seal("spare.example"), book.statements[1].event_id
    book.claim(book.generation([premise, spare]), [premise])
    with opened(tmp_path) as ledger:
        told(ledger, book)
        follows, fixed = LedgerProjection(ledger), LedgerProjection(ledger, SEED_V4_CLUSTERS)
        before = follows.state()
        assert fixed.state() == before
        ledger.activate_policy(STRICT_CLUSTERS, "strict-clusters")
        assert follows.state() == folded(ledger, STRICT_CLUSTERS) != before
        assert fixed.state() == before


def test_a_ledger_that_was_put_back_is_folded_anew(tmp_path, book):
    """Yesterday's file, and then another today: the events that were folded are not those that are there."""
    home, backup = tmp_path / "home", tmp_path / "backup"
    with opened(home) as ledger:
        told(ledger, book)
    shutil.copytree(home, backup)
    with opened(home) as ledger:
        kept = LedgerProjection(ledger)
        start = len(book.statements)
        book.given()
        told(ledger, book, start)
        kept.state()
    with opened(backup) as ledger:
        kept._ledger = ledger
        assert kept.state() == folded(ledger)
        assert kept.head == ledger.head()
        other = Book()
        other._count = 1_000
        other.seal("other.example")
        other.given()
        told(ledger, other)
        assert kept.state() == folded(ledger)


@pytest.mark.invariant("REPLAY-02")
def test_a_reading_that_fails_half_way_leaves_nothing_half_taken_in(tmp_path, monkeypatch):
    story = story_of(3, 30)
    with opened(tmp_path) as ledger:
        told(ledger, story.book)
        kept = LedgerProjection(ledger)
        real = ledger.events

        def breaks(after: int = 0):
            for event in real(after=after):
                if event.offset == 20:
                    raise StoreError("the disk is gone")
                yield event

        monkeypatch.setattr(ledger, "events", breaks)
        with pytest.raises(StoreError, match="the disk is gone"):
            kept.state()
        monkeypatch.undo()
        assert kept.state() == folded(ledger)
        assert kept.head == ledger.head()


@pytest.mark.invariant("REPLAY-02")
def test_every_projection_has_a_head_of_its_own(tmp_path, book):
    with opened(tmp_path) as ledger:
        early, late = LedgerProjection(ledger), LedgerProjection(ledger)
        told(ledger, book)
        early.state()
        seen = ledger.head()
        start = len(book.statements)
        book.given()
        told(ledger, book, start)
        late.state()
        assert (early.head, late.head) == (seen, ledger.head())
        assert early.state() == late.state()
