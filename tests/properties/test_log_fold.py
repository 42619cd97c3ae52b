"""The fold in columns against the fold: one state for every log, from a few dozen bytes a statement."""

from __future__ import annotations

import pytest
from hypothesis import given

from ledger_core.belief import CALIBRATED, SEED_V4_CLUSTERS, STRICT_CLUSTERS, fold
from ledger_core.belief.columns import Columns
from ledger_core.belief.log_fold import LogFold
from ledger_core.belief.neighbourhood import ReferenceIndex
from ledger_core.kernel.errors import BeliefError, PolicyError
from ledger_core.kernel.statements.outline import outline
from tests.ledger_core.belief.book import Book
from tests.properties.ledgers import stories, story_of
from tests.properties.test_projection import POLICIES, laws, same


def folded(reads) -> LogFold:
    log = LogFold()
    for read in reads:
        log.take(read)
    return log


def as_read(statements):
    """As a walk over the log reads it: outlines where there are any."""
    return [outline(statement.encoded) or statement for statement in statements]


@pytest.mark.invariant("§2.4", "§2.6")
@laws
@given(stories(), POLICIES)
def test_it_is_the_fold(story, policy):
    expected = fold(story.statements, policy)
    for reads in (as_read(story.statements), story.statements):
        same(folded(reads).state(policy), expected)


@pytest.mark.parametrize("seed", range(12))
def test_after_every_statement_it_is_the_fold_of_the_log_so_far(seed):
    statements = story_of(seed, 25).statements
    log = LogFold()
    for number, read in enumerate(as_read(statements), start=1):
        log.take(read)
        if number % 7 == 0 or number == len(statements):
            for policy in (STRICT_CLUSTERS, CALIBRATED):
                same(log.state(policy), fold(statements[:number], policy))


def test_a_statement_that_comes_again_changes_nothing():
    statements = story_of(5, 40).statements
    log = folded([each for statement in as_read(statements) for each in (statement, statement)])
    same(log.state(SEED_V4_CLUSTERS), fold(statements, SEED_V4_CLUSTERS))


def test_one_entry_is_asked_for_by_its_id():
    book = Book()
    premise = book.seal("p.example")
    claim = book.claim(book.generation([premise]), {premise: 400_000})
    book.contradict(premise, book.seal("a.example"), book.seal("b.example"))
    entries = folded(as_read(book.statements)).state(SEED_V4_CLUSTERS).entries
    # What is left of the claim: U − 0.4·(U − 0.05·U).
    assert (entries[premise].attenuation, entries[claim].attenuation) == (50_000_000, 620_000_000)
    assert entries[claim].order == list(entries).index(claim)
    assert claim in entries
    for other in (book.seal_of(premise), "ab" * 32):
        assert other not in entries
        with pytest.raises(KeyError):
            entries[other]


def test_it_refuses_what_the_fold_refuses():
    book = Book()
    other = SEED_V4_CLUSTERS.model_copy(update={"suffix_list_digest": "00" * 32})
    book.given()
    log = folded(as_read(book.statements))
    assert len(log.state(other).entries) == 1  # nothing has an origin yet
    book.seal("a.example")
    log = folded(as_read(book.statements))
    with pytest.raises(PolicyError, match="suffix list"):
        log.state(other)
    with pytest.raises(PolicyError, match="prior_failures"):
        log.state(SEED_V4_CLUSTERS.model_copy(update={"prior_failures": 0}))


def test_a_log_out_of_order_is_refused():
    statements = as_read(story_of(2, 20).statements)
    with pytest.raises(BeliefError, match="did not come before it"):
        folded(statements[::-1])


@laws
@given(stories())
def test_what_a_verdict_can_reach_is_what_the_index_of_references_finds(story):
    """Asked when the whole log is there already, for what came later does not count."""
    statements = list(dict.fromkeys(story.statements))
    columns, by_id = Columns(), {statement.event_id: statement for statement in statements}
    for read in as_read(statements):
        columns.add(read)
    seen = ReferenceIndex()
    for statement in statements:
        if statement.kind == "verdict.filed":
            expected = seen.around(statement.body.target, statement.body.candidate)
            assert columns.around(statement, by_id.__getitem__) == expected
        seen.add(statement)
