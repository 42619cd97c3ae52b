"""`python -m evals.simulation`: simulate every cell and print the tables of docs/simulation.md."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from evals.simulation.cells import CELLS
from evals.simulation.page import monte_carlo_error, rows, table
from evals.simulation.study import simulate

DRAWS, SEED = 4_000, 20_240_607


def main(arguments: list[str] | None = None) -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(prog="python -m evals.simulation", description=__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS, help="data sets a line")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", type=Path, help="also write the counts here")
    given = parser.parse_args(arguments)
    lines, counts = [], []
    for number, cell in enumerate(CELLS, start=1):
        found = simulate(cell, draws=given.draws, seed=given.seed)
        lines += rows(cell, found)
        counts += [
            {"world": cell.world.name, "truth": cell.world.truth, **asdict(cell.design), **asdict(rates)}
            for rates in found
        ]
        sys.stderr.write(f"{number} of {len(CELLS)}: {cell.world.name}, {cell.design}\n")
    if given.json is not None:
        given.json.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    error = 100 * monte_carlo_error(given.draws)
    sys.stdout.write(
        f"{given.draws:,} draws a line, seed {given.seed}; standard error of a rate of 2.5 %: {error:.2f} points.\n\n"
        f"{table(lines)}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
