"""Merkle trees of RFC 6962: roots, inclusion, consistency, and both for subtrees.

Four proofs, one construction. Leaves ``[start, end)`` are a *subtree* if ``start`` is a multiple of the least power of
two that holds ``end - start`` leaves; its root is that of a tree over these leaves alone. The proof that a subtree lies
in a tree is, for ``[0, first)``, the consistency proof of §2.1.2 and, for ``[index, index + 1)``, the audit path of
§2.1.1. So one descent from the tree's root to the subtree says which siblings a proof holds, and proving and verifying
walk it in the same order.

Indices and sizes count leaves; hashes are 32 raw bytes; proofs run from the leaves to the root. Verification raises
:class:`MerkleError` and never returns a verdict. A tree of size 0 is an error: every log begins with it, so agreeing
with it proves nothing. An empty subtree, which lies in every tree, is admitted with the hash of nothing for its root.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import Enum, auto

from ledger_core.kernel.errors import MerkleError

HASH_BYTES = 32
EMPTY_ROOT = hashlib.sha256().digest()
"""The root of no leaves (RFC 6962 §2.1)."""
MAX_SIZE = 2**64 - 1
"""Largest size of a tree, in leaves (``uint64`` in RFC 6962 §4.6)."""

_LEAF = b"\x00"
_NODE = b"\x01"


class _Sibling(Enum):
    """Where a proof's hash stands as seen from the path that leads to the subtree."""

    LEFT_OUTSIDE = auto()
    RIGHT_OUTSIDE = auto()
    LEFT_INSIDE = auto()
    """The subtree begins in the sibling and ends beyond it: the hash belongs to both roots."""


def leaf_hash(data: bytes) -> bytes:
    """``SHA-256(00 ‖ data)`` (RFC 6962 §2.1)."""
    return hashlib.sha256(_LEAF + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """``SHA-256(01 ‖ left ‖ right)`` (RFC 6962 §2.1)."""
    return hashlib.sha256(_NODE + left + right).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """The root of a tree over leaf hashes.

    Raises:
        MerkleError: no leaves, or one that is not 32 bytes.
    """
    if not leaves:
        raise MerkleError("a tree of size 0 has no root; append a leaf first")
    for index, leaf in enumerate(leaves):
        _check_hash(f"leaf {index}", leaf)
    return _root(leaves)


def inclusion_proof(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """The audit path of leaf ``index`` (RFC 6962 §2.1.1).

    Raises:
        MerkleError: no such leaf.
    """
    return subtree_proof(leaves, index, index + 1)


def consistency_proof(leaves: Sequence[bytes], first: int) -> tuple[bytes, ...]:
    """The proof that the tree over ``leaves`` extends the tree over its first ``first`` (RFC 6962 §2.1.2).

    Raises:
        MerkleError: ``first`` is 0 or exceeds the tree.
    """
    _check_first(first)
    return subtree_proof(leaves, 0, first)


def subtree_proof(leaves: Sequence[bytes], start: int, end: int) -> tuple[bytes, ...]:
    """The proof that the subtree ``[start, end)`` lies in the tree over ``leaves``.

    Raises:
        MerkleError: no such subtree.
    """
    siblings, whole = _descend(start, end, len(leaves))
    low, high = 0, len(leaves)
    proof: list[bytes] = []
    for sibling in siblings:
        middle = low + _split(high - low)
        if sibling is _Sibling.RIGHT_OUTSIDE:
            proof.append(_root(leaves[middle:high]))
            high = middle
        else:
            proof.append(_root(leaves[low:middle]))
            low = middle
    if not whole:
        proof.append(_root(leaves[low:high]))
    return tuple(reversed(proof))


def verify_inclusion(*, leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Check that the leaf hash ``leaf`` stands at ``index`` of the tree of ``size`` leaves with ``root``.

    Raises:
        MerkleError: it does not, or there is no such tree or leaf.
    """
    _check_hash("leaf hash", leaf)
    verify_subtree(start=index, end=index + 1, size=size, subtree_root=leaf, root=root, proof=proof)


def verify_consistency(
    *, first: int, second: int, first_root: bytes, second_root: bytes, proof: Sequence[bytes]
) -> None:
    """Check that the tree of ``second`` leaves extends the tree of ``first`` leaves.

    Raises:
        MerkleError: it does not, a size is 0, or ``first`` exceeds ``second``.
    """
    _check_first(first)
    verify_subtree(start=0, end=first, size=second, subtree_root=first_root, root=second_root, proof=proof)


def verify_subtree_inclusion(
    *, leaf: bytes, index: int, start: int, end: int, proof: Sequence[bytes], subtree_root: bytes
) -> None:
    """Check that the leaf hash ``leaf`` stands at ``index`` (of the whole tree) in the subtree ``[start, end)``.

    Raises:
        MerkleError: it does not, or there is no such subtree or leaf.
    """
    _check_subtree(start, end)
    verify_inclusion(leaf=leaf, index=index - start, size=end - start, proof=proof, root=subtree_root)


def verify_subtree(
    *, start: int, end: int, size: int, subtree_root: bytes, root: bytes, proof: Sequence[bytes]
) -> None:
    """Check that the subtree ``[start, end)`` with ``subtree_root`` lies in the tree of ``size`` leaves with ``root``.

    Raises:
        MerkleError: it does not, or there is no such subtree.
    """
    siblings, whole = _descend(start, end, size)
    if start == end:
        _check_empty(subtree_root, proof)
        return
    if siblings:
        _check_hash("subtree root", subtree_root)
    for position, hashed in enumerate(proof):
        _check_hash(f"proof element {position}", hashed)
    wanted = len(siblings) + (not whole)
    if len(proof) != wanted:
        raise MerkleError(f"proof of [{start}, {end}) in {size} leaves has {len(proof)} hashes instead of {wanted}")
    rest = iter(proof)
    inner = outer = subtree_root if whole else next(rest)
    for sibling, hashed in zip(reversed(siblings), rest, strict=True):
        outer = node_hash(outer, hashed) if sibling is _Sibling.RIGHT_OUTSIDE else node_hash(hashed, outer)
        if sibling is _Sibling.LEFT_INSIDE:
            inner = node_hash(hashed, inner)
    if inner != subtree_root:
        raise MerkleError(f"proof leads to root {inner.hex()} of [{start}, {end}) instead of {subtree_root.hex()}")
    if outer != root:
        raise MerkleError(f"proof leads to root {outer.hex()} of {size} leaves instead of {root.hex()}")


def _descend(start: int, end: int, size: int) -> tuple[list[_Sibling], bool]:
    """The siblings from the root down to ``[start, end)``, and whether the path ends on that subtree whole.

    Where it does not, it ends on the subtree's last complete piece, whose hash a proof must then hold.
    """
    _check_subtree(start, end)
    if not end <= size <= MAX_SIZE:
        raise MerkleError(f"no leaves [{start}, {end}) in a tree of {size} leaves (at most {MAX_SIZE})")
    siblings: list[_Sibling] = []
    whole = True
    if start == end:
        return siblings, whole
    while (start, end) != (0, size):
        left = _split(size)
        if end <= left:
            siblings.append(_Sibling.RIGHT_OUTSIDE)
            size = left
            continue
        if start >= left:
            siblings.append(_Sibling.LEFT_OUTSIDE)
            start -= left
        else:
            siblings.append(_Sibling.LEFT_INSIDE)
            whole = False
        end -= left
        size -= left
    return siblings, whole


def _check_subtree(start: int, end: int) -> None:
    if not 0 <= start <= end:
        raise MerkleError(f"leaves [{start}, {end}) are no range; give 0 <= start <= end")
    capacity = 1 << max(end - start - 1, 0).bit_length()
    if start % capacity:
        raise MerkleError(f"leaves [{start}, {end}) are no subtree: {start} is no multiple of {capacity}")


def _check_first(first: int) -> None:
    if first == 0:
        raise MerkleError("every tree extends the tree of size 0; ask about a tree of at least one leaf")


def _check_empty(subtree_root: bytes, proof: Sequence[bytes]) -> None:
    """An empty subtree has no leaf that the tree's root could contradict."""
    if subtree_root != EMPTY_ROOT:
        raise MerkleError(f"root {subtree_root.hex()} of an empty subtree is not the hash of nothing")
    if proof:
        raise MerkleError(f"proof of an empty subtree has {len(proof)} hashes instead of 0")


def _check_hash(name: str, value: bytes) -> None:
    if len(value) != HASH_BYTES:
        raise MerkleError(f"{name} has {len(value)} bytes instead of {HASH_BYTES}")


def _split(size: int) -> int:
    """The largest power of two below ``size``: how many leaves stand in the left branch."""
    return 1 << ((size - 1).bit_length() - 1)


def _root(leaves: Sequence[bytes]) -> bytes:
    """Level by level; a last node without a partner rises, which is RFC 6962's split at the largest power of two."""
    level = leaves
    while len(level) > 1:
        paired = [node_hash(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
        if len(level) % 2:
            paired.append(level[-1])
        level = paired
    return level[0]
