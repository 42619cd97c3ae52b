"""Digests by number, and what the columns say of each statement."""

from __future__ import annotations

import hashlib
import random

import pytest

from ledger_core.belief.columns import Columns
from ledger_core.belief.digest_table import DigestTable
from ledger_core.belief.neighbourhood import ReferenceIndex
from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.statements.outline import Outline, outline
from tests.ledger_core.belief.book import Book


def digest(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()


class TestDigestTable:
    def test_numbers_come_in_order_and_each_digest_once(self):
        table = DigestTable()
        order = [*range(3_000), *range(2_000, 5_000), *range(100)]
        added = [table.add(digest(number)) for number in order]
        assert [number for number in added if number is not None] == list(range(5_000))
        assert added.count(None) == 1_100
        assert len(table) == 5_000

    def test_it_finds_what_it_holds_and_nothing_else(self):
        """Far more than it remembers of late, in any order."""
        table = DigestTable()
        for number in range(10_000):
            table.add(digest(number))
        asked = random.Random(3).sample(range(20_000), 20_000)
        for number in asked:
            assert table.find(digest(number)) == (number if number < 10_000 else None)
        assert [table[number] for number in (0, 9_999)] == [digest(0), digest(9_999)]

    @pytest.mark.parametrize("number", [-1, 1, 5])
    def test_a_number_that_nothing_has_is_refused(self, number):
        table = DigestTable()
        table.add(digest(0))
        with pytest.raises(IndexError, match=f"{number} is no number of 1 digests"):
            table[number]

    def test_digests_that_meet_in_the_table_are_told_apart(self):
        class Meeting(bytes):
            def __hash__(self):
                return 7

        table = DigestTable()
        several = [Meeting(digest(number)) for number in range(40)]
        for number, each in enumerate(several):
            assert table.add(each) == number
            table._recent.clear()
        assert [table.find(each) for each in several] == list(range(40))


@pytest.fixture
def book():
    return Book()


def columns_of(book):
    columns = Columns()
    for number, statement in enumerate(book.statements):
        assert columns.add(outline(statement.encoded) or statement) == number
    return columns


def test_what_columns_hold_of_each_kind(book):
    observed = book.seal("www.a.example", family="price")
    given = book.given()
    generation = book.generation([given, observed])
    claim = book.claim(generation, {observed: 5})
    later = book.claim(book.generation([claim]), {claim: 7, given: 9}, derived=False)
    free = book.claim(None, {claim: 3}, derived=False)
    columns = columns_of(book)
    number = {statement.event_id: at for at, statement in enumerate(book.statements)}
    assert len(columns) == len(book.statements) == 8
    for statement in book.statements:
        at = number[statement.event_id]
        assert columns.hex(at) == statement.event_id
        assert columns.kind_of(at) == statement.kind == columns.kind(bytes.fromhex(statement.event_id))
    assert columns.kind(b"\0" * 32) is None
    seal = number[book.seal_of(observed)]
    assert columns.origin(number[observed]) == (seal, ("a.example", True, True, True), ("a.example", "price"))
    assert columns.sealed_at == {seal: "2026-01-01T00:00:00.000000000Z"}
    assert list(columns.origins()) == [("a.example", "price")]
    assert list(columns.observed_from(("a.example", "price"))) == [number[observed]]
    assert list(columns.observed_from(("b.example", "price"))) == []
    assert list(columns.referred(number[generation])) == [number[given], number[observed]]
    assert list(columns.parents(number[claim])) == [(number[observed], 5)]
    assert dict(columns.parents(number[later])) == {number[claim]: 7, number[given]: 9}
    assert list(columns.parents(number[free])) == [(number[claim], 3)]
    assert columns.generation(number[claim]) == number[generation]
    assert columns.generation(number[free]) is None
    assert columns.generation(number[observed]) is None
    assert list(columns.entries()) == sorted(number[each] for each in (observed, given, claim, later, free))
    depth = {each: columns.depth[number[each]] for each in (given, observed, generation, claim, later, free)}
    assert depth == {given: 0, observed: 0, generation: 1, claim: 2, later: 4, free: 3}
    assert set(columns.referring(number[given])) == {number[generation], number[later]}
    assert columns.add(book.statements[0]) is None


def test_an_observation_of_no_seal_is_refused(book):
    given = book.given()
    columns = columns_of(book)
    odd = Outline("entry.observed", b"\1" * 32, b"\2" * 32, b"{}", (), (bytes.fromhex(given),), family="*")
    with pytest.raises(BeliefError, match=f"observation {'01' * 32} is of {given}, which is no seal"):
        columns.add(odd)


def test_a_reference_to_what_did_not_come_is_refused(book):
    book.claim(book.generation([book.given()]))
    with pytest.raises(BeliefError, match=r"generation\.recorded refers to [0-9a-f]{64}, which did not come before it"):
        Columns().add(book.statements[1])


def test_what_surrounds_a_verdict_is_all_that_stood_before_it():
    """As the index of references finds it, whatever came afterwards."""
    book = Book()
    target, premise, candidate, other = (book.seal(f"{name}.example") for name in "abcd")
    generation = book.generation([target, premise])
    book.claim(generation, [target])
    book.verdict(premise, other)
    spoken_of = book.seal("e.example")
    book.verdict(spoken_of, candidate)
    before = ReferenceIndex(book.statements)
    verdict = book.verdict(target, candidate)
    (filed,) = book.statements[-1:]
    book.verdict(premise, book.seal("c.example"))
    book.verdict(target, spoken_of)
    book.claim(generation, [target, premise])
    book.reverse(verdict)
    by_id = {statement.event_id: statement for statement in book.statements}
    found = columns_of(book).around(filed, by_id.__getitem__)
    assert found == before.around(target, candidate)
    assert {premise, generation, other, spoken_of} <= {statement.event_id for statement in found}
