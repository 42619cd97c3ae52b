"""What the statistics do on data whose truth is known: how often an interval misses, how often a criterion errs."""

from evals.simulation.study import Cell, Rates, simulate
from evals.simulation.worlds import BreakEvenWorld, Design, PairWorld, ShareWorld

__all__ = ["BreakEvenWorld", "Cell", "Design", "PairWorld", "Rates", "ShareWorld", "simulate"]
