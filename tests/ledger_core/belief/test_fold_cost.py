"""The fold is one pass and needs no recursion; its speed is shown by the benches."""

from __future__ import annotations

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, fold
from tests.ledger_core.belief.book import Book


@pytest.mark.slow
def test_a_chain_of_twenty_thousand_claims_needs_no_recursion():
    book = Book()
    premise = claim = book.seal("p.example")
    for _ in range(20_000):
        claim = book.claim(None, [claim])
    book.contradict(premise, book.seal("a.example"), book.seal("b.example"))
    state = fold(book.statements, SEED_V4_CLUSTERS)
    assert state.entries[claim].attenuation == 50_000_000
    assert len(state.path(claim)) == 20_000
