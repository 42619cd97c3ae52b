"""Stratum 4: what retractions leave of every entry, in one pass over entries and hyperedges.

``A'(x) = U − max_h ⌊ppm_h · min_{p∈h}(U − A(p)) / M⌋`` (U without hyperedges), and ``A(x) = ⌊φ·A'(x) / M⌋`` where x is
itself retracted or suspended. Parents come first; for one trigger and plain edges this is the strongest path.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from ledger_core.belief.index import Claim, Entry, LedgerIndex
from ledger_core.belief.state import Hyperedge
from ledger_core.kernel.errors import BeliefError
from ledger_core.kernel.statements.generation import GenerationRecorded
from ledger_core.kernel.types import PPM, EventId, U


def canonical_order(index: LedgerIndex, extra: Mapping[EventId, tuple[Hyperedge, ...]]) -> list[EventId]:
    """Every entry after all it refers to: by depth in the reference graph, ties by event id.

    ``extra`` are dependences that the statements do not state; generations take part as nodes of their own, so that
    the many claims of one response do not multiply its context.

    Raises:
        BeliefError: ``extra`` closes a cycle (statements cannot: a reference is a hash).
    """
    before: dict[EventId, Sequence[EventId]] = {key: referred_by(node) for key, node in index.generations.items()}
    for key, entry in index.entries.items():
        before[key] = referred_by(entry)
        if key in extra:
            before[key] = [*before[key], *(parent for edge in extra[key] for parent in edge.parents)]
    depth = depths(before)
    return sorted(index.entries, key=lambda key: (depth[key], key))


def referred_by(node: Entry | GenerationRecorded) -> list[EventId]:
    """What an entry or a generation refers to and therefore comes after; sealed and given entries refer to none."""
    if isinstance(node, GenerationRecorded):
        return [EventId(region.entry) for region in node.body.context if region.entry is not None]
    if not isinstance(node, Claim):
        return []
    parents = [EventId(parent.entry) for parent in node.body.parents]
    return parents if node.body.generation is None else [*parents, EventId(node.body.generation)]


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
        remaining = remaining_of(hyperedges.get(entry, ()), left)
        left[entry] = retracted_ppm * remaining // PPM if entry in taken_out else remaining
    return left


def remaining_of(hyperedges: Iterable[Hyperedge], left: Mapping[EventId, int]) -> int:
    """A'(x) in parts of U: what the losses of its parents leave of an entry with ``hyperedges``."""
    loss = 0
    for edge in hyperedges:
        parents = edge.parents
        lost = U - left.get(parents[0], U) if len(parents) == 1 else min(U - left.get(p, U) for p in parents)
        loss = max(loss, edge.ppm * lost // PPM)
    return U - loss


def depths(
    before: Mapping[EventId, Sequence[EventId]], settled: Mapping[EventId, int] | None = None
) -> dict[EventId, int]:
    """Length of the longest chain of references below every node of ``before`` (Kahn's algorithm).

    ``settled`` are depths of nodes outside ``before``; a reference to no node at all counts for nothing.

    Raises:
        BeliefError: the references lead in a circle.
    """
    known = settled or {}
    after: dict[EventId, list[EventId]] = defaultdict(list)
    waiting: dict[EventId, int] = {}
    for node, references in before.items():
        inside = [reference for reference in references if reference in before]
        waiting[node] = len(inside)
        for reference in inside:
            after[reference].append(node)
    depth: dict[EventId, int] = {}
    ready = [node for node, count in waiting.items() if count == 0]
    while ready:
        node = ready.pop()
        below = (depth[r] if r in before else known.get(r, -1) for r in before[node])
        depth[node] = 1 + max(below, default=-1)
        for dependent in after.get(node, ()):
            waiting[dependent] -= 1
            if waiting[dependent] == 0:
                ready.append(dependent)
    if len(depth) < len(before):
        stuck = min(node for node in before if node not in depth)
        raise BeliefError(f"the given dependences of entry {stuck} lead back to it; remove the cycle")
    return depth
