"""Graphs of members as bit sets, and the cliques in them."""

from __future__ import annotations

from ledger_core.belief.independent_sets import adjacency, in_clique_of, largest


def test_pairs_that_name_no_two_members_are_ignored():
    pairs = [("a", "b"), ("a", "x"), ("x", "b"), ("x", "y"), ("c", "c")]
    assert adjacency(["a", "b", "c"], pairs) == [0b010, 0b001, 0b000]


def test_cliques_of_a_graph_that_colours_do_not_decide():
    """A ring of five, whose colours are three and whose cliques are pairs, and a triangle hung on it."""
    ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("a", "e")]
    graph = adjacency("abcdefg", ring)
    assert (largest(graph), in_clique_of(graph, 2), in_clique_of(graph, 3)) == (2, [0, 1, 2, 3, 4], [])
    assert in_clique_of(graph, 1) == list(range(7))
    hung = adjacency("abcdefg", [*ring, ("e", "f"), ("f", "g"), ("e", "g")])
    assert (largest(hung), in_clique_of(hung, 3)) == (3, [4, 5, 6])
    assert largest(hung, within=0b0011111) == 2
    assert largest(hung, within=0) == 0
    assert largest([]) == 0
