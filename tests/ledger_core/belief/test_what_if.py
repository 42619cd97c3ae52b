"""What a hypothetical retraction lists."""

from __future__ import annotations

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, fold, what_if
from ledger_core.kernel.errors import BeliefError
from tests.ledger_core.belief.book import Book


def test_it_lists_what_falls_by_how_much_and_along_which_path():
    book = Book()
    premise, sibling, apart = book.seal("p.example"), book.seal("www.p.example"), book.seal("a.example")
    claim = book.claim(book.generation([premise, apart]), {premise: 600_000, apart: 1_000_000})
    later = book.claim(book.generation([claim]), [claim])
    falls = {fall.entry: fall for fall in what_if(book.statements, SEED_V4_CLUSTERS, [premise])}
    assert falls.keys() == {premise, sibling, claim, later}
    assert next(iter(falls)) == premise
    assert (falls[premise].before.belief, falls[premise].after.belief) == (700_000_000, 30_434_782)
    # 1 − 0.6 · 0.95 of a half.
    assert (falls[claim].before.belief, falls[claim].after.belief) == (500_000_000, 215_000_000)
    assert [(step.entry, step.ppm) for step in falls[later].path] == [(claim, 1_000_000), (premise, 600_000)]
    # Another observation of the same origin loses by reputation alone, along no path.
    assert falls[sibling].path == ()
    assert (falls[sibling].before.belief, falls[sibling].after.belief) == (700_000_000, 608_695_652)


def test_what_is_retracted_already_does_not_fall_again():
    book = Book()
    premise = book.seal("p.example")
    book.contradict(premise, book.seal("a.example"), book.seal("b.example"))
    assert fold(book.statements, SEED_V4_CLUSTERS).entries[premise].retracted
    assert what_if(book.statements, SEED_V4_CLUSTERS, [premise]) == ()


def test_an_unknown_entry_is_named():
    with pytest.raises(BeliefError, match="ab" * 32):
        what_if([], SEED_V4_CLUSTERS, ["ab" * 32])
