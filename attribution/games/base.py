"""The game protocol, and the wrapper that makes repeated masks free and runs countable."""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from attribution.errors import AttributionError

DELETED: Final = 0
"""The unit's tokens are not in the context."""

PRESENT: Final = 1
"""The unit stands as the agent saw it."""

SWAPPED: Final = 2
"""The unit's text is replaced by matched text of the same length, place and entity."""

States = NDArray[np.uint8]
"""``uint8[mask, unit]``: one of ``DELETED``, ``PRESENT``, ``SWAPPED`` each."""

Values = NDArray[np.float64]
"""``float64[mask]``: the claim's score under each mask, in nats."""


class Game(Protocol):
    """A claim seen as a function of which units its context holds."""

    @property
    def units(self) -> int:
        """Number of units that can be ablated."""
        ...

    def values(self, states: States) -> Values:
        """Score of the claim in nats for every row of ``states`` (``uint8[mask, unit]``)."""
        ...


class CountingGame:
    """A game that runs each distinct mask once, in the order first asked for, and counts them.

    Raises:
        AttributionError: states of another shape or with an unknown code; a score that is not finite.
    """

    def __init__(self, inner: Game) -> None:
        self._inner = inner
        self._known: dict[bytes, float] = {}

    @property
    def units(self) -> int:
        """Number of units of the game inside."""
        return self._inner.units

    @property
    def runs(self) -> int:
        """Distinct masks scored so far."""
        return len(self._known)

    def values(self, states: States) -> Values:
        """Scores in nats, ``float64[mask]``; only masks never seen before reach the game inside, as one batch."""
        rows = _checked(states, self.units)
        keys = [row.tobytes() for row in rows]
        fresh = {key: row for key, row in zip(keys, rows, strict=True) if key not in self._known}
        if fresh:
            scores = np.asarray(self._inner.values(np.stack(list(fresh.values()))), dtype=np.float64)
            if scores.shape != (len(fresh),):
                raise AttributionError(
                    f"the game returned scores of shape {scores.shape} for {len(fresh)} masks; return one score a mask"
                )
            for (key, row), score in zip(fresh.items(), scores, strict=True):
                if not np.isfinite(score):
                    raise AttributionError(
                        f"the score of mask {''.join(map(str, row))} is {score}; score in log space, without clipping, "
                        "so that every claim has a finite log-probability"
                    )
                self._known[key] = float(score)
        return np.array([self._known[key] for key in keys], dtype=np.float64)


def _checked(states: States, units: int) -> States:
    rows = np.ascontiguousarray(states)
    if rows.dtype != np.uint8 or rows.ndim != 2 or rows.shape[1] != units:  # noqa: PLR2004 - a matrix has two axes
        raise AttributionError(
            f"states are {rows.dtype}{list(rows.shape)}; this game needs uint8[mask, {units}], one column a unit"
        )
    if rows.size and rows.max() > SWAPPED:
        raise AttributionError(f"unit state {rows.max()} is unknown; use DELETED 0, PRESENT 1 or SWAPPED 2")
    return rows
