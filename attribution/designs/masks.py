"""The designs: ordered masks over ``d`` units, reproducible from a name, ``d`` and a seed.

Random draws use numpy's frozen legacy stream (NEP 19), so a design never changes with numpy's version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attribution.designs.hadamard import hadamard, next_order
from attribution.errors import DesignError
from attribution.games.base import DELETED, PRESENT, SWAPPED, States

MAX_CUBE_UNITS = 16
"""Units beyond which a full cube (65,536 masks) is a mistake rather than a wish."""

_MAX_DRAWS = 64


@dataclass(frozen=True, eq=False)
class Design:
    """Masks to run, in order."""

    name: str
    """`cube`, `foldover`, `bernoulli`, `leave-one-out`, `keep-one` or `screen`."""

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

    def within(self, units: int, columns: Sequence[int]) -> Design:
        """This design over the ``columns`` of a wider context of ``units`` units, all others present.

        Raises:
            DesignError: another number of columns than the design has, or columns that the context does not have.
        """
        if len(columns) != self.units or len(set(columns)) != self.units or not set(columns) <= set(range(units)):
            raise DesignError(
                f"columns {list(columns)} of {units} cannot hold a design over {self.units} units; name each unit once"
            )
        wide = np.full((len(self.states), units), PRESENT, dtype=np.uint8)
        wide[:, list(columns)] = self.states
        return Design(self.name, wide, self.seed)

    def distinct(self) -> States:
        """The masks without repetitions, in the order of their first appearance: what has to be run."""
        rows = list(dict.fromkeys(map(bytes, self.states)))
        return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), self.units)


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


def screen(units: int, seed: int) -> Design:
    """``8·⌈log₂ units⌉`` masks for the first look at many units: each random half swapped, then the other half.

    Rows come with their complement, so every unit is as often present as swapped and a main effect is clear of the constant
    and of pairs. Columns are not orthogonal (there are fewer rows than columns): a contrast ranks units, it measures none.
    Matched text takes the place of what is missing, because deleting half of a context moves a claim by itself.

    Raises:
        DesignError: no unit.
    """
    if units < 1:
        raise DesignError(f"a screening of {units} units has nothing to look for; a claim without units needs none")
    draw = np.random.RandomState(seed)
    pairs = 4 * max(1, (units - 1).bit_length())
    kept = np.zeros((pairs, units), dtype=np.bool_)
    for row in kept:
        row[draw.permutation(units)[: units // 2]] = True
    both = np.stack([kept, ~kept], axis=1).reshape(2 * pairs, units)
    return Design("screen", np.where(both, np.uint8(PRESENT), np.uint8(SWAPPED)), seed)


def _counted(units: int) -> int:
    if units < 0:
        raise DesignError(f"a design over {units} units cannot be; give the number of ablatable units")
    return units


def _from_signs(signs: NDArray[np.int8]) -> States:
    return np.where(signs > 0, np.uint8(PRESENT), np.uint8(DELETED))
