"""What surrounds a verdict: all that decides what it changes, and nothing else."""

from __future__ import annotations

from ledger_core.belief.neighbourhood import ReferenceIndex
from tests.ledger_core.belief.book import Book


def test_it_holds_what_decides_and_nothing_else():
    book = Book()
    target, premise, candidate, other = (book.seal(f"{name}.example") for name in "abcd")
    generation = book.generation([target, premise])
    claim = book.claim(generation, [target])
    against_premise = book.verdict(premise, other)
    earlier = book.verdict(target, other)
    judged = {target, premise, candidate, other}
    expected = {*judged, *map(book.seal_of, judged), generation, claim, against_premise, earlier}

    apart = book.seal("e.example")
    book.claim(book.generation([apart]), [apart])
    book.verdict(apart, book.seal("f.example"))

    found = ReferenceIndex(book.statements).around(target, candidate)
    assert [statement.event_id for statement in found] == sorted(expected)


def test_it_knows_what_it_was_shown():
    book = Book()
    shown, hidden = book.seal("a.example"), book.seal("b.example")
    index = ReferenceIndex(book.statements[:2])
    assert (shown in index, hidden in index, book.seal_of(hidden) in index) == (True, False, False)
