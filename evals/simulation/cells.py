"""The lines of the study: the designs of our runs, and truths that lie where a criterion's threshold does."""

from __future__ import annotations

from evals.simulation.study import Cell
from evals.simulation.worlds import BreakEvenWorld, Design, PairWorld, ShareWorld

ONE_EACH = Design(40, 1, 0.0)
"""The default run: forty wordings, one scenario each in a cell."""

CLUSTERED = tuple(
    Design(clusters, size, icc) for clusters, size in ((40, 2), (40, 5), (30, 4)) for icc in (0.0, 0.3, 0.7)
)
"""Both premise orders; the full run's 200; tau-bench's tasks and trials. Between trials that agree by chance alone and
trials that nearly always agree."""

SHARES = (
    ShareWorld("false pass (K7)", 0.05),
    ShareWorld("persistence (K2), null edge (K6)", 0.10),
    ShareWorld("a half", 0.50),
    ShareWorld("accuracy (K2)", 0.80),
    ShareWorld("edge recall (K6)", 0.90),
)

PAIRS = (
    PairWorld("collateral (K4)", 0.02, 0.32),
    PairWorld("persistence (K1)", 0.05, 0.15),
    PairWorld("accuracy against the oracle (K1)", 0.02, 0.07),
    PairWorld("no difference, many discordant (K3, K5)", 0.20, 0.20),
    PairWorld("no difference, few discordant (K3, K5)", 0.03, 0.03),
    PairWorld("missed propagation (K4)", 0.05, 0.0),
    PairWorld("third values (K2)", 0.12, 0.02),
)

BREAK_EVENS = tuple(
    BreakEvenWorld(
        f"break-even, {name} (K8)", PairWorld("loss", size + 0.02, 0.02), PairWorld("gain", size + 0.02, 0.02)
    )
    for name, size in (("small effects", 0.10), ("large effects", 0.35))
)

WORLDS: tuple[ShareWorld | PairWorld | BreakEvenWorld, ...] = (*SHARES, *PAIRS, *BREAK_EVENS)

CELLS: tuple[Cell, ...] = tuple(
    Cell(world=world, design=design) for world in WORLDS for design in (ONE_EACH, *CLUSTERED)
)
"""In the order of the table."""
