"""The table of floors that ships with a scorer: canonical JSON whose digest goes into every recipe."""

from __future__ import annotations

import math
from collections.abc import Iterable
from importlib import resources
from typing import Literal, Self

from pydantic import model_validator

from attribution.decision.floor import Floor, Undefined
from attribution.errors import DecisionError
from ledger_core.kernel.digests import DigestHex, Prefix, domain_hex
from ledger_core.kernel.errors import StatementError
from ledger_core.kernel.records import Record
from ledger_core.kernel.types import Count, Digest, ForeignName, MicroNats

MICRO = 1_000_000
"""Micro-nats in a nat."""

ROUNDING_MICRO_NATS = 1_000
"""Statements round to this; key–value reuse moves a score by less."""


class Bin(Record):
    """A closed range of counts."""

    least: Count
    """Smallest count, included."""
    most: Count
    """Largest count, included."""

    @model_validator(mode="after")
    def _is_ordered(self) -> Bin:
        if self.least > self.most:
            raise ValueError(f"bin {self.least}..{self.most} runs backwards")
        return self

    def holds(self, count: int) -> bool:
        """Whether ``count`` lies in the range."""
        return self.least <= count <= self.most


class FloorRow(Record):
    """One floor and the claims that it is for."""

    dtype: ForeignName
    """Number format of the scorer, as `float32`."""
    n: Count
    """Null claims it was computed from."""
    status: Literal["shipped", "provisional"]
    tau_micro_nats: MicroNats
    tau_total_micro_nats: MicroNats
    template: ForeignName
    """Name of the prompt template and tokenisation."""
    tokens: Bin
    """Length of the claim."""
    units: Bin
    """Number of ablatable units, d."""
    weights_digest: Digest
    """Digest of the scorer's weights."""

    @classmethod
    def of(
        cls, floor: Floor, *, tokens: tuple[int, int], units: tuple[int, int], weights: str, template: str, dtype: str
    ) -> Self:
        """A row from a calibrated floor; thresholds are rounded up to the precision of statements.

        Raises:
            StatementError: a range that runs backwards, or a digest that is none.
        """
        return cls.make(
            dtype=dtype,
            n=floor.n,
            status=floor.status,
            tau_micro_nats=_rounded_up(floor.tau),
            tau_total_micro_nats=_rounded_up(floor.tau_total),
            template=template,
            tokens=Bin.make(most=tokens[1], least=tokens[0]),
            units=Bin.make(most=units[1], least=units[0]),
            weights_digest=weights,
        )

    def floor(self) -> Floor:
        """The thresholds in nats.

        Raises:
            DecisionError: a row whose numbers no calibration gives.
        """
        return Floor(self.tau_micro_nats / MICRO, self.tau_total_micro_nats / MICRO, self.n, self.status)

    def answers(self, *, weights: str, template: str, dtype: str) -> bool:
        """Whether the row is about this scorer."""
        return (self.weights_digest, self.template, self.dtype) == (weights, template, dtype)


class FloorTable(Record):
    """Floors of one or more scorers. No two rows answer the same question."""

    rows: tuple[FloorRow, ...]
    version: Literal[1]

    @model_validator(mode="after")
    def _rows_do_not_overlap(self) -> FloorTable:
        for position, row in enumerate(self.rows):
            for other in self.rows[:position]:
                if (
                    row.answers(weights=other.weights_digest, template=other.template, dtype=other.dtype)
                    and row.tokens.least <= other.tokens.most
                    and other.tokens.least <= row.tokens.most
                    and row.units.least <= other.units.most
                    and other.units.least <= row.units.most
                ):
                    raise ValueError(f"two floors for {row.tokens.least} tokens and {row.units.least} units")
        return self

    @classmethod
    def of(cls, rows: Iterable[FloorRow]) -> Self:
        """A table with its rows in a fixed order, so that equal floors give equal digests.

        Raises:
            StatementError: rows that overlap.
        """
        ordered = sorted(rows, key=lambda row: row.canonical_bytes())
        return cls.make(rows=tuple(ordered), version=1)

    def digest(self) -> DigestHex:
        """Identity of the table."""
        return domain_hex(Prefix.CONFIG, self.canonical_bytes())

    def lookup(self, *, tokens: int, units: int, weights: str, template: str, dtype: str) -> Floor | Undefined:
        """The floor of a claim of ``tokens`` tokens over ``units`` units, or why there is none."""
        rows = [row for row in self.rows if row.answers(weights=weights, template=template, dtype=dtype)]
        if not rows:
            return Undefined(
                f"no floor for weights {weights[:12]}, template {template}, {dtype}; calibrate this scorer"
            )
        fitting = [row for row in rows if row.tokens.holds(tokens) and row.units.holds(units)]
        if not fitting:
            return Undefined(f"no floor for {tokens} claim tokens and {units} units; calibrate that bin")
        return fitting[0].floor()


def shipped() -> FloorTable:
    """All floors in this package's `floors` folder, as one table.

    Raises:
        DecisionError: a file there that is no table, or tables that overlap.
    """
    rows: list[FloorRow] = []
    for file in sorted(resources.files("attribution.decision").joinpath("floors").iterdir(), key=lambda f: f.name):
        if file.name.endswith(".json"):
            try:
                rows += FloorTable.decode(file.read_bytes().rstrip(b"\n")).rows
            except StatementError as error:
                raise DecisionError(f"floors/{file.name} is no floor table ({error}); regenerate it") from error
    try:
        return FloorTable.of(rows)
    except StatementError as error:
        raise DecisionError(f"the shipped floor tables contradict each other ({error}); keep one a scorer") from error


def _rounded_up(nats: float) -> int:
    """Micro-nats, up to the next multiple of the statements' rounding: a floor never sinks by being written down."""
    return math.ceil(nats * MICRO / ROUNDING_MICRO_NATS) * ROUNDING_MICRO_NATS
