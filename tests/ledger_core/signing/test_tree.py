"""The growing tree against the kernel's trees, at every size and every proof of small ones."""

from __future__ import annotations

import hashlib

import pytest

from ledger_core.kernel import merkle
from ledger_core.kernel.errors import MerkleError
from ledger_core.signing.tree import GrowingTree

LEAVES = [hashlib.sha256(bytes([number])).digest() for number in range(40)]


@pytest.fixture(scope="module")
def tree():
    grown = GrowingTree()
    for leaf in LEAVES:
        grown.append(leaf)
    return grown


def test_roots_and_leaves_at_every_size(tree):
    assert len(tree) == len(LEAVES)
    assert tree.root() == merkle.root(LEAVES)
    for size in range(1, len(LEAVES) + 1):
        assert tree.root(size) == merkle.root(LEAVES[:size])
        assert tree.leaf(size - 1) == LEAVES[size - 1]


def test_every_proof_is_the_kernels(tree):
    for size in range(1, len(LEAVES) + 1):
        for index in range(size):
            assert tree.inclusion(index, size) == merkle.inclusion_proof(LEAVES[:size], index)
        for first in range(1, size + 1):
            assert tree.consistency(first, size) == merkle.consistency_proof(LEAVES[:size], first)


def test_size_0_is_an_error(tree):
    empty = GrowingTree()
    for ask in (empty.root, lambda: tree.root(0), lambda: tree.inclusion(0, 0), lambda: tree.consistency(0)):
        with pytest.raises(MerkleError):
            ask()


def test_what_is_not_there_is_an_error(tree):
    for ask in (
        lambda: tree.root(41),
        lambda: tree.leaf(40),
        lambda: tree.inclusion(40),
        lambda: tree.inclusion(-1),
        lambda: tree.consistency(41),
        lambda: tree.append(b"short"),
    ):
        with pytest.raises(MerkleError):
            ask()
