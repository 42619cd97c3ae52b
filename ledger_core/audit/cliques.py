"""How many of a group are pairwise independent: the largest clique, by branch and bound over neighbours.

Members with the same partners stand for each other (two observations of one origin have the same ones and are never
partners), so a group of many observations of few origins is as quick as one of few observations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def largest(partners: Mapping[str, frozenset[str]], among: Iterable[str]) -> int:
    """Size of the largest set of ``among`` in which everybody is everybody else's partner."""
    group = frozenset(among)
    alike: dict[frozenset[str], str] = {}
    for member in sorted(group):
        alike.setdefault(partners.get(member, frozenset()) & group, member)
    rest = frozenset(alike.values())
    graph = {member: partners.get(member, frozenset()) & rest for member in rest}
    return _grow(graph, rest, 0, 0)


def _grow(graph: Mapping[str, frozenset[str]], candidates: frozenset[str], size: int, best: int) -> int:
    best = max(best, size)
    while candidates and size + len(candidates) > best:
        # The candidate with most partners: whatever clique avoids it must use one that is not its partner.
        pivot = max(candidates, key=lambda member: (len(graph[member] & candidates), member))
        if graph[pivot] >= candidates - {pivot}:  # everybody's partner: some largest set has it
            candidates -= {pivot}
            size += 1
            best = max(best, size)
            continue
        chosen = min(candidates - graph[pivot])
        best = _grow(graph, candidates & graph[chosen], size + 1, best)
        candidates -= {chosen}
    return best
