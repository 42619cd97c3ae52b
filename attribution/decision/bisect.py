"""Find a minimal cut among many units that each look null: copies of one fact.

``r`` copies have a main effect of ``strength · 2^−(r−1)`` each, under any floor from ``r = 7`` on; only their joint
absence shows. Halving an ordered list finds each member in ``log₂ d`` runs, as QuickXplain and delta debugging do. Units
are swapped, not deleted: deleting half a context moves a claim by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from attribution.decision.probe import Probe

Lost = Callable[[Sequence[int]], bool]


def minimal_cut(
    probe: Probe, absent: Collection[int], pool: Sequence[int], lost_nats: float, largest: int
) -> tuple[int, ...] | None:
    """Members of ``pool`` that lose the claim together and none of which can be spared, or None.

    Args:
        probe: the claim.
        absent: units deleted throughout.
        pool: units to search, the likeliest members first; together they must lose the claim.
        lost_nats: a swap that costs more than this loses the claim.
        largest: members at which the search gives up.
    """
    standing = float(probe.without([absent])[0])

    def lost(members: Sequence[int]) -> bool:
        return standing - probe.replaced(absent, members) > lost_nats

    if not lost(pool):
        return None
    cut: list[int] = []
    remaining = list(pool)
    while not lost(cut):
        if len(cut) == largest or not remaining:
            return None
        length = _shortest_prefix(remaining, lambda prefix: lost([*cut, *prefix]))
        cut.append(remaining[length - 1])
        remaining = remaining[: length - 1]
    for member in list(cut):
        # Scores are not monotone: a late member can make an early one superfluous.
        rest = [other for other in cut if other != member]
        if rest and lost(rest):
            cut = rest
    return tuple(sorted(cut))


def _shortest_prefix(items: Sequence[int], lost: Lost) -> int:
    """Length of a prefix that loses the claim while the one before it does not; the whole list is known to lose it."""
    keeps, loses = 0, len(items)
    while loses - keeps > 1:
        middle = (keeps + loses) // 2
        if lost(items[:middle]):
            loses = middle
        else:
            keeps = middle
    return loses
