"""What a state is made of refuses what has no meaning."""

from __future__ import annotations

import pytest

from ledger_core.belief.fold import fold
from ledger_core.belief.policies import SEED_V4_CLUSTERS
from ledger_core.belief.state import Hyperedge, PathStep
from ledger_core.kernel.errors import BeliefError
from tests.ledger_core.belief.book import Book


@pytest.mark.parametrize("parents", [(), ("b", "a"), ("a", "a")])
def test_the_parents_of_a_hyperedge_are_a_set_that_is_not_empty(parents):
    with pytest.raises(BeliefError, match="parents of a hyperedge are sorted, each once, at least one; got "):
        Hyperedge(parents, 1)


@pytest.mark.parametrize("ppm", [-1, 1_000_001])
def test_a_hyperedge_weighs_a_million_at_most(ppm):
    assert Hyperedge(("a", "b"), 0) < Hyperedge(("a", "b"), 1_000_000)
    with pytest.raises(BeliefError, match=f"a hyperedge weighs 0 to 1000000 ppm; got {ppm}"):
        Hyperedge(("a", "b"), ppm)


def test_a_loss_that_rounds_to_nothing_is_no_step_of_a_path():
    book = Book()
    premise = book.seal("p.example")
    near = book.claim(None, {premise: 1}, derived=False)
    far = book.claim(None, {near: 1_000}, derived=False)
    book.contradict(premise, book.seal("a.example"), book.seal("b.example"))
    state = fold(book.statements, SEED_V4_CLUSTERS)
    assert [state.entries[each].attenuation for each in (premise, near, far)] == [50_000_000, 999_999_050, 10**9]
    assert state.path(near) == (PathStep(premise, 1),)
    assert state.path(far) == ()
