"""The designs: ordered masks over ``d`` units, reproducible from a name, ``d`` and a seed.

Random draws use numpy's frozen legacy stream (NEP 19), so a design never changes with numpy's version.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attribution.designs.hadamard import hadamard, next_order
from attribution.errors import DesignError
from attribution.games.base import DELETED, PRESENT, States

MAX_CUBE_UNITS = 16
"""Units beyond which a full cube (65,536 masks) is a mistake rather than a wish."""

_MAX_DRAWS = 64


@dataclass(frozen=True, eq=False)
class Design:
    """Masks to run, in order."""

    name: str
    """`cube`, `foldover`, `bernoulli`, `leave-one-out` or `keep-one`."""

    states: States
    """``uint8[mask, unit]``, read-only."""

    seed: int | None
    """Seed of the draw; None for designs without one."""

    def __post_init__(self) -> None:
        self.states.flags.writeable = False

    @property
    def units(self) -> int:
        """Number of columns."""
        return int(self.states.shape[1])

    def head(self, units: int) -> Design:
        """The first ``units`` columns: an earlier claim's view of a whole trajectory's design.

        Rows stay in place, repeated ones too, so columns stay orthogonal.

        Raises:
            DesignError: more units than the design has.
        """
        if not 0 <= units <= self.units:
            raise DesignError(
                f"a claim over {units} units cannot read a design over {self.units}; design for the last claim"
            )
        return Design(self.name, self.states[:, :units].copy(), self.seed)


def cube(units: int) -> Design:
    """All ``2^units`` masks; bit ``i`` of the row number is unit ``i``.

    Raises:
        DesignError: more than 16 units, or fewer than none.
    """
    if not 0 <= units <= MAX_CUBE_UNITS:
        raise DesignError(f"a cube over {units} units is 2^{units} masks; use foldover beyond {MAX_CUBE_UNITS} units")
    rows = np.arange(2**units, dtype=np.uint32)[:, None]
    return Design("cube", ((rows >> np.arange(units, dtype=np.uint32)) & 1).astype(np.uint8), None)


def foldover(units: int, seed: int) -> Design:
    """``2·h`` masks: ``units`` signed columns of a Hadamard matrix of order ``h``, each row followed by its complement.

    ``h`` is the next constructible order. Main effects are exact for games of order two; interactions of odd order
    three and more alias. The seed picks columns and signs.

    Raises:
        DesignError: no unit.
    """
    order = next_order(units)
    draw = np.random.RandomState(seed)
    columns = draw.permutation(order)[:units]
    signs = draw.choice(np.array([-1, 1], dtype=np.int8), size=units)
    half = hadamard(order)[:, columns] * signs
    both = np.stack([half, -half], axis=1).reshape(2 * order, units)
    return Design("foldover", _from_signs(both), seed)


def foldover_pair(units: int, seed: int) -> tuple[Design, Design]:
    """Two fold-overs that differ in columns and signs; the second is redrawn while it shares more than half its masks.

    Raises:
        DesignError: so few units (three or fewer) that one fold-over is already the whole cube.
    """
    first = foldover(units, 2 * seed)
    seen = set(map(bytes, first.states))
    for attempt in range(_MAX_DRAWS):
        second = foldover(units, 2 * (seed + attempt * 2**16) + 1)
        shared = sum(bytes(row) in seen for row in second.states)
        if 2 * shared <= len(second.states):
            return first, second
    raise DesignError(f"two fold-overs over {units} units cannot differ in half their masks; use the cube")


def bernoulli(units: int, masks: int, seed: int, keep: float = 0.5) -> Design:
    """``masks`` random masks, each unit kept with probability ``keep``; mask ``r`` is drawn from seed ``seed + r``.

    That stream is context-cite 0.0.4's, mask for mask; seeds of independent designs must lie ``masks`` apart.

    Raises:
        DesignError: no masks, or a probability outside (0, 1).
    """
    if masks < 1 or not 0 < keep < 1 or units < 0:
        raise DesignError(
            f"{masks} masks over {units} units with keep {keep}: need masks >= 1, units >= 0, 0 < keep < 1"
        )
    rows = np.zeros((masks, units), dtype=np.uint8)
    for row in range(masks):
        draw = np.random.RandomState(seed + row)
        rows[row] = draw.choice([False, True], size=units, p=[1 - keep, keep])
    return Design("bernoulli", rows, seed)


def leave_one_out(units: int) -> Design:
    """``units + 1`` masks: everything, then everything but each unit in turn.

    Raises:
        DesignError: fewer than no units.
    """
    rows = np.full((_counted(units) + 1, units), PRESENT, dtype=np.uint8)
    rows[np.arange(1, units + 1), np.arange(units)] = DELETED
    return Design("leave-one-out", rows, None)


def keep_one(units: int) -> Design:
    """``units + 1`` masks: nothing, then each unit alone.

    Raises:
        DesignError: fewer than no units.
    """
    rows = np.full((_counted(units) + 1, units), DELETED, dtype=np.uint8)
    rows[np.arange(1, units + 1), np.arange(units)] = PRESENT
    return Design("keep-one", rows, None)


def _counted(units: int) -> int:
    if units < 0:
        raise DesignError(f"a design over {units} units cannot be; give the number of ablatable units")
    return units


def _from_signs(signs: NDArray[np.int8]) -> States:
    return np.where(signs > 0, np.uint8(PRESENT), np.uint8(DELETED))
