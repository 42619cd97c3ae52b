"""Which measurements count, and for what: admission, power, and those in force about one claim."""

from __future__ import annotations

import pytest

from ledger_core.belief.attenuation import depths
from ledger_core.belief.edges import measurements_in_force, refusal
from ledger_core.belief.index import index_statements
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from tests.ledger_core.belief.book import OTHER_WEIGHTS, Book


@pytest.fixture
def book():
    return Book()


def statement(book, event_id):
    (found,) = (each for each in book.statements if each.event_id == event_id)
    return found


def test_a_refusal_says_what_is_wrong(book):
    source, other = book.seal("a.example"), book.seal("b.example")
    generation, elsewhere = book.generation([source]), book.generation([other])
    claim = book.claim(generation)
    sound, foreign = book.measure(claim, generation, {source: 5}), book.measure(claim, generation, {other: 5})
    moved = book.measure(claim, elsewhere, {other: 5})
    said, spoken = statement(book, claim), statement(book, generation)
    missing = "it measures a claim or a generation that is not in the ledger"
    assert refusal(statement(book, sound), None, spoken) == missing
    assert refusal(statement(book, sound), said, None) == missing
    assert refusal(statement(book, sound), said, spoken) is None
    assert refusal(statement(book, moved), said, statement(book, elsewhere)) == (
        f"the claim is of generation {generation}, the measurement of {elsewhere}"
    )
    assert refusal(statement(book, foreign), said, spoken) == (
        f"entry {other} is not in the recorded context of generation {generation}"
    )


def test_measurements_in_force_are_those_of_the_claim_with_their_power(book):
    source = book.seal("a.example")
    generation = book.generation([source])
    claim, other = book.claim(generation, {source: 700_000}), book.claim(generation)
    lowering = book.measure(claim, generation, {source: 5})
    adding = book.measure(claim, generation, {source: 9}, scorer=OTHER_WEIGHTS, rows="dd" * 32)
    elsewhere = book.measure(other, generation, {source: 7})
    index = index_statements(book.statements, SEED_V4_CLUSTERS)
    expected = sorted([(lowering, True), (adding, False)])
    assert [(each.event_id, lowers) for each, lowers in measurements_in_force(claim, index)] == expected
    assert [(each.event_id, lowers) for each, lowers in measurements_in_force(other, index)] == [(elsewhere, True)]
    assert measurements_in_force(source, index) == ()


def test_depth_counts_known_nodes_alone():
    assert depths({"b": ["a", "nowhere"], "a": ["nowhere"]}) == {"a": 0, "b": 1}
    assert depths({"b": ["a"], "a": ["settled"]}, {"settled": 4}) == {"a": 5, "b": 6}
