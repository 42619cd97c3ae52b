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
