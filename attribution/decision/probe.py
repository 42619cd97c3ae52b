"""Questions the rule asks a game: the score with these units deleted, those swapped, the rest present."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from attribution.errors import DecisionError
from attribution.games.base import DELETED, PRESENT, SWAPPED, CountingGame, Game, States, Values

Question = tuple[Collection[int], Collection[int]]
"""(deleted, swapped) units; all others are present."""


class Probe:
    """A counting game with the full context's score at hand.

    Args:
        game: the claim.
        swappable: units with matched replacement text; None for all. Where everything is to be swapped the others are
            deleted instead.

    Raises:
        DecisionError: a swappable unit that the game does not have.
    """

    def __init__(self, game: Game, swappable: Collection[int] | None = None) -> None:
        self.game = game if isinstance(game, CountingGame) else CountingGame(game)
        self.units = self.game.units
        self.swappable = frozenset(range(self.units) if swappable is None else swappable)
        if not self.swappable <= set(range(self.units)):
            raise DecisionError(
                f"swappable units {sorted(self.swappable)} are not all among the {self.units} of the claim"
            )

    @property
    def full(self) -> float:
        """``ℓ(N)``, nats."""
        return float(self.without([()])[0])

    def without(self, sets: Sequence[Collection[int]]) -> Values:
        """``ℓ(N∖R)`` in nats for every set ``R``, as one batch."""
        return self.ask([(members, ()) for members in sets])

    def ask(self, questions: Sequence[Question]) -> Values:
        """Scores in nats of every question, as one batch."""
        states = np.full((len(questions), self.units), PRESENT, dtype=np.uint8)
        for row, (deleted, swapped) in zip(states, questions, strict=True):
            row[list(deleted)] = DELETED
            row[list(swapped)] = SWAPPED
        return self.game.values(states)

    def replaced(self, absent: Iterable[int], members: Iterable[int]) -> float:
        """Score in nats with ``absent`` deleted and every member swapped, or deleted where it has no replacement."""
        chosen = frozenset(members)
        return float(self.ask([((chosen - self.swappable).union(absent), chosen & self.swappable)])[0])


def all_present_and_all_swapped(units: int) -> States:
    """The two masks of the total effect, ``uint8[2, unit]``."""
    return np.stack([np.full(units, PRESENT, dtype=np.uint8), np.full(units, SWAPPED, dtype=np.uint8)])
