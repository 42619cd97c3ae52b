"""Find a minimal cut among many units that each look null: copies of one fact.

``r`` copies have a main effect of ``strength · 2^−(r−1)`` each, under any floor from ``r = 7`` on; only their joint
absence shows. Halving an ordered list finds each member in ``log₂ d`` runs, as QuickXplain and delta debugging do. Units
are swapped, not deleted: deleting half a context moves a claim by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from attribution.decision.probe import Probe

Loss = Callable[[Sequence[int]], float]

FEW_UNITS = 6
"""Units up to which swaps that do not matter add up to nothing: there a loss that comes in steps is several causes."""


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

    def loss(members: Sequence[int]) -> float:
        return standing - probe.replaced(absent, members)

    if not loss(pool) > lost_nats:
        return None
    cut: list[int] = []
    remaining = list(pool)
    while not loss(cut) > lost_nats:
        if len(cut) == largest or not remaining:
            return None
        length = _turning_point([*cut], remaining, loss, lost_nats, drifts=len(pool) > FEW_UNITS)
        cut.append(remaining[length - 1])
        remaining = remaining[: length - 1]
    for member in list(cut):
        # Scores are not monotone: a late member can make an early one superfluous.
        rest = [other for other in cut if other != member]
        if rest and loss(rest) > lost_nats:
            cut = rest
    return tuple(sorted(cut))


def _turning_point(cut: list[int], items: Sequence[int], loss: Loss, lost_nats: float, *, drifts: bool) -> int:
    """Length of a prefix of ``items`` that loses the claim together with ``cut`` while the one before it does not.

    All of ``items`` are known to lose it. Swapping a hundred units that do not matter moves a claim too: where the loss creeps
    over the line instead of jumping over it, the member is where it jumps, sought in the half that loses more.
    """

    def behind(length: int) -> float:
        return loss([*cut, *items[:length]])

    keeps, loses = 0, len(items)
    while loses - keeps > 1:
        middle = (keeps + loses) // 2
        keeps, loses = (keeps, middle) if behind(middle) > lost_nats else (middle, loses)
    if not drifts or behind(loses) - behind(keeps) >= lost_nats / 2:
        return loses
    low, high = 0, len(items)
    while high - low > 1:
        middle = (low + high) // 2
        earlier = behind(middle) - behind(low) >= behind(high) - behind(middle)
        low, high = (low, middle) if earlier else (middle, high)
    return high
