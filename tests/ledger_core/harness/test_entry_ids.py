"""Entries by the beginning of their id, and the claims that saw them."""

from __future__ import annotations

import re

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS
from ledger_core.harness.entry_ids import find_entry
from ledger_core.harness.exposure import exposed_unmeasured
from ledger_core.kernel.errors import BeliefError
from tests.ledger_core.belief.book import OTHER_WEIGHTS, Book


def test_an_id_may_be_cut_to_eight_digits_and_written_in_capitals():
    book = Book()
    entries = [book.given() for _ in range(50)]
    for entry in entries:
        assert find_entry(book.statements, entry) == find_entry(book.statements, entry[:8]) == entry
        assert find_entry(book.statements, entry[:12].upper()) == entry


def test_an_ambiguous_beginning_lists_what_it_could_mean():
    class Statement:
        def __init__(self, event_id: str, kind: str) -> None:
            self.event_id, self.kind = event_id, kind

    twins = ["aaaaaaaa" + "1" * 56, "aaaaaaaa" + "2" * 56]
    statements = [Statement(twins[1], "entry.given"), Statement(twins[0], "entry.observed")]
    with pytest.raises(BeliefError, match=re.escape(f"({twins[0]}, {twins[1]})")):
        find_entry(statements, "aaaaaaaa")
    assert find_entry(statements, "aaaaaaaa2") == twins[1]
    # A seal that begins alike is no entry and makes nothing ambiguous.
    assert find_entry([statements[0], Statement(twins[0], "seal.minted")], "aaaaaaaa") == twins[1]


@pytest.mark.parametrize("name", ["", "abcdef1", "abcdefgh", "a" * 65, " abcdef12", "abcdef12\n"])
def test_what_is_no_id_is_refused(name: str):
    with pytest.raises(BeliefError, match="no entry id"):
        find_entry([], name)


def test_an_event_of_another_kind_is_named():
    book = Book()
    seal = book.seal_of(book.seal("p.example"))
    with pytest.raises(BeliefError, match=f"{seal} is a `seal.minted`"):
        find_entry(book.statements, seal[:10])


def test_claims_that_saw_an_entry_count_until_they_are_measured():
    book = Book()
    source, other = book.seal("p.example"), book.seal("q.example")
    saw, blind = book.generation([source, other]), book.generation([other])
    first, second = book.claim(saw), book.claim(saw)
    apart = book.claim(blind)
    book.claim(None, [source])
    assert exposed_unmeasured(book.statements, SEED_V4_CLUSTERS, [source]) == tuple(sorted((first, second)))
    assert exposed_unmeasured(book.statements, SEED_V4_CLUSTERS, [source, other]) == tuple(
        sorted((first, second, apart))
    )
    book.measure(first, saw, {source: "null", other: "null"}, scorer=OTHER_WEIGHTS)
    assert exposed_unmeasured(book.statements, SEED_V4_CLUSTERS, [source]) == (second,)
    assert exposed_unmeasured(book.statements, SEED_V4_CLUSTERS, []) == ()
