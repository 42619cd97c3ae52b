"""What audits do to seals, seal by seal."""

from __future__ import annotations

import pytest

from ledger_core.belief.audits import AuditResult, audit_results
from ledger_core.belief.index import index_statements
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from tests.ledger_core.belief.book import Book


@pytest.mark.parametrize("missing", [0, 1])
def test_an_audit_of_a_seal_that_is_not_there_hides_no_other(missing):
    book = Book()
    entries = [book.seal("a.example"), book.seal("b.example")]
    for entry in entries:
        book.audit(entry, "tampered")
    seals = [book.seal_of(entry) for entry in entries]
    gone = {entries[missing], seals[missing]}
    index = index_statements([each for each in book.statements if each.event_id not in gone], SEED_V4_CLUSTERS)
    assert audit_results(index, SEED_V4_CLUSTERS) == AuditResult(frozenset(), frozenset({seals[1 - missing]}))


DAY = SEED_V4_CLUSTERS.model_copy(update={"stale_after_seconds": 86_400})


def looked(day, second=0):
    """A look at the origin so long after the seal, which is of the first of January."""
    return f"2026-01-{day + 1:02}T00:00:{second:02}.000000000Z"


@pytest.mark.parametrize(
    ("heads", "suspended"),
    [
        ([("stale", looked(1))], False),
        ([("stale", looked(1, 1))], True),
        ([("stale", looked(2))], True),
        ([("stale", None)], False),
        ([("stale", looked(0, 9)), ("stale", looked(1, 1))], True),
        ([("stale", looked(0, 9)), ("match", looked(9))], False),
    ],
)
def test_a_stale_head_suspends_past_the_age(heads, suspended):
    book = Book()
    entry = book.seal("a.example")
    for number, (outcome, at) in enumerate(heads):
        book.audit(entry, outcome, at=at, predecessor=f"{number:064x}" if number else None)
    results = audit_results(index_statements(book.statements, DAY), DAY)
    assert (book.seal_of(entry) in results.suspended) is suspended


def test_a_seal_of_unknown_age_is_not_past_it():
    book = Book()
    entry = book.seal("a.example", at=None)
    book.audit(entry, "stale", at=looked(9))
    assert audit_results(index_statements(book.statements, DAY), DAY) == AuditResult(frozenset(), frozenset())
