"""Reputations and retractions of a ledger: in a fixed order, of what is there, and of sealed origins alone."""

from __future__ import annotations

import pytest

from ledger_core.belief.fold import fold
from ledger_core.belief.policies import CALIBRATED, SEED_V4_CLUSTERS
from ledger_core.belief.reputation import sealed_base
from tests.ledger_core.belief.book import Book


def test_a_derived_target_moves_no_reputation_and_hides_none():
    book = Book()
    members = [book.seal(f"{name}.example", family="price") for name in "mn"]
    sealed = [book.seal(f"{name}.example", family="price") for name in "abcd"]
    claims = [book.claim(None, derived=False) for _ in range(4)]
    for target in (*claims, *sealed):
        book.contradict(target, *members)
    state = fold(book.statements, SEED_V4_CLUSTERS)
    assert list(state.retractions) == sorted([*claims, *sealed])
    right = {(f"{name}.example", "price"): (4, 0) for name in "mn"}
    wrong = {(f"{name}.example", "price"): (0, 1) for name in "abcd"}
    assert state.reputation == {**right, **wrong}
    assert list(state.reputation) == sorted(state.reputation)
    assert [state.entries[each].base for each in (members[0], sealed[0])] == [
        sealed_base(700_000, 4, 0, SEED_V4_CLUSTERS),
        sealed_base(700_000, 0, 1, SEED_V4_CLUSTERS),
    ]
    # 0.7·6 / (0.7·6 + 0.3·2) and 0.7·2 / (0.7·2 + 0.3·3).
    assert [state.entries[each].base for each in (members[0], sealed[0])] == [875_000_000, 608_695_652]


def test_a_target_that_is_not_there_is_not_retracted():
    book = Book()
    target, other = book.seal("t.example"), book.seal("u.example")
    members = [book.seal(f"{name}.example") for name in "ab"]
    for each in (target, other):
        book.contradict(each, *members)
    state = fold([each for each in book.statements if each.event_id != target], SEED_V4_CLUSTERS)
    assert list(state.retractions) == [other]
    assert state.reputation == {
        ("a.example", "*"): (1, 0),
        ("b.example", "*"): (1, 0),
        ("u.example", "*"): (0, 1),
    }


@pytest.mark.parametrize(("right", "wrong", "credited"), [(1, 0, True), (1, 1, False), (2, 1, True), (0, 0, False)])
def test_standing_takes_more_corrections_than_retractions(right, wrong, credited):
    book = Book()
    subject, *others = (book.seal(f"{name}.example") for name in "spqr")
    for number in range(right):
        target = book.seal(f"target{number}.example")
        book.contradict(target, subject, *others)
    for _ in range(wrong):
        book.contradict(book.seal("s.example"), *others)
    entries = fold(book.statements, CALIBRATED).entries
    assert entries[subject].base == sealed_base(700_000, right if credited else 0, wrong, CALIBRATED)
    assert entries[subject].corroborated is credited
