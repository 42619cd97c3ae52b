"""The fold is one pass: cost grows with the statements and not with their square."""

from __future__ import annotations

import time

import pytest

from ledger_core.belief import SEED_V4_CLUSTERS, STRICT_CLUSTERS, fold
from tests.ledger_core.belief.book import Book


@pytest.fixture(scope="module")
def trajectories():
    """Independent trajectories of four steps, each with a measured last claim and a retracted first observation."""
    book = Book()
    number = 0
    while len(book.statements) < 100_000:
        context = [book.given()]
        for _ in range(4):
            number += 1
            observed = book.seal(f"h{number}.example")
            context.append(observed)
            generation = book.generation(context)
            claim = book.claim(generation, [observed])
            context.append(claim)
        measured = dict.fromkeys(context[:-1], "null") | {observed: 900_000}
        book.measure(claim, generation, measured)
        book.contradict(context[1], book.seal(f"x{number}.example"), book.seal(f"y{number}.example"))
    for statement in book.statements:
        assert statement.event_id
    return book.statements


def seconds(statements, policy):
    start = time.process_time()
    fold(statements, policy)
    return time.process_time() - start


@pytest.mark.slow
@pytest.mark.parametrize("policy", [SEED_V4_CLUSTERS, STRICT_CLUSTERS], ids=["seed-v4", "strict"])
def test_a_hundred_thousand_statements_fold_in_seconds_and_in_proportion(trajectories, policy):
    many = trajectories
    few = many[: len(many) // 5]
    assert len(fold(many, policy).retractions) > 3_000
    small = min(seconds(few, policy) for _ in range(3))
    large = seconds(many, policy)
    assert large < 30
    # Five times the statements cost five times the work; a square would cost twenty-five.
    assert large < 12 * small


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
