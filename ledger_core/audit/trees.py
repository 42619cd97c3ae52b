"""RFC 6962, by its own recursion: roots of growing lists, and the two proofs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

EMPTY = "every log begins with the tree of size 0: agreeing with it proves nothing"


class TreeError(ValueError):
    """A proof that does not hold, or a tree that cannot be."""


def leaf_hash(data: bytes) -> bytes:
    """``H(00 ‖ data)``."""
    return hashlib.sha256(b"\x00" + data).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def roots_at(leaves: Iterable[bytes], sizes: Iterable[int]) -> dict[int, bytes]:
    """The root at each of ``sizes`` that the list reaches; sizes it does not reach are absent."""
    wanted, found = set(sizes), {}
    spine: list[tuple[int, bytes]] = []
    for size, leaf in enumerate(leaves, start=1):
        height, top = 0, leaf
        while spine and spine[-1][0] == height:
            top = _node(spine.pop()[1], top)
            height += 1
        spine.append((height, top))
        if size in wanted:
            found[size] = _fold_right([top for _, top in spine])
    return found


def _fold_right(tops: Sequence[bytes]) -> bytes:
    root = tops[-1]
    for top in reversed(tops[:-1]):
        root = _node(top, root)
    return root


def require_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> None:
    """Return if ``path`` leads from leaf ``index`` to ``root`` of ``size`` leaves (RFC 9162 §2.1.3.2)."""
    if size == 0:
        raise TreeError(EMPTY)
    if not 0 <= index < size:
        raise TreeError(f"no leaf {index} among {size}")
    node, last, rest = index, size - 1, list(path)
    found = leaf
    while last:
        if node % 2 or node == last:
            found = _node(_next(rest), found)
            while not node % 2:  # the last node of a level without partner rises unchanged
                node >>= 1
                last >>= 1
        else:
            found = _node(found, _next(rest))
        node >>= 1
        last >>= 1
    if rest or found != root:
        raise TreeError(f"the path of leaf {index} leads to {found.hex()}, the root is {root.hex()}")


def require_consistency(first: int, second: int, path: Sequence[bytes], older: bytes, newer: bytes) -> None:
    """Return if the tree of ``second`` leaves extends that of ``first`` (RFC 9162 §2.1.4.2)."""
    if first == 0 or second == 0:
        raise TreeError(EMPTY)
    if first > second:
        raise TreeError(f"a tree of {second} leaves extends none of {first}")
    if first == second:
        if path or older != newer:
            raise TreeError(f"two trees of {first} leaves with different roots, or a proof where none is needed")
        return
    rest = list(path)
    node, last = first - 1, second - 1
    while node % 2:
        node >>= 1
        last >>= 1
    old = new = _next(rest) if node else older
    while last:
        if node % 2 or node == last:
            sibling = _next(rest)
            old, new = _node(sibling, old), _node(sibling, new)
            while node and not node % 2:
                node >>= 1
                last >>= 1
        else:
            new = _node(new, _next(rest))
        node >>= 1
        last >>= 1
    if rest or old != older or new != newer:
        raise TreeError(f"the path leads to {old.hex()} and {new.hex()}, not to {older.hex()} and {newer.hex()}")


def _next(rest: list[bytes]) -> bytes:
    if not rest:
        raise TreeError("the path is too short")
    return rest.pop(0)
