"""Games: the only coupling between scoring and deciding.

A game maps unit states to a score in nats. Scorers present a claim as a game; tests plant games whose truth is known.
What does not belong here: anything that knows a model, a token or a ledger.
"""

from attribution.games.base import DELETED, PRESENT, SWAPPED, CountingGame, Game, States

__all__ = ["DELETED", "PRESENT", "SWAPPED", "CountingGame", "Game", "States"]
