"""What a state is made of refuses what has no meaning."""

from __future__ import annotations

import pytest

from ledger_core.belief.state import Hyperedge
from ledger_core.kernel.errors import BeliefError


@pytest.mark.parametrize("parents", [(), ("b", "a"), ("a", "a")])
def test_the_parents_of_a_hyperedge_are_a_set_that_is_not_empty(parents):
    with pytest.raises(BeliefError, match="parents of a hyperedge are sorted, each once, at least one; got "):
        Hyperedge(parents, 1)


@pytest.mark.parametrize("ppm", [-1, 1_000_001])
def test_a_hyperedge_weighs_a_million_at_most(ppm):
    assert Hyperedge(("a", "b"), 0) < Hyperedge(("a", "b"), 1_000_000)
    with pytest.raises(BeliefError, match=f"a hyperedge weighs 0 to 1000000 ppm; got {ppm}"):
        Hyperedge(("a", "b"), ppm)
