"""A Merkle tree that grows: it remembers every complete subtree, so that a proof costs the logarithm of the size.

`kernel.merkle` says what root and proofs are; a test holds this to it. Memory is 64 bytes a leaf.
"""

from __future__ import annotations

from ledger_core.kernel.errors import MerkleError
from ledger_core.kernel.merkle import HASH_BYTES, node_hash


class GrowingTree:
    """Leaf hashes in order, and the hash of every complete subtree above them."""

    def __init__(self) -> None:
        self._levels: list[bytearray] = [bytearray()]
        """Level k holds the roots of the subtrees over leaves [i·2ᵏ, (i+1)·2ᵏ), one after the other."""

    def __len__(self) -> int:
        """Number of leaves."""
        return len(self._levels[0]) // HASH_BYTES

    def append(self, leaf: bytes) -> None:
        """Add the leaf hash ``leaf`` at the end."""
        if len(leaf) != HASH_BYTES:
            raise MerkleError(f"a leaf hash has {HASH_BYTES} bytes, not {len(leaf)}")
        level, hashed = 0, leaf
        while True:
            self._levels[level] += hashed
            count = len(self._levels[level]) // HASH_BYTES
            if count % 2:
                return
            hashed = node_hash(self._at(level, count - 2), hashed)
            level += 1
            if level == len(self._levels):
                self._levels.append(bytearray())

    def leaf(self, index: int) -> bytes:
        """The leaf hash at ``index``."""
        self._check(index + 1)
        return self._at(0, index)

    def root(self, size: int | None = None) -> bytes:
        """The root over the first ``size`` leaves, all by default.

        Raises:
            MerkleError: no leaves, or more than there are.
        """
        wanted = len(self) if size is None else size
        self._check(wanted)
        return self._range(0, wanted)

    def inclusion(self, index: int, size: int | None = None) -> tuple[bytes, ...]:
        """The audit path of leaf ``index`` in the tree of the first ``size`` leaves (RFC 6962 §2.1.1)."""
        wanted = len(self) if size is None else size
        self._check(wanted)
        if not 0 <= index < wanted:
            raise MerkleError(f"no leaf {index} in a tree of {wanted} leaves")
        path: list[bytes] = []
        low, high = 0, wanted
        while high - low > 1:
            middle = low + _split(high - low)
            if index < middle:
                path.append(self._range(middle, high))
                high = middle
            else:
                path.append(self._range(low, middle))
                low = middle
        return tuple(reversed(path))

    def consistency(self, first: int, second: int | None = None) -> tuple[bytes, ...]:
        """The proof that the tree of ``second`` leaves extends that of ``first`` (RFC 6962 §2.1.2)."""
        wanted = len(self) if second is None else second
        self._check(wanted)
        if not 0 < first <= wanted:
            raise MerkleError(f"a tree of {wanted} leaves extends no tree of {first}; sizes begin with 1")
        path: list[bytes] = []
        low, high, whole = 0, wanted, True
        while high != first:
            middle = low + _split(high - low)
            if first <= middle:
                path.append(self._range(middle, high))
                high = middle
            else:
                path.append(self._range(low, middle))
                low, whole = middle, False
        if not whole:
            path.append(self._range(low, high))
        return tuple(reversed(path))

    def _range(self, low: int, high: int) -> bytes:
        """The root over ``[low, high)``, where ``low`` is a multiple of the next power of two: its peaks, joined."""
        peaks: list[bytes] = []
        while low < high:
            level = (high - low).bit_length() - 1
            peaks.append(self._at(level, low >> level))
            low += 1 << level
        joined = peaks.pop()
        while peaks:
            joined = node_hash(peaks.pop(), joined)
        return joined

    def _at(self, level: int, index: int) -> bytes:
        return bytes(self._levels[level][index * HASH_BYTES : (index + 1) * HASH_BYTES])

    def _check(self, size: int) -> None:
        if size == 0:
            raise MerkleError("a tree of size 0 has no root; append a leaf first")
        if not 0 < size <= len(self):
            raise MerkleError(f"no tree of {size} leaves: there are {len(self)}")


def _split(size: int) -> int:
    return 1 << ((size - 1).bit_length() - 1)
