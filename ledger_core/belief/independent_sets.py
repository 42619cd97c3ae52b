"""Pairwise independent sets among the members of a verdict: how many origins really speak.

Vertices are members, edges are recorded independences, so a pairwise independent set is a clique. Sets are integers
used as bit sets. The search is Tomita's branch and bound with greedy colouring (MCS, 2003); on the complete
multipartite graphs that clustering by origin gives, the first bound is exact and nothing is searched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def adjacency(members: Sequence[str], independent: Iterable[tuple[str, str]]) -> list[int]:
    """One bit set of independent partners per member; pairs that name no member are ignored."""
    place = {member: number for number, member in enumerate(members)}
    graph = [0] * len(members)
    for first, second in independent:
        a, b = place.get(first), place.get(second)
        if a is not None and b is not None and a != b:
            graph[a] |= 1 << b
            graph[b] |= 1 << a
    return graph


def largest(graph: Sequence[int], within: int | None = None, stop_at: int | None = None) -> int:
    """Size of the largest clique in the vertices of ``within`` (all of them by default).

    ``stop_at`` ends the search as soon as a clique of that size is found; the answer is then at least that size.
    """
    everything = (1 << len(graph)) - 1 if within is None else within
    enough = len(graph) if stop_at is None else stop_at
    best = 0
    # One frame per member of the clique being grown: its remaining candidates, coloured. A stack and not recursion,
    # because an attacker chooses how many members there are.
    stack = [(_coloured(graph, everything), everything)]
    while stack and best < enough:
        order, candidates = stack[-1]
        size = len(stack) - 1
        if not order or size + order[-1][1] <= best:
            stack.pop()
            continue
        vertex, _ = order.pop()
        stack[-1] = (order, candidates & ~(1 << vertex))
        remaining = candidates & graph[vertex]
        if remaining:
            stack.append((_coloured(graph, remaining), remaining))
        else:
            best = max(best, size + 1)
    return best


def in_clique_of(graph: Sequence[int], size: int) -> list[int]:
    """Vertices that belong to at least one clique of ``size``, ascending."""
    if size == 1:
        return list(range(len(graph)))
    wanted = size - 1
    return [v for v, partners in enumerate(graph) if partners and largest(graph, partners, wanted) >= wanted]


def _coloured(graph: Sequence[int], candidates: int) -> list[tuple[int, int]]:
    """(vertex, colours used so far), greedily: no clique among the first vertices is larger than their colours."""
    order: list[tuple[int, int]] = []
    colour = 0
    while candidates:
        colour += 1
        available = candidates
        while available:
            vertex = (available & -available).bit_length() - 1
            candidates &= ~(1 << vertex)
            available &= ~((1 << vertex) | graph[vertex])
            order.append((vertex, colour))
    return order
