"""All token sequences of a block as one tree, so that every distinct prefix is computed once.

Each mask and target is a path: the surviving tokens before the claim, then the claim or a foil. Masks that agree
on the first units share those nodes; foils and claims whose own unit is ablated are leaves that nothing later hangs
from. What a model must run is the inner nodes, in depth-first order, so that only the current path need be kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attribution.errors import BlockError
from attribution.games.base import DELETED, PRESENT, SWAPPED, States
from attribution.layout import Ids, TokenLayout

ROOT = -1
"""Parent of first tokens."""

Nodes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PrefixTree:
    """Nodes are tokens, numbered in depth-first order with parents before children."""

    tokens: Nodes
    """``int64[node]``: token ids."""
    parents: Nodes
    """``int64[node]``: node index of the token before, or ``ROOT``."""
    depths: Nodes
    """``int64[node]``: tokens before this one, which is its position id."""
    columns: Nodes
    """``int64[mask, column]``: the node whose probability given its parent fills that cell of the table."""

    def inner(self) -> Nodes:
        """``int64[run]``: nodes that something follows, in order: exactly the tokens a model must read."""
        return np.unique(self.parents[self.parents != ROOT])


def build_tree(layout: TokenLayout, states: States) -> PrefixTree:
    """Merge the sequences of every mask, target and variant.

    Args:
        layout: what is scored.
        states: ``uint8[mask, unit]``.

    Raises:
        BlockError: states of another width, or a mask that swaps a unit without matched text.
    """
    if states.shape[1] != len(layout.units):
        raise BlockError(f"states for {states.shape[1]} units do not fit a layout of {len(layout.units)}")
    growing = _GrowingTree()
    texts = _texts(layout)
    columns = np.empty((len(states), layout.columns), dtype=np.int64)
    for row, mask in enumerate(states):
        _require_swaps(layout, mask)
        for number in range(len(layout.targets)):
            node = _walk_to(growing, layout, texts, mask, number)
            for span, ids in zip(_spans(layout, number), layout.variants(number), strict=True):
                columns[row, span] = growing.path(node, ids)
    return growing.frozen(columns)


def _spans(layout: TokenLayout, target: int) -> list[slice]:
    return [slice(span.start, span.stop) for span in layout.scored if span.target == target]


def _texts(layout: TokenLayout) -> list[tuple[Ids, Ids, Ids | None]]:
    """Per region its ids when deleted, present, swapped; regions of nobody are always present."""
    swaps = {number: iter(unit.swap) for number, unit in enumerate(layout.units) if unit.swap is not None}
    texts: list[tuple[Ids, Ids, Ids | None]] = []
    for region in layout.regions:
        ids = layout.ids[region.start : region.stop]
        if region.unit is None:
            texts.append((ids, ids, ids))
        else:
            texts.append(((), ids, next(swaps[region.unit]) if region.unit in swaps else None))
    return texts


def _require_swaps(layout: TokenLayout, mask: npt.NDArray[np.uint8]) -> None:
    for number in np.flatnonzero(mask == SWAPPED):
        if layout.units[number].swap is None:
            raise BlockError(f"unit {layout.units[number].key!r} is to be swapped but has no matched text; delete it")


def _walk_to(
    growing: _GrowingTree,
    layout: TokenLayout,
    texts: list[tuple[Ids, Ids, Ids | None]],
    mask: npt.NDArray[np.uint8],
    number: int,
) -> int:
    """Node after which the target's tokens come under ``mask``, with the target's own unit present."""
    target = layout.targets[number]
    node = ROOT
    for index, region in enumerate(layout.regions):
        if region.stop > target.start and region.start <= target.start:
            return growing.extend(node, layout.ids[region.start : target.start])
        state = PRESENT if region.unit is None or region.unit == target.unit else int(mask[region.unit])
        text = texts[index][state]
        if state != DELETED and text:
            node = growing.extend(node, text)
    raise BlockError(f"target {target.key!r} lies in no region; build the layout with build_layout()")


class _GrowingTree:
    """A tree under construction; nodes are numbered as they appear."""

    def __init__(self) -> None:
        self._children: list[dict[int, int]] = []
        self._roots: dict[int, int] = {}
        self._tokens: list[int] = []
        self._parents: list[int] = []
        self._ends: dict[tuple[int, Ids], int] = {}

    def extend(self, node: int, ids: Ids) -> int:
        """Node reached from ``node`` by ``ids``; walking the same ids again costs one look-up."""
        end = self._ends.get((node, ids))
        if end is None:
            end = node
            for token in ids:
                end = self._child(end, token)
            self._ends[node, ids] = end
        return end

    def path(self, node: int, ids: Ids) -> list[int]:
        """Every node on the way from ``node`` along ``ids``."""
        nodes = []
        for token in ids:
            node = self._child(node, token)
            nodes.append(node)
        return nodes

    def _child(self, node: int, token: int) -> int:
        siblings = self._roots if node == ROOT else self._children[node]
        found = siblings.get(token)
        if found is None:
            found = len(self._tokens)
            siblings[token] = found
            self._tokens.append(token)
            self._parents.append(node)
            self._children.append({})
        return found

    def frozen(self, columns: Nodes) -> PrefixTree:
        """Renumber depth first and freeze; ``columns`` holds numbers of this tree."""
        order: list[int] = []
        stack = list(self._roots.values())[::-1]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(reversed(self._children[node].values()))
        old = np.array(order, dtype=np.int64)
        new = np.empty_like(old)
        new[old] = np.arange(len(old))
        old_parents = np.array(self._parents, dtype=np.int64)[old]
        parents = np.where(old_parents == ROOT, ROOT, new[old_parents])
        depths = np.zeros(len(old), dtype=np.int64)
        for node, parent in enumerate(parents):
            if parent != ROOT:
                depths[node] = depths[parent] + 1
        tokens = np.array(self._tokens, dtype=np.int64)[old]
        return PrefixTree(tokens, parents, depths, new[columns])
