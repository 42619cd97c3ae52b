"""Stratum 4: what retractions leave of every entry, in one pass over entries and hyperedges.

``A'(x) = U − max_h ⌊ppm_h · min_{p∈h}(U − A(p)) / M⌋`` (U without hyperedges), and ``A(x) = ⌊φ·A'(x) / M⌋`` where x is
itself retracted or suspended. Parents come first; for one trigger and plain edges this is the strongest path.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from ledger_core.belief.index import Claim, LedgerIndex
from ledger_core.belief.state import Hyperedge
from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.types import PPM, EventId, U


def canonical_order(index: LedgerIndex, extra: Mapping[EventId, tuple[Hyperedge, ...]]) -> list[EventId]:
    """Every entry after all it refers to: by depth in the reference graph, ties by event id.

    ``extra`` are dependences that the statements do not state; generations take part as nodes of their own, so that
    the many claims of one response do not multiply its context.

    Raises:
        BeliefError: ``extra`` closes a cycle (statements cannot: a reference is a hash).
    """
    before: dict[EventId, list[EventId]] = {}
    for key, generation in index.generations.items():
        before[key] = [EventId(region.entry) for region in generation.body.context if region.entry is not None]
    for key, entry in index.entries.items():
        before[key] = [parent for edge in extra.get(key, ()) for parent in edge.parents]
        if isinstance(entry, Claim):
            before[key].extend(EventId(parent.entry) for parent in entry.body.parents)
            if entry.body.generation is not None:
                before[key].append(EventId(entry.body.generation))
    depth = _depths(before)
    return sorted(index.entries, key=lambda key: (depth[key], key))


def attenuations(
    order: Sequence[EventId],
    hyperedges: Mapping[EventId, tuple[Hyperedge, ...]],
    taken_out: AbstractSet[EventId],
    retracted_ppm: int,
) -> dict[EventId, int]:
    """A(x) in parts of U for every entry of ``order``, parents first; ``taken_out`` are retracted or suspended ones.

    A parent that is no entry of the ledger has lost nothing.
    """
    left: dict[EventId, int] = {}
    for entry in order:
        loss = 0
        for edge in hyperedges.get(entry, ()):
            parents = edge.parents
            lost = U - left.get(parents[0], U) if len(parents) == 1 else min(U - left.get(p, U) for p in parents)
            loss = max(loss, edge.ppm * lost // PPM)
        remaining = U - loss
        left[entry] = retracted_ppm * remaining // PPM if entry in taken_out else remaining
    return left


def _depths(before: Mapping[EventId, Iterable[EventId]]) -> dict[EventId, int]:
    """Length of the longest chain of references below every node (Kahn's algorithm, layer by layer)."""
    after: dict[EventId, list[EventId]] = defaultdict(list)
    waiting: dict[EventId, int] = {}
    for node, references in before.items():
        known = [reference for reference in references if reference in before]
        waiting[node] = len(known)
        for reference in known:
            after[reference].append(node)
    depth: dict[EventId, int] = {}
    layer = [node for node, count in waiting.items() if count == 0]
    level = 0
    while layer:
        following: list[EventId] = []
        for node in layer:
            depth[node] = level
            for dependent in after[node]:
                waiting[dependent] -= 1
                if waiting[dependent] == 0:
                    following.append(dependent)
        layer = following
        level += 1
    if len(depth) < len(before):
        stuck = min(node for node in before if node not in depth)
        raise BeliefError(f"the given dependences of entry {stuck} lead back to it; remove the cycle")
    return depth
