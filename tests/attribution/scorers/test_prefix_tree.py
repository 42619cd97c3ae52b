from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.errors import BlockError
from attribution.layout import Target, Unit, build_layout, tile
from attribution.scorers.prefix_tree import ROOT, build_tree
from tests.attribution.scorers.sequences import naive_prefix


def spelled(tree, node: int) -> list[int]:
    """Tokens from the root to ``node``, itself included."""
    tokens = []
    while node != ROOT:
        tokens.append(int(tree.tokens[node]))
        node = int(tree.parents[node])
    return tokens[::-1]


@pytest.fixture
def layout():
    """Head, two entries, a claim that is a unit, a tail claim with two foils."""
    ids, regions = tile([((1, 2), None), ((3, 4), 0), ((5,), 1), ((6, 7, 8), 2), ((9,), None), ((10, 11), None)])
    units = (Unit("a", "a", ((30, 40),)), Unit("b", "b", ((50,),)), Unit("c", "c"))
    targets = (
        Target("first", 6, 8, 2, foils=((7, 70),)),
        Target("last", 9, 11, None, foils=((10, 12), (13,))),
    )
    return build_layout(ids, regions, units, targets, context_window=50)


def test_every_cell_is_the_path_of_its_own_sequence(layout):
    states = np.array([[a, b, c] for a in range(3) for b in range(3) for c in range(2)], dtype=np.uint8)
    tree = build_tree(layout, states)
    for row, mask in enumerate(states):
        for span in layout.scored:
            variant = layout.variants(span.target)[span.variant + 1]
            prefix = naive_prefix(layout, mask, span.target)
            for offset in range(len(variant)):
                node = tree.columns[row, span.start + offset]
                assert spelled(tree, node) == [*prefix, *variant[: offset + 1]]
                assert tree.depths[node] == len(prefix) + offset


def test_a_claim_whose_own_unit_is_ablated_is_a_leaf_beside_what_follows(layout):
    tree = build_tree(layout, np.array([[1, 1, 0]], dtype=np.uint8))
    claim_nodes = tree.columns[0, :2]
    assert spelled(tree, claim_nodes[1]) == [1, 2, 3, 4, 5, 6, 7, 8]
    final = spelled(tree, tree.columns[0, layout.scored[2].stop - 1])
    assert final == [1, 2, 3, 4, 5, 9, 10, 11]


def test_own_unit_and_later_units_change_no_cell_of_a_target(layout):
    present, ablated = (build_tree(layout, np.array([[1, 0, own]], dtype=np.uint8)) for own in (1, 0))
    first = slice(0, layout.scored[1].stop)
    for tree_a, tree_b in [(present, ablated)]:
        texts = [[spelled(tree, node) for node in tree.columns[0, first]] for tree in (tree_a, tree_b)]
        assert texts[0] == texts[1]


def test_shared_prefixes_are_one_node_and_claim_ends_are_not_run(layout):
    states = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]], dtype=np.uint8)
    tree = build_tree(layout, states)
    assert np.array_equal(tree.columns[0], tree.columns[1])
    assert np.array_equal(tree.columns[0, :4], tree.columns[2, :4])
    ends = {int(tree.columns[0, span.stop - 1]) for span in layout.scored if span.variant >= 0}
    assert not ends & set(tree.inner().tolist())


def test_equal_texts_deleted_one_or_the_other_are_the_same_sequence():
    ids, regions = tile([((1,), None), ((2, 3), 0), ((2, 3), 1), ((4, 5), None)])
    layout = build_layout(ids, regions, (Unit("a", "x"), Unit("b", "x")), (Target("c", 5, 7, None),), context_window=9)
    tree = build_tree(layout, np.array([[0, 1], [1, 0]], dtype=np.uint8))
    assert np.array_equal(tree.columns[0], tree.columns[1])


@given(states=st.lists(st.tuples(*[st.integers(0, 2)] * 2, st.integers(0, 1)), min_size=1, max_size=8))
def test_nodes_are_in_depth_first_order(states):
    ids, regions = tile([((1, 2), None), ((3, 4), 0), ((5,), 1), ((6, 7, 8), 2), ((9, 10), None)])
    units = (Unit("a", "a", ((30, 4),)), Unit("b", "b", ((3,),)), Unit("c", "c"))
    targets = (Target("first", 6, 8, 2), Target("last", 9, 10, None, foils=((12, 13),)))
    layout = build_layout(ids, regions, units, targets, context_window=50)
    tree = build_tree(layout, np.array(states, dtype=np.uint8))
    path: list[int] = []
    for node, parent in enumerate(tree.parents):
        while path and path[-1] != parent:
            path.pop()
        assert (path[-1] if path else ROOT) == parent
        path.append(node)
    siblings = list(zip(tree.parents.tolist(), tree.tokens.tolist(), strict=True))
    assert len(set(siblings)) == len(siblings)


def test_states_that_do_not_fit_are_refused(layout):
    with pytest.raises(BlockError, match="states for 2 units do not fit a layout of 3"):
        build_tree(layout, np.ones((1, 2), dtype=np.uint8))
    with pytest.raises(BlockError, match="unit 'c' is to be swapped but has no matched text"):
        build_tree(layout, np.array([[1, 1, 2]], dtype=np.uint8))


def test_no_masks_and_no_targets_need_no_tokens(layout):
    assert len(build_tree(layout, np.empty((0, 3), dtype=np.uint8)).inner()) == 0
    ids, regions = tile([((1, 2), None)])
    empty = build_layout(ids, regions, (), (), context_window=9)
    tree = build_tree(empty, np.empty((2, 0), dtype=np.uint8))
    assert tree.columns.shape == (2, 0)
    assert len(tree.inner()) == 0
