"""Field types of the report's document: cleaned text, finite rounded numbers, closed frozen rows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from evals.report.text import clean

_DIGITS = 4
"""Significant digits of a p-value: one of 10⁻⁹ must not become 0."""


def _significant(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _rounded(value: float) -> float:
    """Six decimals: more than any n here can carry, fewer than two machines' libraries disagree on."""
    return round(value, 6) + 0.0


Text = Annotated[str, BeforeValidator(lambda value: clean(value) if isinstance(value, str) else value)]
Number = Annotated[float, Field(allow_inf_nan=False), AfterValidator(_rounded)]
Chance = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), AfterValidator(_significant)]
Count = Annotated[int, Field(ge=0)]
Belief = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""Parts of 10⁹, as the fold computes them."""
VerdictName = Literal["PASS", "INCONCLUSIVE", "KILL", "INVALID"]
GateName = Literal["cuts-v1", "seed-v4"]


class Row(BaseModel):
    """A frozen record with exactly its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
