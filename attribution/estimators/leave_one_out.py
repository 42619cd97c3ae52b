"""Leave-one-out: what the claim loses when one unit alone is deleted. Blind to redundant support."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attribution.designs.masks import leave_one_out
from attribution.games.base import Game


def leave_one_out_effects(game: Game) -> NDArray[np.float64]:
    """``ℓ(N) − ℓ(N∖i)`` in nats, ``float64[unit]``; ``units + 1`` runs."""
    values = game.values(leave_one_out(game.units).states)
    return np.asarray(values[0] - values[1:], dtype=np.float64)
